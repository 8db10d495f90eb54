//! Every source compared with theory, within stated standard errors. Keys are fixed, so a test that passes
//! once always passes.

mod bursts;
mod every_source;
mod packets;
mod regular;

use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Arrival, Arrivals, Key};

const KEY: Key = Key { seed: 1, point: 0, replication: 0 };
const RATE: PerSecond = PerSecond(20_000.0);

/// The next `count` arrivals of a source, which must have that many.
fn take(source: &mut dyn Arrivals, count: usize) -> Vec<Arrival> {
    let mut block = vec![Arrival::default(); count];
    assert_eq!(source.fill(&mut block), count);
    block
}

/// The number of packets that arrive within `duration` from a source that lasts longer.
fn packets_within(source: &mut dyn Arrivals, duration: Nanos) -> f64 {
    let mut block = [Arrival::default(); 64];
    let mut packets = 0;
    loop {
        assert_eq!(source.fill(&mut block), block.len());
        let within = block.iter().take_while(|arrival| arrival.at <= duration);
        packets += within.map(|arrival| u64::from(arrival.packets)).sum::<u64>();
        if block[block.len() - 1].at > duration {
            return packets as f64;
        }
    }
}

/// Mean and variance of the number of packets within `duration`, over `runs` sources with different keys.
fn counts(runs: u64, duration: Nanos, mut source: impl FnMut(Key) -> Box<dyn Arrivals>) -> (f64, f64) {
    let counts: Vec<f64> = (0..runs)
        .map(|replication| packets_within(&mut *source(Key { replication, ..KEY }), duration))
        .collect();
    let mean = counts.iter().sum::<f64>() / runs as f64;
    let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
    (mean, squares / (runs - 1) as f64)
}

/// Asserts that `value` is within five standard errors of `expected`.
#[track_caller]
fn assert_near(value: f64, expected: f64, standard_error: f64) {
    let errors = (value - expected) / standard_error;
    assert!(errors.abs() < 5.0, "{value} is {errors:.1} standard errors from {expected}");
}

/// Asserts that `hits` of `trials` is likely at this probability.
#[track_caller]
fn assert_share(hits: usize, trials: usize, probability: f64) {
    let trials = trials as f64;
    assert_near(hits as f64, trials * probability, (trials * probability * (1.0 - probability)).sqrt());
}

/// Asserts that `intervals` look exponential with this mean, by their mean, their mean square, and the share
/// of intervals above the mean.
#[track_caller]
fn assert_exponential(intervals: &[Nanos], mean: Nanos) {
    let count = intervals.len() as f64;
    let observed = intervals.iter().copied().sum::<Nanos>() / count;
    assert_near(observed / mean, 1.0, 1.0 / count.sqrt());
    let squares: f64 = intervals.iter().map(|interval| (*interval / mean).powi(2)).sum();
    // The square of an exponential variable of mean 1 has mean 2 and variance 20.
    assert_near(squares / count, 2.0, (20.0 / count).sqrt());
    let long = intervals.iter().filter(|interval| **interval > mean).count();
    assert_share(long, intervals.len(), (-1.0_f64).exp());
}

/// The times from each arrival to the next.
fn intervals(arrivals: &[Arrival]) -> Vec<Nanos> {
    arrivals.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
}
