//! Prints how often this crate's intervals and verdicts are right: the tables in its documentation. With
//! the argument `drift`, only the last of them.

#[path = "../tests/queue/mod.rs"]
mod queue;

use queue::{autoregressive, customers, numbers};
use warmcore_stats::drift::{Backlog, Trend};
use warmcore_stats::{BatchMeans, Interval, Quantiles, StopDecision, StoppingRule};

const RUNS: u64 = 1_000;

/// Runs until precise; returns the interval and the number of observations.
fn stopped(mut observations: impl Iterator<Item = f64>, precision: f64) -> (Interval, u64) {
    let (mut batches, mut stopping) = (BatchMeans::default(), StoppingRule::new(precision, u64::MAX));
    loop {
        let missing = stopping.at() - batches.observations();
        observations.by_ref().take(missing as usize).for_each(|value| batches.push([value]));
        let interval = batches.steady().intervals[0];
        if stopping.judge(interval) == StopDecision::Precise {
            return (interval, batches.observations());
        }
    }
}

/// Prints the coverage of `exact`, the mean number of observations and the mean half-width.
fn print(name: &str, exact: f64, run: impl Fn(u64) -> (Interval, u64)) {
    let (mut covered, mut length, mut width) = (0.0, 0.0, 0.0);
    for (interval, observations) in (0..RUNS).map(run) {
        covered += f64::from(u8::from(interval.contains(exact)));
        length += observations as f64;
        width += interval.half_width / exact;
    }
    let runs = RUNS as f64;
    let (covered, length, width) = (100.0 * covered / runs, length / runs, 100.0 * width / runs);
    println!("{name:40} covered {covered:5.1}%  observations {length:10.0}  half-width {width:6.2}%");
}

fn main() {
    if std::env::args_os().all(|argument| argument != "drift") {
        intervals();
    }
    for queues in [1, 8] {
        for (load, wrong) in [0.5, 0.8, 0.9, 0.95, 0.98]
            .map(|load| (load, Trend::Growing))
            .into_iter()
            .chain([1.02, 1.05, 1.1, 1.5].map(|load| (load, Trend::Steady)))
        {
            drift(queues, load, wrong);
        }
    }
}

fn intervals() {
    for (load, precision) in
        [(0.5, 0.05), (0.8, 0.05), (0.9, 0.05), (0.95, 0.05), (0.5, 0.02), (0.8, 0.02), (0.9, 0.02)]
    {
        let sojourns = |seed| customers(load, seed).map(|customer| customer.sojourn);
        print(&format!("M/M/1 {load} to {precision}"), 1.0 / (1.0 - load), |seed| {
            stopped(sojourns(seed), precision)
        });
    }
    for (r, precision) in [(0.5, 0.01), (0.9, 0.01), (0.99, 0.01), (0.99, 0.005)] {
        let series = |seed| stopped(autoregressive(r, seed), precision);
        print(&format!("AR(1) {r} to {precision}"), 10.0, series);
    }
    for load in [0.5, 0.8, 0.9] {
        controlled(load);
        quantiles(load);
    }
}

fn controlled(load: f64) {
    const LENGTH: u64 = 400_000;
    let collect = |seed| {
        let mut batches = BatchMeans::default();
        customers(load, seed).take(LENGTH as usize).for_each(|it| batches.push([it.sojourn, it.gap]));
        batches
    };
    let exact = 1.0 / (1.0 - load);
    print(&format!("M/M/1 {load}, plain"), exact, |seed| (collect(seed).steady().intervals[0], LENGTH));
    print(&format!("M/M/1 {load}, controlled"), exact, |seed| {
        (collect(seed).steady_controlled(0, 1, 1.0 / load), LENGTH)
    });
}

fn quantiles(load: f64) {
    for (p, length) in [(0.5, 1_000_000), (0.99, 1_000_000), (0.999, 4_000_000)] {
        print(&format!("M/M/1 {load}, quantile {p}"), -f64::ln(1.0 - p) / (1.0 - load), |seed| {
            let mut quantiles = Quantiles::default();
            customers(load, seed).take(length as usize).for_each(|customer| quantiles.push(customer.sojourn));
            (quantiles.quantile(p, length / 20), length)
        });
    }
}

/// Counts wrong verdicts on the total of `count` queues, each with `load`.
fn drift(count: u64, load: f64, wrong: Trend) {
    let runs = RUNS / 5 / count;
    for length in [100_000, 1_000_000] {
        let trend = |seed| {
            let mut backlog = Backlog::default();
            let mut queues: Vec<_> = (0..count).map(|queue| numbers(load, seed * count + queue)).collect();
            let total = core::iter::repeat_with(|| queues.iter_mut().filter_map(Iterator::next).sum());
            total.take(length).for_each(|number| backlog.push(number));
            backlog.trend(count as u32)
        };
        let wrong = (0..runs).filter(|&seed| trend(seed) == wrong).count();
        println!("{count} × M/M/1 {load}, {length} arrivals each: {wrong} of {runs} verdicts wrong");
    }
}
