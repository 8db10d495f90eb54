//! The highest rate that a server keeps up with.
//!
//! A server under overload does not show it: sources come before workers, so the more requests come, the fewer are processed.
//! Instead the rate is searched at which the workers of the longest queue, which never find it empty, process just what comes. They
//! then take full batches, and never sleep; the other workers do what they do at that rate.

use crate::server::host::ServerHost;
use crate::server::machine::Machine;
use rayon::prelude::*;
use warmcore_scenario::ServerPolicy;
use warmcore_stats::Replications;
use warmcore_units::{Estimate, PerSecond};
use warmcore_workload::random::Key;

/// Independent searches, from whose spread the half-width follows.
const SEARCHES: u64 = 8;
/// Requests of one trial at least.
const LEAST_REQUESTS: u64 = 20_000;
/// Requests of one trial for each processor: if all workers together must keep up, and if the busiest one must. The busiest of
/// several in a short trial may be so by chance.
const REQUESTS: (u64, u64) = (2_000, 10_000);
/// One request is queued at the start for so many that a trial sends.
const QUEUED: u64 = 4;
/// Steps by which a rate that is known within a factor of two becomes precise to a thousandth.
const STEPS: u32 = 10;
/// Doublings after which a rate counts as infinite.
const DOUBLINGS: i32 = 40;
/// The replications of searches, apart from those of runs.
const FIRST_REPLICATION: u64 = 1 << 32;

impl ServerHost {
    /// The highest rate that the server keeps up with; infinite if requests cost nothing.
    #[must_use]
    pub fn capacity(&self) -> Estimate<PerSecond> {
        let searches = (0..SEARCHES).into_par_iter().map(|search| self.search(FIRST_REPLICATION + search));
        let rates: Replications = searches.collect::<Vec<f64>>().into_iter().collect();
        let rate = rates.interval();
        // Each search ends within a step of its own rate.
        let step = rate.mean * 0.5_f64.powi(STEPS.cast_signed());
        Estimate::new(PerSecond(rate.mean), PerSecond(rate.half_width + step))
    }

    /// The rate that one sequence of random numbers gives.
    fn search(&self, replication: u64) -> f64 {
        let shares = self.shares();
        let keeps_up = |rate| self.keeps_up(PerSecond(rate), replication, &shares);
        let place = &self.rates.here;
        let mut high = f64::from(self.processors) * 1e9 / (place.each + place.call).max(1.0);
        let greatest = high * 2.0_f64.powi(DOUBLINGS);
        while keeps_up(high) {
            high *= 2.0;
            if high > greatest {
                return f64::INFINITY;
            }
        }
        let mut low = high / 2.0;
        while !keeps_up(low) {
            (low, high) = (low / 2.0, low);
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if keeps_up(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }

    /// The shares of all requests that must be processed as fast as they come: of each worker, if the workers differ.
    fn shares(&self) -> Vec<f64> {
        if self.has_equal_workers() { vec![1.0] } else { self.flows.shares() }
    }

    fn has_equal_workers(&self) -> bool {
        !matches!(self.policy, ServerPolicy::ByFlow | ServerPolicy::KernelHash | ServerPolicy::Adaptive)
    }

    /// Whether each of the `shares` is processed as fast as requests come at `rate`, or all that is queued for it.
    fn keeps_up(&self, rate: PerSecond, replication: u64, shares: &[f64]) -> bool {
        let key = Key { seed: self.seed, point: rate.0.to_bits(), replication };
        let mut machine = Machine::new(self, rate, key);
        let each = if self.has_equal_workers() { REQUESTS.0 } else { REQUESTS.1 };
        let requests = LEAST_REQUESTS.max(each * u64::from(self.processors));
        machine.fill((requests / QUEUED) as usize);
        let mut processed = vec![0.0; shares.len()];
        let share_of = |worker: usize| if self.has_equal_workers() { 0 } else { worker };
        while machine.sent < requests {
            machine.step();
            for finished in machine.finished() {
                processed[share_of(finished.worker as usize)] += 1.0;
            }
            machine.clear_finished();
        }
        for (cpu, worker) in machine.workers.iter().enumerate() {
            processed[share_of(cpu)] += (worker.progress(machine.now) - worker.replied as f64).max(0.0);
        }
        let mut ran_dry = vec![true; shares.len()];
        for (queue, &was_empty) in machine.was_empty.iter().enumerate() {
            ran_dry[share_of(queue)] &= was_empty;
        }
        let came = |share: f64| share * rate.0 * machine.now * 1e-9;
        let mut shares = shares.iter().zip(&processed).zip(&ran_dry);
        shares.all(|((&share, &processed), &ran_dry)| ran_dry || processed >= came(share))
    }
}
