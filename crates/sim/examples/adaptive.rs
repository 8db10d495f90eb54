//! How does each policy compare with the best static one at the rates and bursts of figures 7 to 14 of
//! Salehi, Kurose & Towsley 1994? How close does the adaptive policy come, which is not told the load?
//!
//! ```text
//! cargo run --release -p warmcore-sim --example adaptive [locking|ips|hybrid] [b1|d2|g4|…]
//! ```
//!
//! Rates are fractions of the highest capacity among the three policies of Salehi 1994. Each line shows the
//! best static policy with its mean delay, and every policy's mean delay as a multiple of that. All policies
//! see the same packets; ± is the half-width of the paired difference. A policy that does not keep up shows a
//! multiple that grows with the length of the run.

use rayon::prelude::*;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Shape, SimulatedHost, capacity, trace};
use warmcore_stats::paired;
use warmcore_units::PerSecond;
use warmcore_workload::{Batch, BatchDistribution, Key, Marks, Poisson, Popularity};

const PROCESSORS: u32 = 8;
const LOADS: [f64; 17] =
    [0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
const NEAR_CAPACITY: f64 = 0.97;
const BURSTS: [&str; 7] = ["b1", "d2", "d4", "d8", "g2", "g4", "g8"];
const REPLICATIONS: u64 = 4;

/// One approach and one distribution of batch sizes.
struct Setting {
    approach: Parallelism,
    batch: Batch,
    model: ExecutionModel,
}

/// The delays of one policy at one point.
struct Measured {
    policy: ProcessorPolicy,
    /// Mean delays in microseconds, by replication.
    delays: Vec<f64>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| words.iter().any(|asked| asked.eq_ignore_ascii_case(word));
    let approaches = [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid];
    let some_approach = approaches.iter().any(|approach| asked(&approach.to_string()));
    let some_burst = BURSTS.iter().any(|burst| asked(burst));
    let mut worst = (0.0, String::new());
    for approach in approaches.into_iter().filter(|approach| !some_approach || asked(&approach.to_string())) {
        for burst in BURSTS.into_iter().filter(|burst| !some_burst || asked(burst)) {
            let ratio = compare(&Setting::new(approach, burst), burst);
            if ratio.0 > worst.0 {
                worst = ratio;
            }
        }
    }
    println!("\nThe adaptive policy at its worst: {:.4} times the best static one, at {}.", worst.0, worst.1);
}

/// Prints one line per load; returns the adaptive policy's worst ratio, and where it occurs.
fn compare(setting: &Setting, burst: &str) -> (f64, String) {
    let best_capacity = ProcessorPolicy::SALEHI_1994.map(|policy| setting.capacity(policy)).into_iter();
    let best_capacity = best_capacity.fold(0.0, f64::max);
    let approach = setting.approach;
    println!("\n{approach}, batches {burst}: up to {best_capacity:.0} packets per second");
    println!("{:>6} {:>9} {:>20} {:>10}  all in multiples", "load", "rate/s", "best", "delay/µs");
    let mut worst = (0.0, String::new());
    for load in LOADS.into_iter().chain([NEAR_CAPACITY]) {
        let rate = load * best_capacity;
        let measured: Vec<Measured> =
            ProcessorPolicy::ALL.into_par_iter().map(|policy| setting.measure(policy, rate, load)).collect();
        let best = measured
            .iter()
            .filter(|measured| measured.policy != ProcessorPolicy::Adaptive)
            .min_by(|a, b| a.mean().total_cmp(&b.mean()))
            .expect("there are static policies");
        let (name, delay) = (best.policy.to_string(), best.mean());
        print!("{load:>6.3} {rate:>9.0} {name:>20} {delay:>10.1} ");
        for other in &measured {
            let (ratio, half_width) = other.against(best);
            print!(" | {} {ratio:.3}±{half_width:.3}", other.policy);
            if other.policy == ProcessorPolicy::Adaptive && ratio > worst.0 {
                worst = (ratio, format!("{approach}, batches {burst}, load {load} (±{half_width:.4})"));
            }
        }
        println!();
    }
    worst
}

impl Setting {
    fn new(approach: Parallelism, burst: &str) -> Self {
        let distribution = match burst.as_bytes()[0] {
            b'g' => BatchDistribution::Geometric,
            _ => BatchDistribution::Deterministic,
        };
        let mean = burst[1..].parse().expect("one of the bursts above");
        let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), approach.costs(), PROCESSORS);
        let model = model.expect("the published profile is complete");
        Self { approach, batch: Batch { mean, distribution }, model }
    }

    fn host(&self, policy: ProcessorPolicy, key: Key) -> SimulatedHost<'_> {
        let scheduling = Scheduling { approach: self.approach, policy, ..Scheduling::default() };
        SimulatedHost {
            shape: Shape::square(PROCESSORS),
            scheduling,
            model: &self.model,
            effects: Effects::NONE,
            extensions: Extensions::NONE,
            key,
        }
    }

    fn arrivals(&self, rate: f64, key: Key) -> Poisson {
        let marks = Marks::new(PROCESSORS, Popularity::Uniform, self.batch, key);
        marks.and_then(|marks| Poisson::marked(PerSecond(rate), marks, key)).expect("possible arrivals")
    }

    fn capacity(&self, policy: ProcessorPolicy) -> f64 {
        let key = key(REPLICATIONS);
        capacity(&self.host(policy, key), &mut self.arrivals(1.0, key)).rate.mean.0
    }

    /// Mean delays without the first fifth of each run. Runs are longer near the capacity, where queues
    /// remember for longer.
    fn measure(&self, policy: ProcessorPolicy, rate: f64, load: f64) -> Measured {
        let packets = if load > 0.75 { 600_000 } else { 120_000 };
        let delays = (0..REPLICATIONS).map(|replication| {
            let key = key(replication);
            let (mut finished, mut sum) = (0_u64, 0.0);
            trace(&self.host(policy, key), &mut self.arrivals(rate, key), packets, &mut |packet| {
                finished += 1;
                if finished > packets / 5 {
                    sum += packet.delay().micros();
                }
            });
            sum / (packets - packets / 5) as f64
        });
        Measured { policy, delays: delays.collect() }
    }
}

const fn key(replication: u64) -> Key {
    Key { seed: 1994, point: 0, replication }
}

impl Measured {
    fn mean(&self) -> f64 {
        self.delays.iter().sum::<f64>() / self.delays.len() as f64
    }

    /// The mean delay as a multiple of that of `best`, and its half-width.
    fn against(&self, best: &Self) -> (f64, f64) {
        let difference = paired::difference(&self.delays, &best.delays).expect("as many replications");
        (self.mean() / best.mean(), difference.half_width / best.mean())
    }
}
