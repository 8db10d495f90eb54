//! Which cpus send through which transmit queue (XPS): each through the queue whose receive side is nearest, so that
//! sent packets are cleaned up where they were sent.
//!
//! Every online cpu gets exactly one queue of an interface; a cpu without one would hash its flows over all of them.
//! Cpus that are equally near to several queues take turns.

use super::context::{Assignment, Context};
use super::cpu_pool::Distance;
use super::device_queues::DeviceQueue;
use super::gain::Gain;
use super::line::{self, PlannedLine};
use std::collections::BTreeMap;
use warmcore_linux::inventory::{Interface, TransmitQueue};
use warmcore_linux::tuning::Setting;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Why cpus send through a queue.
pub(super) const REASON: &str = "the cpus nearest to the interrupt of its receive queue send through it";

/// The line of every transmit queue whose cpus change.
pub(super) fn lines(context: &Context<'_>, assignment: &Assignment) -> Vec<PlannedLine> {
    let meant = context.queues.iter().filter(|queue| queue.is_meant);
    let mut interfaces: Vec<&Interface> = meant.map(|queue| queue.interface).collect();
    interfaces.dedup_by_key(|interface| &interface.name);
    interfaces.into_iter().flat_map(|interface| of_interface(context, assignment, interface)).collect()
}

fn of_interface(context: &Context<'_>, assignment: &Assignment, interface: &Interface) -> Vec<PlannedLine> {
    let is_own = |(queue, _): &(&DeviceQueue<'_>, &CpuId)| {
        queue.interface.name == interface.name
            && interface.transmit.iter().any(|transmit| transmit.number == queue.number)
    };
    let own = context.queues.iter().zip(&assignment.queues).filter(is_own);
    let own: Vec<(u32, CpuId)> = own.map(|(queue, &cpu)| (queue.number, cpu)).collect();
    let cpus_of = cpus(context, &own);
    let line = |queue: &TransmitQueue| {
        let from = queue.xps.as_ref()?;
        let cpus = cpus_of.get(&queue.number)?.clone();
        let (from, to) = ((line::named(from), *from != cpus), line::named(&cpus));
        let reason = REASON.to_owned();
        let set = Setting::XpsCpus { interface: interface.name.clone(), queue: queue.number, cpus };
        Some(PlannedLine::new(set, from, to, reason, no_costs()))
    };
    interface.transmit.iter().filter_map(line).filter(|line| line.changes).collect()
}

/// The cpus of each transmit queue, by its number, given the cpu that the receive queue of its number interrupts.
pub(super) fn cpus(context: &Context<'_>, own: &[(u32, CpuId)]) -> BTreeMap<u32, CpuSet> {
    let mut cpus: BTreeMap<u32, CpuSet> = BTreeMap::new();
    for cpu in context.pool.online() {
        let distance = |&(_, interrupted): &(u32, CpuId)| -> (bool, Distance) {
            (interrupted != cpu.id, context.pool.distance(interrupted, cpu.id))
        };
        let Some(nearest) = own.iter().map(distance).min() else { break };
        let near = own.iter().filter(|queue| distance(queue) == nearest).map(|&(number, _)| number);
        let fewest = near.min_by_key(|number| cpus.get(number).map_or(0, CpuSet::len));
        cpus.entry(fewest.unwrap_or_default()).or_default().extend([cpu.id]);
    }
    cpus
}

pub(super) fn no_costs() -> Gain {
    Gain::Unknown("a profile holds the costs of receiving".to_owned())
}
