//! The simulator against caches written as plainly as can be, on random hierarchies and random references.

mod caches;
mod draw;

use caches::Model;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use warmcore_cachesim::observe::{MissKind, MissKinds};
use warmcore_cachesim::{CacheId, Cause, Counts, Description, Hierarchy, Reference};
use warmcore_topology::CacheKind;
use warmcore_units::CpuId;

/// Hierarchies that are drawn; `WARMCORE_HIERARCHIES` says otherwise.
const HIERARCHIES: u64 = 3_000;

const REFERENCES: usize = 400;

fn seeds() -> std::ops::Range<u64> {
    let told = std::env::var("WARMCORE_HIERARCHIES").ok().and_then(|told| told.parse().ok());
    0..told.unwrap_or(HIERARCHIES)
}

/// Fails with what reproduces it.
fn expect<T: PartialEq + std::fmt::Debug>(seed: u64, what: &str, found: T, expected: T) {
    assert_eq!(
        found,
        expected,
        "seed {seed}: {what}; {:#?}",
        draw::description(&mut StdRng::seed_from_u64(seed))
    );
}

fn compare_counts(seed: u64, counts: &Counts, model: &Model) {
    expect(seed, "memory reads", counts.memory_reads, model.memory_reads);
    expect(seed, "memory writes", counts.memory_writes, model.memory_writes);
    for (index, (found, expected)) in counts.caches.iter().zip(&model.caches).enumerate() {
        for cause in Cause::ALL {
            let accesses = expected.accesses.get(&cause).copied().unwrap_or(0);
            expect(seed, &format!("accesses of {index} by {cause}"), found.accesses(cause), accesses);
            let misses = expected.misses.get(&cause).copied().unwrap_or(0);
            expect(seed, &format!("misses of {index} by {cause}"), found.misses(cause), misses);
        }
        expect(seed, &format!("displaced in {index}"), found.displaced, expected.displaced);
        expect(seed, &format!("invalidated in {index}"), found.invalidated, expected.invalidated);
        expect(seed, &format!("excluded in {index}"), found.excluded, expected.excluded);
        expect(seed, &format!("written back by {index}"), found.written_back, expected.written_back);
        expect(seed, &format!("prefetched in {index}"), found.prefetched, expected.prefetched);
    }
}

/// A random hierarchy, its cpus, and who makes which reference.
fn draw(seed: u64) -> (Description, Vec<(CpuId, Reference)>) {
    let mut random = StdRng::seed_from_u64(seed);
    let description = draw::description(&mut random);
    let cpus: Vec<CpuId> = description.cpus().iter().collect();
    let references = draw::references(&mut random, REFERENCES);
    let cpu = |random: &mut StdRng| cpus[random.random_range(0..cpus.len())];
    (description, references.into_iter().map(|reference| (cpu(&mut random), reference)).collect())
}

#[test]
fn every_reference_finds_what_the_model_finds() {
    let (mut hits, mut accesses) = (0, 0);
    for seed in seeds() {
        let (description, references) = draw(seed);
        let mut caches =
            Hierarchy::build(&description).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        let mut model = Model::new(&description);
        for (index, (cpu, reference)) in references.iter().enumerate() {
            let found = caches.access(*cpu, *reference);
            expect(seed, &format!("reference {index}, {reference:?}"), found, model.access(*cpu, reference));
            hits += u64::from(found.depth == 0);
            accesses += 1;
        }
        compare_counts(seed, &caches.counts(), &model);
        for address in 0..draw::ADDRESSES {
            for index in 0..description.caches.len() {
                let here = caches.holds(CacheId(index as u32), address);
                expect(seed, &format!("whether {index} holds {address}"), here, model.holds(index, address));
            }
        }
    }
    assert!(hits * 5 > accesses && hits * 5 < accesses * 4, "{hits} hits of {accesses}: neither is rare");
}

#[test]
fn whole_traces_find_what_single_references_find() {
    let mut shapes = BTreeSet::new();
    for seed in seeds() {
        let (description, references) = draw(seed);
        if description.cpus().len() == 1 {
            shapes
                .insert(description.caches.iter().map(|cache| (cache.level, cache.kind)).collect::<Vec<_>>());
        }
        let trace: Vec<Reference> = references.into_iter().map(|(_, reference)| reference).collect();
        // Longer than a batch.
        let trace = trace.repeat(4);
        let cpu = description.cpus().first().expect("a cpu");
        let build = || Hierarchy::build(&description).expect("it was built before");
        let (mut whole, mut single) = (build(), build());
        // Two traces in a row: what the first left must be found.
        for trace in [&trace[..REFERENCES / 3], &trace[REFERENCES / 3..]] {
            let took = whole.run(cpu, trace);
            let sum = trace.iter().map(|&reference| single.access(cpu, reference).cycles).sum();
            expect(seed, "cycles of a trace", took, sum);
        }
        expect(seed, "counts of a trace", whole.counts(), single.counts());
    }
    // Which kinds of caches a processor has at a level: no shape may be left out.
    let kinds = |shape: &[(u32, CacheKind)], level| {
        shape.iter().filter(|one| one.0 == level).map(|one| one.1).collect::<Vec<_>>()
    };
    for first in
        [&[CacheKind::Instruction][..], &[CacheKind::Data], &[CacheKind::Instruction, CacheKind::Data]]
    {
        for second in [&[CacheKind::Instruction][..], &[CacheKind::Data], &[CacheKind::Unified]] {
            let is_drawn = |shape: &Vec<_>| kinds(shape, 1) == first && kinds(shape, 2) == second;
            assert!(shapes.iter().any(is_drawn), "no {first:?} before {second:?}");
        }
    }
}

#[test]
fn misses_are_of_the_kind_that_stack_distances_say() {
    let (mut compared, mut by_kind) = (0, [0_u64; 3]);
    for seed in seeds().take(1_000) {
        let (description, references) = draw(seed);
        // Lines that are taken away change the distances of others.
        let is_plain = description
            .caches
            .iter()
            .all(|cache| !cache.inclusive && cache.prefetch == warmcore_cachesim::Prefetch::Off);
        if description.cpus().len() > 1 || !is_plain {
            continue;
        }
        let kinds = MissKinds::new(&description);
        let mut caches = Hierarchy::observed(&description, kinds).expect("it was built before");
        let mut model = Model::new(&description);
        for (cpu, reference) in &references {
            caches.access(*cpu, *reference);
            model.access(*cpu, reference);
        }
        for (index, expected) in model.caches.iter().enumerate() {
            let found = caches.observer().get(CacheId(index as u32));
            let found = [MissKind::First, MissKind::Capacity, MissKind::Conflict].map(|kind| found.get(kind));
            let expected = [expected.first, expected.capacity, expected.conflict];
            expect(seed, &format!("first, capacity and conflict misses of {index}"), found, expected);
            (0..3).for_each(|kind| by_kind[kind] += found[kind]);
        }
        compared += 1;
    }
    assert!(compared > 100 && by_kind.iter().all(|&n| n > 1_000), "{compared} compared, misses {by_kind:?}");
}
