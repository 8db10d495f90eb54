//! How many references a second go through simulated caches, from a trace in memory; and whole runs of a program
//! compared with valgrind's cachegrind.
//!
//! All ways run interleaved, in rounds. Times are the processor time of the thread, so that what else runs on the machine
//! takes nothing from the rate but what it takes from the caches. Beside each trace stands what it takes to read it and do
//! nothing, and to go through one direct-mapped cache written down as a loop of five lines: no simulator is faster.
//!
//! Run with `make bench-cachesim`.

mod peer;
mod traces;

use std::hint::black_box;
use std::time::Duration;
use traces::Trace;
use warmcore_bench::Provenance;
use warmcore_cachesim::observe::{ByOwner, Displacements, MissKinds, Unused};
use warmcore_cachesim::{CacheDescription, Description, Hierarchy, Kind, Observer, Reference, machines};
use warmcore_topology::{Cache, CacheKind, Geometry};
use warmcore_units::{Bytes, CpuId, Cycles};

const ROUNDS: usize = 101;
const REFERENCES: usize = 1 << 20;
/// References of a cpu before it is the next one's turn.
const IN_TURN: usize = 100;

/// What a table shows in a row: its name, and the rate of each round in millions of references a second.
type Row = (&'static str, Vec<f64>);

fn main() {
    // Without this argument it runs as a test: one round, only to show that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let mut provenance = Provenance::read(&["warmcore-cachesim"]);
    println!("{rounds} interleaved rounds of {REFERENCES} references; million references a second of");
    println!("processor time: median [quartiles] of the rounds\n");
    for trace in &traces::made(REFERENCES) {
        measure(trace, rounds);
    }
    println!("gzip: the first references of `gzip --stdout` on Cargo.lock, recorded by lackey\n");
    match peer::record() {
        Ok(trace) => measure(&("gzip", trace.into_iter().take(REFERENCES).collect()), rounds),
        Err(reason) => println!("gzip is not measured: {reason}"),
    }
    match peer::compare(rounds.min(5)) {
        Ok(version) => provenance.add("valgrind", &version),
        Err(reason) => println!("not compared with cachegrind: {reason}"),
    }
    // Last, because it includes the load after the benchmark.
    provenance.finish();
    provenance.print();
}

/// One unified direct-mapped cache of 32 KiB with 32-byte lines.
fn one_level() -> Description {
    let geometry = Geometry { size: Bytes::kib(32), line: Bytes(32), ways: 1 };
    let shared_by = [CpuId(0)].into_iter().collect();
    let cache = Cache { level: 1, kind: CacheKind::Unified, geometry, shared_by };
    let caches = vec![CacheDescription::new(&cache, Cycles(1))];
    Description {
        name: "one level".to_owned(),
        caches,
        memory: Cycles(50),
        straddling: warmcore_cachesim::Straddling::EachLine,
        seed: 0,
    }
}

fn measure((name, trace): &Trace, rounds: usize) {
    let three = machines::three_levels(1);
    let mut one = build(&one_level(), warmcore_cachesim::Nothing);
    let mut all = build(&three, warmcore_cachesim::Nothing);
    let mut single = build(&three, warmcore_cachesim::Nothing);
    let mut owners = build(&three, ByOwner::default());
    let mut kinds = build(&three, MissKinds::new(&three));
    let mut everything = build(
        &three,
        (
            (ByOwner::default(), MissKinds::new(&three)),
            (Displacements::default(), Unused::new(&three, Bytes(4))),
        ),
    );
    // Write-through with a buffer, and several cpus, go reference by reference.
    let mut dec = build(&machines::dec_3000_600(Cycles(50)), warmcore_cachesim::Nothing);
    let mut sgi = build(&machines::sgi_4d_340(), warmcore_cachesim::Nothing);
    let mut words = vec![0; 1024];
    // The first round only fills the caches.
    let mut rows: [Row; 10] = [
        ("reading the trace", Vec::new()),
        ("one direct-mapped cache as a bare loop", Vec::new()),
        ("one direct-mapped level", Vec::new()),
        ("three levels", Vec::new()),
        ("three levels, one reference at a time", Vec::new()),
        ("DEC 3000/600", Vec::new()),
        ("SGI 4D/340, four cpus in turn", Vec::new()),
        ("three levels, by owner", Vec::new()),
        ("three levels, by kind of miss", Vec::new()),
        ("three levels, all observers", Vec::new()),
    ];
    for round in 0..=rounds {
        let times = [
            time(|| read(trace)),
            time(|| bare(&mut words, trace)),
            time(|| one.run(CpuId(0), trace).0),
            time(|| all.run(CpuId(0), trace).0),
            time(|| trace.iter().map(|&reference| single.access(CpuId(0), reference).cycles.0).sum()),
            time(|| dec.run(CpuId(0), trace).0),
            time(|| in_turn(&mut sgi, trace)),
            time(|| owners.run(CpuId(0), trace).0),
            time(|| kinds.run(CpuId(0), trace).0),
            time(|| everything.run(CpuId(0), trace).0),
        ];
        if round > 0 {
            for ((_, rates), time) in rows.iter_mut().zip(times) {
                rates.push(trace.len() as f64 / time.as_secs_f64() / 1e6);
            }
        }
    }
    println!("{name}: {}", missed("one level", &one));
    println!("    {}", missed("three levels", &all));
    for (name, rates) in rows {
        let [low, median, high] = quartiles(rates);
        println!("  {name:<40} {median:>7.1} [{low:.1}, {high:.1}]");
    }
    println!();
}

fn build<O: Observer>(description: &Description, observer: O) -> Hierarchy<O> {
    Hierarchy::observed(description, observer).expect("the machine can be built")
}

/// Lets the four cpus of `caches` make references of `trace` in turn, so that stores of one concern the others.
fn in_turn(caches: &mut Hierarchy, trace: &[Reference]) -> u64 {
    let turns = trace.chunks(IN_TURN).zip((0..4).cycle());
    turns.map(|(references, cpu)| caches.run(CpuId(cpu), references).0).sum()
}

/// The part of its accesses that misses, of each cache.
fn missed(name: &str, caches: &Hierarchy) -> String {
    let part = |counts: &warmcore_cachesim::CacheCounts| {
        format!("{:.1}%", 100.0 * counts.reference_misses() as f64 / counts.references() as f64)
    };
    let parts: Vec<String> = caches.counts().caches.iter().map(part).collect();
    format!("misses in {name}: {} of what each cache is asked", parts.join(", "))
}

/// Reads every reference and does nothing with it.
fn read(trace: &[Reference]) -> u64 {
    trace.iter().fold(0, |sum, reference| sum.wrapping_add(reference.address ^ reference.kind as u64))
}

/// Goes through the cache of [`one_level`] with nothing that is general.
fn bare(words: &mut [u64], trace: &[Reference]) -> u64 {
    let mut misses = [0; 3];
    for reference in trace {
        let line = reference.address >> 5;
        let word = &mut words[(line & 1023) as usize];
        let hit = *word >> 1 == line;
        *word = line << 1 | u64::from(reference.kind == Kind::Store) | (*word & u64::from(hit));
        misses[reference.kind as usize] += u64::from(!hit);
    }
    misses.iter().sum()
}

fn time(work: impl FnOnce() -> u64) -> Duration {
    let start = processor_time();
    black_box(work());
    processor_time() - start
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// First quartile, median, third quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}
