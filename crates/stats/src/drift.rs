//! Whether a queue grows without bound: an unstable point has no mean delay, however long the run.
//!
//! A long queue alone proves nothing. At a load of one each queue moves like a reflected random walk,
//! whose height grows as `√n` in `n` steps. The total of many queues does so with little randomness, and a
//! stable system near its capacity behaves alike until it has reached its level. The sign of unbounded
//! growth is that it does not slow down: the second half of a run adds as much as the first, where a walk
//! adds 0.41 times as much and a stable system nothing. So the queue is [`Trend::Growing`] if its second
//! half rose by more than [`SLOWING`] times the rise of the first, by [`STEPS`] standard deviations,
//! estimated from the rises over [`BLOCKS`] blocks of the same run.
//!
//! That criterion is slow to distinguish a small excess from a walk. A second one finds an excess sooner
//! where the number of queues makes it plain: the final height of a reflected walk, in deviations of its
//! steps, is the magnitude of a standard normal variable, so `L` walks together have risen by `0.8·√L`
//! deviations, with a deviation of 0.6. So the queue is also growing if it has risen by [`BEYOND_WALKS`]
//! deviations more than that.
//!
//! Bursts longer than a block make neighbouring rises similar, and chance look smaller than it is. To be
//! sure, use independent runs.
//!
//! M/M/1 at loads of 0.5 and 0.95 is distinguished from loads of 1.05, 1.1 and 1.5 after 50,000 arrivals, at
//! each of 20 seeds (`tests/coverage.rs`). Nearer to a load of one, `Steady` may mean that the run was too
//! short to tell; `cargo run --release -p warmcore-stats --example accuracy -- drift` counts the wrong
//! verdicts.

/// The number of blocks whose rises give the standard deviation.
pub const BLOCKS: usize = 32;
/// The rise of the second half as a fraction of that of the first: between 0.41, a walk's, and 1, that of
/// steady growth.
pub const SLOWING: f64 = 0.7;
/// By how many standard deviations more the second half must rise.
pub const STEPS: f64 = 2.5;
/// By how many standard deviations more than random walks a queue must have risen.
pub const BEYOND_WALKS: f64 = 3.5;
/// The mean magnitude of a standard normal variable, `√(2/π)`.
const MEAN_MAGNITUDE: f64 = 0.797_884_560_802_865_4;
/// Samples kept before every other one is dropped.
const CAPACITY: usize = 512;

/// The number of packets in the system over a run, thinned to at most 512 samples as the run grows.
#[derive(Clone, Debug)]
pub struct Backlog {
    samples: Vec<f64>,
    spacing: u64,
    /// Observations until the next sample; never zero.
    missing: u64,
}

/// Whether a queue grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trend {
    /// It is stable, or nothing shows that it is not.
    Steady,
    /// It grows faster than chance explains.
    Growing,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { samples: Vec::with_capacity(CAPACITY), spacing: 1, missing: 1 }
    }
}

impl Backlog {
    /// Observes the number in the system; to be called once for each packet.
    #[inline]
    pub fn push(&mut self, number: u64) {
        self.missing -= 1;
        if self.missing == 0 {
            self.sample(number);
        }
    }

    #[cold]
    fn sample(&mut self, number: u64) {
        self.samples.push(number as f64);
        if self.samples.len() == CAPACITY {
            self.samples = self.samples.as_chunks().0.iter().map(|&[_, later]| later).collect();
            self.spacing *= 2;
        }
        self.missing = self.spacing;
    }

    /// Whether the backlog, the total of this many queues, grows.
    #[must_use]
    pub fn trend(&self, queues: u32) -> Trend {
        trend(&self.samples, queues)
    }
}

/// Whether the total of this many queues grows, from equally spaced samples of the number in the system
/// since the start; [`Trend::Steady`] with fewer than two samples for each of [`BLOCKS`] blocks.
#[must_use]
pub fn trend(samples: &[f64], queues: u32) -> Trend {
    if samples.len() < 2 * BLOCKS {
        return Trend::Steady;
    }
    let bound = |block: usize| samples[block * (samples.len() - 1) / BLOCKS];
    let rises: Vec<f64> = (0..BLOCKS).map(|block| bound(block + 1) - bound(block)).collect();
    let (first, second) = rises.split_at(BLOCKS / 2);
    let rise = |half: &[f64]| half.iter().sum::<f64>();
    // In a nearly empty system, one packet more or less in a block is chance.
    let step = variance(&rises).max(1.0).sqrt();
    let chance = step * (BLOCKS as f64 / 2.0 * (1.0 + SLOWING * SLOWING)).sqrt();
    let keeps_on = rise(second) - SLOWING * rise(first) > STEPS * chance;
    let of_walks = step * (BLOCKS as f64).sqrt() * (MEAN_MAGNITUDE * f64::from(queues).sqrt() + BEYOND_WALKS);
    if keeps_on || rise(&rises) > of_walks { Trend::Growing } else { Trend::Steady }
}

/// The sample variance of `values`.
fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many queues that only the first criterion, growth that does not slow down, can apply.
    const MANY: u32 = 1 << 20;

    /// The mean height of a reflected random walk, which slows down.
    #[test]
    fn a_rise_that_slows_down_is_not_growth() {
        let walk: Vec<f64> = (0..512).map(|i| 100.0 * f64::from(i).sqrt()).collect();
        assert_eq!(trend(&walk, MANY), Trend::Steady);
    }

    #[test]
    fn a_variance_by_hand() {
        assert_eq!(variance(&[0.0, 3.0, 6.0, 3.0]), 6.0);
    }

    /// A steady rise of 1 per block, with every other block up and down by `chance`. It counts as growth if
    /// `0.3 · 16` is more than 2.5 times `√(16 · 1.49 · chance² · 32/31)`: up to a chance of 0.387.
    #[test]
    fn a_rise_that_is_small_compared_with_chance_is_not_growth() {
        let rising = |by: f64, chance: f64| -> Vec<f64> {
            (0..=64).map(|i| by * f64::from(i / 2) + if i / 2 % 2 == 1 { chance } else { 0.0 }).collect()
        };
        // Each rise is `by ± chance`.
        assert_eq!(trend(&rising(100.0, 37.5), MANY), Trend::Growing);
        assert_eq!(trend(&rising(100.0, 40.0), MANY), Trend::Steady);
    }

    /// The same rise over 32 blocks. With one queue it counts as growth up to a chance of
    /// `√32 / (0.80 + 3.5) · √(31/32)`, or 1.30; with four, which walk further, up to 1.09.
    #[test]
    fn a_rise_beyond_random_walks_is_growth() {
        let of = |queues, chance: f64| {
            let rising: Vec<f64> = (0..=64)
                .map(|i| 100.0 * f64::from(i / 2) + if i / 2 % 2 == 1 { chance } else { 0.0 })
                .collect();
            trend(&rising, queues)
        };
        assert_eq!([of(1, 125.0), of(1, 135.0)], [Trend::Growing, Trend::Steady]);
        assert_eq!([of(4, 105.0), of(4, 112.0)], [Trend::Growing, Trend::Steady]);
    }

    #[test]
    fn a_straight_rise_grows_and_a_constant_or_a_short_one_does_not() {
        let rise: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(trend(&rise, 1), Trend::Growing);
        assert_eq!(trend(&rise[..50], 1), Trend::Steady);
        assert_eq!(trend(&[7.0; 100], 1), Trend::Steady);
        let fall: Vec<f64> = rise.iter().rev().copied().collect();
        assert_eq!(trend(&fall, 1), Trend::Steady);
    }

    /// A system that is empty at every block boundary, except for one customer near the end.
    #[test]
    fn one_customer_in_an_empty_system_is_not_growth() {
        let mut samples = [0.0; 500];
        samples[490] = 1.0;
        assert_eq!(trend(&samples, 1), Trend::Steady);
    }

    #[test]
    fn thinning_covers_the_whole_run_in_bounded_memory() {
        let mut backlog = Backlog::default();
        (0..1_000_000).for_each(|number| backlog.push(number));
        assert!(backlog.samples.len() < CAPACITY);
        assert!(backlog.samples[0] < 4_000.0 && *backlog.samples.last().unwrap() > 990_000.0);
        assert_eq!(backlog.trend(1), Trend::Growing);
    }
}
