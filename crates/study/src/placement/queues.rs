//! Queues on or beside the cpus of readers that are pinned, one cpu each.
//!
//! Queues go to the cpus of the threads, evenly, those near the device first. Where one cpu cannot do
//! both, they go to neighbouring cores behind the same last-level cache. An interrupt that is already
//! on such a cpu stays there.

use super::cpu_pool::{CpuPool, PoolCpu};
use super::device_queues::DeviceQueue;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Where queues go, relative to the threads that read from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colocation {
    /// On the same cpus.
    SameCpu,
    /// On other cores, behind the same last-level cache where possible.
    NeighbourCore,
}

/// Chooses the cpu of each queue, in the order of `queues`; a queue that cannot be moved keeps its cpu.
pub(super) fn choose(
    pool: &CpuPool,
    colocation: Colocation,
    threads: &[CpuId],
    queues: &[DeviceQueue<'_>],
) -> Vec<CpuId> {
    let candidates = candidates(pool, colocation, &threads.iter().copied().collect());
    let candidates: CpuSet = candidates.iter().map(|cpu| cpu.id).collect();
    let mut taken = Taken::new();
    for queue in queues.iter().filter(|queue| !queue.is_movable()) {
        take(&mut taken, queue, queue.current_cpu);
    }
    let heaviest = queues.iter().map(|queue| queue.part).fold(0.0, f64::max);
    let count = candidates.len().max(1);
    let each = (queues.len().div_ceil(count), heaviest.max(1.0 / count as f64));
    let mut chosen: Vec<Option<CpuId>> =
        queues.iter().map(|queue| keep(queue, &candidates, &mut taken, each)).collect();
    for (queue, chosen) in queues.iter().zip(&mut chosen) {
        *chosen = chosen.or_else(|| find(pool, queue, (&candidates, threads), &mut taken));
    }
    queues.iter().zip(chosen).map(|(queue, chosen)| chosen.unwrap_or(queue.current_cpu)).collect()
}

/// The queues of each cpu, and the part of all packets that comes through them.
type Taken = BTreeMap<CpuId, (usize, f64)>;

fn take(taken: &mut Taken, queue: &DeviceQueue<'_>, cpu: CpuId) -> CpuId {
    let (count, part) = taken.entry(cpu).or_default();
    *count += 1;
    *part += queue.part;
    cpu
}

/// The cpu that `queue` is on, if it cannot leave it or need not: at most `each` queues and packets stay on one.
fn keep(
    queue: &DeviceQueue<'_>,
    candidates: &CpuSet,
    taken: &mut Taken,
    each: (usize, f64),
) -> Option<CpuId> {
    const ROUNDING: f64 = 1e-9;
    if !queue.is_movable() {
        return Some(queue.current_cpu);
    }
    let (count, part) = taken.get(&queue.current_cpu).copied().unwrap_or_default();
    let fits = count < each.0 && part + queue.part <= each.1 + ROUNDING;
    let stays = fits && candidates.contains(queue.current_cpu);
    stays.then(|| take(taken, queue, queue.current_cpu))
}

/// Of the candidates nearest to the device, the one with the fewest queues; of these, the one with the
/// most threads.
fn find(
    pool: &CpuPool,
    queue: &DeviceQueue<'_>,
    (candidates, threads): (&CpuSet, &[CpuId]),
    taken: &mut Taken,
) -> Option<CpuId> {
    let is_far = |cpu: &PoolCpu| queue.interface.node.is_some_and(|node| cpu.node != node);
    let queues_on = |cpu: &PoolCpu| taken.get(&cpu.id).map_or(0, |taken| taken.0);
    let readers_on = |cpu: &PoolCpu| threads.iter().filter(|&&reader| reader == cpu.id).count();
    let available = pool.available().filter(|cpu| candidates.contains(cpu.id));
    let found =
        available.min_by_key(|cpu| (is_far(cpu), queues_on(cpu), core::cmp::Reverse(readers_on(cpu))))?;
    Some(take(taken, queue, found.id))
}

/// The cpus that queues may be put on, given the cpus of their readers.
fn candidates(pool: &CpuPool, colocation: Colocation, readers: &CpuSet) -> Vec<PoolCpu> {
    let same = || pool.available().filter(|cpu| readers.contains(cpu.id)).collect::<Vec<_>>();
    let (first, second) = match colocation {
        Colocation::SameCpu => (same(), neighbours(pool, readers)),
        Colocation::NeighbourCore => (neighbours(pool, readers), same()),
    };
    if first.is_empty() { second } else { first }
}

/// The nearest cpus on other cores than `cpus`: first hardware threads before second ones, and at most
/// as many as there are in `cpus`.
pub(super) fn neighbours(pool: &CpuPool, cpus: &CpuSet) -> Vec<PoolCpu> {
    let own = pool.cores_of(cpus);
    let distance = |one: &PoolCpu| cpus.iter().map(|other| pool.distance(one.id, other)).min();
    let mut free: Vec<PoolCpu> = pool.available().filter(|cpu| !own.contains(cpu.id)).collect();
    free.sort_by_key(|cpu| (distance(cpu), cpu.smt_index));
    let Some(nearest) = free.first().map(|cpu| (distance(cpu), cpu.smt_index)) else { return free };
    free.retain(|cpu| (distance(cpu), cpu.smt_index) == nearest);
    free.truncate(cpus.len().max(1));
    free
}
