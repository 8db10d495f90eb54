//! Words about a host that a terminal and a page share.

use crate::visible::visible;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_linux::inventory::{
    CpuRates, CpuTimes, Cpuset, Interface, InterfaceRate, Interrupt, InterruptId, Managed, OnCpu, Processor,
    Rival, Thread, ThreadKey,
};
use warmcore_linux::{Inventory, Rates};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos};

/// The most names in a list.
const NAMES: usize = 3;
/// The most cpusets that get a sentence.
const CPUSETS: usize = 4;

/// What uses one cpu, in words.
pub(crate) struct CpuWords {
    pub(crate) cpu: CpuId,
    /// `node 0, core 3`, and of what kind the core is where there are two.
    pub(crate) place: String,
    /// The part of its time in which it was busy; empty where unknown.
    pub(crate) busy: String,
    /// The part of its time in softirqs; empty where unknown.
    pub(crate) softirq: String,
    /// Packets that it took in; empty where unknown.
    pub(crate) packets: String,
    pub(crate) interrupts: Vec<String>,
    pub(crate) steering: Vec<String>,
    pub(crate) threads: Vec<String>,
    /// Interrupts and busy threads, which decide whether the cpu gets a line.
    pub(crate) weight: f64,
}

/// Every cpu that is not quiet, in order of number.
pub(crate) fn cpus(inventory: &Inventory, rates: Option<&Rates>) -> Vec<CpuWords> {
    let lately = rates.map(Lately::new);
    let on_cpus = inventory.by_cpu().filter(|on| !on.is_quiet());
    on_cpus.map(|on| of_cpu(inventory, lately.as_ref(), &on)).collect()
}

/// What happened between two looks, by what it happened to.
struct Lately<'a> {
    cpus: BTreeMap<CpuId, &'a CpuRates>,
    interrupts: BTreeMap<&'a InterruptId, f64>,
    threads: BTreeMap<ThreadKey, f64>,
}

impl<'a> Lately<'a> {
    fn new(rates: &'a Rates) -> Self {
        Self {
            cpus: rates.cpus.iter().map(|of| (of.cpu, of)).collect(),
            interrupts: rates.interrupts.iter().map(|of| (&of.id, of.rate.0)).collect(),
            threads: rates.threads.iter().map(|of| (of.key, of.share)).collect(),
        }
    }
}

fn of_cpu(inventory: &Inventory, rates: Option<&Lately<'_>>, on: &OnCpu<'_>) -> CpuWords {
    let cpu = on.processor.cpu;
    let place = inventory.machine.cpus.iter().find(|other| other.id == cpu);
    let kind = kind_of_core(inventory, cpu);
    let received =
        on.steered.iter().map(|(of, queue)| format!("RPS {} rx-{}", visible(&of.name), queue.number));
    let sent = on.sends.iter().map(|(of, queue)| format!("XPS {} tx-{}", visible(&of.name), queue.number));
    let (busy, softirq, packets) = match rates {
        Some(rates) => lately(rates, cpu),
        None => since_start(on.processor),
    };
    let weigh = |interrupt: &&Interrupt| rate_of(interrupt, rates).unwrap_or(interrupt.total() as f64);
    CpuWords {
        cpu,
        place: place.map(|cpu| format!("node {}, core {}{kind}", cpu.node, cpu.core)).unwrap_or_default(),
        busy: busy.map(percent).unwrap_or_default(),
        softirq: softirq.map(percent).unwrap_or_default(),
        packets,
        interrupts: on.interrupts.iter().map(|interrupt| called(interrupt)).collect(),
        steering: received.chain(sent).collect(),
        threads: on.threads.iter().map(|thread| running(inventory, rates, thread)).collect(),
        weight: on.interrupts.iter().map(weigh).sum::<f64>() + on.threads.len() as f64,
    }
}

/// ` (P)` or ` (E)` where some cores are faster than others.
fn kind_of_core(inventory: &Inventory, cpu: CpuId) -> &'static str {
    let slow = &inventory.special_cpus.slow;
    match slow.contains(cpu) {
        _ if slow.is_empty() => "",
        true => " (E)",
        false => " (P)",
    }
}

/// The busy share, the softirq share, and packets received, between two looks.
fn lately(rates: &Lately<'_>, cpu: CpuId) -> (Option<f64>, Option<f64>, String) {
    let Some(of) = rates.cpus.get(&cpu) else { return (None, None, String::new()) };
    (of.busy, of.softirq, of.packets.to_string())
}

/// The same since the machine started.
fn since_start(processor: &Processor) -> (Option<f64>, Option<f64>, String) {
    let times = processor.times.filter(|times| times.total() > Nanos::ZERO);
    let share = |of: fn(&CpuTimes) -> Nanos| times.map(|times| of(&times) / times.total());
    let packets = processor.softnet.map(|softnet| softnet.processed.to_string()).unwrap_or_default();
    (share(CpuTimes::busy), share(|times| times.softirq), packets)
}

/// `poll-4 on 4 97%`: its name, where it may run if not everywhere, and how busy it is.
fn running(inventory: &Inventory, rates: Option<&Lately<'_>>, thread: &Thread) -> String {
    let share = match rates {
        Some(rates) => rates.threads.get(&thread.key).copied(),
        None => thread.share,
    };
    let mut said = visible(&thread.name);
    if let Some(allowed) = thread.allowed.as_ref().filter(|allowed| **allowed != inventory.machine.online()) {
        said += &format!(" on {allowed}");
    }
    if let Some(share) = share {
        said += &format!(" {}", percent(share));
    }
    said
}

fn rate_of(interrupt: &Interrupt, rates: Option<&Lately<'_>>) -> Option<f64> {
    Some(rates?.interrupts.get(&interrupt.id).copied().unwrap_or(0.0))
}

/// `eth0 rx-3`, or the names of its actions.
fn called(interrupt: &Interrupt) -> String {
    match (&interrupt.interface, interrupt.queue) {
        (Some(interface), Some(queue)) => format!("{} {queue}", visible(interface)),
        _ => visible(interrupt.id.actions.join(", ")),
    }
}

/// `12%`; below one percent with a decimal place.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 0.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

/// The first of `names`, and how many there are besides.
pub(crate) fn few(names: &[String]) -> String {
    let mut said = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        said += &format!(" and {} more", names.len() - NAMES);
    }
    said
}

/// The cpus that the interrupts of `interface` go to, and may go to; empty where it has none.
pub(crate) fn targets(inventory: &Inventory, interface: &Interface) -> [String; 2] {
    let mut goes = CpuSet::default();
    let mut may = CpuSet::default();
    for interrupt in inventory.interrupts_of(interface).filter(|interrupt| interrupt.total() > 0) {
        goes.extend(interrupt.goes_to().iter());
        may.extend(interrupt.allowed.iter().flat_map(CpuSet::iter));
    }
    [goes.to_string(), may.to_string()]
}

/// RPS, RFS and XPS of an interface: `off`, or where they are on.
pub(crate) fn steering(interface: &Interface) -> [String; 3] {
    let union = |sets: &mut dyn Iterator<Item = &CpuSet>| {
        let cpus: CpuSet = sets.flat_map(CpuSet::iter).collect();
        if cpus.is_empty() { "off".to_owned() } else { format!("cpus {cpus}") }
    };
    let rps = union(&mut interface.receive.iter().filter_map(|queue| queue.rps.as_ref()));
    let xps = union(&mut interface.transmit.iter().filter_map(|queue| queue.xps.as_ref()));
    let flows: u64 = interface.receive.iter().filter_map(|queue| queue.rfs_flows).sum();
    let by_queue =
        interface.transmit.iter().any(|queue| queue.xps_receive.as_ref().is_some_and(|of| !of.is_empty()));
    let rfs = if flows == 0 { "off".to_owned() } else { format!("{flows} flows") };
    [rps, rfs, if by_queue { format!("{xps}, by receive queue") } else { xps }]
}

/// Interfaces whose rate of packets is unknown, a sentence each.
pub(crate) fn restarted(rates: Option<&Rates>) -> Vec<String> {
    let interfaces = rates.iter().flat_map(|rates| &rates.interfaces);
    let restarted = interfaces.filter(|of| of.received.is_none());
    let sentence = |of: &InterfaceRate| {
        format!(
            "{} counts fewer packets than at the first look: its driver was loaded again, or it was made anew, so its rate is \
             unknown until the next look.",
            visible(&of.name)
        )
    };
    restarted.map(sentence).collect()
}

/// What else matters before anything is placed: special cpus, rivals, limits; a sentence each.
pub(crate) fn circumstances(inventory: &Inventory) -> Vec<String> {
    let special = &inventory.special_cpus;
    let sets = [
        ("Offline", &special.offline),
        ("Isolated from the scheduler", &special.isolated),
        ("Without a timer tick", &special.nohz_full),
        ("E cores, slower than the others", &special.slow),
    ];
    let mut said: Vec<String> = sets
        .iter()
        .filter(|(_, cpus)| !cpus.is_empty())
        .map(|(what, cpus)| format!("{what}: cpus {cpus}."))
        .collect();
    if inventory.machine.limits.allowed != inventory.machine.online() {
        said.push(format!("This process may use cpus {} only.", inventory.machine.limits.allowed));
    }
    said.extend(cpusets(inventory));
    let softnet = inventory.processors.iter().filter_map(|of| of.softnet);
    let dropped: u64 = softnet.map(|softnet| softnet.dropped).sum();
    if dropped > 0 {
        said.push(format!(
            "{dropped} packets were dropped since the start because a cpu's backlog was full."
        ));
    }
    let managed = inventory.interrupts.iter().filter(|interrupt| interrupt.managed == Managed::Yes).count();
    if managed > 0 {
        said.push(format!(
            "The kernel itself places {managed} interrupts, and refuses other masks for them."
        ));
    }
    // Those that run and move interrupts or threads are among the findings.
    let is_finding = |of: &Rival| of.runs() && (of.undoes.interrupts || of.undoes.threads);
    said.extend(inventory.rivals.iter().filter(|of| !is_finding(of)).map(rival));
    let links = inventory.link_files.iter();
    said.extend(links.map(|link| visible(format!("{} sets {}.", link.file, link.settings.join(", ")))));
    said.extend(inventory.container.iter().map(|sign| format!("A container ({sign}).")));
    if !inventory.read_only.is_empty() {
        said.push(format!("Read-only: {}.", inventory.read_only.join(", ")));
    }
    said
}

/// Who a rival is, and what it does.
pub(crate) fn rival(of: &Rival) -> String {
    let evidence: Vec<String> = of.evidence.iter().map(visible).collect();
    let runs = if of.runs() { "runs" } else { "may run" };
    let setting = of.setting.as_ref().map(|setting| format!(", set to {}", visible(setting)));
    format!("{} {runs} ({}{}): it {}.", of.name, evidence.join(", "), setting.unwrap_or_default(), of.changes)
}

/// Programs whose busy threads their control groups keep on some cpus.
fn cpusets(inventory: &Inventory) -> Vec<String> {
    let online = inventory.machine.online();
    let restricted = inventory.cpusets.iter().filter(|set| !online.difference(&set.cpus).is_empty());
    let sentence = |set: &Cpuset| {
        let own = inventory.threads.iter().filter(|thread| thread.group.as_ref() == Some(&set.group));
        let names: BTreeSet<String> = own.map(|thread| visible(&thread.process)).collect();
        let names: Vec<String> = names.into_iter().collect();
        format!("The cpuset of {} keeps {} on cpus {}.", visible(&set.group), few(&names), set.cpus)
    };
    let mut said: Vec<String> = restricted.map(sentence).collect();
    let more = said.len().saturating_sub(CPUSETS);
    said.truncate(CPUSETS);
    said.extend((more > 0).then(|| format!("{more} more cpusets restrict busy threads: see --json.")));
    said
}

/// What is hidden, and what could not be found out about the machine.
pub(crate) fn unseen(inventory: &Inventory) -> Vec<String> {
    let spots = inventory.blind_spots.iter().map(ToString::to_string);
    spots.chain(inventory.warnings.iter().map(ToString::to_string)).collect()
}

/// The host in one sentence.
pub(crate) fn headline(inventory: &Inventory) -> String {
    let of_networks = inventory.interrupts.iter().filter(|of| of.interface.is_some() && of.total() > 0);
    let mut interrupted = CpuSet::default();
    let count = of_networks.inspect(|of| interrupted.extend(of.goes_to().iter())).count();
    let ran: CpuSet = inventory.threads.iter().map(|thread| thread.last_cpu).collect();
    let network = match count {
        0 => "No interrupt of a network interface is visible".to_owned(),
        1 => format!("One interrupt of network interfaces goes to cpu {interrupted}"),
        count => format!("{count} interrupts of network interfaces go to cpus {interrupted}"),
    };
    match inventory.threads.len() {
        0 => format!("{network}; no thread is busy."),
        1 => format!("{network}; one busy thread ran last on cpu {ran}."),
        count => format!("{network}; {count} busy threads ran last on cpus {ran}."),
    }
}
