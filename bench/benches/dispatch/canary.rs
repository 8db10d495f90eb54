//! Whether the machine is as fast as before: a processor may be slowed down without anything that the
//! kernel could tell.

use crate::handler::Handler;
use crate::work::work;
use serde::Serialize;
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_stats::Spread;

/// Handlers that are called in a line, without any queue.
const CALLS: u32 = 300_000;
/// A round begins if the loop takes no longer, as a part of its median, or less.
const DRIFT: f64 = 0.15;
/// How often it is waited for that.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(500);

/// The loop that is timed before every round.
pub(crate) struct Canary {
    handler: Handler,
    /// Calls per second, whenever it was timed.
    rates: Vec<f64>,
    /// Rounds that began though it was not near its median.
    unsteady: usize,
}

/// What it has found.
#[derive(Serialize)]
pub(crate) struct Drift {
    /// Calls per second, whenever it was timed: those before which it was waited count too.
    calls_per_s: Spread,
    tolerated: f64,
    rounds_begun_unsteady: usize,
}

impl Canary {
    pub(crate) fn new(handler: Handler) -> Self {
        let mut canary = Self { handler, rates: Vec::new(), unsteady: 0 };
        (0..5).for_each(|_| canary.time());
        canary
    }

    fn time(&mut self) {
        let begun = Instant::now();
        (0..CALLS).for_each(|_| work(self.handler.turns));
        self.rates.push(f64::from(CALLS) / begun.elapsed().as_secs_f64());
    }

    /// Returns when the machine is as fast as it was, or has not become so for some seconds.
    pub(crate) fn settle(&mut self) {
        for _ in 0..TRIES {
            self.time();
            let median = Spread(self.rates.clone()).median();
            if (self.rates[self.rates.len() - 1] / median - 1.0).abs() <= DRIFT {
                return;
            }
            sleep(PAUSE);
        }
        self.unsteady += 1;
    }

    pub(crate) fn drift(self) -> Drift {
        let calls_per_s = Spread(self.rates);
        Drift { calls_per_s, tolerated: DRIFT, rounds_begun_unsteady: self.unsteady }
    }
}

impl Drift {
    pub(crate) fn print(&self) {
        let relative = self.calls_per_s.map(|rate| rate / self.calls_per_s.median());
        println!(
            "drift of an inline loop over the benchmark: {relative:.3} of its median; {} rounds began though it was more than {:.0}% off",
            self.rounds_begun_unsteady,
            self.tolerated * 100.0
        );
    }
}
