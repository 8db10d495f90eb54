//! Advice from made-up curves whose best combination is known.

use super::*;
use crate::predictions::{Curve, Draw};
use rand_distr::{Distribution, StandardNormal};
use warmcore_costs::Approach;
use warmcore_scenario::ProcessorPolicy;
use warmcore_sim::packet::outcome::{DelayQuantiles, Ended, Fairness};
use warmcore_sim::packet::{Capacity, ExtensionFigures, Outcome};
use warmcore_units::Nanos;
use warmcore_workload::{Key, Purpose};

const DEFAULT: Combination = Combination::COMMON_DEFAULT;

fn named(approach: Approach, policy: ProcessorPolicy) -> Combination {
    Combination { approach, policy, ..DEFAULT }
}

fn ips_mru() -> Combination {
    named(Approach::IndependentStacks, ProcessorPolicy::Mru)
}

fn outcome(micros: f64) -> Outcome {
    let delay = Estimate::new(Nanos::from_micros(micros), Nanos::ZERO);
    Outcome {
        delay,
        service: delay,
        quantiles: DelayQuantiles { p50: delay, p99: delay, p999: delay },
        fairness: Fairness { jain: 1.0, least: delay.mean, greatest: delay.mean },
        utilisation: Estimate::new(0.5, 0.0),
        throughput: PerSecond(1.0),
        situations: [0; 12],
        warmup: 0,
        packets: 1,
        ended: Ended::Precise,
        extensions: ExtensionFigures::default(),
    }
}

/// A host on which every combination has a delay of `delay(combination, rate)` microseconds, with a relative
/// error of standard deviation `error`.
fn host(rates: &[f64], error: f64, delay: impl Fn(Combination, f64) -> Option<f64>) -> HostPredictions {
    let capacity = Capacity {
        rate: Estimate::new(PerSecond(1000.0), PerSecond(0.0)),
        service: Estimate::new(Nanos::from_secs(0.008), Nanos::ZERO),
    };
    let curves = Combination::all().map(|combination| Curve {
        combination,
        capacity,
        points: rates.iter().map(|&rate| delay(combination, rate).map(outcome)).collect(),
    });
    let draw = |index: u64| {
        let mut random = Key { seed: 1, point: index, replication: 0 }.stream(Purpose::Costs);
        let mut factor = || -> f64 {
            let normal: f64 = StandardNormal.sample(&mut random);
            (error * normal).exp()
        };
        let capacities = (0..Combination::COUNT).map(|_| factor()).collect();
        let factors = (0..Combination::COUNT).map(|_| vec![Some([factor(); 3]); rates.len()]).collect();
        Draw { capacities, factors }
    };
    HostPredictions {
        processors: 8,
        rates: rates.iter().copied().map(PerSecond).collect(),
        curves: curves.collect(),
        draws: (0..40).map(draw).collect(),
        between_studies: 0.0,
    }
}

#[test]
fn one_winner_throughout_is_one_region() {
    let host = host(&[1.0, 2.0, 3.0], 0.001, |c, _| Some(if c == ips_mru() { 50.0 } else { 100.0 }));
    let advice = decide(&host).unwrap();
    let [region] = &advice.regions[..] else { panic!("{advice:?}") };
    assert!(region.best == ips_mru() && region.as_good.is_empty() && region.border.is_none());
    assert_eq!(region.among_best, [(ips_mru(), 1.0)]);
    assert_eq!((region.from, region.to), (PerSecond(1.0), PerSecond(3.0)));
    let gain = region.over_default.unwrap().least.gain;
    assert!((gain.mean - 0.5).abs() < 1e-12 && gain.half_width.unwrap() < 0.003);
}

#[test]
fn the_advice_changes_where_the_figures_force_it_and_not_before() {
    // A tie at rate 2 belongs to the first region.
    let host = host(&[1.0, 2.0, 3.0], 0.001, |c, rate| {
        let [low, high] = [if c == ips_mru() { 50.0 } else { 60.0 }, if c == DEFAULT { 50.0 } else { 60.0 }];
        Some(if rate < 1.5 {
            low
        } else if rate < 2.5 {
            55.0
        } else {
            high
        })
    });
    let advice = decide(&host).unwrap();
    let ends: Vec<(f64, f64)> = advice.regions.iter().map(|r| (r.from.0, r.to.0)).collect();
    assert_eq!((ends.len(), ends[0].0, ends[1].1), (2, 1.0, 3.0));
    assert!(ends[0].1 == ends[1].0 && (1.0..=3.0).contains(&ends[0].1), "{ends:?}");
    assert_eq!(advice.regions[1].best, DEFAULT);
}

#[test]
fn the_ordinary_load_is_half_of_the_default_capacity() {
    let rates = [100.0, 480.0, 700.0, 950.0];
    let host = host(&rates, 0.001, |c, _| Some(if c == ips_mru() { 50.0 } else { 100.0 }));
    let Ordinary { rate, load, best, over_default } = decide(&host).unwrap().ordinary.unwrap();
    assert_eq!((rate, load, best), (PerSecond(480.0), 0.48, ips_mru()));
    assert!((over_default.unwrap().mean - 0.5).abs() < 1e-12);
}

#[test]
fn saturated_rivals_are_counted_and_not_compared_with() {
    let host = host(&[1.0], 0.001, |c, _| (c.approach == Approach::IndependentStacks).then_some(10.0));
    let region = &decide(&host).unwrap().regions[0];
    assert!(region.default_saturates && region.over_default.is_none());
    assert_eq!(region.saturated, 12);
    assert!(region.best.has_own_pools());
}

#[test]
fn uncertain_costs_widen_every_gain() {
    let half_width = |error| {
        let host = host(&[1.0], error, |c, _| Some(if c == ips_mru() { 50.0 } else { 100.0 }));
        decide(&host).unwrap().regions[0].over_default.unwrap().most.gain.half_width.unwrap()
    };
    let [sure, unsure] = [0.001, 0.05].map(half_width);
    // Two independent errors; the standard deviation of 40 draws is known to about a ninth.
    let expected = 0.5 * 1.96 * 0.05 * 2_f64.sqrt();
    assert!(sure < 0.003 && (unsure / expected - 1.0).abs() < 0.4, "{sure} {unsure}");
}

/// However precise the costs are, another study finds other gains.
#[test]
fn every_gain_includes_the_differences_between_studies() {
    let host = host(&[1.0], 0.001, |c, _| Some(if c == ips_mru() { 50.0 } else { 100.0 }));
    let advice = decide(&HostPredictions { between_studies: 0.1, ..host }).unwrap();
    let half = advice.regions[0].over_default.unwrap().most.gain.half_width.unwrap();
    assert!((half / 0.05 - 1.0).abs() < 0.01, "{half}");
    let over_worst = advice.capacity.over_worst.relative_half_width().unwrap();
    assert!((over_worst / 0.1 - 1.0).abs() < 0.01, "{over_worst}");
}

/// A shared pool that is 0.7 ns of 50 faster does not justify sharing it, however precise the costs are.
#[test]
fn of_indistinguishable_combinations_the_simplest_is_named() {
    let shared = Combination { memory: Organisation::Global, ..ips_mru() };
    let delay = |c: Combination, of_shared: f64| {
        Some(if c == shared {
            of_shared
        } else if c == ips_mru() {
            0.05
        } else {
            0.1
        })
    };
    let region = |error, of_shared| {
        let host = host(&[1.0, 2.0], error, |c, _| delay(c, of_shared));
        decide(&host).unwrap().regions[0].clone()
    };
    let unsure = region(0.03, 0.0493);
    assert_eq!((unsure.best, &unsure.as_good[..]), (ips_mru(), &[shared][..]));
    assert!(unsure.among_best.iter().any(|(c, part)| *c == ips_mru() && *part < 0.9), "{unsure:?}");
    assert_eq!(region(0.0005, 0.0493).best, ips_mru(), "too little to change for");
    assert_eq!(region(0.0005, 0.047).best, shared, "where it is known to be faster, it is named");
}

#[test]
fn the_default_is_kept_where_nothing_is_shown_to_be_better() {
    let host = host(&[1.0, 2.0], 0.05, |c, _| Some(if c == ips_mru() { 97.0 } else { 100.0 }));
    let advice = decide(&host).unwrap();
    assert_eq!((advice.regions[0].best, advice.capacity.best), (DEFAULT, DEFAULT));
    // The intervals leave open what they cannot exclude.
    let lost = advice.regions[0].at_most_lost;
    assert!((0.1..0.4).contains(&lost), "{lost}");
}

#[test]
fn simplicity_counts_shared_pools_then_changes() {
    let mut all: Vec<Combination> = Combination::all().collect();
    all.sort_by_key(|&combination| simplicity(combination));
    assert_eq!(all[0], DEFAULT);
    assert!(all[..6].iter().all(Combination::has_own_pools));
    assert_eq!(simplicity(ips_mru()), (0, 2));
}

/// Delays known to 2% that cross at rate 30, with this slope.
fn crossing(slope: f64) -> Border {
    let rates: Vec<f64> = (0..13).map(|step| 10_f64.powf(f64::from(step) / 4.0)).collect();
    let host = host(&rates, 0.02, |c, rate| {
        Some(match c {
            _ if c == ips_mru() => 50.0 * (rate / 30.0).powf(slope),
            DEFAULT => 50.0,
            _ => 1000.0,
        })
    });
    let regions = decide(&host).unwrap().regions;
    let last = regions.last().unwrap();
    last.border.unwrap_or_else(|| panic!("{regions:?}"))
}

#[test]
fn a_border_has_the_interval_it_has_between_studies() {
    let border = crossing(0.5);
    let [low, high] = border.within.unwrap().map(|rate| rate.0);
    assert!((25.0..36.0).contains(&border.at.0), "{border:?}");
    // The error that all rates share, and not much more.
    assert!((12.0..=21.0).contains(&low) && (44.0..70.0).contains(&high), "{border:?}");
}

#[test]
fn where_curves_hardly_cross_the_border_is_not_determined() {
    assert_eq!(crossing(0.03).within, None);
}

/// The second of three regions is short, and its curve leads the first one's slightly far below it.
#[test]
fn borders_ascend_and_statements_about_a_region_were_simulated_in_it() {
    let (first, second) = (ips_mru(), named(Approach::IndependentStacks, ProcessorPolicy::Lru));
    let third = named(Approach::IndependentStacks, ProcessorPolicy::WiredStreams);
    let rates: Vec<f64> = (0..12).map(|power| 1.5_f64.powi(power)).collect();
    let host = host(&rates, 0.001, |combination, rate| {
        let in_region = |from: f64, to: f64| if (from..to).contains(&rate) { 40.0 } else { 60.0 };
        Some(match combination {
            _ if combination == first => in_region(0.0, 10.0),
            _ if combination == second => in_region(10.0, 20.0),
            _ if combination == third => in_region(20.0, 1e9) - 5.0,
            _ => 100.0,
        })
    });
    let regions = decide(&host).unwrap().regions;
    assert_eq!(regions.iter().map(|region| region.best).collect::<Vec<_>>(), [first, second, third]);
    for region in &regions {
        assert!(region.from.0 < region.to.0, "{} to {}", region.from, region.to);
        let Gain { least, most } = region.over_worst.unwrap();
        for at in [least, most] {
            assert!((region.from.0..=region.to.0).contains(&at.rate.0), "{at:?} in {region:?}");
        }
    }
}
