//! What is amiss.

use super::super::cpu_pool::{CpuPool, PoolCpu};
use super::hot_queue;
use super::queues::{QueuePlace, QueueSteering, Reach};
use super::readers::Readers;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::inventory::{Interrupt, Observation};
use warmcore_topology::CpuSet;

/// Fewer packets than this part do not make a finding.
pub(super) const NOTICEABLE: f64 = 0.05;

/// Something that is amiss on a host.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// The queue of the interface, of `one-hot-queue`.
    pub queue: Option<u32>,
    /// How many queues it is about, or of `interrupts-on-isolated-cpus` how many interrupts.
    pub count: usize,
    /// The cpus where it happens.
    pub cpus: CpuSet,
    /// Cpus that would not have it; may be empty.
    pub better: CpuSet,
    /// The part of all packets that it is about, of `one-hot-queue` of those of its interface; `None` where that is not
    /// known.
    pub share: Option<f64>,
    /// The program, of `rival`.
    pub program: Option<String>,
}

/// Kinds of findings, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Interrupts of any device go to isolated or tickless cpus.
    InterruptsOnIsolatedCpus,
    /// Packets are processed on another node than their readers'.
    ReadersOnOtherNode,
    /// Queues interrupt cpus of another node than their card's.
    QueuesFarFromCard,
    /// Queues interrupt slow cores (E cores) while there are fast ones.
    QueuesOnSlowCpus,
    /// Several queues interrupt one core while others of the node take none.
    QueuesOnOneCore,
    /// One of several queues of a card takes most of its packets.
    OneHotQueue,
    /// Packets are processed on another core of the node than their readers', and RFS does not send them after these.
    ReadersOnOtherCores,
    /// An interface has a single queue, and RPS does not spread its packets.
    SingleQueue,
    /// A program runs that moves interrupts or threads.
    Rival,
}

impl Finding {
    pub(super) fn new(kind: FindingKind, queues: &[&QueuePlace]) -> Self {
        let shares = queues.iter().map(|queue| queue.share);
        Self {
            kind,
            interface: None,
            queue: None,
            count: queues.len(),
            cpus: queues.iter().map(|queue| queue.cpu).collect(),
            better: CpuSet::default(),
            share: shares.sum(),
            program: None,
        }
    }
}

/// Finds what is amiss, the worst kinds first.
pub(super) fn find(
    observed: &Observation,
    pool: &CpuPool,
    queues: &[QueuePlace],
    readers: &Readers<'_>,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = interrupts_on_isolated(observed, pool).into_iter().collect();
    findings.extend(readers_apart(queues, readers, FindingKind::ReadersOnOtherNode));
    findings.extend(far_from_card(pool, queues));
    findings.extend(on_slow_cpus(pool, queues));
    findings.extend(on_one_core(pool, queues));
    findings.extend(hot_queue::find(observed, pool, queues));
    findings.extend(readers_apart(queues, readers, FindingKind::ReadersOnOtherCores));
    findings.extend(single_queues(observed, pool, queues));
    let rivals = observed.inventory.rivals.iter();
    let rivals = rivals.filter(|rival| rival.runs() && (rival.undoes.interrupts || rival.undoes.threads));
    findings.extend(rivals.map(|rival| Finding {
        program: Some(rival.name.to_owned()),
        share: None,
        ..Finding::new(FindingKind::Rival, &[])
    }));
    findings
}

fn interrupts_on_isolated(observed: &Observation, pool: &CpuPool) -> Option<Finding> {
    let occurs: BTreeSet<_> =
        observed.rates.iter().flat_map(|rates| &rates.interrupts).map(|of| &of.id).collect();
    let is_used = |of: &&Interrupt| match observed.rates {
        Some(_) => occurs.contains(&of.id),
        None => of.total() > 0,
    };
    let goes = |of: &Interrupt| of.goes_to().intersection(&pool.reserved);
    let cpus: Vec<CpuSet> = observed.inventory.interrupts.iter().filter(is_used).map(goes).collect();
    let cpus: Vec<CpuSet> = cpus.into_iter().filter(|cpus| !cpus.is_empty()).collect();
    (!cpus.is_empty()).then(|| Finding {
        count: cpus.len(),
        cpus: cpus.iter().flat_map(CpuSet::iter).collect(),
        better: pool.available().map(|cpu| cpu.id).collect(),
        share: None,
        ..Finding::new(FindingKind::InterruptsOnIsolatedCpus, &[])
    })
}

/// The packets whose readers are on another node, or else on another core.
fn readers_apart(queues: &[QueuePlace], readers: &Readers<'_>, kind: FindingKind) -> Option<Finding> {
    let reaches = match kind {
        FindingKind::ReadersOnOtherNode => &[Reach::OtherNode][..],
        _ => &[Reach::SameCache, Reach::SameNode],
    };
    let far = |queue: &QueuePlace| reaches.iter().filter_map(|reach| queue.readers.get(reach)).sum::<f64>();
    let part = |queue: &QueuePlace| queue.share.unwrap_or(1.0 / queues.len() as f64) * far(queue);
    let share: f64 = queues.iter().map(part).sum();
    let of: Vec<&QueuePlace> = queues.iter().filter(|queue| far(queue) > 0.0).collect();
    (share >= NOTICEABLE).then(|| Finding {
        share: Some(share),
        better: readers.cpus(),
        ..Finding::new(kind, &of)
    })
}

/// The queues by interface, of those that `is_amiss`.
fn by_interface(
    queues: &[QueuePlace],
    is_amiss: impl Fn(&QueuePlace) -> bool,
) -> BTreeMap<&str, Vec<&QueuePlace>> {
    let mut by_interface: BTreeMap<&str, Vec<&QueuePlace>> = BTreeMap::new();
    for queue in queues.iter().filter(|queue| is_amiss(queue)) {
        by_interface.entry(&queue.interface).or_default().push(queue);
    }
    by_interface
}

fn far_from_card(pool: &CpuPool, queues: &[QueuePlace]) -> Vec<Finding> {
    let far = by_interface(queues, QueuePlace::is_far_from_card);
    let finding = |(interface, far): (&str, Vec<&QueuePlace>)| Finding {
        interface: Some(interface.to_owned()),
        better: cpus(pool, |cpu| Some(cpu.node) == far[0].card_node),
        ..Finding::new(FindingKind::QueuesFarFromCard, &far)
    };
    far.into_iter().map(finding).collect()
}

fn on_slow_cpus(pool: &CpuPool, queues: &[QueuePlace]) -> Vec<Finding> {
    let slow = by_interface(queues, |queue| queue.slow);
    let finding = |(interface, slow): (&str, Vec<&QueuePlace>)| Finding {
        interface: Some(interface.to_owned()),
        better: cpus(pool, |cpu| !cpu.slow),
        ..Finding::new(FindingKind::QueuesOnSlowCpus, &slow)
    };
    slow.into_iter().map(finding).collect()
}

/// The cpus on which queues share a core, node by node, where other cores of the node take none.
fn on_one_core(pool: &CpuPool, queues: &[QueuePlace]) -> Vec<Finding> {
    let mut cores: BTreeMap<(u32, usize), Vec<&QueuePlace>> = BTreeMap::new();
    for queue in queues.iter().filter(|queue| queue.share.is_none_or(|share| share >= 0.01)) {
        if let Some(cpu) = pool.get(queue.cpu) {
            cores.entry((cpu.node, cpu.core)).or_default().push(queue);
        }
    }
    let nodes: BTreeSet<u32> = cores.keys().map(|&(node, _)| node).collect();
    let finding = |node: u32| {
        let shared = cores.iter().filter(|((of, _), queues)| *of == node && queues.len() > 1);
        let shared: Vec<&QueuePlace> = shared.flat_map(|(_, queues)| queues).copied().collect();
        let better = cpus(pool, |cpu| {
            cpu.node == node && !cpu.slow && cpu.smt_index == 0 && !cores.contains_key(&(node, cpu.core))
        });
        let is_amiss = !shared.is_empty() && !better.is_empty();
        is_amiss.then(|| Finding { better, ..Finding::new(FindingKind::QueuesOnOneCore, &shared) })
    };
    nodes.into_iter().filter_map(finding).collect()
}

/// The only queues of interfaces, where RPS is off and cpus of the node take in no packets.
fn single_queues(observed: &Observation, pool: &CpuPool, queues: &[QueuePlace]) -> Option<Finding> {
    let has_one = |name: &str| {
        let interface = observed.inventory.interfaces.iter().find(|interface| interface.name == name);
        interface.is_some_and(|interface| interface.receive.len() == 1)
    };
    let is_single = |queue: &&QueuePlace| queue.steering == QueueSteering::None && has_one(&queue.interface);
    let single: Vec<&QueuePlace> = queues.iter().filter(is_single).collect();
    let used: CpuSet = queues.iter().flat_map(|queue| queue.processed_on.iter()).collect();
    let nodes: BTreeSet<u32> = single.iter().filter_map(|queue| queue.node).collect();
    let better = cpus(pool, |cpu| nodes.contains(&cpu.node) && !used.contains(cpu.id));
    let interface = single.first().filter(|_| single.len() == 1).map(|queue| queue.interface.clone());
    (!better.is_empty()).then(|| Finding {
        interface,
        better,
        ..Finding::new(FindingKind::SingleQueue, &single)
    })
}

pub(super) fn cpus(pool: &CpuPool, is_good: impl Fn(&PoolCpu) -> bool) -> CpuSet {
    pool.available().filter(is_good).map(|cpu| cpu.id).collect()
}
