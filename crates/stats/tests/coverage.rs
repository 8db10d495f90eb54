//! Coverage of intervals against theory: over many replications, a 95% interval must contain the exact value
//! as often as the binomial distribution allows. Replication numbers are the seeds.

mod queue;

use queue::{autoregressive, customers, numbers};
use warmcore_stats::drift::{Backlog, Trend};
use warmcore_stats::{BatchMeans, Interval, Quantiles, StopDecision, StoppingRule};

const RUNS: u64 = 200;

/// The least number of [`RUNS`] intervals that must contain the value. If each does with probability 0.93 or
/// more, fewer do with probability below 1e-4 (binomial, mean 186, deviation 3.6). The two points below 95%
/// are allowed for queues.
const LEAST: usize = 171;

fn assert_covered(exact: f64, run: impl Fn(u64) -> Interval) {
    let covers = |interval: Interval| interval.half_width.is_finite() && interval.contains(exact);
    let missed: Vec<u64> = (0..RUNS).filter(|&seed| !covers(run(seed))).collect();
    assert!(RUNS as usize - missed.len() >= LEAST, "{exact} was missed by the runs of seeds {missed:?}");
}

fn stopped(mut observations: impl Iterator<Item = f64>, precision: f64) -> Interval {
    let (mut batches, mut stopping) = (BatchMeans::default(), StoppingRule::new(precision, 10_000_000));
    loop {
        let missing = stopping.at() - batches.observations();
        observations.by_ref().take(missing as usize).for_each(|value| batches.push([value]));
        let interval = batches.steady().intervals[0];
        if stopping.judge(interval) != StopDecision::Continue {
            return interval;
        }
    }
}

#[test]
fn a_stopped_run_of_a_queue_covers_its_mean_sojourn() {
    assert_covered(5.0, |seed| stopped(customers(0.8, seed).map(|customer| customer.sojourn), 0.05));
}

#[test]
fn a_stopped_run_of_an_autoregressive_process_covers_its_mean() {
    assert_covered(10.0, |seed| stopped(autoregressive(0.99, seed), 0.01));
}

#[test]
fn a_control_keeps_coverage_and_narrows_the_interval() {
    let batches = |seed| {
        let mut batches = BatchMeans::default();
        customers(0.5, seed).take(60_000).for_each(|it| batches.push([it.sojourn, it.gap]));
        batches
    };
    let controlled = |seed| batches(seed).steady_controlled(0, 1, 2.0);
    assert_covered(2.0, controlled);
    let widths = |run: &dyn Fn(u64) -> Interval| (0..RUNS).map(|seed| run(seed).half_width).sum::<f64>();
    assert!(widths(&controlled) < widths(&|seed| batches(seed).steady().intervals[0]));
}

#[test]
fn a_ratio_of_means_covers_the_exact_one() {
    assert_covered(1.0, |seed| {
        let mut batches = BatchMeans::default();
        customers(0.5, seed).take(60_000).for_each(|it| batches.push([it.sojourn, it.gap]));
        batches.steady_ratio(0, 1)
    });
}

#[test]
fn quantiles_of_a_queue_are_covered() {
    for p in [0.5, 0.95] {
        assert_covered(-f64::ln(1.0 - p) / 0.3, |seed| {
            let mut quantiles = Quantiles::default();
            customers(0.7, seed).take(120_000).for_each(|it| quantiles.push(it.sojourn));
            quantiles.quantile(p, 6_000)
        });
    }
}

#[test]
fn too_few_observations_give_infinite_half_widths() {
    let (mut batches, mut quantiles) = (BatchMeans::default(), Quantiles::default());
    for customer in customers(0.5, 0).take(300) {
        batches.push([customer.sojourn]);
        quantiles.push(customer.sojourn);
    }
    assert_eq!(batches.steady().intervals[0].half_width, f64::INFINITY);
    assert_eq!(quantiles.quantile(0.5, 0).half_width, f64::INFINITY);
    customers(0.5, 0).take(100_000).for_each(|customer| quantiles.push(customer.sojourn));
    assert!(quantiles.quantile(0.5, 0).half_width.is_finite());
    assert_eq!(quantiles.quantile(0.999, 0).half_width, f64::INFINITY);
}

#[test]
fn merging_batches_loses_no_observation() {
    let mut batches = BatchMeans::default();
    (0..100_003_u32).for_each(|value| batches.push([f64::from(value % 2), 3.0]));
    assert_eq!(batches.observations(), 100_003);
    let steady = batches.steady();
    assert_eq!(steady.intervals.map(|interval| interval.mean), [0.5, 3.0]);
    assert_eq!(batches.steady_sums(), [0.5, 3.0].map(|mean| mean * steady.observations as f64));
}

#[test]
fn an_obvious_warm_up_is_left_out() {
    let mut batches = BatchMeans::default();
    let start = (0..10_000).map(|i| 100.0 - f64::from(i) / 100.0);
    start.zip(autoregressive(0.5, 1)).for_each(|(extra, value)| batches.push([value + extra]));
    autoregressive(0.5, 2).take(30_000).for_each(|value| batches.push([value]));
    let steady = batches.steady();
    assert!((9_000..12_000).contains(&steady.warmup), "{}", steady.warmup);
    assert!((steady.intervals[0].mean - 10.0).abs() < 0.2);
}

#[test]
fn a_queue_is_steady_below_capacity_and_grows_above() {
    use Trend::{Growing, Steady};
    for (load, expected) in [(0.5, Steady), (0.95, Steady), (1.05, Growing), (1.1, Growing), (1.5, Growing)] {
        for seed in 0..20 {
            let mut backlog = Backlog::default();
            numbers(load, seed).take(50_000).for_each(|number| backlog.push(number));
            assert_eq!(backlog.trend(1), expected, "load {load}, seed {seed}");
        }
    }
}

/// Queues at a load of one rise as random walks do: hardly any counts as growing, alone or together.
#[test]
fn queues_at_capacity_rarely_count_as_growing() {
    for count in [1, 8] {
        let grows = |seed| {
            let mut queues: Vec<_> = (0..count).map(|queue| numbers(1.0, seed * count + queue)).collect();
            let total = core::iter::repeat_with(|| queues.iter_mut().filter_map(Iterator::next).sum());
            let mut backlog = Backlog::default();
            total.take(20_000).for_each(|number| backlog.push(number));
            backlog.trend(count as u32) == Trend::Growing
        };
        let wrong = (0..RUNS).filter(|&seed| grows(seed)).count();
        assert!(wrong <= 4, "{wrong} of {RUNS} with {count} queues");
    }
}
