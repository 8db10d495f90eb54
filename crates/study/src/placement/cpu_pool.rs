//! The cpus that work can be put on, what they share, and the order in which they are filled.

use super::Goal;
use super::cpu_order::{self, CpuPlace};
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::inventory::Observation;
use warmcore_topology::{Cpu, CpuSet};
use warmcore_units::CpuId;

/// One online cpu. They are filled in ascending order, in which the cpu's number comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct PoolCpu {
    /// The NUMA node.
    pub(super) node: u32,
    /// The last-level cache, by its place in the order.
    pub(super) cache: usize,
    /// Which hardware thread of its core it is, from 0.
    pub(super) smt_index: usize,
    /// The core, by its place in the order.
    pub(super) core: usize,
    /// The kernel's number of the cpu.
    pub(super) id: CpuId,
    /// Whether other cpus of the machine are faster.
    pub(super) slow: bool,
}

/// How far apart two cpus are: the nearest thing that both share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Distance {
    /// The first level: it is one cpu, or two hardware threads of one core.
    Core,
    /// The last-level cache.
    Cache,
    /// The memory of one NUMA node.
    Node,
    /// Nothing but the link between two nodes.
    OtherNode,
}

/// The online cpus of a machine.
pub(super) struct CpuPool {
    cpus: BTreeMap<CpuId, PoolCpu>,
    /// Isolated and tickless cpus: work is put there only where its user already keeps it there.
    pub(super) reserved: CpuSet,
    /// The part of a cpu's time used by threads that are restricted to some cores, by the core.
    pinned: BTreeMap<usize, f64>,
}

/// A core has no time for packets where threads restricted to it use at least this part of a cpu: they poll.
const POLLS: f64 = 0.9;

impl CpuPool {
    /// The cpus of a host, in the order that suits `goal`.
    pub(super) fn new(observed: &Observation, goal: Goal) -> Self {
        let picture = &observed.inventory;
        let places = cpu_order::places(observed, goal);
        let pool_cpu = |cpu: &Cpu| {
            let CpuPlace { cache, core, smt_index } = places[&cpu.id];
            let slow = picture.special_cpus.slow.contains(cpu.id);
            (cpu.id, PoolCpu { node: cpu.node, cache, smt_index, core, id: cpu.id, slow })
        };
        let mut reserved = picture.special_cpus.isolated.clone();
        reserved.extend(picture.special_cpus.nohz_full.iter());
        let cpus = picture.machine.cpus.iter().map(pool_cpu).collect();
        let mut pool = Self { cpus, reserved, pinned: BTreeMap::new() };
        pool.pinned = pool.pinned(observed);
        pool
    }

    /// The time that threads of users use of each core to which they are restricted; on several cores all alike.
    fn pinned(&self, observed: &Observation) -> BTreeMap<usize, f64> {
        let mut pinned = BTreeMap::new();
        let Some(rates) = &observed.rates else { return pinned };
        let all = self.cpus.values().map(|cpu| cpu.core).collect::<BTreeSet<usize>>().len();
        for thread in observed.inventory.threads.iter().filter(|thread| !thread.kernel) {
            // The scheduler takes threads that may run anywhere away from a cpu that has no time for them.
            let cores = thread.allowed.as_ref().map(|allowed| self.cores_in(allowed)).unwrap_or_default();
            if cores.is_empty() || cores.len() == all {
                continue;
            }
            let used = rates.threads.iter().find(|of| of.key == thread.key).map_or(0.0, |of| of.share);
            let each = used / cores.len() as f64;
            cores.into_iter().for_each(|core| *pinned.entry(core).or_default() += each);
        }
        pinned
    }

    /// The cores of those of `cpus` that are online.
    fn cores_in(&self, cpus: &CpuSet) -> BTreeSet<usize> {
        cpus.iter().filter_map(|id| self.get(id)).map(|cpu| cpu.core).collect()
    }

    /// The core that all of `cpus` belong to.
    pub(super) fn only_core(&self, cpus: &CpuSet) -> Option<usize> {
        let mut cores = cpus.iter().map(|id| self.get(id).map(|cpu| cpu.core));
        let first = cores.next()??;
        cores.all(|core| core == Some(first)).then_some(first)
    }

    /// Whether the core of `cpu`, which is not reserved, has a hardware thread that is: work on one slows the other.
    pub(super) fn is_beside_reserved(&self, cpu: PoolCpu) -> bool {
        let mut others = self.reserved.iter().filter_map(|id| self.get(id));
        !self.reserved.contains(cpu.id) && others.any(|other| other.core == cpu.core)
    }

    /// The part of a cpu's time that threads restricted to `core`, or to it and a few others, use there.
    pub(super) fn pinned_to(&self, core: usize) -> f64 {
        self.pinned.get(&core).copied().unwrap_or(0.0)
    }

    /// Whether threads restricted to the core of `cpu` leave no time for packets.
    pub(super) fn is_occupied(&self, cpu: PoolCpu) -> bool {
        self.pinned_to(cpu.core) >= POLLS
    }

    /// The cpu numbered `id`, if it is online.
    pub(super) fn get(&self, id: CpuId) -> Option<PoolCpu> {
        self.cpus.get(&id).copied()
    }

    /// The cpus that work may be put on: node by node, cache by cache, and of each cache the first
    /// hardware threads of all cores before the second ones.
    pub(super) fn available(&self) -> impl Iterator<Item = PoolCpu> {
        self.online().filter(|cpu| !self.reserved.contains(cpu.id))
    }

    /// Every online cpu, reserved or not, in the order of the pool.
    pub(super) fn online(&self) -> impl Iterator<Item = PoolCpu> {
        let mut online: Vec<PoolCpu> = self.cpus.values().copied().collect();
        online.sort_unstable();
        online.into_iter()
    }

    /// Of `cpus`, the online one that comes first in the order; the lowest number if all are offline.
    pub(super) fn first(&self, cpus: &CpuSet) -> Option<CpuId> {
        let online = cpus.iter().filter_map(|id| self.get(id));
        online.min().map(|cpu| cpu.id).or_else(|| cpus.first())
    }

    /// How far `one` is from `other`; the longest distance where one of them is offline.
    pub(super) fn distance(&self, one: CpuId, other: CpuId) -> Distance {
        match (self.get(one), self.get(other)) {
            (Some(one), Some(other)) if one.core == other.core => Distance::Core,
            (Some(one), Some(other)) if one.cache == other.cache => Distance::Cache,
            (Some(one), Some(other)) if one.node == other.node => Distance::Node,
            _ => Distance::OtherNode,
        }
    }

    /// `cpus` with the other hardware threads of their cores.
    pub(super) fn cores_of(&self, cpus: &CpuSet) -> CpuSet {
        let cores: BTreeSet<usize> = cpus.iter().filter_map(|id| self.get(id)).map(|cpu| cpu.core).collect();
        self.cpus.values().filter(|cpu| cores.contains(&cpu.core)).map(|cpu| cpu.id).collect()
    }
}
