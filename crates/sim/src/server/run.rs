//! One rate: a run that ends when its mean delay is precise, and what it means if queues grow.

use crate::packet::outcome::Ended;
use crate::server::host::ServerHost;
use crate::server::machine::Machine;
use crate::server::outcome::{ServerOutcome, ServerPoint};
use crate::server::tally::Tally;
use rayon::prelude::*;
use warmcore_scenario::ServerPolicy;
use warmcore_stats::{StopDecision, StoppingRule};
use warmcore_units::{Fault, PerSecond};
use warmcore_workload::random::Key;

/// When a run is long enough.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerPrecision {
    /// Half-width of the mean delay, as a fraction of the mean.
    pub relative: f64,
    /// The run ends after about this many requests, precise or not.
    pub max_requests: u64,
}

/// A server is saturated only if the queues of this many independent runs all grow. A single run that grows may be chance.
const CONFIRMING: u64 = 5;
/// Requests in queues at which a run ends: no server that keeps up has as many.
const MOST_QUEUED: usize = 1 << 17;
/// The adaptive policy adds a worker if all are busier than this on average.
const BUSY: f64 = 0.6;
/// A run is not judged before this many requests of each flow, and of each processor.
const SETTLED: (u64, u64) = (20, 1_000);

/// What a run does when its queues grow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GrowthRule {
    Stop,
    Continue,
}

struct Run {
    outcome: ServerOutcome,
    grows: bool,
}

impl ServerHost {
    /// Simulates the server at `rate`, the requests of all sources together.
    ///
    /// Near the capacity queues fluctuate so slowly that no run may be precise: the point then has
    /// [`Ended::Exhausted`], or, if the queues of some runs grow and of others do not, [`Ended::Unknown`] and no intervals.
    ///
    /// # Errors
    /// If the rate is not a positive number.
    pub fn simulate(&self, rate: PerSecond, precision: ServerPrecision) -> Result<ServerPoint, Fault> {
        let gap = rate.interval().0;
        if !(rate.0 > 0.0 && gap > 0.0 && gap.is_finite()) {
            return Err(Fault::new("rate", rate.0, "a finite number of requests per second above 0"));
        }
        if self.policy == ServerPolicy::Adaptive {
            return self.simulate_gathered(rate, precision);
        }
        let first = self.run(rate, 0, precision, GrowthRule::Stop);
        if !first.grows {
            return Ok(ServerPoint { rate, outcome: Some(first.outcome) });
        }
        let grows = |replication| self.run(rate, replication, precision, GrowthRule::Stop).grows;
        if (1..CONFIRMING).into_par_iter().all(grows) {
            return Ok(ServerPoint { rate, outcome: None });
        }
        let run = self.run(rate, 0, precision, GrowthRule::Continue);
        let outcome = ServerOutcome { ended: Ended::Unknown, ..run.outcome }.without_intervals();
        Ok(ServerPoint { rate, outcome: Some(outcome) })
    }

    /// The server with as few workers as keep them less busy than the adaptive policy allows: more workers are each less busy, so
    /// the number is found by halving.
    fn simulate_gathered(&self, rate: PerSecond, precision: ServerPrecision) -> Result<ServerPoint, Fault> {
        let on = |active| {
            let flows = self.flows.gathered(active);
            Self { flows, policy: ServerPolicy::ByFlow, ..self.clone() }.simulate(rate, precision)
        };
        let (mut low, mut high) = (1, self.processors);
        while low < high {
            let active = low.midpoint(high);
            let outcome = on(active)?.outcome;
            if outcome
                .is_some_and(|outcome| outcome.worker_cpu.mean.secs() * rate.0 <= BUSY * f64::from(active))
            {
                high = active;
            } else {
                low = active + 1;
            }
        }
        on(low)
    }

    fn run(&self, rate: PerSecond, replication: u64, precision: ServerPrecision, growth: GrowthRule) -> Run {
        let key = Key { seed: self.seed, point: rate.0.to_bits(), replication };
        let mut machine = Machine::new(self, rate, key);
        let mut tally = Tally::new(self.processors, rate.interval().0);
        let settled = (SETTLED.0 * self.flows.count() as u64).max(SETTLED.1 * u64::from(self.processors));
        let mut judgements =
            StoppingRule::new(precision.relative, precision.max_requests).not_before(settled);
        let ended = loop {
            machine.step();
            if machine.queues.requests > MOST_QUEUED {
                let outcome = tally.outcome(Ended::Unknown);
                return Run { outcome, grows: true };
            }
            if !machine.record(&mut tally) || tally.requests() < judgements.at() {
                continue;
            }
            if growth == GrowthRule::Stop && tally.is_growing() {
                break Ended::Unknown;
            }
            match judgements.judge(tally.delay()) {
                StopDecision::Continue => {}
                StopDecision::Precise => break Ended::Precise,
                StopDecision::Exhausted => break Ended::Exhausted,
            }
        };
        let outcome = tally.outcome(ended);
        let is_settled = outcome.requests >= settled;
        Run {
            outcome: if is_settled { outcome } else { outcome.without_intervals() },
            grows: ended == Ended::Unknown || tally.is_growing(),
        }
    }
}

impl Machine<'_> {
    /// Enters the replies of the latest event into `tally`. Returns whether it has read them.
    #[inline]
    fn record(&mut self, tally: &mut Tally) -> bool {
        let mut is_read = false;
        for index in 0..self.finished().len() {
            let finished = self.finished()[index];
            if tally.push(&finished, self.worker_cpu) {
                tally.read(self);
                is_read = true;
            }
        }
        self.clear_finished();
        is_read
    }
}
