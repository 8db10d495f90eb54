//! What a simulation of a server finds.

use crate::packet::outcome::Ended;
use serde::{Deserialize, Serialize};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// A server at one rate.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ServerPoint {
    /// Requests per second that are due.
    pub rate: PerSecond,
    /// The steady state; `None` if the server is saturated: its queues grow without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ServerOutcome>,
}

impl ServerPoint {
    /// Whether more requests are due than the server keeps up with.
    #[must_use]
    pub const fn is_saturated(&self) -> bool {
        self.outcome.is_none()
    }
}

/// A server's steady state, each figure for one request.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ServerOutcome {
    /// Mean time from when a request is due until its reply is at the source's socket.
    pub delay: Estimate<Nanos>,
    /// Half of the requests have a smaller delay.
    pub p50: Estimate<Nanos>,
    /// One request in a hundred has a larger delay.
    pub p99: Estimate<Nanos>,
    /// Processor time of the workers, with what they need to wake up and to fall asleep.
    pub worker_cpu: Estimate<Nanos>,
    /// Time in the source's call.
    pub call: Estimate<Nanos>,
    /// Share of the requests whose flow's state was last used on another processor.
    pub moved: Estimate<f64>,
    /// Share of the requests whose softirq ran on another processor than their worker.
    pub elsewhere: Estimate<f64>,
    /// Share of the requests that had to wake a worker.
    pub woken: Estimate<f64>,
    /// Requests that a worker takes at once, on average over its cycles.
    pub batch: Estimate<f64>,
    /// Requests left out at the start, before the steady state.
    pub warmup: u64,
    /// Requests simulated, the warm-up included.
    pub requests: u64,
    /// How well the mean delay is known.
    pub ended: Ended,
}

impl ServerOutcome {
    /// The same figures with infinite half-widths of all that depends on queues.
    pub(super) fn without_intervals(self) -> Self {
        let time = |time: Estimate<Nanos>| Estimate::new(time.mean, Nanos::INFINITY);
        let number = |number: Estimate<f64>| Estimate::new(number.mean, f64::INFINITY);
        Self {
            delay: time(self.delay),
            p50: time(self.p50),
            p99: time(self.p99),
            worker_cpu: time(self.worker_cpu),
            call: time(self.call),
            moved: number(self.moved),
            elsewhere: number(self.elsewhere),
            woken: number(self.woken),
            batch: number(self.batch),
            ..self
        }
    }
}
