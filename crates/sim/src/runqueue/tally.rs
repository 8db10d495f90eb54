//! What is counted in a run.

use serde::{Deserialize, Serialize};
use warmcore_cachesim::observe::{BlameCounts, MissCounts};
use warmcore_policy::runqueue::StopCause;

pub use warmcore_cachesim::observe::{Blame, MissKind};

/// Widest bin that [`Durations`] holds, in milliseconds; longer ones share the last bin.
const BINS: usize = 2000;
/// Bins per millisecond.
const PER_MS: f64 = 2.0;

/// Durations in bins of half a millisecond, up to a second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Durations {
    /// Up to the last one that holds any.
    bins: Vec<u64>,
    count: u64,
    sum_ns: f64,
    #[serde(default)]
    longest_ns: f64,
}

impl Durations {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive float saturates")]
    pub(super) fn push(&mut self, ns: f64) {
        let bin = ((ns / 1e6 * PER_MS) as usize).min(BINS - 1);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.count += 1;
        self.sum_ns += ns;
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// How many.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their mean in milliseconds; NaN if there are none.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        self.sum_ns / 1e6 / self.count as f64
    }

    /// The longest in milliseconds; 0 if there are none.
    #[must_use]
    pub const fn longest_ms(&self) -> f64 {
        self.longest_ns / 1e6
    }

    /// How many are at least `from_ms` and below `to_ms`, to half a millisecond.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive float saturates")]
    pub fn between(&self, from_ms: f64, to_ms: f64) -> u64 {
        let [from, to] = [from_ms, to_ms].map(|ms| ((ms * PER_MS).round() as usize).min(self.bins.len()));
        self.bins[from..to.max(from)].iter().sum()
    }

    /// The duration in milliseconds below which half of those of at least `least_ms` lie; NaN if there are none.
    #[must_use]
    pub fn median_ms(&self, least_ms: f64) -> f64 {
        let half = self.between(least_ms, f64::INFINITY) as f64 / 2.0;
        let mut below = 0.0;
        for (bin, &count) in self.bins.iter().enumerate() {
            let start = bin as f64 / PER_MS;
            if start + 1e-9 < least_ms || count == 0 {
                continue;
            }
            if below + count as f64 >= half {
                return start + (half - below) / count as f64 / PER_MS;
            }
            below += count as f64;
        }
        f64::NAN
    }

    /// Adds those of another run.
    pub fn merge(&mut self, other: &Self) {
        self.bins.resize(self.bins.len().max(other.bins.len()), 0);
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, count)| *bin += count);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// How often dispatch intervals ended for each reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ended {
    /// Quantum over.
    pub quantum: u64,
    /// Preempted by a process that woke up.
    pub preempted: u64,
    /// Yielded on a lock.
    pub yielded: u64,
    /// The kernel searched the queue.
    pub rescheduled: u64,
    /// Blocked.
    pub blocked: u64,
    /// Finished.
    pub exited: u64,
}

impl Ended {
    pub(super) const fn count(&mut self, cause: StopCause) {
        let counter = match cause {
            StopCause::Quantum => &mut self.quantum,
            StopCause::Preempted => &mut self.preempted,
            StopCause::Yield => &mut self.yielded,
            StopCause::Reschedule => &mut self.rescheduled,
            StopCause::Block => &mut self.blocked,
            StopCause::Exit => &mut self.exited,
        };
        *counter += 1;
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.quantum + self.preempted + self.yielded + self.rescheduled + self.blocked + self.exited
    }
}

/// The misses of an application in the caches of one level and kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LevelMisses {
    /// Which caches, such as `level 1, data`.
    pub caches: String,
    /// By kind.
    pub kinds: MissCounts,
    /// By who is to blame.
    pub blame: BlameCounts,
}

/// What happened to an application.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ApplicationTally {
    /// Whether how fast the mix is does not count it.
    #[serde(default)]
    pub is_background: bool,
    /// When its last process finished, in seconds; none if it did not.
    pub finished_s: Option<f64>,
    /// Time on processors, in seconds.
    pub cpu_s: f64,
    /// Of that, computing.
    pub compute_s: f64,
    /// Cache misses.
    pub misses: f64,
    /// Of those, of reloading state. With simulated caches, where misses are watched: of lines that were in another
    /// cpu's cache, or that another process displaced or invalidated.
    pub reload_misses: f64,
    /// References to memory, if caches are simulated.
    pub references: u64,
    /// The misses in each level and kind of simulated caches, if they are watched.
    #[serde(skip)]
    pub levels: Vec<LevelMisses>,
    /// Durations of dispatch intervals: from one search of the queue to the next.
    pub dispatches: Durations,
    /// Durations of effective time slices: without another process in between.
    pub slices: Durations,
    /// Why dispatch intervals ended.
    pub ended: Ended,
    /// Dispatches on another processor than the one before.
    pub migrations: u64,
    /// Dispatches that did not begin a process's life.
    pub returns: u64,
    /// Scheduling delays: how long its processes waited in the queue after they woke up or began.
    pub responses: Durations,
    /// The longest that one of its processes waited in the queue, in seconds.
    pub longest_wait_s: f64,
    /// Time on processors at the end of each second, in seconds, while the application runs.
    pub cpu_by_second: Vec<f64>,
}

impl ApplicationTally {
    /// What it takes in memory after `seconds`, in bytes.
    pub(super) fn bytes(seconds: f64) -> f64 {
        (3 * BINS * size_of::<u64>()) as f64 + seconds * size_of::<f64>() as f64
    }
}

/// What happened in a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Length of the run, in seconds.
    pub seconds: f64,
    /// The part of the processors' time in which they had nothing to run.
    pub idle: f64,
    /// The part that searching and switching took.
    pub rescheduling: f64,
    /// The applications, in the scenario's order.
    pub applications: Vec<ApplicationTally>,
}

impl Tally {
    /// Cache misses of all applications.
    #[must_use]
    pub fn misses(&self) -> f64 {
        self.applications.iter().map(|one| one.misses).sum()
    }

    /// The applications by which the mix is judged.
    fn foreground(&self) -> impl Iterator<Item = &ApplicationTally> {
        self.applications.iter().filter(|one| !one.is_background)
    }

    /// The mean completion time of the applications that are not in the background in seconds, "execution time" of Torrellas
    /// 1995, §5.1. An application that did not finish counts with the length of the run.
    #[must_use]
    pub fn mean_completion_s(&self) -> f64 {
        let sum: f64 = self.foreground().map(|one| one.finished_s.unwrap_or(self.seconds)).sum();
        sum / self.foreground().count() as f64
    }

    /// Computing time of the applications that are not in the background per second: so many processors, if they had no
    /// caches to fill, would do that work.
    #[must_use]
    pub fn progress(&self) -> f64 {
        self.foreground().map(|one| one.compute_s).sum::<f64>() / self.seconds
    }

    /// Dispatch intervals of all applications.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        self.applications.iter().map(|one| one.dispatches.count()).sum()
    }

    /// Migrations of all applications.
    #[must_use]
    pub fn migrations(&self) -> u64 {
        self.applications.iter().map(|one| one.migrations).sum()
    }
}
