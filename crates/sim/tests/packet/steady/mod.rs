//! The verdict on a point: saturated, near its capacity, as precise as asked for, or not known.

mod coverage;
mod stopping;

use rayon::prelude::*;
use warmcore_costs::Profile;
use warmcore_scenario::{Organisation, PacketScenario, Parallelism, Process, ProcessorPolicy, Traffic};
use warmcore_sim::packet::{Ended, PointError, PointResult, simulate};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Batch, BatchDistribution, OnOff, Popularity};

fn arriving(process: Process) -> Traffic {
    Traffic { process, ..Traffic::default() }
}

fn point(rate: PerSecond, traffic: Traffic) -> PacketScenario {
    let mut scenario = PacketScenario { rate_per_s: Some(rate), traffic, ..PacketScenario::default() };
    scenario.run.precision = 0.05;
    scenario
}

fn published(scenario: &PacketScenario) -> PointResult {
    simulate(scenario, &Profile::sgi_challenge_xl()).expect("a point")
}

fn capacity(scenario: &PacketScenario) -> PerSecond {
    published(&PacketScenario { rate_per_s: Some(PerSecond(1e9)), ..scenario.clone() }).capacity.rate.mean
}

/// D/D/8 just below its capacity: no packet ever waits.
#[test]
fn regular_packets_just_below_capacity_do_not_wait() {
    let service = Nanos(50_000.0);
    let profile = Profile::sgi_challenge_xl().with_constant_time(service);
    let capacity = PerSecond::every(service) * 8.0;
    let at = |load| {
        let mut scenario = point(capacity * load, arriving(Process::Constant));
        scenario.scheduling.policy = ProcessorPolicy::Mru;
        scenario
    };
    for load in [0.9875, 0.999] {
        let scenario = at(load);
        let outcome = simulate(&scenario, &profile).unwrap().outcome.expect("it keeps up");
        assert_eq!(outcome.ended, Ended::Precise);
        assert!((outcome.delay.mean.0 / service.0 - 1.0).abs() < 1e-6, "{}", outcome.delay.mean);
    }
    assert_eq!(simulate(&at(1.001), &profile).unwrap().outcome, None);
}

/// Independent stacks at 97% of their capacity under bursts are stable, although eight queues together grow
/// steadily for a long time.
#[test]
fn stable_bursts_near_capacity_are_not_saturated() {
    let batch = Batch { mean: 8.0, distribution: BatchDistribution::Geometric };
    let mut scenario = point(PerSecond(1.0), Traffic { batch, ..Traffic::default() });
    scenario.scheduling.approach = Parallelism::Ips;
    scenario.scheduling.policy = ProcessorPolicy::WiredStreams;
    scenario.run.max_packets = 400_000;
    scenario.rate_per_s = Some(capacity(&scenario) * 0.97);
    let ended =
        |seed| published(&PacketScenario { seed, ..scenario.clone() }).outcome.map(|outcome| outcome.ended);
    let ended: Vec<_> = (0..40_u64).into_par_iter().map(ended).collect();
    let saturated = ended.iter().filter(|ended| ended.is_none()).count();
    assert_eq!(saturated, 0, "{ended:?}");
    let near = ended.iter().filter(|&&ended| ended == Some(Ended::NearCapacity)).count();
    assert!(near >= 30, "{ended:?}");
}

/// Just below the capacity queue lengths wander as far as just above it.
#[test]
fn queues_that_walk_just_below_capacity_are_not_saturated() {
    let mut scenario = point(PerSecond(1.0), arriving(Process::Constant));
    scenario.run.max_packets = 400_000;
    scenario.rate_per_s = Some(capacity(&scenario) * 0.9999);
    let ended =
        |seed| published(&PacketScenario { seed, ..scenario.clone() }).outcome.map(|outcome| outcome.ended);
    let ended: Vec<_> = (0..12_u64).into_par_iter().map(ended).collect();
    assert!(ended.iter().all(Option::is_some), "{ended:?}");
}

/// The queue that builds up while caches are cold at the start drains too slowly to be left out.
#[test]
fn periodic_packets_at_capacity_are_not_known_precisely() {
    let mut scenario = point(PerSecond(1.0), arriving(Process::Periodic));
    scenario.rate_per_s = Some(capacity(&scenario) * 0.999);
    let outcome = published(&scenario).outcome.expect("it keeps up");
    assert_ne!(outcome.ended, Ended::Precise);
    assert!(outcome.delay.half_width.is_none_or(|half| half.0.is_infinite()), "{:?}", outcome.delay);
}

/// A stack with more than its share of the packets is overloaded, although the host as a whole is not.
#[test]
fn an_overloaded_stack_is_found_whatever_the_capacity_says() {
    let popularity = Popularity::Zipf(1.5);
    let mut scenario = point(PerSecond(40_000.0), Traffic { popularity, ..Traffic::default() });
    scenario.scheduling.approach = Parallelism::Ips;
    scenario.scheduling.policy = ProcessorPolicy::WiredStreams;
    scenario.run.max_packets = 2_000_000;
    for seed in 0..5 {
        assert_eq!(published(&PacketScenario { seed, ..scenario.clone() }).outcome, None, "seed {seed}");
    }
}

/// Under power-of-two choices, stacks do better when no processor is ever idle than they do at a lower rate.
/// How much better is not known, so no interval is given.
#[test]
fn a_capacity_above_a_saturating_rate_has_no_interval() {
    let mut scenario = point(PerSecond(1.0), Traffic::default());
    scenario.scheduling.approach = Parallelism::Ips;
    scenario.scheduling.policy = ProcessorPolicy::PowerOfTwo;
    scenario.scheduling.memory = Organisation::Global;
    scenario.run.max_packets = 400_000;
    let capacity = capacity(&scenario);
    let at = |load| published(&PacketScenario { rate_per_s: Some(capacity * load), ..scenario.clone() });
    let (below, above) = (at(0.95), at(1.05));
    assert_eq!((below.outcome, above.outcome), (None, None));
    let [below, above] =
        [below, above].map(|result| result.capacity.rate.half_width.expect("a half-width").0);
    assert!(below == f64::INFINITY && above.is_finite(), "{below} {above}");
}

/// A rate within the interval of the capacity is called neither stable nor saturated.
#[test]
fn a_rate_at_the_capacity_is_not_decided() {
    let mut scenario = point(PerSecond(1.0), Traffic::default());
    scenario.run.max_packets = 200_000;
    scenario.rate_per_s = Some(capacity(&scenario));
    let ended = published(&scenario).outcome.map(|outcome| outcome.ended);
    assert_eq!(ended, Some(Ended::Unknown));
}

#[test]
fn heavy_tails_at_half_load_are_neither_saturated_nor_precise() {
    let mut scenario = point(PerSecond(1.0), arriving(Process::Poisson));
    let half = capacity(&scenario) * 0.5;
    scenario = point(half, arriving(Process::SelfSimilar(OnOff { alpha: 1.5, burst: 10.0, peak: 4.0 })));
    scenario.run.max_packets = 100_000;
    for seed in 0..60 {
        let outcome = published(&PacketScenario { seed, ..scenario.clone() }).outcome;
        let outcome = outcome.unwrap_or_else(|| panic!("seed {seed} is saturated"));
        assert_eq!(outcome.ended, Ended::HeavyTailed, "seed {seed}");
        for half in [outcome.delay.half_width, outcome.service.half_width, outcome.quantiles.p99.half_width] {
            assert_eq!(half, Some(Nanos::INFINITY), "seed {seed}");
        }
    }
}

/// Periodic streams keep the phases that they begin with, so every point is run with many phases.
#[test]
fn seeds_of_periodic_streams_agree_within_their_intervals() {
    let delays: Vec<_> = (0..6_u64)
        .into_par_iter()
        .map(|seed| {
            let scenario = PacketScenario { seed, ..point(PerSecond(40_000.0), arriving(Process::Periodic)) };
            let outcome = published(&scenario).outcome.expect("it keeps up");
            assert!(outcome.is_precise() && outcome.delay.half_width > Some(Nanos::ZERO), "{outcome:?}");
            outcome.delay
        })
        .collect();
    for one in &delays {
        assert!(delays.iter().all(|other| one.agrees_with(other)), "{delays:?}");
    }
}

/// At a very low rate the clock of a run cannot resolve a packet's time: that is refused. The lowest rate that is
/// accepted gives a correct result.
#[test]
fn a_rate_too_low_for_the_clock_is_refused() {
    let scenario = |rate| point(PerSecond(rate), Traffic::default());
    let profile = Profile::sgi_challenge_xl();
    let refused = simulate(&scenario(1e-6), &profile).unwrap_err();
    let PointError::Scenario(fault) = &refused else { panic!("{refused}") };
    assert_eq!(fault.field, "rate_per_s");
    let least =
        fault.expected.split_whitespace().find_map(|word| word.parse::<f64>().ok()).expect("the least rate");
    assert!(simulate(&scenario(least * 0.9), &profile).is_err());
    let rare = published(&scenario(least * 1.1)).outcome.expect("a steady state");
    let relative = rare.delay.mean / profile.times.locking.fully_cold.mean - 1.0;
    assert!(relative.abs() < 0.01 && rare.quantiles.p50.mean.0 > 0.0, "{relative}");
}
