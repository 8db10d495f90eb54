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

use super::{CacheModel, Ran};
use crate::runqueue::tally::ApplicationTally;
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
pub(in crate::runqueue) struct Analytic {
    cpus: usize,
    displacing: f64,
    interrupt_misses: f64,
    /// Misses on each processor so far, as multiples of `displacing`.
    displaced: Vec<f64>,
    /// How long a miss occupies the bus.
    bus_ns: f64,
    /// What runs on each processor.
    segments: Vec<Segment>,
    /// By process and processor.
    left: Vec<Left>,
    applications: Vec<(MissModel, Written)>,
    /// What the processes of each application write.
    writing: Vec<Writing>,
    /// The application of each process.
    application_of: Vec<usize>,
}

/// What is known of a process since it began to compute on a processor.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// The part of its state that it did not find.
    absent: f64,
    /// What a miss costs, with the wait for the bus.
    miss_ns: f64,
    /// Misses per nanosecond; 0 once it has stopped.
    miss_rate: f64,
}

/// The part of the bus's time that the misses of others are taken to keep it busy at most: they slow each other down.
const MOST_BUSY: f64 = 0.9;

/// What an application's processes write while they compute, as the exponent of what that leaves of others' state.
#[derive(Clone, Debug)]
struct Writing {
    /// For each nanosecond of computing.
    rate: f64,
    /// On each processor so far.
    on: Vec<f64>,
    /// On all processors.
    everywhere: f64,
}

impl Writing {
    /// On all processors but `cpu`.
    fn elsewhere(&self, cpu: usize) -> f64 {
        self.everywhere - self.on[cpu]
    }
}

/// The part of a process's state that it writes to.
type Written = f64;

/// What a process left in a cache.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::runqueue) struct Left {
    /// The part of its state that was present when it stopped there.
    present: f64,
    /// `displaced` of the processor at that time.
    displaced: f64,
    /// What its application had written on other processors by that time.
    written: f64,
}

impl Analytic {
    pub(in crate::runqueue) fn new(scenario: &RunQueueScenario) -> Self {
        let machine = &scenario.machine;
        let (cpus, processes) = (machine.cpus as usize, scenario.processes() as usize);
        let applications = scenario.applications.iter();
        let model = |footprint| (MissModel::new(footprint, machine.miss_ns), footprint.written);
        Self {
            cpus,
            displacing: machine.displacing_misses,
            interrupt_misses: machine.interrupt_misses,
            displaced: vec![0.0; cpus],
            bus_ns: machine.bus_ns,
            segments: vec![Segment::default(); cpus],
            left: vec![Left::default(); cpus * processes],
            applications: applications.clone().map(|one| model(one.footprint)).collect(),
            writing: applications
                .clone()
                .map(|one| Writing {
                    rate: one.footprint.invalidated_per_ms * 1e-6,
                    on: vec![0.0; cpus],
                    everywhere: 0.0,
                })
                .collect(),
            application_of: applications
                .enumerate()
                .flat_map(|(index, one)| std::iter::repeat_n(index, one.processes as usize))
                .collect(),
        }
    }

    /// The part of `process`'s state that it does not find on `cpu`.
    fn absent(&self, process: usize, cpu: usize) -> f64 {
        let left = self.left[process * self.cpus + cpu];
        if left.present == 0.0 {
            return 1.0;
        }
        let written = self.writing[self.application_of[process]].elsewhere(cpu);
        let lost = self.displaced[cpu] - left.displaced + written - left.written;
        1.0 - left.present * (-lost).exp()
    }

    /// How long a miss on `cpu` waits for the bus, in nanoseconds: as in a queue with constant service, which the misses of
    /// the other processors keep busy as they now run. A processor has one miss at a time, so that its own never wait.
    fn bus_wait(&self, cpu: usize) -> f64 {
        if self.bus_ns == 0.0 {
            return 0.0;
        }
        let others = self.segments.iter().enumerate().filter(|(other, _)| *other != cpu);
        let busy = others.map(|(_, one)| one.miss_rate * self.bus_ns).sum::<f64>().min(MOST_BUSY);
        self.bus_ns * busy / (2.0 * (1.0 - busy))
    }

    /// `misses` fill lines of `cpu`'s cache.
    fn displace(&mut self, cpu: usize, misses: f64) {
        self.displaced[cpu] += misses / self.displacing;
    }

    fn of(&self, process: usize) -> (MissModel, Written) {
        self.applications[self.application_of[process]]
    }
}

impl CacheModel for Analytic {
    fn begin(&mut self, process: usize, cpu: usize, target: f64) -> f64 {
        let absent = self.absent(process, cpu);
        let (own, _) = self.of(process);
        let model = MissModel { miss_ns: own.miss_ns + self.bus_wait(cpu), ..own };
        let elapsed = model.elapsed(target, absent);
        let miss_rate = model.misses(target, absent) / elapsed.max(1.0);
        self.segments[cpu] = Segment { absent, miss_ns: model.miss_ns, miss_rate };
        elapsed
    }

    fn run(&mut self, process: usize, cpu: usize, elapsed: f64, target: f64) -> Ran {
        let Segment { absent, miss_ns, .. } = self.segments[cpu];
        let model = MissModel { miss_ns, ..self.of(process).0 };
        self.segments[cpu].miss_rate = 0.0;
        let computed = model.computed(elapsed, absent);
        // The end was rounded to a nanosecond.
        let computed = if computed + super::NOTHING >= target { target } else { computed };
        let misses = model.misses(computed, absent);
        self.displace(cpu, misses);
        let present = 1.0 - model.absent_after(computed, absent);
        let writing = &mut self.writing[self.application_of[process]];
        writing.on[cpu] += writing.rate * computed;
        writing.everywhere += writing.rate * computed;
        let written = writing.elsewhere(cpu);
        self.left[process * self.cpus + cpu] = Left { present, displaced: self.displaced[cpu], written };
        Ran { computed, misses, reload_misses: misses - model.steady * computed }
    }

    /// The part that it writes to, of what it left there, becomes stale.
    fn migrate(&mut self, process: usize, last: usize) {
        let (_, written) = self.of(process);
        self.left[process * self.cpus + last].present *= 1.0 - written;
    }

    fn interrupt(&mut self, cpu: usize) {
        self.displace(cpu, self.interrupt_misses);
    }

    fn replace(&mut self, process: usize) {
        self.left[process * self.cpus..][..self.cpus].fill(Left::default());
    }

    fn report(&self, _applications: &mut [ApplicationTally]) {}
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
