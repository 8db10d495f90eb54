//! What distinguishes two placements of receive queues, and which is better.

use core::cmp::Ordering;
use std::collections::BTreeMap;
use warmcore_linux::inventory::{Interrupt, Managed, Observation, Thread};
use warmcore_topology::{CpuSet, Within};
use warmcore_units::CpuId;

/// A receive queue of a card, as it is.
pub(super) struct Queue<'a> {
    pub(super) interrupt: &'a Interrupt,
    pub(super) interface: &'a str,
    pub(super) number: u32,
    /// The node of the card.
    pub(super) node: Option<u32>,
    /// The cpu that handles it.
    pub(super) now: CpuId,
    /// The part of all interrupts that are its.
    pub(super) part: f64,
}

/// The receive queues of the host, in order of interface and number; those that can be moved.
pub(super) fn queues(observed: &Observation) -> Vec<Queue<'_>> {
    let inventory = &observed.inventory;
    let rate = |interrupt: &Interrupt| {
        let rates = observed.rates.as_ref().expect("a host that was observed");
        rates.interrupts.iter().find(|rate| rate.id == interrupt.id).map_or(0.0, |rate| rate.rate.0)
    };
    let mut queues = Vec::new();
    for interface in inventory.interfaces.iter().filter(|interface| interface.is_physical()) {
        for interrupt in inventory.interrupts_of(interface) {
            let Some(queue) = interrupt.queue.filter(|queue| queue.direction.receives()) else { continue };
            if interrupt.managed == Managed::Yes {
                continue;
            }
            let now = interrupt.goes_to().first().expect("an interrupt goes somewhere");
            let part = rate(interrupt);
            let (interface, node) = (interface.name.as_str(), interface.node);
            queues.push(Queue { interrupt, interface, number: queue.number, node, now, part });
        }
    }
    queues.sort_by_key(|queue| (queue.interface, queue.number));
    let all: f64 = queues.iter().map(|queue| queue.part).sum();
    let count = queues.len() as f64;
    queues.iter_mut().for_each(|queue| queue.part = if all > 0.0 { queue.part / all } else { 1.0 / count });
    queues
}

/// The cpus to which a thread is pinned that uses all of its time.
fn polled(observed: &Observation) -> CpuSet {
    let rates = observed.rates.as_ref().expect("a host that was observed");
    let polls = |thread: &&Thread| {
        let used = rates.threads.iter().find(|of| of.key == thread.key).map_or(0.0, |of| of.share);
        used > 0.95 && thread.allowed.as_ref().is_some_and(|allowed| allowed.len() == 1)
    };
    let threads = observed.inventory.threads.iter().filter(polls);
    threads.filter_map(|thread| thread.allowed.as_ref()).flat_map(CpuSet::iter).collect()
}

/// How good a placement is: the less of everything, the better, in this order.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Quality {
    /// Queues on cpus that are offline or isolated, slow while others are fast, or taken by a pinned thread that polls.
    unfit: usize,
    /// Queues on another node than their card.
    remote: usize,
    /// The part of the interrupts that the busiest core gets.
    busiest: f64,
    /// Queues on the core that has most.
    crowded: usize,
    /// Queues that move.
    moves: usize,
}

impl Quality {
    pub(super) fn new(observed: &Observation, queues: &[Queue<'_>], cpus: &[CpuId]) -> Self {
        let inventory = &observed.inventory;
        let machine = &inventory.machine;
        let special = &inventory.special_cpus;
        let polled = polled(observed);
        let is_unfit = |cpu: CpuId| {
            let is_special = special.isolated.contains(cpu) || special.slow.contains(cpu);
            !machine.online().contains(cpu) || is_special || polled.contains(cpu)
        };
        let node = |cpu: CpuId| machine.cpus.iter().find(|of| of.id == cpu).map(|of| of.node);
        let mut cores: BTreeMap<Option<CpuId>, (f64, usize)> = BTreeMap::new();
        for (queue, &cpu) in queues.iter().zip(cpus) {
            let core = cores.entry(machine.around(cpu, Within::Core).first()).or_default();
            *core = (core.0 + queue.part, core.1 + 1);
        }
        let pairs = || queues.iter().zip(cpus);
        Self {
            unfit: cpus.iter().filter(|&&cpu| is_unfit(cpu)).count(),
            remote: pairs().filter(|(queue, cpu)| queue.node.is_some() && node(**cpu) != queue.node).count(),
            busiest: cores.values().map(|core| core.0).fold(0.0, f64::max),
            crowded: cores.values().map(|core| core.1).max().unwrap_or(0),
            moves: pairs().filter(|(queue, cpu)| queue.now != **cpu).count(),
        }
    }

    /// Compares this placement with `other`, and says by what the better one is better.
    pub(super) fn compare(&self, other: &Self) -> (Ordering, &'static str) {
        let busiest = match (self.busiest - other.busiest).abs() <= 0.02 * other.busiest {
            true => Ordering::Equal,
            false => self.busiest.total_cmp(&other.busiest),
        };
        let order = [
            (self.unfit.cmp(&other.unfit), "queues on isolated, offline, slow or taken cpus"),
            (self.remote.cmp(&other.remote), "queues far from their card"),
            (busiest, "interrupts on the busiest core"),
            (self.crowded.cmp(&other.crowded), "queues on the fullest core"),
            (self.moves.cmp(&other.moves), "queues that move"),
        ];
        order.into_iter().find(|(order, _)| order.is_ne()).unwrap_or((Ordering::Equal, ""))
    }
}
