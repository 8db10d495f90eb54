//! What a peer is: a simulator that is handed a queue and tells how fast it was through with it.

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
    /// Their mean time from arrival to the end of service, in mean service times.
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
    /// It runs in a process of its own, which is not there or has ended.
    #[error("{0}; `scripts/install-bench-peers sim` installs the peers")]
    Program(#[from] ProgramError),
    /// It gave up.
    #[error("{peer} failed: {reason}")]
    Failed { peer: String, reason: String },
    /// It has not simulated the queue that it was asked for.
    #[error(
        "{peer} on {queue}: the mean sojourn time is {mean:.4} mean service times, expected {exact:.4} \
         to within {tolerance:.4}"
    )]
    OtherQueue { peer: String, queue: Queue, mean: f64, exact: f64, tolerance: f64 },
}

/// A simulator of [`Queue`]s, on one thread.
pub(crate) trait Peer {
    /// What a table calls it, with its version.
    fn name(&self) -> String;

    /// Customers it simulates in about a quarter of a second.
    fn customers(&self) -> u64;

    /// Whether it can simulate a queue with such service.
    fn knows(&self, _service: Service) -> bool {
        true
    }

    /// Simulates `customers` customers of `queue`, from the empty system on.
    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError>;
}
