//! An application of a run-queue scenario: what its processes do.

use super::{MAX_PROCESSES, MILLISECONDS, RecordedDelays, RecordedThread, References, within};
use serde::{Deserialize, Serialize};
use warmcore_units::{CpuId, Fault};

/// An application: processes that behave alike.
///
/// A process computes for a *burst*, then does something that ends its time on the processor: it blocks, yields on a lock,
/// or lets the kernel search the queue. A quantum may end in the middle of a burst, which then goes on later. Times of
/// computing are without those of cache misses, which the simulator adds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Its name.
    pub name: String,
    /// How many processes it has at a time.
    pub processes: u32,
    /// Whether it only takes processors and caches from the others: how fast the mix is does not count it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub background: bool,
    /// How long each computes in all, in milliseconds; with `jobs`, how long each job does. Without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ms: Option<f64>,
    /// How long its first process computes before the others start, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub serial_ms: f64,
    /// Work that comes in jobs, each done by several short-lived processes, as a parallel make does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Jobs>,
    /// What it does to caches.
    #[serde(default)]
    pub footprint: Footprint,
    /// What it refers to, instead of a footprint, if the machine's caches are simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<References>,
    /// How long a process computes until it next gives up the processor by itself.
    #[serde(default, skip_serializing_if = "Bursts::is_empty")]
    pub bursts: Bursts,
    /// How it does so.
    #[serde(default, skip_serializing_if = "Ends::is_empty")]
    pub ends: Ends,
    /// How long it blocks, and who wakes it up.
    #[serde(default)]
    pub blocking: Blocking,
    /// What it waits for when it yields.
    #[serde(default)]
    pub lock: Lock,
    /// Base priority, lower runs first. With a fair scheduler, the nice value.
    #[serde(default)]
    pub base: i32,
    /// The processors to which its processes are fixed, one after the other; empty if the scheduler decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<CpuId>,
    /// What was recorded of how long its threads waited for a processor, for comparison with what is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedDelays>,
    /// What each process did, if it was recorded. Bursts, ends, blocking and work are then not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<RecordedThread>,
}

/// Work in jobs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// How many there are.
    pub count: u32,
    /// How many processes work on a job, one after the other. Each is new: it has used no CPU time and has nothing in
    /// any cache.
    #[serde(default = "one")]
    pub stages: u32,
    /// Standard deviation of a job's work, as a fraction of its mean.
    #[serde(default)]
    pub spread: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

const fn one() -> u32 {
    1
}

/// The cached state of a process (Torrellas 1995, §3.1.1).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Footprint {
    /// Misses until all that it reuses is in a cold cache.
    pub reload_misses: f64,
    /// Computing time in milliseconds in which all but 1/e of that is loaded.
    pub reload_ms: f64,
    /// Misses besides, per millisecond of computing, in a warm cache too.
    pub steady_misses_per_ms: f64,
    /// The part of its state that is written, and so becomes stale in other caches while it runs elsewhere.
    pub written: f64,
    /// The rate at which what the application's processes write on other processors makes this state stale while it waits in a
    /// cache, per millisecond that they compute.
    #[serde(skip_serializing_if = "is_zero")]
    pub invalidated_per_ms: f64,
}

impl Default for Footprint {
    fn default() -> Self {
        Self {
            reload_misses: 0.0,
            reload_ms: 0.5,
            steady_misses_per_ms: 0.0,
            written: 0.0,
            invalidated_per_ms: 0.0,
        }
    }
}

/// A distribution of computing times: a histogram and an exponential tail.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// The edges of the histogram's bins, in milliseconds, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges_ms: Vec<f64>,
    /// The share of bursts in each bin. What is missing to 1 lies beyond the last edge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<f64>,
    /// The mean excess of bursts beyond the last edge, in milliseconds.
    #[serde(default)]
    pub tail_ms: f64,
}

/// Weights of the ways in which bursts end. They need not add up to anything.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ends {
    /// It waits for an event and leaves the queue.
    pub block: f64,
    /// It fails to get a lock and gives the processor away.
    #[serde(rename = "yield")]
    pub yielding: f64,
    /// The kernel searches the queue before it goes on: system calls, TLB faults.
    pub reschedule: f64,
}

/// Who wakes up a process that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WakeSource {
    /// An interrupt, on the machine's `interrupt_cpu`: it takes time there, and the process preempts one of worse priority.
    #[default]
    Interrupt,
    /// Another process: the woken one waits in the queue.
    Process,
}

/// How processes block.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Blocking {
    /// The mean time until the event comes, in milliseconds.
    pub mean_ms: f64,
    /// Its standard deviation as a fraction of the mean: 1 for exponential times, 0 for constant ones, gamma-distributed otherwise.
    pub spread: f64,
    /// Who wakes the process up.
    pub wake: WakeSource,
}

impl Default for Blocking {
    fn default() -> Self {
        Self { mean_ms: 10.0, spread: 1.0, wake: WakeSource::Interrupt }
    }
}

/// What a process that yields waits for.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lock {
    /// The chance that the lock is held by another process of the application, drawn evenly, so that the yielding one cannot go
    /// on before that has run. Otherwise it can go on when it is next picked.
    pub held: f64,
    /// How long a process that is picked too early tries before it yields again, in milliseconds.
    pub retry_ms: f64,
}

impl Default for Lock {
    fn default() -> Self {
        Self { held: 0.0, retry_ms: 0.1 }
    }
}

impl Application {
    /// How many processes it has in all, those that follow others in jobs counted.
    #[must_use]
    pub fn all_processes(&self) -> f64 {
        let successors = self.jobs.map_or(0.0, |jobs| f64::from(jobs.count) * f64::from(jobs.stages));
        f64::from(self.processes) + successors
    }

    pub(super) fn check(&self, index: usize, cpus: u32, all: u32) -> Result<(), Fault> {
        let field = |name: &str| format!("applications.{index}.{name}");
        if self.name.trim().is_empty() {
            return Err(Fault::new(field("name"), "empty", "a name"));
        }
        if !(1..=MAX_PROCESSES).contains(&self.processes) {
            let expected = format!("between 1 and {MAX_PROCESSES}");
            return Err(Fault::new(field("processes"), self.processes, expected));
        }
        if let Some(work) = self.work_ms
            && !(work > 0.0 && MILLISECONDS.contains(&work))
        {
            return Err(Fault::new(field("work_ms"), work, "above 0, at most 86400000 milliseconds"));
        }
        within(field("serial_ms"), self.serial_ms, MILLISECONDS, "milliseconds")?;
        if self.serial_ms > 0.0 && self.jobs.is_some() {
            return Err(Fault::new(field("serial_ms"), self.serial_ms, "0, since the work comes in jobs"));
        }
        if !(-1000..=1000).contains(&self.base) {
            return Err(Fault::new(field("base"), self.base, "between -1000 and 1000"));
        }
        if let Some((place, cpu)) = self.attached.iter().enumerate().find(|(_, cpu)| cpu.0 >= cpus) {
            return Err(Fault::new(
                field(&format!("attached.{place}")),
                cpu.0,
                format!("a cpu below {cpus}"),
            ));
        }
        if let Some(jobs) = self.jobs {
            jobs.check(&field("jobs"), self.work_ms.is_some())?;
        }
        self.footprint.check(&field("footprint"))?;
        if let Some(references) = &self.references {
            references.check(&field("references"))?;
        }
        if let Some(recorded) = &self.recorded {
            recorded.check(&field("recorded"))?;
        }
        if !self.threads.is_empty() {
            return self.check_threads(&field("threads"), cpus, all);
        }
        self.bursts.check(&field("bursts"))?;
        self.ends.check(&field("ends"))?;
        within(field("blocking.mean_ms"), self.blocking.mean_ms, MILLISECONDS, "milliseconds")?;
        within(field("blocking.spread"), self.blocking.spread, 0.0..=10.0, "")?;
        within(field("lock.held"), self.lock.held, 0.0..=1.0, "")?;
        within(field("lock.retry_ms"), self.lock.retry_ms, 0.001..=1e6, "milliseconds")
    }

    fn check_threads(&self, field: &str, cpus: u32, all: u32) -> Result<(), Fault> {
        if self.threads.len() != self.processes as usize {
            let expected = format!("one for each of {} processes", self.processes);
            return Err(Fault::new(field, format!("{} of them", self.threads.len()), expected));
        }
        if self.work_ms.is_some() || self.serial_ms > 0.0 {
            return Err(Fault::new(field, "given with work_ms or serial_ms", "only one of them"));
        }
        if self.references.is_some() {
            let expected = "no references: what was recorded holds the time of misses";
            return Err(Fault::new(field, "given with references", expected));
        }
        let mut threads = self.threads.iter().enumerate();
        threads.try_for_each(|(place, thread)| thread.check(&format!("{field}.{place}"), cpus, all))
    }
}

impl Jobs {
    fn check(self, field: &str, has_work: bool) -> Result<(), Fault> {
        for (name, value) in [("count", self.count), ("stages", self.stages)] {
            if !(1..=1_000_000).contains(&value) {
                return Err(Fault::new(format!("{field}.{name}"), value, "between 1 and 1000000"));
            }
        }
        if !has_work {
            return Err(Fault::new(field, "given without work_ms", "work_ms too: how long a job computes"));
        }
        within(format!("{field}.spread"), self.spread, 0.0..=10.0, "")
    }
}

impl Footprint {
    fn check(&self, field: &str) -> Result<(), Fault> {
        within(format!("{field}.reload_misses"), self.reload_misses, 0.0..=1e12, "misses")?;
        within(format!("{field}.reload_ms"), self.reload_ms, 1e-6..=1e6, "milliseconds")?;
        within(format!("{field}.steady_misses_per_ms"), self.steady_misses_per_ms, 0.0..=1e9, "misses")?;
        within(format!("{field}.written"), self.written, 0.0..=1.0, "")?;
        within(format!("{field}.invalidated_per_ms"), self.invalidated_per_ms, 0.0..=1e6, "per millisecond")
    }
}

impl Bursts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Mean of the distribution, in milliseconds.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        let bins = self.edges_ms.windows(2).zip(&self.shares);
        let within: f64 = bins.map(|(edges, share)| share * (edges[0] + edges[1]) / 2.0).sum();
        within + self.beyond() * (self.edges_ms.last().unwrap_or(&0.0) + self.tail_ms)
    }

    /// The share beyond the last edge.
    #[must_use]
    pub fn beyond(&self) -> f64 {
        (1.0 - self.shares.iter().sum::<f64>()).max(0.0)
    }

    fn check(&self, field: &str) -> Result<(), Fault> {
        let listed = |values: &[f64]| format!("{values:?}");
        let ascending = self.edges_ms.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || !self.edges_ms.iter().all(|edge| MILLISECONDS.contains(edge)) {
            let expected = "ascending times from 0 to 86400000 milliseconds";
            return Err(Fault::new(format!("{field}.edges_ms"), listed(&self.edges_ms), expected));
        }
        if self.shares.len() != self.edges_ms.len().saturating_sub(1) {
            let expected = "one share for each bin: one fewer than there are edges";
            return Err(Fault::new(format!("{field}.shares"), listed(&self.shares), expected));
        }
        let valid = self.shares.iter().all(|share| (0.0..=1.0).contains(share));
        if !valid || self.shares.iter().sum::<f64>() > 1.0 + 1e-9 {
            let expected = "shares from 0 to 1 that add up to at most 1";
            return Err(Fault::new(format!("{field}.shares"), listed(&self.shares), expected));
        }
        within(format!("{field}.tail_ms"), self.tail_ms, MILLISECONDS, "milliseconds")?;
        if self.mean_ms() < 1e-3 {
            let expected =
                "bursts of at least a microsecond on average: give edges_ms and shares, or tail_ms";
            return Err(Fault::new(format!("{field}.tail_ms"), self.tail_ms, expected));
        }
        Ok(())
    }
}

impl Ends {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn check(self, field: &str) -> Result<(), Fault> {
        let weights = [("block", self.block), ("yield", self.yielding), ("reschedule", self.reschedule)];
        for (name, weight) in weights {
            within(format!("{field}.{name}"), weight, 0.0..=1e12, "")?;
        }
        if weights.iter().all(|(_, weight)| *weight == 0.0) {
            return Err(Fault::new(
                field,
                "without any weight",
                "a weight above 0 for block, yield or reschedule",
            ));
        }
        Ok(())
    }
}
