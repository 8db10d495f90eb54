//! Cores that do nothing but take packets in, as large machines have them: all queues go there, and readers leave.

use super::Unplaceable;
use super::context::{Assignment, Context, Proposal};
use super::device_queues::Steering;
use super::{masks, spread};
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;

/// All queues on `count` cores near their devices, and no reader on them.
pub(super) fn propose(context: &Context<'_>, count: usize) -> Result<Proposal, Unplaceable> {
    let cpus = choose(context, count);
    let left = context.pool.available().filter(|cpu| !cpus.contains(cpu.id)).count();
    if left == 0 {
        return Err(Unplaceable::NothingLeft);
    }
    let threads = masks::choose(context, &cpus);
    let queues = spread::choose(context, &threads, Some(&cpus));
    let why = format!("to one of the cores that take packets in, {cpus}");
    let steering = vec![Steering::None; queues.len()];
    Ok(context.propose(Assignment { threads, queues, steering, why }))
}

/// The cpus of `count` cores: in turn from each node with queues, the nodes with most queues first.
pub(super) fn choose(context: &Context<'_>, count: usize) -> CpuSet {
    let mut queues: BTreeMap<u32, usize> = BTreeMap::new();
    for queue in &context.queues {
        let node = queue.interface.node.or_else(|| context.pool.get(queue.current_cpu).map(|cpu| cpu.node));
        *queues.entry(node.unwrap_or_default()).or_default() += 1;
    }
    let mut nodes: Vec<u32> = queues.keys().copied().collect();
    nodes.sort_by_key(|node| (core::cmp::Reverse(queues[node]), *node));
    let has_fast = context.pool.available().any(|cpu| !cpu.slow);
    let cores_of = |node: u32| {
        let near = context.pool.available().filter(|cpu| cpu.node == node && !(has_fast && cpu.slow));
        near.map(|cpu| cpu.core).collect::<BTreeSet<usize>>()
    };
    let mut free: Vec<_> = nodes.into_iter().map(|node| cores_of(node).into_iter()).collect();
    let mut chosen = BTreeSet::new();
    while chosen.len() < count {
        let taken: Vec<usize> =
            free.iter_mut().filter_map(Iterator::next).take(count - chosen.len()).collect();
        if taken.is_empty() {
            break;
        }
        chosen.extend(taken);
    }
    context.pool.available().filter(|cpu| chosen.contains(&cpu.core)).map(|cpu| cpu.id).collect()
}
