//! Rates computed from two inventories of one host.

use super::identity::InterruptId;
use super::interfaces::Interface;
use super::interrupts::{Counts, Interrupt};
use super::processors::Processor;
use super::receivers::Receiver;
use super::threads::{Thread, ThreadKey};
use super::{CpuTimes, Inventory};
use crate::proc_stat::tick;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// The activity of a host between two inventories.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rates {
    /// The time between them.
    pub elapsed: Nanos,
    /// The rates of each cpu that was online both times.
    pub cpus: Vec<CpuRates>,
    /// Interrupts that occurred, the most frequent first.
    pub interrupts: Vec<InterruptRate>,
    /// Processes that were seen to receive data through network sockets, the most first; empty where sockets were not
    /// looked at.
    pub receivers: Vec<Receiver>,
    /// Packets that interfaces received, in order of name.
    pub interfaces: Vec<InterfaceRate>,
    /// Threads that ran, the busiest first.
    pub threads: Vec<ThreadRate>,
}

/// The activity of one cpu.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CpuRates {
    /// The cpu.
    pub cpu: CpuId,
    /// The share of its time that was neither idle nor stolen, from 0 to 1; `None` where the kernel does
    /// not report it, or the time was shorter than a tick.
    pub busy: Option<f64>,
    /// The share of its time in softirqs.
    pub softirq: Option<f64>,
    /// The share of its time in which a hypervisor ran something else.
    pub stolen: Option<f64>,
    /// Device interrupts.
    pub interrupts: PerSecond,
    /// Softirqs, by the kernel's name.
    pub softirqs: BTreeMap<String, PerSecond>,
    /// Packets received.
    pub packets: PerSecond,
    /// Packets dropped because its backlog was full.
    pub dropped: PerSecond,
}

/// The rate of an interrupt.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InterruptRate {
    /// The interrupt.
    pub id: InterruptId,
    /// Its rate on all cpus together.
    pub rate: PerSecond,
    /// Its rate on each cpu that handled it.
    pub by_cpu: BTreeMap<CpuId, PerSecond>,
}

/// The rate of an interface.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InterfaceRate {
    /// Its name.
    pub name: String,
    /// Packets received; `None` if it counts fewer than before: its driver was loaded again, or it was made anew.
    pub received: Option<PerSecond>,
}

/// How busy a thread was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ThreadRate {
    /// The thread.
    #[serde(flatten)]
    pub key: ThreadKey,
    /// Its name.
    pub name: String,
    /// Its processor time divided by the elapsed time: 1 is a whole cpu.
    pub share: f64,
    /// The cpu it ran on last.
    pub last_cpu: CpuId,
    /// Whether that is a different cpu than before.
    pub moved: bool,
}

impl Rates {
    /// Whether process `pid` was seen to receive data through network sockets.
    #[must_use]
    pub fn receives(&self, pid: u32) -> bool {
        self.receivers.iter().any(|receiver| receiver.pid == pid)
    }

    /// Packets per second that the interfaces of `inventory` with a device received; `None` where one of them does not count
    /// them, or there is none.
    #[must_use]
    pub fn from_devices(&self, inventory: &Inventory) -> Option<PerSecond> {
        let is_physical = |name: &str| {
            inventory.interfaces.iter().any(|interface| interface.name == name && interface.is_physical())
        };
        let rates = self.interfaces.iter().filter(|of| is_physical(&of.name));
        let rates: Vec<f64> = rates.map(|of| Some(of.received?.0)).collect::<Option<_>>()?;
        (!rates.is_empty()).then(|| PerSecond(rates.iter().sum()))
    }

    /// Computes the rates from `earlier` to `later`; `None` if the uptime is unknown or no time passed.
    #[must_use]
    pub fn between(earlier: &Inventory, later: &Inventory) -> Option<Self> {
        let elapsed = later.uptime? - earlier.uptime?;
        if elapsed <= Nanos::ZERO {
            return None;
        }
        let before = |cpu| earlier.processors.iter().find(|processor| processor.cpu == cpu);
        let interrupts = interrupts(&earlier.interrupts, &later.interrupts, elapsed);
        let taken = |cpu| {
            PerSecond(
                interrupts.iter().filter_map(|interrupt| interrupt.by_cpu.get(&cpu)).map(|rate| rate.0).sum(),
            )
        };
        let cpus = later.processors.iter().filter_map(|now| {
            Some(CpuRates { interrupts: taken(now.cpu), ..of_cpu(before(now.cpu)?, now, elapsed) })
        });
        Some(Self {
            elapsed,
            cpus: cpus.collect(),
            interrupts,
            receivers: Vec::new(),
            interfaces: interfaces(&earlier.interfaces, &later.interfaces, elapsed),
            threads: threads(earlier, &later.threads, elapsed),
        })
    }
}

/// Returns how far a kernel counter of 32 bits has advanced, which wraps around: those of interrupts and softirqs
/// (`kernel_stat.h`), and of packets by cpu (`softnet_data`). A new counter under an old name starts at zero.
pub(super) fn passed(before: u64, now: u64) -> u64 {
    const WRAP: u64 = 1 << 32;
    match now.checked_sub(before) {
        Some(passed) => passed,
        None if before < WRAP && now + WRAP - before < WRAP / 2 => now + WRAP - before,
        None => now,
    }
}

fn rate(before: u64, now: u64, elapsed: Nanos) -> PerSecond {
    PerSecond(passed(before, now) as f64 / elapsed.secs())
}

/// Computes the rates of one cpu, except for device interrupts, whose counters wrap around one by one.
fn of_cpu(before: &Processor, now: &Processor, elapsed: Nanos) -> CpuRates {
    let total = before.times.zip(now.times).map(|(before, now)| now.total() - before.total());
    let share = |time: fn(&CpuTimes) -> Nanos| {
        let spent = before.times.zip(now.times).map(|(before, now)| time(&now) - time(&before))?;
        let total = total.filter(|&total| total > Nanos::ZERO)?;
        // Some kernels correct their idle time downwards.
        Some((spent / total).clamp(0.0, 1.0))
    };
    let softirq = |(name, &count): (&String, &u64)| {
        let before = before.softirqs.get(name).copied().unwrap_or(0);
        (name.clone(), rate(before, count, elapsed))
    };
    let [earlier, later] = [before, now].map(|processor| processor.softnet.unwrap_or_default());
    CpuRates {
        cpu: now.cpu,
        busy: share(CpuTimes::busy),
        softirq: share(|times| times.softirq),
        stolen: share(|times| times.stolen.unwrap_or_default()),
        interrupts: PerSecond::default(),
        softirqs: now.softirqs.iter().map(softirq).collect(),
        packets: rate(earlier.processed, later.processed, elapsed),
        dropped: rate(earlier.dropped, later.dropped, elapsed),
    }
}

fn interrupts(before: &[Interrupt], now: &[Interrupt], elapsed: Nanos) -> Vec<InterruptRate> {
    let none = Counts::new();
    let earlier: BTreeMap<&InterruptId, &Counts> =
        before.iter().map(|interrupt| (&interrupt.id, &interrupt.counts)).collect();
    let rate_of = |interrupt: &Interrupt| {
        let before = earlier.get(&interrupt.id).copied().unwrap_or(&none);
        let by_cpu = interrupt
            .counts
            .iter()
            .map(|(cpu, &count)| (*cpu, rate(before.get(cpu).copied().unwrap_or(0), count, elapsed)));
        let by_cpu: BTreeMap<CpuId, PerSecond> = by_cpu.filter(|(_, rate)| rate.0 > 0.0).collect();
        let rate = PerSecond(by_cpu.values().map(|rate| rate.0).sum());
        (rate.0 > 0.0).then(|| InterruptRate { id: interrupt.id.clone(), rate, by_cpu })
    };
    let mut rates: Vec<InterruptRate> = now.iter().filter_map(rate_of).collect();
    rates.sort_by(|one, other| other.rate.0.total_cmp(&one.rate.0).then_with(|| one.id.cmp(&other.id)));
    rates
}

fn interfaces(before: &[Interface], now: &[Interface], elapsed: Nanos) -> Vec<InterfaceRate> {
    let rate_of = |interface: &Interface| {
        let earlier = before.iter().find(|earlier| earlier.index == interface.index)?;
        // A counter of 64 bits does not wrap around.
        let passed = interface.received?.checked_sub(earlier.received?);
        let received = passed.map(|passed| PerSecond(passed as f64 / elapsed.secs()));
        Some(InterfaceRate { name: interface.name.clone(), received })
    };
    now.iter().filter_map(rate_of).collect()
}

/// Computes the rates of threads. For a thread that the earlier inventory does not list, the earlier time
/// is zero if it started since then, or the time of its process if it is that process's first thread.
/// Other threads are left out until the next inventory.
fn threads(earlier: &Inventory, now: &[Thread], elapsed: Nanos) -> Vec<ThreadRate> {
    let before: BTreeMap<ThreadKey, &Thread> =
        earlier.threads.iter().map(|thread| (thread.key, thread)).collect();
    let rate_of = |thread: &Thread| {
        let key = thread.key;
        let known = before.get(&key).copied();
        let of_process = || earlier.ran.get(&(key.pid, key.started)).filter(|_| key.pid == key.tid).copied();
        let is_new = earlier.uptime.is_some_and(|then| tick() * key.started as f64 >= then);
        let new = || is_new.then_some(Nanos::ZERO);
        let ran = known.map(|thread| thread.cpu_time).or_else(of_process).or_else(new)?;
        let share = (thread.cpu_time - ran) / elapsed;
        (share > 0.0).then(|| ThreadRate {
            key,
            name: thread.name.clone(),
            share,
            last_cpu: thread.last_cpu,
            moved: known.is_some_and(|known| known.last_cpu != thread.last_cpu),
        })
    };
    let mut rates: Vec<ThreadRate> = now.iter().filter_map(rate_of).collect();
    rates.sort_by(|one, other| other.share.total_cmp(&one.share).then(one.key.cmp(&other.key)));
    rates
}
