//! Whether a queue grows without end: an unstable point has no mean delay, however long the run.
//!
//! A queue that is long tells nothing. At a load of one each line wanders like a reflected random walk,
//! whose height grows as `√n` in `n` steps; many lines together do so with hardly any chance in it; and a
//! stable system near its capacity is like these until it has found its level. What tells growth without
//! end is that it does not slow down: the second half of a run then adds as much as the first, where
//! `√n` adds 0.41 times as much, and a stable system nothing. So the queue is [`Trend::Growing`] if its
//! second half rose by more than [`SLOWING`] times what the first one did, by [`STEPS`] standard
//! deviations, estimated from the same run's rises over [`BLOCKS`] blocks.
//!
//! That is slow to tell a small excess from a walk. One that the number of lines makes plain is found sooner:
//! where a walk reflected at zero is at its end, in deviations of its steps, is the magnitude of a standard normal
//! variable, so that `L` of them together have risen by `0.8·√L` deviations of theirs, with a deviation of 0.6. So the
//! queue is growing as well if it has risen by [`BEYOND_WALKS`] deviations more than that.
//!
//! Bursts that outlast a block make neighbouring rises alike, and chance look smaller than it is: whoever
//! must be sure asks independent runs.
//!
//! M/M/1 at loads of 0.5 and 0.95 is told from loads of 1.05, 1.1 and 1.5 after 50,000 arrivals, at each of 20 seeds
//! (`tests/coverage.rs`). Nearer to one, a run that ends `Steady` may be one too short to tell;
//! `cargo run --release -p warmcore-stats --example accuracy -- drift` counts the wrong verdicts.

/// Blocks whose changes tell what chance does.
pub const BLOCKS: usize = 32;
/// The second half's rise as a fraction of the first's: between 0.41 of a walk and 1 of steady growth.
pub const SLOWING: f64 = 0.7;
/// How many standard deviations more the second half must rise.
pub const STEPS: f64 = 2.5;
/// How many standard deviations more than walks a queue must have risen.
pub const BEYOND_WALKS: f64 = 3.5;
/// The mean magnitude of a standard normal variable, `√(2/π)`.
const MEAN_MAGNITUDE: f64 = 0.797_884_560_802_865_4;
/// Samples kept before every other one is dropped.
const CAPACITY: usize = 512;

/// The number in a system over a run, thinned as the run grows to at most 512 samples.
#[derive(Clone, Debug)]
pub struct Backlog {
    samples: Vec<f64>,
    spacing: u64,
    /// Looks until the next sample; never zero.
    missing: u64,
}

/// What becomes of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trend {
    /// It returns, or nothing shows that it does not.
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
    /// Looks at the number in the system; to be called once for each packet.
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

    /// Whether the queue, made of so many lines, grows.
    #[must_use]
    pub fn trend(&self, lines: u32) -> Trend {
        trend(&self.samples, lines)
    }
}

/// Whether a queue of so many lines grows, from equally spaced samples of the number in the system since the start;
/// [`Trend::Steady`] with fewer than two samples for each of [`BLOCKS`] blocks.
#[must_use]
pub fn trend(samples: &[f64], lines: u32) -> Trend {
    if samples.len() < 2 * BLOCKS {
        return Trend::Steady;
    }
    let bound = |block: usize| samples[block * (samples.len() - 1) / BLOCKS];
    let rises: Vec<f64> = (0..BLOCKS).map(|block| bound(block + 1) - bound(block)).collect();
    let (first, second) = rises.split_at(BLOCKS / 2);
    let rise = |half: &[f64]| half.iter().sum::<f64>();
    // One more or less in a block is chance wherever hardly anybody is there.
    let step = variance(&rises).max(1.0).sqrt();
    let chance = step * (BLOCKS as f64 / 2.0 * (1.0 + SLOWING * SLOWING)).sqrt();
    let keeps_on = rise(second) - SLOWING * rise(first) > STEPS * chance;
    let of_walks = step * (BLOCKS as f64).sqrt() * (MEAN_MAGNITUDE * f64::from(lines).sqrt() + BEYOND_WALKS);
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

    /// So many that only what does not slow down is growth.
    const MANY: u32 = 1 << 20;

    /// What a reflected random walk does on average, without its chance: it slows down.
    #[test]
    fn a_rise_that_slows_down_is_no_growth() {
        let walk: Vec<f64> = (0..512).map(|i| 100.0 * f64::from(i).sqrt()).collect();
        assert_eq!(trend(&walk, MANY), Trend::Steady);
    }

    #[test]
    fn three_rises_by_hand() {
        assert_eq!(variance(&[0.0, 3.0, 6.0, 3.0]), 6.0);
    }

    /// A steady rise of 1 a block, beside which every other block rises and falls by `chance`: it grows if
    /// `0.3 · 16` is more than 2.5 times `√(16 · 1.49 · chance² · 32/31)`, that is up to a chance of 0.387.
    #[test]
    fn chance_hides_a_rise_that_is_small_beside_it() {
        let rising = |by: f64, chance: f64| -> Vec<f64> {
            (0..=64).map(|i| by * f64::from(i / 2) + if i / 2 % 2 == 1 { chance } else { 0.0 }).collect()
        };
        // Each rise is `by ± chance`.
        assert_eq!(trend(&rising(100.0, 37.5), MANY), Trend::Growing);
        assert_eq!(trend(&rising(100.0, 40.0), MANY), Trend::Steady);
    }

    /// The same rise of 32 blocks: of one line up to a chance of `√32 / (0.80 + 3.5) · √(31/32)`, or 1.30; of four, which
    /// walk further, up to 1.09.
    #[test]
    fn a_rise_beyond_walks_of_so_many_lines_is_growth() {
        let of = |lines, chance: f64| {
            let rising: Vec<f64> = (0..=64)
                .map(|i| 100.0 * f64::from(i / 2) + if i / 2 % 2 == 1 { chance } else { 0.0 })
                .collect();
            trend(&rising, lines)
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

    /// A system that is empty at every bound of a block but for one customer near the end.
    #[test]
    fn a_visitor_to_an_empty_system_is_no_trend() {
        let mut samples = [0.0; 500];
        samples[490] = 1.0;
        assert_eq!(trend(&samples, 1), Trend::Steady);
    }

    #[test]
    fn thinning_keeps_the_whole_run_and_bounds_the_memory() {
        let mut backlog = Backlog::default();
        (0..1_000_000).for_each(|number| backlog.push(number));
        assert!(backlog.samples.len() < CAPACITY);
        assert!(backlog.samples[0] < 4_000.0 && *backlog.samples.last().unwrap() > 990_000.0);
        assert_eq!(backlog.trend(1), Trend::Growing);
    }
}
