//! The analytic cache model (Torrellas 1995, §3.1.1 and §3.2.2).
//!
//! A process has state that it reuses, `reload_misses` lines of it, and misses besides at a steady rate. If a part of
//! its state is absent when it starts to run, that part is loaded while it computes, most of it in the first `reload_ms`:
//! after computing for `u` it has had
//!
//! ```text
//! misses(u) = steady * u + absent * (1 - exp(-u / reload))
//! ```
//!
//! misses, each of which adds the cost of a miss to the time on the processor. The misses of others that run on the processor
//! displace its state: of what is there, `exp(-misses / displacing)` survives, as for a direct-mapped cache whose lines are
//! hit evenly. On a processor where it has never run, it finds nothing.

use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::Footprint;

/// What a process does to caches, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MissModel {
    /// Misses until all that is reused is loaded.
    pub reload: f64,
    /// Computing time in which all but 1/e of that is loaded.
    pub reload_ns: f64,
    /// Steady misses per nanosecond of computing.
    pub steady: f64,
    /// Cost of a miss.
    pub miss_ns: f64,
}

/// Relative precision to which a computing time is found.
const PRECISION: f64 = 1e-9;
/// Steps of Newton's method. They converge quadratically and from one side, so this is never reached.
const MAX_STEPS: usize = 60;

impl MissModel {
    /// The model of `footprint` with misses of `miss_ns`.
    #[must_use]
    pub fn new(footprint: Footprint, miss_ns: f64) -> Self {
        Self {
            reload: footprint.reload_misses,
            reload_ns: footprint.reload_ms * 1e6,
            steady: footprint.steady_misses_per_ms * 1e-6,
            miss_ns,
        }
    }

    /// The misses while a process computes for `compute_ns`, of whose state the part `absent` is not in the cache.
    #[must_use]
    pub fn misses(&self, compute_ns: f64, absent: f64) -> f64 {
        self.steady * compute_ns - self.reload * absent * (-compute_ns / self.reload_ns).exp_m1()
    }

    /// The time on the processor in which it computes for `compute_ns`.
    #[must_use]
    pub fn elapsed(&self, compute_ns: f64, absent: f64) -> f64 {
        compute_ns + self.miss_ns * self.misses(compute_ns, absent)
    }

    /// How long it computes within `elapsed_ns` on the processor: the inverse of [`MissModel::elapsed`].
    #[must_use]
    pub fn computed(&self, elapsed_ns: f64, absent: f64) -> f64 {
        let pending = self.miss_ns * self.reload * absent;
        let slope = 1.0 + self.miss_ns * self.steady;
        if pending == 0.0 {
            return elapsed_ns / slope;
        }
        // `elapsed` is concave, so that Newton's steps from below never go beyond the solution.
        let mut compute = ((elapsed_ns - pending) / slope).max(0.0);
        for _ in 0..MAX_STEPS {
            let decline = (-compute / self.reload_ns).exp();
            let error = elapsed_ns - slope * compute - pending * (1.0 - decline);
            let step = error / (slope + pending * decline / self.reload_ns);
            compute += step;
            if step <= PRECISION * compute {
                break;
            }
        }
        compute.min(elapsed_ns)
    }

    /// The part of its state that is absent after it has computed for `compute_ns`.
    #[must_use]
    pub fn absent_after(&self, compute_ns: f64, absent: f64) -> f64 {
        absent * (-compute_ns / self.reload_ns).exp()
    }
}

/// What of each process is in which processor's cache.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    cpus: usize,
    displacing: f64,
    /// Misses on each processor so far, as multiples of `displacing`.
    displaced: Vec<f64>,
    /// By process and processor.
    left: Vec<Left>,
}

/// What a process left in a cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    /// The part of its state that was present when it stopped there.
    present: f64,
    /// `displaced` of the processor at that time.
    displaced: f64,
}

impl Caches {
    pub(super) fn new(scenario: &RunQueueScenario) -> Self {
        let (cpus, processes) = (scenario.machine.cpus as usize, scenario.processes() as usize);
        Self {
            cpus,
            displacing: scenario.machine.displacing_misses,
            displaced: vec![0.0; cpus],
            left: vec![Left::default(); cpus * processes],
        }
    }

    /// The part of `process`'s state that it does not find on `cpu`.
    pub(super) fn absent(&self, process: usize, cpu: usize) -> f64 {
        let left = self.left[process * self.cpus + cpu];
        if left.present == 0.0 {
            return 1.0;
        }
        1.0 - left.present * (left.displaced - self.displaced[cpu]).exp()
    }

    /// `process` stops on `cpu`, where the part `absent` of its state is missing.
    pub(super) fn leave(&mut self, process: usize, cpu: usize, absent: f64) {
        self.left[process * self.cpus + cpu] = Left { present: 1.0 - absent, displaced: self.displaced[cpu] };
    }

    /// `misses` fill lines of `cpu`'s cache.
    pub(super) fn displace(&mut self, cpu: usize, misses: f64) {
        self.displaced[cpu] += misses / self.displacing;
    }

    /// The part `written` of what `process` left elsewhere becomes stale, since it now runs on `cpu`.
    pub(super) fn invalidate(&mut self, process: usize, last: usize, written: f64) {
        self.left[process * self.cpus + last].present *= 1.0 - written;
    }

    /// `process` is replaced by a new one.
    pub(super) fn forget(&mut self, process: usize) {
        self.left[process * self.cpus..][..self.cpus].fill(Left::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: MissModel =
        MissModel { reload: 3000.0, reload_ns: 0.5e6, steady: 100e-6, miss_ns: 35.0 / 33.0 * 1e3 };

    #[test]
    fn computing_and_elapsed_time_are_inverse() {
        for absent in [0.0, 1e-6, 0.3, 1.0] {
            for compute in [0.0, 1.0, 1e4, 0.4e6, 3e6, 30e6, 1e10] {
                let elapsed = MATRIX.elapsed(compute, absent);
                let back = MATRIX.computed(elapsed, absent);
                assert!((back - compute).abs() <= 1e-6 * compute.max(1.0), "{compute} {absent}: {back}");
            }
        }
    }

    /// §3.1.2: "it takes about 3 ms to reload the 3000 reload misses".
    #[test]
    fn a_reload_of_three_thousand_misses_costs_three_milliseconds() {
        let cost = MATRIX.elapsed(20e6, 1.0) - MATRIX.elapsed(20e6, 0.0);
        assert!((cost / 1e6 - 3.2).abs() < 0.1, "{cost}");
    }

    #[test]
    fn a_segment_cut_in_two_has_the_same_misses() {
        let first = MATRIX.misses(0.7e6, 0.8);
        let rest = MATRIX.misses(1.1e6, MATRIX.absent_after(0.7e6, 0.8));
        assert!((first + rest - MATRIX.misses(1.8e6, 0.8)).abs() < 1e-6);
    }
}
