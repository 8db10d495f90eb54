//! What a user sees of small hierarchies, reckoned by hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use warmcore_cachesim::observe::Unused;
use warmcore_cachesim::{
    CacheId, Cause, Description, Hierarchy, Kind, Prefetch, Reference, Served, Straddling, Writes, machines,
};
use warmcore_topology::CpuSet;
use warmcore_units::{Bytes, CpuId, Cycles};

const CPU: CpuId = CpuId(0);

/// Caches of the DEC 3000/600: data, instructions, board.
const DATA: CacheId = CacheId(0);
const INSTRUCTIONS: CacheId = CacheId(1);
const BOARD: CacheId = CacheId(2);

fn dec() -> Description {
    machines::dec_3000_600(Cycles(50))
}

fn load(address: u64) -> Reference {
    Reference::new(Kind::Load, address, 4)
}

fn store(address: u64) -> Reference {
    Reference::new(Kind::Store, address, 4)
}

fn fetch(address: u64) -> Reference {
    Reference::new(Kind::Fetch, address, 4)
}

fn build(description: &Description) -> Hierarchy {
    Hierarchy::build(description).expect("the machine can be built")
}

fn served(cycles: u64, depth: u32) -> Served {
    Served { cycles: Cycles(cycles), depth }
}

#[test]
fn a_line_is_found_where_it_was_brought() {
    let mut caches = build(&dec());
    assert_eq!(caches.access(CPU, load(0x100)), served(50, 2));
    assert_eq!(caches.access(CPU, load(0x11c)), served(1, 0), "the same line");
    assert_eq!(caches.access(CPU, fetch(0x100)), served(10, 1), "the board cache holds both kinds");
    assert_eq!(caches.access(CPU, load(0x100 + 8192)), served(50, 2), "the same place of the data cache");
    assert_eq!(caches.access(CPU, load(0x100)), served(10, 1));
    assert_eq!(caches.cycles(CPU), Cycles(50 + 1 + 10 + 50 + 10));
    let counts = caches.counts();
    assert_eq!((counts[DATA].references(), counts[DATA].reference_misses()), (4, 3));
    assert_eq!(counts[DATA].displaced, 2);
    assert_eq!(counts[INSTRUCTIONS].misses(Cause::Reference(Kind::Fetch)), 1);
    assert_eq!((counts[BOARD].references(), counts[BOARD].reference_misses()), (4, 2));
    assert_eq!(counts.memory_reads, 2);
}

#[test]
fn a_store_that_passes_through_brings_nothing_in_and_merges() {
    let mut caches = build(&dec());
    for word in 0..8 {
        assert_eq!(caches.access(CPU, store(0x100 + 4 * word)), served(1, 0));
    }
    assert!(!caches.holds(DATA, 0x100));
    assert!(!caches.holds(BOARD, 0x100), "it waits for another block");
    caches.access(CPU, store(0x200));
    assert!(caches.holds(BOARD, 0x100) && !caches.holds(BOARD, 0x200));
    let counts = caches.counts();
    assert_eq!(counts[DATA].merged, 7);
    assert_eq!(counts[BOARD].accesses(Cause::Drain), 1);
    caches.drain();
    assert!(caches.holds(BOARD, 0x200));
    assert_eq!(caches.counts()[BOARD].accesses(Cause::Drain), 2);
}

#[test]
fn stores_faster_than_the_buffer_drains_wait_for_a_place() {
    let mut caches = build(&dec());
    let took: Vec<u64> =
        (0..8).map(|block| caches.access(CPU, store(0x1000 + 32 * block)).cycles.0).collect();
    // The first leaves once the second is there, at 1, and needs 50 cycles from memory to the board cache; each store takes
    // one. The fifth store, at 4, finds the buffer full until 51; then another leaves every 50.
    assert_eq!(took, [1, 1, 1, 1, 48, 50, 50, 50]);
    assert_eq!(caches.counts()[DATA].stalls, Cycles(47 + 3 * 49));
}

#[test]
fn a_load_waits_for_a_store_to_its_line() {
    let mut caches = build(&dec());
    caches.access(CPU, store(0x100));
    assert_eq!(caches.access(CPU, load(0x104)), served(50 + 10, 1), "the store goes to the board first");
    assert!(caches.holds(DATA, 0x100));
}

#[test]
fn the_next_line_is_fetched_on_a_miss() {
    let ahead = dec().with(|cache| {
        if cache.level == 1 {
            cache.prefetch = Prefetch::NextOnMiss;
        }
    });
    let mut caches = build(&ahead);
    assert_eq!(caches.access(CPU, fetch(0x100)), served(50, 2));
    assert_eq!(caches.access(CPU, fetch(0x120)), served(1, 0));
    assert_eq!(caches.access(CPU, fetch(0x140)), served(50, 2), "a hit fetches nothing ahead");
    let counts = caches.counts();
    assert_eq!(counts[INSTRUCTIONS].prefetched, 2);
    assert_eq!((counts[BOARD].accesses(Cause::Prefetch), counts[BOARD].references()), (2, 2));
    caches.access(CPU, Reference::new(Kind::Fetch, u64::MAX - 3, 4));
    assert_eq!(caches.counts()[INSTRUCTIONS].prefetched, 2, "there is no line behind the last");
}

#[test]
fn a_reference_in_two_lines_counts_as_told() {
    let mut each = build(&dec());
    let across = Reference::new(Kind::Load, 0x11e, 4);
    assert_eq!(each.access(CPU, across), served(100, 2));
    assert_eq!(each.counts()[DATA].references(), 2);
    let mut whole = build(&Description { straddling: Straddling::Whole, ..dec() });
    assert_eq!(whole.access(CPU, across), served(50, 2));
    let counts = whole.counts();
    assert_eq!((counts[DATA].references(), counts[BOARD].references()), (1, 1));
    assert!(whole.holds(BOARD, 0x11f) && whole.holds(BOARD, 0x120));
}

#[test]
fn what_was_changed_is_written_back_once() {
    let back = dec().with(|cache| (cache.writes, cache.write_buffer) = (Writes::Back, None));
    let mut caches = build(&back);
    for reference in [store(0x100), store(0x104), load(0x100 + 8192), load(0x100)] {
        caches.access(CPU, reference);
    }
    let counts = caches.counts();
    assert_eq!((counts[DATA].written_back, counts.memory_writes), (1, 0), "the board cache keeps it");
    caches.flush(CPU);
    assert_eq!(caches.counts()[BOARD].written_back, 1);
    assert_eq!(caches.counts().memory_writes, 1);
    assert_eq!(caches.access(CPU, load(0x100)), served(50, 2));
}

#[test]
fn a_store_invalidates_other_processors_copies() {
    let mut caches = build(&machines::sgi_4d_340());
    let (one, other) = (CpuId(1), CpuId(2));
    caches.access(one, load(0x100));
    caches.access(other, load(0x100));
    assert_eq!(caches.access(one, store(0x100)), served(1, 0));
    assert_eq!(caches.access(other, load(0x100)), served(35, 2));
    let invalidated: u64 = caches.counts().caches.iter().map(|cache| cache.invalidated).sum();
    assert_eq!(invalidated, 2, "in both data caches of the other");
}

#[test]
fn what_an_inclusive_cache_loses_the_nearer_ones_lose() {
    let tiny = |inclusive| {
        machines::three_levels(2).with(|cache| {
            cache.geometry.ways = if cache.level == 3 { 1 } else { 4 };
            cache.geometry.size.0 = if cache.level == 3 { 1024 } else { 4096 };
            cache.inclusive = inclusive && cache.level == 3;
        })
    };
    for (inclusive, expected) in [(true, served(250, 3)), (false, served(4, 0))] {
        let mut caches = build(&tiny(inclusive));
        caches.access(CpuId(0), load(0));
        caches.access(CpuId(1), load(1024));
        assert_eq!(caches.access(CpuId(0), load(0)), expected);
    }
}

#[test]
fn a_machine_of_many_cpus_can_be_built() {
    let server = warmcore_topology::synthetic::two_socket_server();
    let description = Description::from_machine(&server, &[4, 14, 50].map(Cycles), Cycles(250));
    assert_eq!(description.cpus(), (0..128).map(CpuId).collect::<CpuSet>());
    let mut caches = build(&description);
    caches.access(CpuId(127), load(0));
    assert_eq!(caches.access(CpuId(63), load(0)), served(4, 0), "the other hardware thread of its core");
    assert_eq!(caches.access(CpuId(62), load(0)), served(50, 2), "a core with the same last level");
    assert_eq!(caches.access(CpuId(0), load(0)), served(250, 3));
}

#[test]
fn a_cpu_without_caches_panics_as_documented_whatever_its_number() {
    let description = dec().with(|cache| cache.shared_by = CpuSet::from_iter([CpuId(5)]));
    let uses: [fn(&mut Hierarchy, CpuId); 4] = [
        |caches, cpu| _ = caches.access(cpu, load(0)),
        |caches, cpu| _ = caches.run(cpu, &[load(0), fetch(4)]),
        |caches, cpu| _ = caches.cycles(cpu),
        |caches, cpu| caches.flush(cpu),
    ];
    for (index, on) in uses.into_iter().enumerate() {
        for cpu in [0, 9] {
            let mut caches = build(&description);
            let used = catch_unwind(AssertUnwindSafe(|| on(&mut caches, CpuId(cpu))));
            assert!(used.is_err(), "use {index} of cpu {cpu}");
        }
        on(&mut build(&description), CpuId(5));
    }
}

#[test]
fn the_longest_lines_can_be_watched() {
    for bits in [20, 30] {
        let line = 1_u64 << bits;
        let description = dec().with(|cache| {
            let geometry = &mut cache.geometry;
            (geometry.line, geometry.size) = (Bytes(line), Bytes(2 * line * u64::from(geometry.ways)));
        });
        let mut caches = Hierarchy::observed(&description, Unused::new(&description, Bytes(4)))
            .expect("such lines are allowed");
        caches.access(CPU, load(line - 4));
        caches.access(CPU, load(0));
        let found = caches.observer().get(DATA);
        assert_eq!((found.fetched, found.unused), (64, 62), "lines of 2^{bits} bytes have 64 words");
    }
    let endless = dec().with(|cache| cache.geometry.line = Bytes(1 << 63));
    let _ = Unused::new(&endless, Bytes(u64::MAX));
    assert!(Hierarchy::build(&endless).is_err());
}
