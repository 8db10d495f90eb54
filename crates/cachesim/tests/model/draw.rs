//! Random hierarchies and references: small enough that lines meet.

use rand::RngExt;
use rand::rngs::StdRng;
use warmcore_cachesim::{
    CacheDescription, Description, Kind, Owner, Prefetch, Reference, Replacement, Straddling, Writes,
};
use warmcore_topology::{Cache, CacheKind, CpuSet, Geometry};
use warmcore_units::{Bytes, CpuId, Cycles};

/// Addresses of references are below.
pub(crate) const ADDRESSES: u64 = 2048;

pub(crate) fn references(random: &mut StdRng, count: usize) -> Vec<Reference> {
    let mut near = 0;
    let mut one = || {
        let kind = Kind::ALL[random.random_range(0..3)];
        if random.random_bool(0.1) {
            near = random.random_range(0..ADDRESSES - 400);
        }
        let size =
            if random.random_bool(0.95) { random.random_range(0..9) } else { random.random_range(0..100) };
        let owner = Owner(random.random_range(0..3));
        Reference::new(kind, near + random.random_range(0..60), size).by(owner)
    };
    (0..count).map(|_| one()).collect()
}

/// One to three levels, the first split or not, private or shared by up to three cpus.
pub(crate) fn description(random: &mut StdRng) -> Description {
    let cpus = if random.random_bool(0.5) { 1 } else { random.random_range(2..4) };
    let levels = random.random_range(1..4);
    let (mut caches, mut line, mut latency) = (Vec::new(), 4 << random.random_range(0..3), 1);
    let mut shared = false;
    // With caches of one kind alone at a level, what is of the other kind goes on past it.
    for level in 1..=levels {
        shared |= random.random_bool(0.3);
        // Behind a unified cache, ways that part would have to meet again.
        let may_part = caches.iter().all(|cache: &CacheDescription| cache.kind != CacheKind::Unified);
        let split = random.random_bool(if level == 1 { 0.5 } else { 0.1 });
        let kinds: &[CacheKind] = if may_part && split {
            &[CacheKind::Instruction, CacheKind::Data]
        } else if may_part && random.random_bool(0.3) {
            [&[CacheKind::Instruction], &[CacheKind::Data]][random.random_range(0..2)]
        } else {
            &[CacheKind::Unified]
        };
        let mut longest = line;
        for &kind in kinds {
            let like = cache(random, level, kind, line, latency);
            longest = longest.max(like.geometry.line.0);
            let groups: Vec<CpuSet> = if shared {
                vec![(0..cpus).map(CpuId).collect()]
            } else {
                (0..cpus).map(|cpu| CpuSet::from_iter([CpuId(cpu)])).collect()
            };
            caches.extend(groups.into_iter().map(|shared_by| CacheDescription { shared_by, ..like.clone() }));
        }
        line = longest;
        latency += random.random_range(0..20);
    }
    let straddling = [Straddling::EachLine, Straddling::Whole][random.random_range(0..2)];
    let memory = Cycles(latency + 30);
    let plain = random.random_bool(0.5);
    let description =
        Description { name: "random".to_owned(), caches, memory, straddling, seed: random.random() };
    let description = Description { seed: description.seed >> 1, ..description };
    if !plain {
        return description;
    }
    description.with(|cache| {
        cache.inclusive = false;
        cache.prefetch = Prefetch::Off;
        cache.writes = Writes::Back;
    })
}

fn cache(random: &mut StdRng, level: u32, kind: CacheKind, line: u64, latency: u64) -> CacheDescription {
    let policies = [Replacement::Lru, Replacement::Fifo, Replacement::Random, Replacement::TreePlru];
    let replacement = policies[random.random_range(0..4)];
    let ways = match replacement {
        Replacement::TreePlru => 1 << random.random_range(0..4),
        _ if random.random_bool(0.1) => 20,
        _ => random.random_range(1..9),
    };
    let line = line << random.random_range(0..2);
    let size = (line * u64::from(ways)) << random.random_range(0..4);
    let geometry = Geometry { size: Bytes(size), line: Bytes(line), ways };
    let told = Cache { level, kind, geometry, shared_by: CpuSet::default() };
    CacheDescription {
        replacement,
        writes: if random.random_bool(0.3) { Writes::Through } else { Writes::Back },
        prefetch: if random.random_bool(0.2) { Prefetch::NextOnMiss } else { Prefetch::Off },
        inclusive: random.random_bool(0.3),
        ..CacheDescription::new(&told, Cycles(latency))
    }
}
