//! In which order cpus are taken that are equally good. How they are numbered has no say in it.
//!
//! Last-level caches, cores and cpus form a tree. Each cpu bears what the picture says of it: its node,
//! how many packets come in on it, and which masks name it. Cores are in the order of what their cpus
//! bear, caches in that of their cores. Two that are alike even then can change places without changing
//! the picture (an automorphism of it); only between such the lower number comes first. So another
//! numbering of the same machine gives the same plan, up to such a change.

use super::Goal;
use super::traffic;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::{Direction, Interrupt, Queue};
use warmcore_topology::{Cpu, CpuSet, Machine, Within};
use warmcore_units::CpuId;

/// Where a cpu comes in the order of its machine. All count from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Its last-level cache.
    pub(super) cache: usize,
    /// Its core, among those of all caches.
    pub(super) core: usize,
    /// Which hardware thread of its core it is.
    pub(super) rank: usize,
}

/// What tells a cpu from others, what counts most first: its node, its packets, and of each mask
/// whether it is not in it.
type Traits = (u32, u32, Vec<bool>);

/// The place of each online cpu.
pub(super) fn places(picture: &Inventory, goal: Goal) -> BTreeMap<CpuId, Place> {
    let classes = classes(picture, goal);
    let of_core = |core: &Vec<CpuId>| core.iter().map(|cpu| classes[cpu]).collect::<Vec<usize>>();
    let mut caches = caches(&picture.machine);
    for cores in &mut caches {
        cores.iter_mut().for_each(|core| core.sort_by_key(|cpu| classes[cpu]));
        cores.sort_by_cached_key(of_core);
    }
    caches.sort_by_cached_key(|cores| cores.iter().map(of_core).collect::<Vec<_>>());
    let cores =
        caches.iter().enumerate().flat_map(|(cache, cores)| cores.iter().map(move |core| (cache, core)));
    let cpus = cores.enumerate().flat_map(|(core, (cache, cpus))| {
        cpus.iter().enumerate().map(move |(rank, &cpu)| (cpu, Place { cache, core, rank }))
    });
    cpus.collect()
}

/// The online cpus by last-level cache and core.
fn caches(machine: &Machine) -> Vec<Vec<Vec<CpuId>>> {
    let mut caches: BTreeMap<CpuId, BTreeMap<CpuId, Vec<CpuId>>> = BTreeMap::new();
    for cpu in &machine.cpus {
        let [cache, core] = [Within::LastLevelCache, Within::Core]
            .map(|within| machine.around(cpu.id, within).first().unwrap_or(cpu.id));
        caches.entry(cache).or_default().entry(core).or_default().push(cpu.id);
    }
    caches.into_values().map(|cores| cores.into_values().collect()).collect()
}

/// Numbers of what cpus bear: equal for those that nothing tells apart.
fn classes(picture: &Inventory, goal: Goal) -> BTreeMap<CpuId, usize> {
    let (packets, masks) = (packets(picture), masks(picture));
    let traits = |cpu: &Cpu| -> Traits {
        let order = order_of_magnitude(packets.get(&cpu.id).copied().unwrap_or(0));
        let packets = if goal == Goal::Isolation { order } else { u32::MAX - order };
        (cpu.node, packets, masks.iter().map(|mask| !mask.contains(cpu.id)).collect())
    };
    let of: BTreeMap<CpuId, Traits> = picture.machine.cpus.iter().map(|cpu| (cpu.id, traits(cpu))).collect();
    let sorted: BTreeSet<&Traits> = of.values().collect();
    let numbers: BTreeMap<&Traits, usize> = sorted.into_iter().zip(0..).collect();
    of.iter().map(|(&cpu, traits)| (cpu, numbers[traits])).collect()
}

/// Which of two similar counts is ahead changes from one look to the next: only powers of two count.
fn order_of_magnitude(count: u64) -> u32 {
    count.checked_ilog2().map_or(0, |power| power + 1)
}

/// How often interrupts for packets came that now go to each cpu.
fn packets(picture: &Inventory) -> BTreeMap<CpuId, u64> {
    let mut packets: BTreeMap<CpuId, u64> = BTreeMap::new();
    let receives = |interrupt: &&Interrupt| {
        let sends = |queue: Queue| queue.direction == Direction::Transmit;
        interrupt.interface.is_some() && !interrupt.queue.is_some_and(sends)
    };
    for interrupt in picture.interrupts.iter().filter(receives) {
        let takers = traffic::takers(interrupt);
        let each = interrupt.total() / takers.len().max(1) as u64;
        takers.iter().for_each(|cpu| *packets.entry(cpu).or_default() += each);
    }
    packets
}

/// Every set of cpus in the picture that a plan may depend on, in the order of names that stay.
fn masks(picture: &Inventory) -> Vec<CpuSet> {
    let mut interrupts: Vec<&Interrupt> = picture.interrupts.iter().collect();
    interrupts.sort_by_key(|interrupt| (&interrupt.interface, interrupt.queue, &interrupt.id));
    let mut threads: Vec<_> = picture.threads.iter().collect();
    threads.sort_by_key(|thread| thread.key);
    let mut interfaces: Vec<_> = picture.interfaces.iter().collect();
    interfaces.sort_by_key(|interface| &interface.name);
    let apart = &picture.apart;

    let mut masks: Vec<CpuSet> = interrupts.iter().map(|of| traffic::takers(of)).collect();
    masks.extend(threads.iter().map(|of| [of.last_cpu].into_iter().collect()));
    masks.extend(interrupts.iter().filter_map(|of| of.allowed.clone()));
    masks.extend(threads.iter().filter_map(|of| of.allowed.clone()));
    for interface in interfaces {
        masks.extend(interface.receive.iter().filter_map(|queue| queue.rps.clone()));
        masks.extend(interface.transmit.iter().filter_map(|queue| queue.xps.clone()));
    }
    masks.extend(picture.cpusets.iter().map(|of| of.cpus.clone()));
    masks.extend(picture.default_affinity.clone());
    masks.extend([&apart.isolated, &apart.nohz_full, &apart.slow].map(Clone::clone));
    masks
}
