//! Compares the adaptive policy with every static one on the traffic of figures 7 to 14 of Salehi, Kurose &
//! Towsley 1994. Its mean delay must be at most 1.02 times that of the best static policy, also soon after
//! the load has changed.
//!
//! All policies see the same packets. The bound is on the mean over the replications; the half-width of the
//! paired difference is the allowance for noise. `examples/adaptive.rs` covers the whole grid.

use rayon::prelude::*;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Finished, Shape, SimulatedHost, trace};
use warmcore_stats::paired;
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::BatchDistribution::{Deterministic, Geometric};
use warmcore_workload::{Arrival, Arrivals, Batch, Key, Marks, Poisson, Popularity};

const PROCESSORS: u32 = 8;
const WITHIN: f64 = 1.02;
const REPLICATIONS: u64 = 4;
/// Packets of a run at a constant load, and how many of them are left out as warm-up.
const PACKETS: u64 = 32_000;
const WARM_UP: u32 = 8_000;

fn key(replication: u64) -> Key {
    Key { seed: 14, point: 7, replication }
}

fn arrivals(rate: f64, batch: Batch, key: Key) -> Poisson {
    let marks = Marks::new(PROCESSORS, Popularity::Uniform, batch, key).unwrap();
    Poisson::marked(PerSecond(rate), marks, key).unwrap()
}

/// Simulates the first `packets` of `arrivals` and calls `see` with each finished packet.
fn simulate(
    (approach, policy): (Parallelism, ProcessorPolicy),
    arrivals: &mut dyn Arrivals,
    (packets, key): (u64, Key),
    see: &mut dyn FnMut(Finished),
) {
    let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), approach.costs(), PROCESSORS).unwrap();
    let scheduling = Scheduling { approach, policy, ..Scheduling::default() };
    let host = SimulatedHost {
        shape: Shape::square(PROCESSORS),
        scheduling,
        model: &model,
        effects: Effects::NONE,
        extensions: Extensions::NONE,
        key,
    };
    trace(&host, arrivals, packets, see);
}

/// The static policies.
fn fixed() -> impl Iterator<Item = ProcessorPolicy> {
    ProcessorPolicy::ALL.into_iter().filter(|&policy| policy != ProcessorPolicy::Adaptive)
}

/// Fails unless the adaptive policy is good enough. `delays` gives a policy's mean delays, one per
/// replication.
fn judge(case: &str, delays: impl Fn(ProcessorPolicy) -> Vec<f64>) {
    let mean = |delays: &[f64]| delays.iter().sum::<f64>() / delays.len() as f64;
    let all: Vec<_> = fixed().map(&delays).collect();
    let best = all.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap();
    let adaptive = delays(ProcessorPolicy::Adaptive);
    let noise = paired::difference(&adaptive, best).unwrap().half_width;
    let (adaptive, best) = (mean(&adaptive), mean(best));
    // Near the capacity the adaptive policy is far better than the best static one, and the noise is larger.
    assert!(noise <= 0.05 * best || adaptive < best, "{case}: {adaptive:.1} µs ± {noise:.1}");
    assert!(
        adaptive <= WITHIN * best + noise,
        "{case}: {adaptive:.1} µs ± {noise:.1} against {best:.1} (seed {})",
        key(0).seed
    );
}

/// Tests single packets, fixed batches of 8 and geometric batches of mean 4, at loads from almost 0 to almost
/// 1. Loads are relative to the capacity of Salehi 1994 under Wired-Streams.
fn judge_loads(approach: Parallelism, capacity: f64) {
    let geometric = Batch { mean: 4.0, distribution: Geometric };
    let deterministic = Batch { mean: 8.0, distribution: Deterministic };
    let mut points = Vec::new();
    for (batch, loads) in [
        (Batch::ONE, vec![0.01, 0.05, 0.15, 0.4, 0.7, 0.8, 0.9]),
        (geometric, vec![0.02, 0.1, 0.4, 0.7, 0.8]),
        (deterministic, vec![0.05, 0.3, 0.5, 0.7, 0.8]),
    ] {
        points.extend(loads.into_iter().map(|load| (batch, load)));
    }
    points.into_par_iter().for_each(|(batch, load)| {
        judge(&format!("{approach}, {batch:?} at {load}"), |policy| {
            let mean = |replication| {
                let key = key(replication);
                let (mut count, mut sum) = (0_u32, 0.0);
                let mut arrivals = arrivals(load * capacity, batch, key);
                simulate((approach, policy), &mut arrivals, (PACKETS, key), &mut |packet| {
                    count += 1;
                    if count > WARM_UP {
                        sum += packet.delay().micros();
                    }
                });
                sum / f64::from(count - WARM_UP)
            };
            (0..REPLICATIONS).map(mean).collect()
        });
    });
}

#[test]
fn under_locking() {
    judge_loads(Parallelism::Locking, 77_600.0);
}

#[test]
fn under_independent_stacks() {
    judge_loads(Parallelism::Ips, 139_000.0);
}

#[test]
fn under_the_hybrid() {
    judge_loads(Parallelism::Hybrid, 139_000.0);
}

/// Packets between changes of the load.
const PHASE: usize = 16_384;
const PHASES: usize = 6;
/// Packets after a change that are left out, in which the policy may still adapt.
const FOLLOWED: usize = 3 * 1_024;

/// Packets at two rates in turn.
fn changing(rates: [f64; 2], key: Key) -> Vec<Arrival> {
    let mut sources = rates.map(|rate| arrivals(rate, Batch::ONE, key));
    let mut packets = Vec::new();
    let mut now = Nanos::ZERO;
    let mut last = [Nanos::ZERO; 2];
    for phase in 0..PHASES {
        let which = phase % 2;
        let mut block = vec![Arrival::default(); PHASE];
        sources[which].fill(&mut block);
        packets.extend(block.into_iter().map(|packet| {
            now += packet.at - core::mem::replace(&mut last[which], packet.at);
            Arrival { at: now, ..packet }
        }));
    }
    packets
}

/// A list of arrivals.
struct Script(std::vec::IntoIter<Arrival>);

impl Arrivals for Script {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        block.iter_mut().zip(&mut self.0).map(|(place, arrival)| *place = arrival).count()
    }
}

/// Phases alternate between a load at which it is best to gather packets or to send them to the most recently
/// used processor, and one at which it is best to send them home.
#[test]
fn after_a_change_of_load() {
    for (approach, rates) in [
        (Parallelism::Locking, [1_500.0, 68_000.0]),
        (Parallelism::Ips, [2_800.0, 70_000.0]),
        (Parallelism::Hybrid, [1_400.0, 120_000.0]),
    ] {
        for which in [0, 1] {
            judge(&format!("{approach} at {} of {rates:?}", rates[which]), |policy| {
                let mean = |replication| {
                    let key = key(replication);
                    let packets = changing(rates, key);
                    let times: Vec<f64> = packets.iter().map(|packet| packet.at.0).collect();
                    let (mut count, mut sum) = (0_u32, 0.0);
                    let total = packets.len() as u64;
                    let mut arrivals = Script(packets.into_iter());
                    simulate((approach, policy), &mut arrivals, (total, key), &mut |packet| {
                        let number = times.partition_point(|&time| time < packet.packet.arrived.0);
                        if number / PHASE % 2 == which && number % PHASE >= FOLLOWED {
                            count += 1;
                            sum += packet.delay().micros();
                        }
                    });
                    sum / f64::from(count)
                };
                (0..REPLICATIONS).into_par_iter().map(mean).collect()
            });
        }
    }
}
