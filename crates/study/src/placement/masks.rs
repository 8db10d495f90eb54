//! The cpus that reading processes may run on: those of the node at which their packets arrive.
//!
//! A process gets a mask, and the scheduler chooses within it: a single cpu per thread would bind what the program
//! starts later to it as well. Within one node the scheduler is left alone. A node whose cores the readers, other programs and
//! packets would fill takes none, readers that receive as much from a card of another node stay where they are, and no
//! reader leaves the mask that somebody gave it.

use super::context::{Assignment, Context};
use super::device_queues::{DeviceQueue, Steering};
use super::spread;
use super::target_threads::TargetThread;
use super::threads::{FULL, busiest_node};
use std::collections::BTreeSet;
use warmcore_topology::CpuSet;

/// The cpus of each reader. `without` are kept free of them.
///
/// Readers move to the node of most packets together, where that fits and brings packets nearer; otherwise each loses
/// `without` and nothing else.
pub(super) fn choose(context: &Context<'_>, without: &CpuSet) -> Vec<CpuSet> {
    let stays: Vec<CpuSet> = context.threads.iter().map(|thread| remaining(thread, without)).collect();
    let Some(near) = node_of_packets(context).map(|near| near.difference(without)) else { return stays };
    let moved: Vec<Option<CpuSet>> =
        context.threads.iter().map(|thread| moved(context, thread, &near, without)).collect();
    let masks: Vec<CpuSet> =
        moved.into_iter().zip(&stays).map(|(moved, stays)| moved.unwrap_or_else(|| stays.clone())).collect();
    let fits = has_time(context, &masks, &near, context.counted_load())
        && masks
            .iter()
            .zip(&stays)
            .all(|(mask, stays)| mask == stays || has_time(context, &masks, mask, 0.0));
    if fits && are_nearer(context, &masks, &stays, without) { masks } else { stays }
}

/// The cpus of `thread` that are left to it; all of them, where none would be.
fn remaining(thread: &TargetThread<'_>, without: &CpuSet) -> CpuSet {
    let left = thread.current.difference(without);
    if left.is_empty() || thread.dedicated { thread.current.clone() } else { left }
}

/// The cpus of `near` that `thread` may move to; `None` where it is pinned, or runs nowhere else, or may not go there. A
/// mask that somebody has set within the cpuset is kept to.
fn moved(
    context: &Context<'_>,
    thread: &TargetThread<'_>,
    near: &CpuSet,
    without: &CpuSet,
) -> Option<CpuSet> {
    if thread.dedicated || thread.home(&context.pool).is_some() {
        return None;
    }
    let own = near.intersection(&thread.permitted).intersection(&thread.current);
    let leaves = !remaining(thread, without).difference(&own).is_empty();
    (leaves && !own.is_empty()).then_some(own)
}

/// Whether the cores of `cpus` have time for the readers with `masks` that may run nowhere else, for other programs there
/// and for `packets`. The second hardware thread of a core adds little time to that of the first. Where the host was not
/// watched, nothing tells that they have not.
fn has_time(context: &Context<'_>, masks: &[CpuSet], cpus: &CpuSet, packets: f64) -> bool {
    let cores = cpus.iter().filter_map(|cpu| context.pool.get(cpu)).map(|cpu| cpu.core);
    let cores = cores.collect::<BTreeSet<_>>().len();
    let load = load_on(context, masks, cpus) + context.other_load(cpus) + packets;
    context.rates.is_none() || load <= FULL * cores as f64
}

/// The cpus' worth of time that readers with these `masks` use of `cpus`.
fn load_on(context: &Context<'_>, masks: &[CpuSet], cpus: &CpuSet) -> f64 {
    let part = |mask: &CpuSet| mask.intersection(cpus).len() as f64 / mask.len().max(1) as f64;
    context.threads.iter().zip(masks).map(|(thread, mask)| thread.share() * part(mask)).sum()
}

/// Whether fewer packets have their readers on another node with `masks` than with `stays`, once their queues are near
/// their devices.
fn are_nearer(context: &Context<'_>, masks: &[CpuSet], stays: &[CpuSet], without: &CpuSet) -> bool {
    const ROUNDING: f64 = 1e-9;
    let only = Some(without).filter(|cpus| !cpus.is_empty());
    let remote = |threads: &[CpuSet]| {
        let queues = spread::choose(context, threads, only);
        let steering = vec![Steering::None; queues.len()];
        let assignment = Assignment { threads: threads.to_vec(), queues, steering, why: String::new() };
        context.propose(assignment).layout.crossing.remote
    };
    remote(masks) < remote(stays) - ROUNDING
}

/// The available cpus of the node that most packets arrive at, where the host has several nodes.
fn node_of_packets(context: &Context<'_>) -> Option<CpuSet> {
    let node = busiest_node(&context.queues)?;
    let with_time = context.pool.available().filter(|cpu| !context.pool.is_occupied(*cpu));
    let on_node: CpuSet = with_time.filter(|cpu| cpu.node == node).map(|cpu| cpu.id).collect();
    let is_all = context.pool.available().all(|cpu| cpu.node == node);
    (!on_node.is_empty() && !is_all && context.queues.iter().any(DeviceQueue::is_movable)).then_some(on_node)
}
