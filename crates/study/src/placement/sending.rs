//! Which cpus send through which transmit queue (XPS): each through the queue whose receive side is nearest, so that
//! sent packets are cleaned up where they were sent.
//!
//! Every online cpu gets exactly one queue of an interface; a cpu without one would hash its flows over all of them.
//! Cpus that are equally near to several queues take turns; one that has its turn keeps it.

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
    let planned = context.queues.iter().filter(|queue| queue.is_planned);
    let mut interfaces: Vec<&Interface> = planned.map(|queue| queue.interface).collect();
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
    let now =
        interface.transmit.iter().filter_map(|queue| Some((queue.number, queue.xps.clone()?))).collect();
    let cpus_of = cpus(context, &own, &now);
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

/// The cpus of each transmit queue, by its number, given the cpu that the receive queue of its number interrupts. A cpu
/// that sends through one of the nearest `now` goes on to, unless another of these has fewer by two.
pub(super) fn cpus(
    context: &Context<'_>,
    own: &[(u32, CpuId)],
    now: &BTreeMap<u32, CpuSet>,
) -> BTreeMap<u32, CpuSet> {
    let mut turns = Turns::default();
    for cpu in context.pool.online() {
        let near = nearest(context, own, cpu.id);
        let mut through = now.iter().filter(|(_, cpus)| cpus.contains(cpu.id)).map(|(&number, _)| number);
        let only = through.next().filter(|_| through.next().is_none());
        turns.add(cpu.id, near, only);
    }
    turns.balance();
    let mut cpus: BTreeMap<u32, CpuSet> = BTreeMap::new();
    for (cpu, _, chosen) in turns.cpus {
        if let Some(number) = chosen {
            cpus.entry(number).or_default().extend([cpu]);
        }
    }
    cpus
}

/// The numbers of the queues that are nearest to `cpu`.
fn nearest(context: &Context<'_>, own: &[(u32, CpuId)], cpu: CpuId) -> Vec<u32> {
    let distance = |&(_, interrupted): &(u32, CpuId)| -> (bool, Distance) {
        (interrupted != cpu, context.pool.distance(interrupted, cpu))
    };
    let least = own.iter().map(distance).min();
    own.iter().filter(|queue| Some(distance(queue)) == least).map(|&(number, _)| number).collect()
}

/// Cpus that take turns among the queues that are nearest to each.
#[derive(Default)]
struct Turns {
    /// Each cpu with the queues that are nearest to it, and the one that it sends through.
    cpus: Vec<(CpuId, Vec<u32>, Option<u32>)>,
    /// How many cpus send through each queue.
    counts: BTreeMap<u32, usize>,
}

impl Turns {
    fn add(&mut self, cpu: CpuId, near: Vec<u32>, now: Option<u32>) {
        let kept = now.filter(|number| near.contains(number));
        if let Some(number) = kept {
            *self.counts.entry(number).or_default() += 1;
        }
        self.cpus.push((cpu, near, kept));
    }

    /// Gives a queue to each cpu without one, and moves cpus until no queue has two more than another that is as near.
    fn balance(&mut self) {
        let Self { cpus, counts } = self;
        let mut moves = true;
        while moves {
            moves = false;
            for (_, near, chosen) in cpus.iter_mut() {
                let count = |number: u32| counts.get(&number).copied().unwrap_or(0);
                let Some(&fewest) = near.iter().min_by_key(|&&number| count(number)) else { continue };
                if chosen.is_some_and(|number| count(number) <= count(fewest) + 1) {
                    continue;
                }
                if let Some(number) = chosen.replace(fewest) {
                    *counts.entry(number).or_default() -= 1;
                }
                *counts.entry(fewest).or_default() += 1;
                moves = true;
            }
        }
    }
}

pub(super) fn no_costs() -> Gain {
    Gain::Unknown("a profile holds the costs of receiving".to_owned())
}
