//! The cpu of each queue, and how far its card and its readers are from it.

use super::super::cpu_pool::{CpuPool, Distance};
use super::super::device_queues::{DeviceQueue, Steering};
use super::readers::Readers;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, PerSecond};

/// How far a reader is from the cpu that processes its packets, the nearest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// It is the same cpu.
    SameCpu,
    /// Another hardware thread of the core.
    SameCore,
    /// Another core behind the same last-level cache.
    SameCache,
    /// Another cache of the NUMA node.
    SameNode,
    /// Another NUMA node, or a cpu that is offline.
    OtherNode,
}

/// Which cpus process the packets of a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSteering {
    /// The cpu that is interrupted.
    None,
    /// Others, by the flow's hash (RPS).
    Rps,
    /// Those on which the readers ran last (RFS).
    Rfs,
}

/// A receive queue: where its packets come in, and how far their readers are.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QueuePlace {
    /// The interface.
    pub interface: String,
    /// The number of the queue.
    pub queue: u32,
    /// The number of its interrupt, valid until the next boot or driver load.
    pub interrupt: u32,
    /// The cpu that takes the interrupt.
    pub cpu: CpuId,
    /// The NUMA node of that cpu; `None` if it is offline.
    pub node: Option<u32>,
    /// The NUMA node of the card; `None` where firmware does not say.
    pub card_node: Option<u32>,
    /// Whether that cpu is isolated or tickless.
    pub isolated: bool,
    /// Whether other cpus of the machine are faster.
    pub slow: bool,
    /// Interrupts per second; `None` where the host was not watched.
    pub interrupts_per_s: Option<PerSecond>,
    /// The part of all interrupts of receive queues; `None` where the host was not watched.
    pub share: Option<f64>,
    /// Which cpus process its packets.
    pub steering: QueueSteering,
    /// These cpus. With RFS those where readers ran last; none if no reader is known.
    pub processed_on: CpuSet,
    /// The parts of its packets whose readers are so far from the processing cpu; empty if no reader is known.
    pub readers: BTreeMap<Reach, f64>,
}

impl QueuePlace {
    /// Whether the cpu is on another node than the card.
    #[must_use]
    pub fn is_far_from_card(&self) -> bool {
        self.node.zip(self.card_node).is_some_and(|(node, card)| node != card)
    }
}

/// The place of `queue`; `None` if nothing came through it.
pub(super) fn place(pool: &CpuPool, readers: &Readers<'_>, queue: &DeviceQueue<'_>) -> Option<QueuePlace> {
    let is_used = queue.rate.map_or(queue.interrupt.total() > 0, |rate| rate.0 > 0.0);
    let (steering, processed_on) = match &queue.steering {
        Steering::None => (QueueSteering::None, CpuSet::from_iter([queue.current_cpu])),
        Steering::Spread(cpus) => (QueueSteering::Rps, cpus.clone()),
        Steering::ToReader => (QueueSteering::Rfs, readers.cpus()),
    };
    let of_pool = pool.get(queue.current_cpu);
    is_used.then(|| QueuePlace {
        interface: queue.interface.name.clone(),
        queue: queue.number,
        interrupt: queue.interrupt.number,
        cpu: queue.current_cpu,
        node: of_pool.map(|cpu| cpu.node),
        card_node: queue.interface.node,
        isolated: pool.reserved.contains(queue.current_cpu),
        slow: of_pool.is_some_and(|cpu| cpu.slow),
        interrupts_per_s: queue.rate,
        share: queue.rate.map(|_| queue.part),
        readers: reaches(pool, steering, &processed_on, readers),
        steering,
        processed_on,
    })
}

/// The parts of the packets that are processed on `cpus`, by how far their readers are.
fn reaches(
    pool: &CpuPool,
    steering: QueueSteering,
    cpus: &CpuSet,
    readers: &Readers<'_>,
) -> BTreeMap<Reach, f64> {
    let mut reaches = BTreeMap::new();
    if steering == QueueSteering::Rfs {
        reaches.extend((!cpus.is_empty()).then_some((Reach::SameCpu, 1.0)));
        return reaches;
    }
    for (&reader, part) in &readers.on_cpu {
        for cpu in cpus.iter() {
            *reaches.entry(reach(pool, cpu, reader)).or_default() += part / cpus.len() as f64;
        }
    }
    reaches
}

fn reach(pool: &CpuPool, from: CpuId, to: CpuId) -> Reach {
    match pool.distance(from, to) {
        _ if from == to => Reach::SameCpu,
        Distance::Core => Reach::SameCore,
        Distance::Cache => Reach::SameCache,
        Distance::Node => Reach::SameNode,
        Distance::OtherNode => Reach::OtherNode,
    }
}
