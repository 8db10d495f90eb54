//! The order in which equally good cpus are taken. It does not depend on how they are numbered.
//!
//! Last-level caches, cores and cpus form a tree. Each cpu has traits that the picture gives it: its
//! node, how many packets its interrupts received, and which masks contain it. Cores are sorted by the
//! traits of their cpus, caches by those of their cores. Two that are still equal can be swapped
//! without changing the picture (an automorphism); only then does the lower number come first. So
//! renumbering a machine gives the same plan, up to such a swap.

use super::Goal;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::{Direction, Interrupt, InterruptId, Observation, Queue};
use warmcore_topology::{Cpu, CpuSet, Machine, Within};
use warmcore_units::CpuId;

/// Where a cpu stands in the order of its machine. All count from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CpuPlace {
    /// Its last-level cache.
    pub(super) cache: usize,
    /// Its core, among those of all caches.
    pub(super) core: usize,
    /// Which hardware thread of its core it is.
    pub(super) smt_index: usize,
}

/// What distinguishes a cpu, the most important first: its node, its packets, and for each mask
/// whether the cpu is missing from it.
type Traits = (u32, u32, Vec<bool>);

/// The place of each online cpu.
pub(super) fn places(observed: &Observation, goal: Goal) -> BTreeMap<CpuId, CpuPlace> {
    let picture = &observed.inventory;
    let classes = classes(observed, goal);
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
        cpus.iter().enumerate().map(move |(smt_index, &cpu)| (cpu, CpuPlace { cache, core, smt_index }))
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

/// The equivalence class of each cpu: cpus of one class have the same traits; classes are sorted by them.
fn classes(observed: &Observation, goal: Goal) -> BTreeMap<CpuId, usize> {
    let picture = &observed.inventory;
    let (packets, missing) = (packets(observed), missing(picture));
    let traits = |cpu: &Cpu| -> Traits {
        let order = order_of_magnitude(packets.get(&cpu.id).copied().unwrap_or(0));
        let packets = if goal == Goal::Isolation { order } else { u32::MAX - order };
        (cpu.node, packets, missing[&cpu.id].clone())
    };
    let of: BTreeMap<CpuId, Traits> = picture.machine.cpus.iter().map(|cpu| (cpu.id, traits(cpu))).collect();
    let sorted: BTreeSet<&Traits> = of.values().collect();
    let numbers: BTreeMap<&Traits, usize> = sorted.into_iter().zip(0..).collect();
    of.iter().map(|(&cpu, traits)| (cpu, numbers[traits])).collect()
}

/// For each online cpu, which of the masks lack it. A large machine has many masks of few cpus: looking for every cpu in
/// every mask would take longer.
fn missing(picture: &Inventory) -> BTreeMap<CpuId, Vec<bool>> {
    let masks = masks(picture);
    let online = picture.machine.cpus.iter().map(|cpu| (cpu.id, vec![true; masks.len()]));
    let mut missing: BTreeMap<CpuId, Vec<bool>> = online.collect();
    for (place, mask) in masks.iter().enumerate() {
        for cpu in mask.iter() {
            if let Some(missing) = missing.get_mut(&cpu) {
                missing[place] = false;
            }
        }
    }
    missing
}

/// Only powers of two count: which of two similar counts is ahead changes from one picture to the next.
fn order_of_magnitude(count: u64) -> u32 {
    count.checked_ilog2().map_or(0, |power| power + 1)
}

/// The receive interrupts a second while the host was observed, attributed to the cpus that each goes to now. Counts since
/// boot would say what once was.
fn packets(observed: &Observation) -> BTreeMap<CpuId, u64> {
    let seen = observed.rates.iter().flat_map(|rates| &rates.interrupts);
    let rates: BTreeMap<&InterruptId, f64> = seen.map(|of| (&of.id, of.rate.0)).collect();
    let mut packets: BTreeMap<CpuId, u64> = BTreeMap::new();
    let receives = |interrupt: &&Interrupt| {
        let sends = |queue: Queue| queue.direction == Direction::Transmit;
        interrupt.interface.is_some() && !interrupt.queue.is_some_and(sends)
    };
    for interrupt in observed.inventory.interrupts.iter().filter(receives) {
        let cpus = interrupt.goes_to();
        let rate = rates.get(&interrupt.id).copied().unwrap_or(0.0);
        let each = (rate / cpus.len().max(1) as f64) as u64;
        cpus.iter().for_each(|cpu| *packets.entry(cpu).or_default() += each);
    }
    packets
}

/// Every set of cpus in the picture that a plan may depend on, sorted by names that stay the same.
fn masks(picture: &Inventory) -> Vec<CpuSet> {
    let mut own: Vec<&Interrupt> = picture.interrupts.iter().collect();
    own.sort_by_key(|interrupt| (&interrupt.interface, interrupt.queue, &interrupt.id));
    let mut threads: Vec<_> = picture.threads.iter().collect();
    threads.sort_by_key(|thread| thread.key);
    let mut interfaces: Vec<_> = picture.interfaces.iter().collect();
    interfaces.sort_by_key(|interface| &interface.name);
    let special = &picture.special_cpus;

    let mut masks: Vec<CpuSet> = own.iter().map(|of| of.goes_to().clone()).collect();
    masks.extend(threads.iter().map(|of| [of.last_cpu].into_iter().collect()));
    masks.extend(own.iter().filter_map(|of| of.allowed.clone()));
    masks.extend(threads.iter().filter_map(|of| of.allowed.clone()));
    for interface in interfaces {
        masks.extend(interface.receive.iter().filter_map(|queue| queue.rps.clone()));
        masks.extend(interface.transmit.iter().filter_map(|queue| queue.xps.clone()));
    }
    masks.extend(picture.cpusets.iter().map(|of| of.cpus.clone()));
    masks.extend(picture.default_affinity.clone());
    masks.extend([&special.isolated, &special.nohz_full, &special.slow].map(Clone::clone));
    masks
}
