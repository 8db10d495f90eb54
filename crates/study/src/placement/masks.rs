//! The cpus that reading processes may run on: those of the node at which their packets arrive.
//!
//! A process gets a mask, and the scheduler chooses within it: a single cpu per thread would bind what the program
//! starts later to it as well. Within one node the scheduler is left alone. A node that other programs keep busy takes
//! no readers, and no reader leaves the mask that somebody gave it.

use super::context::Context;
use super::device_queues::DeviceQueue;
use super::target_threads::TargetThread;
use super::threads::busiest_node;
use warmcore_topology::CpuSet;

/// The part of a node's time that readers may use, so that the kernel's work and bursts find time as well.
const FULL: f64 = 0.7;

/// The cpus of each reader. `without` are kept free of them.
pub(super) fn choose(context: &Context<'_>, without: &CpuSet) -> Vec<CpuSet> {
    let near = node_of_packets(context);
    let available: CpuSet = context.pool.available().map(|cpu| cpu.id).collect();
    let fits = near.as_ref().is_some_and(|near| {
        let left = near.difference(without);
        context.thread_load() + context.other_load(&left) <= FULL * left.len() as f64
    });
    let cpus = |thread: &TargetThread<'_>| {
        if thread.dedicated || thread.home(&context.pool).is_some() && without.is_empty() {
            return thread.current.clone();
        }
        // A mask that somebody has set within the cpuset is kept to.
        let near = near.as_ref().filter(|_| fits);
        let near = near.map(|near| near.intersection(&thread.permitted).intersection(&thread.current));
        let wide =
            if without.is_empty() { thread.current.clone() } else { thread.current.intersection(&available) };
        let moved = near.filter(|near| !near.is_empty() && !thread.current.difference(near).is_empty());
        let left = moved.unwrap_or(wide).difference(without);
        if left.is_empty() { thread.current.clone() } else { left }
    };
    context.threads.iter().map(cpus).collect()
}

/// The available cpus of the node that most packets arrive at, where the host has several nodes.
fn node_of_packets(context: &Context<'_>) -> Option<CpuSet> {
    let node = busiest_node(&context.queues)?;
    let on_node: CpuSet = context.pool.available().filter(|cpu| cpu.node == node).map(|cpu| cpu.id).collect();
    let is_all = context.pool.available().all(|cpu| cpu.node == node);
    (!on_node.is_empty() && !is_all && context.queues.iter().any(DeviceQueue::is_movable)).then_some(on_node)
}
