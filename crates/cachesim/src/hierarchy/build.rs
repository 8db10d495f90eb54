//! From a description to empty caches.

use super::{Buffer, Cache, Hierarchy, MEMORY, Memory, NO_CPU, Processor, batch};
use crate::counts::{CacheCounts, CacheId};
use crate::observe::{Nothing, Observer};
use crate::sets::Sets;
use crate::{Description, Prefetch, Writes};
use warmcore_units::{CpuId, Fault};

impl Hierarchy {
    /// Empty caches as described, with nothing watched.
    ///
    /// # Errors
    /// If [`Description::check`] finds a fault.
    pub fn build(description: &Description) -> Result<Self, Fault> {
        Self::observed(description, Nothing)
    }
}

impl<O: Observer> Hierarchy<O> {
    /// Empty caches as described, watched by `observer`.
    ///
    /// # Errors
    /// If [`Description::check`] finds a fault.
    pub fn observed(description: &Description, observer: O) -> Result<Self, Fault> {
        description.check()?;
        let cpus = description.cpus();
        let mut caches: Vec<Cache> = (0..description.caches.len()).map(|at| cache(description, at)).collect();
        for cpu in cpus.iter() {
            for instructions in [true, false] {
                link(&mut caches, &description.path(cpu, instructions), description);
            }
        }
        let all = cpus.iter().map(CpuId::index).max().map_or(0, |last| last + 1);
        let mut processors = vec![Processor::ABSENT; all];
        for cpu in cpus.iter() {
            processors[cpu.index()] = processor(description, cpu);
        }
        Ok(Self {
            buffered: caches.iter().any(|cache| cache.buffer.is_some()),
            caches,
            cpus: processors,
            memory: Memory { latency: description.memory.0, reads: 0, writes: 0 },
            straddling: description.straddling,
            several: cpus.len() > 1,
            one_way: cpus.len() == 1 && description.caches.iter().all(batch::can),
            observer,
        })
    }
}

impl Processor {
    /// A cpu that the description does not name.
    const ABSENT: Self =
        Self { nearest: [NO_CPU; 2], buffer: MEMORY, foreign: Vec::new(), own: Vec::new(), cycles: 0 };
}

fn cache(description: &Description, at: usize) -> Cache {
    let described = &description.caches[at];
    Cache {
        sets: Sets::new(described.geometry, described.replacement, description.seed.wrapping_add(at as u64)),
        line_bits: described.geometry.line.0.trailing_zeros(),
        latency: described.latency.0,
        below: MEMORY,
        through: described.writes == Writes::Through,
        prefetches: described.prefetch == Prefetch::NextOnMiss,
        subject: Vec::new(),
        counts: CacheCounts::default(),
        buffer: described.write_buffer.map(|buffer| Box::new(Buffer::new(buffer))),
    }
}

/// Tells the caches of `path`, nearest first, of each other.
fn link(caches: &mut [Cache], path: &[usize], description: &Description) {
    for pair in path.windows(2) {
        caches[pair[0]].below = pair[1] as u32;
    }
    for (depth, &at) in path.iter().enumerate() {
        if description.caches[at].inclusive {
            for &nearer in &path[..depth] {
                if !caches[at].subject.contains(&(nearer as u32)) {
                    caches[at].subject.push(nearer as u32);
                }
            }
        }
    }
}

fn processor(description: &Description, cpu: CpuId) -> Processor {
    let path = |instructions| description.path(cpu, instructions);
    let nearest = |instructions| path(instructions).first().map_or(MEMORY, |&at| at as u32);
    let buffered = |&at: &usize| description.caches[at].write_buffer.is_some();
    let foreign = description
        .caches
        .iter()
        .enumerate()
        .filter(|(_, cache)| cache.serves(false) && !cache.shared_by.contains(cpu));
    let mut own: Vec<usize> = (0..description.caches.len())
        .filter(|&at| description.caches[at].shared_by.iter().eq([cpu]))
        .collect();
    own.sort_by_key(|&at| description.caches[at].level);
    Processor {
        nearest: [nearest(true), nearest(false)],
        buffer: path(false).into_iter().find(buffered).map_or(MEMORY, |at| at as u32),
        foreign: foreign.map(|(at, _)| at as u32).collect(),
        own: own.into_iter().map(|at| CacheId(at as u32)).collect(),
        cycles: 0,
    }
}
