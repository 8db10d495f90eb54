//! Where work can be put: the cpus of a machine, what they share, and in which order they are filled.

use super::Goal;
use super::order::{self, Place};
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::Inventory;
use warmcore_topology::{Cpu, CpuSet};
use warmcore_units::CpuId;

/// One online cpu. Those before it are taken first; the cpu's own number never decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Seat {
    /// The NUMA node.
    pub(super) node: u32,
    /// The last-level cache, by its place in the order.
    pub(super) cache: usize,
    /// Which hardware thread of its core it is, from 0.
    pub(super) rank: usize,
    /// The core, by its place in the order.
    pub(super) core: usize,
    /// Which one.
    pub(super) cpu: CpuId,
    /// Whether other cpus of the machine are faster.
    pub(super) slow: bool,
}

/// How far apart two cpus are: what is written on one of them and read on the other passes through
/// this.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Distance {
    /// The first level: it is one cpu, or two hardware threads of one core.
    Core,
    /// A last-level cache that they share.
    Cache,
    /// The memory of their node.
    Node,
    /// The way between two nodes.
    Elsewhere,
}

/// The online cpus of a machine.
pub(super) struct Ground {
    seats: BTreeMap<CpuId, Seat>,
    /// Cpus that no interrupt and no thread is put on that is not there by its user's own wish.
    pub(super) apart: CpuSet,
}

impl Ground {
    /// The cpus of `picture`, in the order that suits `goal`.
    pub(super) fn new(picture: &Inventory, goal: Goal) -> Self {
        let places = order::places(picture, goal);
        let seat = |cpu: &Cpu| {
            let Place { cache, core, rank } = places[&cpu.id];
            let slow = picture.apart.slow.contains(cpu.id);
            (cpu.id, Seat { node: cpu.node, cache, rank, core, cpu: cpu.id, slow })
        };
        let mut apart = picture.apart.isolated.clone();
        apart.extend(picture.apart.nohz_full.iter());
        Self { seats: picture.machine.cpus.iter().map(seat).collect(), apart }
    }

    /// The seat of `cpu`, if that is online.
    pub(super) fn seat(&self, cpu: CpuId) -> Option<Seat> {
        self.seats.get(&cpu).copied()
    }

    /// The cpus that work may be put on: node by node, cache by cache, and of each cache the first
    /// hardware threads of all cores before the second ones.
    pub(super) fn open(&self) -> impl Iterator<Item = Seat> {
        let mut open: Vec<Seat> =
            self.seats.values().filter(|seat| !self.apart.contains(seat.cpu)).copied().collect();
        open.sort_unstable();
        open.into_iter()
    }

    /// Of `cpus`, the one that comes first in the order; the first one of them that is offline, if all are.
    pub(super) fn first(&self, cpus: &CpuSet) -> Option<CpuId> {
        let seats = cpus.iter().filter_map(|cpu| self.seat(cpu));
        seats.min().map(|seat| seat.cpu).or_else(|| cpus.first())
    }

    /// How far `one` is from `other`; as far as can be where one of them is offline.
    pub(super) fn distance(&self, one: CpuId, other: CpuId) -> Distance {
        match (self.seat(one), self.seat(other)) {
            (Some(one), Some(other)) if one.core == other.core => Distance::Core,
            (Some(one), Some(other)) if one.cache == other.cache => Distance::Cache,
            (Some(one), Some(other)) if one.node == other.node => Distance::Node,
            _ => Distance::Elsewhere,
        }
    }

    /// `cpus` with the other hardware threads of their cores.
    pub(super) fn cores_of(&self, cpus: &CpuSet) -> CpuSet {
        let cores: BTreeSet<usize> =
            cpus.iter().filter_map(|cpu| self.seat(cpu)).map(|seat| seat.core).collect();
        self.seats.values().filter(|seat| cores.contains(&seat.core)).map(|seat| seat.cpu).collect()
    }
}
