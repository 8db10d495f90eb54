//! Whose events come, and in which order.

use crate::random::Random;
use core::fmt;

/// Events of one key that come in a row, where they come in bursts.
const BURST: usize = 64;
/// Of Zipf's law: the `n`-th key is so much the `n`-th power rarer than the first.
const EXPONENT: f64 = 1.2;

/// A law by which keys are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mix {
    Uniform,
    Zipf,
    Bursts,
    One,
    Million,
}

impl Mix {
    pub(crate) const ALL: [Self; 5] = [Self::Uniform, Self::Zipf, Self::Bursts, Self::One, Self::Million];

    pub(crate) fn keys(self) -> usize {
        match self {
            Self::Uniform | Self::Zipf | Self::Bursts => 64,
            Self::One => 1,
            Self::Million => 1_000_000,
        }
    }

    /// The keys of the first `count` events.
    pub(crate) fn sequence(self, count: usize) -> Vec<u32> {
        let mut random = Random::new();
        let mut uniform = || (random.fraction() * self.keys() as f64) as u32;
        match self {
            Self::Uniform | Self::One | Self::Million => (0..count).map(|_| uniform()).collect(),
            Self::Zipf => zipf(self.keys(), count),
            Self::Bursts => {
                let bursts = (0..count.div_ceil(BURST)).map(|_| uniform());
                bursts.flat_map(|key| [key; BURST]).take(count).collect()
            }
        }
    }
}

fn zipf(keys: usize, count: usize) -> Vec<u32> {
    let mut random = Random::new();
    let sum = |sum: &mut f64, rank: usize| {
        *sum += (rank as f64).powf(-EXPONENT);
        Some(*sum)
    };
    let sums: Vec<f64> = (1..=keys).scan(0.0, sum).collect();
    let key = |_| {
        let drawn = random.fraction() * sums[keys - 1];
        sums.partition_point(|&sum| sum < drawn).min(keys - 1) as u32
    };
    (0..count).map(key).collect()
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("64 keys, uniform"),
            Self::Zipf => write!(f, "64 keys, Zipf {EXPONENT}"),
            Self::Bursts => write!(f, "64 keys, bursts of {BURST}"),
            Self::One => f.write_str("one key"),
            Self::Million => f.write_str("a million keys"),
        }
    }
}
