//! The interface of a peer: a simulator that simulates a queue and reports how long it took.

use crate::queue::{Queue, Service};
use serde::{Deserialize, Serialize};
use warmcore_bench::ProgramError;

/// One run of one peer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Customers simulated from arrival to the end of service.
    pub(crate) customers: u64,
    /// Wall-clock time of the simulation alone, in seconds.
    pub(crate) seconds: f64,
    /// Mean time from arrival to the end of service, in mean service times.
    pub(crate) mean_sojourn: f64,
}

impl Run {
    /// Customers simulated per second.
    pub(crate) fn rate(&self) -> f64 {
        self.customers as f64 / self.seconds
    }
}

/// A peer could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    /// Its process could not be started or gave no usable answer.
    #[error("{0}; `scripts/install-bench-peers sim` installs the peers")]
    Program(#[from] ProgramError),
    /// It reported an error.
    #[error("{peer} failed: {reason}")]
    Failed { peer: String, reason: String },
    /// Its mean disagrees with theory, so it has not simulated the requested queue.
    #[error(
        "{peer} on {queue}: the mean sojourn time is {mean:.4} mean service times, expected {exact:.4} \
         to within {tolerance:.4}"
    )]
    WrongMean { peer: String, queue: Queue, mean: f64, exact: f64, tolerance: f64 },
}

/// A simulator of [`Queue`]s, on one thread.
pub(crate) trait Peer {
    /// Its name in tables, with its version.
    fn name(&self) -> String;

    /// Customers that it simulates in about a quarter of a second.
    fn customers(&self) -> u64;

    /// Whether it can simulate a queue with this kind of service.
    fn supports(&self, _service: Service) -> bool {
        true
    }

    /// Simulates `customers` customers of `queue`, starting with an empty system.
    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError>;
}
