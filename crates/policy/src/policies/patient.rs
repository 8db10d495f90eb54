//! Waiting for a warm processor.

use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;

/// The queueing heuristic of Salehi, Kurose & Towsley 1994, §8: rather than going into service on
/// a cold processor at once, a packet waits for one of the N that are running, until the line is
/// longer than N times what a fully cold packet takes compared with a hot one. Then the most
/// recently used idle processor starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patient {
    /// t_cold,cold / t_hot,hot.
    cold_to_hot: f64,
}

impl Patient {
    /// With `cold_to_hot` the ratio of t_cold,cold to t_hot,hot.
    #[must_use]
    pub const fn new(cold_to_hot: f64) -> Self {
        Self { cold_to_hot }
    }
}

impl Policy for Patient {
    const QUEUES: Queues = Queues::Common;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        let line = f64::from(view.waiting() + 1);
        match view.most_recent() {
            Some(cpu) if line > f64::from(view.busy()) * self.cold_to_hot => Decision::Run(cpu),
            _ => Decision::Wait(request.home),
        }
    }
}
