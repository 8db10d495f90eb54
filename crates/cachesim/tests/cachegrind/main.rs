//! Miss for miss what valgrind's cachegrind counts, of the same programs and caches: the trace is that of lackey, another
//! tool of valgrind's, which sees the same references. What is particular to cachegrind (3.19, `cg_sim.c`, `cg_main.c`):
//!
//! - A store allocates like a load, LRU everywhere: write-back caches of ours.
//! - An instruction that reads and writes one place ("modify") counts as a read alone.
//! - A reference in two lines is one access, and one miss if either is not there; then both are looked for in the last
//!   level: [`Straddling::Whole`].
//! - Data beyond the shortest line in one reference are not looked at.
//! - Lines that make way are not written back: ours do not change what the next level holds either.

mod valgrind;

use valgrind::{Program, Summary};
use warmcore_cachesim::{
    CacheDescription, CacheId, Cause, Description, Hierarchy, Kind, Reference, Straddling,
};
use warmcore_topology::{Cache, CacheKind, Geometry};
use warmcore_units::{Bytes, CpuId, Cycles};

/// Instructions, data, last level.
type Geometries = [Geometry; 3];

const fn geometry(size: u64, ways: u32, line: u64) -> Geometry {
    Geometry { size: Bytes(size), line: Bytes(line), ways }
}

/// Direct-mapped as the DEC 3000/600; of today; small with lines of three sizes and ways that are no power of two.
const MACHINES: [Geometries; 3] = [
    [geometry(8 << 10, 1, 32), geometry(8 << 10, 1, 32), geometry(2 << 20, 1, 32)],
    [geometry(32 << 10, 8, 64), geometry(48 << 10, 12, 64), geometry(1 << 20, 16, 64)],
    [geometry(2 << 10, 2, 32), geometry(3 << 10, 3, 64), geometry(20 << 10, 5, 128)],
];

fn description(geometries: Geometries) -> Description {
    let kinds = [(1, CacheKind::Instruction), (1, CacheKind::Data), (2, CacheKind::Unified)];
    let caches = kinds.into_iter().zip(geometries).map(|((level, kind), geometry)| {
        let shared_by = [CpuId(0)].into_iter().collect();
        CacheDescription::new(&Cache { level, kind, geometry, shared_by }, Cycles(u64::from(level)))
    });
    Description {
        name: "cachegrind's".to_owned(),
        caches: caches.collect(),
        memory: Cycles(3),
        straddling: Straddling::Whole,
        seed: 0,
    }
}

fn simulated(mut trace: Vec<Reference>, geometries: Geometries) -> Summary {
    let shortest = geometries.iter().map(|geometry| geometry.line.0).min().expect("three");
    for reference in trace.iter_mut().filter(|reference| reference.kind != Kind::Fetch) {
        reference.size = reference.size.min(shortest as u16);
    }
    let mut caches = Hierarchy::build(&description(geometries)).expect("cachegrind simulates it too");
    caches.run(CpuId(0), &trace);
    let counts = caches.counts();
    let column = |first: u32, kind| {
        let (first, last) = (&counts[CacheId(first)], &counts[CacheId(2)]);
        let cause = Cause::Reference(kind);
        [first.accesses(cause), first.misses(cause), last.misses(cause)]
    };
    Summary([column(0, Kind::Fetch), column(1, Kind::Load), column(1, Kind::Store)])
}

fn compare(program: &Program) {
    let trace = program.trace();
    for geometries in MACHINES {
        let expected = program.cachegrind(geometries);
        assert!(expected.0[0][0] > 10_000, "{expected:?}: a program of some length");
        assert_eq!(simulated(trace.clone(), geometries), expected, "{program:?} on {geometries:?}");
    }
}

#[test]
fn a_program_that_does_nothing_misses_as_in_cachegrind() {
    compare(&Program::new(&["/bin/true"]));
}

#[test]
fn a_program_that_sorts_misses_as_in_cachegrind() {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../LICENSE-APACHE");
    // By itself it asks how much memory is free, and how many processors there are: 5 instructions more once a quarter of
    // the memory is in use.
    compare(&Program::new(&["/usr/bin/sort", "--buffer-size=1M", "--parallel=1", text]));
}

#[test]
fn a_program_that_compresses_misses_as_in_cachegrind() {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../LICENSE-MIT");
    compare(&Program::new(&["/bin/gzip", "--stdout", text]));
}
