//! Where well-known tools would put the queues, by the rules that they publish.
//!
//! - `set_irq_affinity local`: the script that Intel and NVIDIA ship with their drivers. Queue n of an interface goes
//!   to the n-th cpu of the card's node in order of number, and around again.
//! - `perftune.py` of Seastar (`auto_detect_irq_mask`): up to four cpus, all of them take interrupts; up to four cores, one
//!   cpu; up to 16 cores, one core; beyond, one core for each 16, as many on each node. It spreads with `hwloc-distrib`,
//!   which divides them evenly at each level of the machine. It keeps those cores free of everything else, as
//!   `--interrupt-cores` does; here it is compared as a plain placement. It also gives a card as many channels as these cores
//!   have cpus, if the driver has so many (`__setup_one_hw_iface`: `ethtool -L`), turns RPS and RFS on for
//!   all cpus, and ntuple filters on where all cpus take interrupts and off elsewhere (`__setup_rps`, `__setup_rfs`):
//!   [`perftune_settings`]. Where no file tells the channels, the queues that are there are placed.
//! - irqbalance: each interrupt, the most frequent first, goes to the node of its card, there to the least loaded
//!   cache, and there to the least loaded core; isolated and tickless cpus are left out.

use super::quality::Queue;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::Interface;
use warmcore_topology::Within;
use warmcore_units::CpuId;

/// The name of a tool, and the cpu of each queue under it.
pub(super) type Rule = (&'static str, fn(&Inventory, &[Queue<'_>]) -> Vec<CpuId>);

pub(super) const PERFTUNE: &str = "perftune";

pub(super) const RULES: [Rule; 3] =
    [("set_irq_affinity local", local), (PERFTUNE, perftune), ("irqbalance", irqbalance)];

fn cpus_of(inventory: &Inventory, node: Option<u32>) -> Vec<CpuId> {
    let cpus = inventory.machine.cpus.iter().filter(|cpu| node.is_none_or(|node| cpu.node == node));
    cpus.map(|cpu| cpu.id).collect()
}

fn local(inventory: &Inventory, queues: &[Queue<'_>]) -> Vec<CpuId> {
    let cpu = |queue: &Queue<'_>| {
        let cpus = cpus_of(inventory, queue.node);
        cpus[queue.number as usize % cpus.len()]
    };
    queues.iter().map(cpu).collect()
}

/// What perftune sets beside interrupts, where the channels of cards are known.
pub(super) fn perftune_settings(inventory: &Inventory) -> String {
    let cpus = perftune_cpus(inventory).len();
    let settings = |interface: &Interface| {
        let channels = interface.driver_settings.as_ref()?.channels?;
        let (now, wanted) = (channels.combined?, cpus as u32);
        Some(match () {
            () if wanted == now => format!("{now}, as there are"),
            () if wanted > channels.combined_max? => format!("{now}, as the driver has no {wanted}"),
            () => format!("{wanted}, for {cpus} cpus that take interrupts"),
        })
    };
    let channels: Vec<String> = inventory.interfaces.iter().filter_map(settings).collect();
    let ntuple = if cpus == inventory.machine.cpus.len() { "on" } else { "off" };
    format!("sets channels: {}; RPS and RFS on, ntuple filters {ntuple}", channels.join(", "))
}

/// The cpus that take interrupts.
fn perftune_cpus(inventory: &Inventory) -> Vec<CpuId> {
    const CORES_FOR_EACH: usize = 16;
    let all = cpus_of(inventory, None);
    let core = |cpu: &CpuId| inventory.machine.around(*cpu, Within::Core);
    let nodes: BTreeSet<u32> = inventory.machine.cpus.iter().map(|cpu| cpu.node).collect();
    let cores_of = |node: Option<u32>| -> BTreeSet<_> {
        cpus_of(inventory, node).iter().map(|cpu| core(cpu).first()).collect()
    };
    match cores_of(None).len() {
        _ if all.len() <= 4 => all,
        0..=4 => vec![all[0]],
        5..=CORES_FOR_EACH => core(&all[0]).iter().collect(),
        _ => {
            let of_node = |&node: &u32| {
                let cores = cores_of(Some(node));
                cores.clone().into_iter().flatten().take(cores.len().div_ceil(CORES_FOR_EACH))
            };
            nodes.iter().flat_map(of_node).flat_map(|first| core(&first).iter().collect::<Vec<_>>()).collect()
        }
    }
}

fn perftune(inventory: &Inventory, queues: &[Queue<'_>]) -> Vec<CpuId> {
    let cpus = perftune_cpus(inventory);
    let count_of = |name: &str| queues.iter().filter(|queue| queue.interface == name).count();
    let cpu = |queue: &Queue<'_>| {
        let count = count_of(queue.interface);
        distributed(inventory, &cpus, count)[queue.number as usize % count]
    };
    queues.iter().map(cpu).collect()
}

/// The cpus of `count` things that are divided evenly over nodes, caches and cores of `cpus`.
fn distributed(inventory: &Inventory, cpus: &[CpuId], count: usize) -> Vec<CpuId> {
    let key = |&cpu: &CpuId| {
        let machine = &inventory.machine;
        let node = machine.cpus.iter().find(|of| of.id == cpu).map(|of| of.node);
        let [cache, core] =
            [Within::LastLevelCache, Within::Core].map(|within| machine.around(cpu, within).first());
        (node, cache, core, cpu)
    };
    let mut ordered = cpus.to_vec();
    ordered.sort_by_key(key);
    (0..count).map(|index| ordered[index * ordered.len() / count]).collect()
}

fn irqbalance(inventory: &Inventory, queues: &[Queue<'_>]) -> Vec<CpuId> {
    let special = &inventory.special_cpus;
    let is_banned = |cpu: CpuId| special.isolated.contains(cpu) || special.nohz_full.contains(cpu);
    let mut order: Vec<usize> = (0..queues.len()).collect();
    order.sort_by(|&one, &other| queues[other].part.total_cmp(&queues[one].part).then(one.cmp(&other)));
    // The load of each cpu, with one for an interrupt that does not come.
    const IDLE: f64 = 1e-6;
    let mut load: BTreeMap<CpuId, f64> = BTreeMap::new();
    let mut chosen = vec![CpuId(0); queues.len()];
    for index in order {
        let queue = &queues[index];
        let candidates = cpus_of(inventory, queue.node).into_iter().filter(|&cpu| !is_banned(cpu));
        let load_within = |cpu: CpuId, within: Within| -> f64 {
            inventory.machine.around(cpu, within).iter().filter_map(|cpu| load.get(&cpu)).sum()
        };
        let key = |&cpu: &CpuId| {
            let loads = [Within::LastLevelCache, Within::Core].map(|within| load_within(cpu, within));
            (loads, load.get(&cpu).copied().unwrap_or(0.0))
        };
        let best = candidates.min_by(|one, other| {
            key(one).partial_cmp(&key(other)).expect("loads are numbers").then(one.cmp(other))
        });
        chosen[index] = best.unwrap_or(queue.now);
        *load.entry(chosen[index]).or_default() += queue.part + IDLE;
    }
    chosen
}
