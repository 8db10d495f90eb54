//! The interface of a benchmarked system.

use std::error::Error;
use std::fmt;
use warmcore_linux::affinity::set_mask;
use warmcore_linux::{self as linux, AffinityError, cpu_time};
use warmcore_runtime::tally::Delays;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// The rate at which packets arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Load {
    /// The next packet is always available.
    Saturation,
    /// At random times with this mean rate, whether or not a worker is free.
    Rate(PerSecond),
}

/// The load and the number of workers under which every contender is measured.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) load: Load,
    /// Threads that process packets.
    pub(crate) workers: usize,
    /// Processors of the workers and the sender.
    pub(crate) cpus: Vec<CpuId>,
}

impl Trial {
    /// The processor of `worker`. A single worker gets the last one, which leaves the first to the sender.
    pub(crate) fn worker_cpu(&self, worker: usize) -> CpuId {
        self.cpus[(self.cpus.len() - self.workers + worker) % self.cpus.len()]
    }

    /// Pins the calling thread as `worker` of a peer. Where a paced sender shares the workers' processors,
    /// the thread may run on any of them, so that the kernel can move it away from the sender.
    pub(crate) fn pin_worker(&self, worker: usize) -> Result<(), AffinityError> {
        let sender_shares = self.load != Load::Saturation && self.workers == self.cpus.len();
        let cpus = if sender_shares { self.cpus.clone() } else { vec![self.worker_cpu(worker)] };
        set_mask(&CpuSet::from_iter(cpus))
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.load {
            Load::Saturation => f.write_str("saturation")?,
            Load::Rate(rate) => write!(f, "{} packets/s", rate.0)?,
        }
        let plural = if self.workers == 1 { "" } else { "s" };
        write!(f, ", {} worker{plural}", self.workers)?;
        match (self.load, self.workers < self.cpus.len()) {
            (Load::Rate(_), true) => f.write_str(" (a peer's sender has a processor to itself)"),
            (Load::Rate(_), false) => f.write_str(" (a peer's sender shares their processors)"),
            (Load::Saturation, _) => Ok(()),
        }
    }
}

/// One run of a contender.
pub(crate) struct Run {
    /// Packets that reached the handler.
    pub(crate) packets: u64,
    /// Packets that did not reach the handler.
    pub(crate) lost: u64,
    pub(crate) used: TimeUsed,
    /// From the scheduled arrival to the return of the handler, in nanoseconds; empty at
    /// saturation.
    pub(crate) delays: Delays,
}

pub(crate) type RunResult = Result<Run, Box<dyn Error>>;

/// A system that is benchmarked.
pub(crate) trait Contender {
    /// Its name in tables.
    fn name(&self) -> String;

    /// Whether it is measured in `trial`.
    fn supports(&self, trial: &Trial) -> bool;

    /// Runs `trial` once.
    fn run(&self, trial: &Trial) -> RunResult;
}

/// The time that a run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeUsed {
    /// Elapsed time.
    pub(crate) elapsed: Nanos,
    /// Processor time of all threads except the controlling one.
    pub(crate) workers: Nanos,
    /// Processor time of the controlling thread, which is the sender of a peer.
    pub(crate) sender: Nanos,
    /// Share of the processors' time used by other programs or the hypervisor.
    pub(crate) others: f64,
}

/// Measures the time of a run, on the thread that controls it.
pub(crate) struct Meter {
    all: linux::Meter,
    controlling: Nanos,
}

impl Meter {
    pub(crate) fn start(trial: &Trial) -> Self {
        Self { all: linux::Meter::start(&trial.cpus, &[]), controlling: cpu_time::of_this_thread() }
    }

    pub(crate) fn stop(&self) -> TimeUsed {
        let sender = cpu_time::of_this_thread() - self.controlling;
        let linux::CpuUsage { time, own, others, .. } = self.all.stop();
        TimeUsed { elapsed: time, workers: own - sender, sender, others }
    }
}
