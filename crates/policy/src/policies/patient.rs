//! Waiting for a warm processor.

use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;

/// The queueing heuristic of Salehi, Kurose & Towsley 1994, §8. Rather than starting on a cold processor
/// at once, a packet waits for one of the N that are running, until the queue is longer than N times the
/// ratio of a fully cold packet's time to a hot one's. Then the most recently used idle processor starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patient {
    /// t_cold,cold / t_hot,hot.
    cold_to_hot: f64,
}

impl Patient {
    /// A policy where `cold_to_hot` is the ratio of t_cold,cold to t_hot,hot.
    #[must_use]
    pub const fn new(cold_to_hot: f64) -> Self {
        Self { cold_to_hot }
    }
}

impl Policy for Patient {
    const QUEUES: Queues = Queues::Common;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        let queue_length = f64::from(view.waiting() + 1);
        match view.most_recent() {
            Some(cpu) if queue_length > f64::from(view.busy()) * self.cold_to_hot => Decision::Run(cpu),
            _ => Decision::Wait(request.home),
        }
    }
}
