//! What is asked of everybody who takes part, and what they answer.

use std::error::Error;
use std::fmt;
use warmcore_linux::affinity::set_mask;
use warmcore_linux::{self as linux, AffinityError, cpu_time};
use warmcore_runtime::tally::Delays;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// How packets come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Load {
    /// As fast as they are processed.
    Saturation,
    /// At random times with this mean rate, whether or not anybody is ready for them.
    Rate(PerSecond),
}

/// One thing to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) load: Load,
    /// Threads that process packets.
    pub(crate) workers: usize,
    /// The processors that everything runs on.
    pub(crate) cpus: Vec<CpuId>,
}

impl Trial {
    /// Where `worker` is pinned: with one worker on the last processor, so that a thread that
    /// sends has the first for itself.
    pub(crate) fn place(&self, worker: usize) -> CpuId {
        self.cpus[(self.cpus.len() - self.workers + worker) % self.cpus.len()]
    }

    /// Puts the calling thread where `worker` of a peer may run: on its place, but anywhere if a
    /// paced sender needs one of the processors at times, so that the kernel can make room for it.
    pub(crate) fn settle(&self, worker: usize) -> Result<(), AffinityError> {
        let shares = self.load != Load::Saturation && self.workers == self.cpus.len();
        let cpus = if shares { self.cpus.clone() } else { vec![self.place(worker)] };
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

/// What came of a trial.
pub(crate) struct Run {
    /// Packets that reached the handler.
    pub(crate) packets: u64,
    /// Packets that did not.
    pub(crate) lost: u64,
    pub(crate) spent: Spent,
    /// From the scheduled arrival to the return of the handler, in nanoseconds; nothing at
    /// saturation.
    pub(crate) delays: Delays,
}

pub(crate) type TrialResult = Result<Run, Box<dyn Error>>;

/// Somebody who takes part.
pub(crate) trait Entrant {
    /// What a table calls it.
    fn name(&self) -> String;

    /// Whether it can do `trial`.
    fn takes_part(&self, trial: &Trial) -> bool;

    /// Does it.
    fn run(&self, trial: &Trial) -> TrialResult;
}

/// What a trial has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// On the wall's clock.
    pub(crate) time: Nanos,
    /// Processor time of all threads but the one that steers: of the workers.
    pub(crate) workers: Nanos,
    /// Processor time of the thread that steers; with peers, it is the sender.
    pub(crate) sender: Nanos,
    /// The part of the processors' time that other programs had, or the hypervisor.
    pub(crate) others: f64,
}

/// Takes the time of a trial, on the thread that steers it.
pub(crate) struct Meter {
    all: linux::Meter,
    steering: Nanos,
}

impl Meter {
    pub(crate) fn start(trial: &Trial) -> Self {
        Self { all: linux::Meter::start(&trial.cpus, &[]), steering: cpu_time::of_this_thread() }
    }

    pub(crate) fn stop(&self) -> Spent {
        let sender = cpu_time::of_this_thread() - self.steering;
        let linux::CpuUsage { time, own, others, .. } = self.all.stop();
        Spent { time, workers: own - sender, sender, others }
    }
}
