//! On which cpu each queue's interrupt is to be handled.
//!
//! On the cpus of the threads, those near the device first, as many queues on each; beside them,
//! behind the same last-level cache, where a cpu cannot do both. An interrupt that is on such a cpu
//! stays there.

use super::ground::{Ground, Seat};
use super::traffic::Flow;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Where queues go, seen from the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// On their cpus.
    With,
    /// On other cores, behind the same last-level cache where there are some.
    Beside,
}

/// The cpu of each queue, in their order; that of a queue that cannot be moved is the one it is on.
pub(super) fn choose(ground: &Ground, side: Side, threads: &[CpuId], flows: &[Flow<'_>]) -> Vec<CpuId> {
    let targets: CpuSet =
        targets(ground, side, &threads.iter().copied().collect()).iter().map(|seat| seat.cpu).collect();
    let mut taken: BTreeMap<CpuId, usize> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| !flow.is_movable()) {
        *taken.entry(flow.now).or_default() += 1;
    }
    let each = flows.len().div_ceil(targets.len().max(1));
    let mut chosen: Vec<Option<CpuId>> =
        flows.iter().map(|flow| keep(flow, &targets, &mut taken, each)).collect();
    for (flow, chosen) in flows.iter().zip(&mut chosen) {
        *chosen = chosen.or_else(|| find(ground, flow, (&targets, threads), &mut taken));
    }
    flows.iter().zip(chosen).map(|(flow, chosen)| chosen.unwrap_or(flow.now)).collect()
}

/// The cpu that `flow` is on, if it cannot leave, or need not.
fn keep(flow: &Flow<'_>, targets: &CpuSet, taken: &mut BTreeMap<CpuId, usize>, each: usize) -> Option<CpuId> {
    if !flow.is_movable() {
        return Some(flow.now);
    }
    let taken = taken.entry(flow.now).or_default();
    let stays = targets.contains(flow.now) && *taken < each;
    stays.then(|| {
        *taken += 1;
        flow.now
    })
}

/// Of the cpus nearest to the device, the one with the fewest queues; of these, the one with the most
/// threads.
fn find(
    ground: &Ground,
    flow: &Flow<'_>,
    (targets, threads): (&CpuSet, &[CpuId]),
    taken: &mut BTreeMap<CpuId, usize>,
) -> Option<CpuId> {
    let is_far = |seat: &Seat| flow.interface.node.is_some_and(|node| seat.node != node);
    let seats = ground.open().filter(|seat| targets.contains(seat.cpu));
    let of = |seat: &Seat| taken.get(&seat.cpu).copied().unwrap_or(0);
    let readers = |seat: &Seat| threads.iter().filter(|&&cpu| cpu == seat.cpu).count();
    let found = seats.min_by_key(|seat| (is_far(seat), of(seat), core::cmp::Reverse(readers(seat))))?;
    *taken.entry(found.cpu).or_default() += 1;
    Some(found.cpu)
}

/// The cpus that queues may be put on for the sake of `threads`.
fn targets(ground: &Ground, side: Side, threads: &CpuSet) -> Vec<Seat> {
    let with = || ground.open().filter(|seat| threads.contains(seat.cpu)).collect::<Vec<_>>();
    let found = match side {
        Side::With => with(),
        Side::Beside => beside(ground, threads),
    };
    match found.is_empty() {
        true if side == Side::With => beside(ground, threads),
        true => with(),
        false => found,
    }
}

/// The cpus on other cores than `threads` that are nearest to them: first hardware threads, and as many
/// as there are threads.
pub(super) fn beside(ground: &Ground, threads: &CpuSet) -> Vec<Seat> {
    let own = ground.cores_of(threads);
    let distance = |seat: &Seat| threads.iter().map(|thread| ground.distance(seat.cpu, thread)).min();
    let mut free: Vec<Seat> = ground.open().filter(|seat| !own.contains(seat.cpu)).collect();
    free.sort_by_key(|seat| (distance(seat), seat.rank));
    let Some(nearest) = free.first().map(|seat| (distance(seat), seat.rank)) else { return free };
    free.retain(|seat| (distance(seat), seat.rank) == nearest);
    free.truncate(threads.len().max(1));
    free
}
