//! Cores that do nothing but take packets in, as large machines have them: all queues go there, and readers leave.

use super::Unplaceable;
use super::context::{Assignment, Context, Proposal};
use super::device_queues::{DeviceQueue, Steering};
use super::threads::FULL;
use super::{masks, spread};
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;

/// All queues on `count` cores near their devices, and no reader on them.
pub(super) fn propose(context: &Context<'_>, count: usize) -> Result<Proposal, Unplaceable> {
    let cpus = choose(context, count);
    let found = context.pool.available().filter(|cpu| cpus.contains(cpu.id)).map(|cpu| cpu.core);
    let found = found.collect::<BTreeSet<_>>().len();
    if found < count {
        return Err(Unplaceable::TooFewCores { asked: count, found });
    }
    check_time(context, count)?;
    let left = context.pool.available().filter(|cpu| !cpus.contains(cpu.id)).count();
    if left == 0 {
        return Err(Unplaceable::NothingLeft);
    }
    let threads = masks::choose(context, &cpus);
    let queues = spread::choose(context, &threads, Some(&cpus));
    let why = format!("one of the cores that take packets in, {cpus}");
    let steering = |queue: &DeviceQueue<'_>| match queue.is_planned {
        true => Steering::None,
        false => queue.steering.clone(),
    };
    let steering = context.queues.iter().map(steering).collect();
    Ok(context.propose(Assignment { threads, queues, steering, why }))
}

/// Checks that `count` cores have time for the packets that were seen.
fn check_time(context: &Context<'_>, count: usize) -> Result<(), Unplaceable> {
    let needed = (context.packet_load() / FULL).ceil() as usize;
    match needed > count {
        true => Err(Unplaceable::TooFewInterruptCores { asked: count, load: context.packet_load(), needed }),
        false => Ok(()),
    }
}

/// The cpus of `count` cores: shared out to the nodes with queues by the packets that come in there.
pub(super) fn choose(context: &Context<'_>, count: usize) -> CpuSet {
    let mut parts: BTreeMap<u32, f64> = BTreeMap::new();
    for queue in context.queues.iter().filter(|queue| queue.is_planned) {
        let node = queue.interface.node.or_else(|| context.pool.get(queue.current_cpu).map(|cpu| cpu.node));
        *parts.entry(node.unwrap_or_default()).or_default() += queue.part;
    }
    let has_fast = context.pool.available().any(|cpu| !cpu.slow);
    let cores_of = |node: u32| {
        let near = context.pool.available().filter(|cpu| cpu.node == node && !(has_fast && cpu.slow));
        near.map(|cpu| cpu.core).collect::<BTreeSet<usize>>()
    };
    let mut nodes: Vec<_> =
        parts.into_iter().map(|(node, part)| (part, 0.0, cores_of(node).into_iter())).collect();
    let mut chosen = BTreeSet::new();
    while chosen.len() < count {
        let with_free = nodes.iter_mut().filter(|(_, _, free)| free.len() > 0);
        let next = with_free.reduce(|most, other| {
            // As seats are shared out by votes (Sainte-Lague), after one for each: queues stay on the node of their card.
            let share = |&(part, taken, _): &(f64, f64, _)| (taken == 0.0, part / (taken + 0.5));
            if share(other) > share(most) { other } else { most }
        });
        let Some((_, taken, free)) = next else { break };
        *taken += 1.0;
        chosen.extend(free.next());
    }
    context.pool.available().filter(|cpu| chosen.contains(&cpu.core)).map(|cpu| cpu.id).collect()
}
