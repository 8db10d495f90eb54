//! How many packets arrive together.

use crate::random::Random;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Packets of one stream that arrive together (Salehi, Kurose & Towsley 1994, §3).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Mean number of packets in a batch, at least 1.
    pub mean: f64,
    /// How the number varies.
    #[serde(default)]
    pub distribution: BatchDistribution,
}

/// How the number of packets in a batch varies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchDistribution {
    /// It is always the mean, which must be a whole number.
    #[default]
    Deterministic,
    /// Geometric on 1, 2, …: a mean of 1 is a batch of one.
    Geometric,
}

impl Batch {
    /// One packet at a time.
    pub const ONE: Self = Self { mean: 1.0, distribution: BatchDistribution::Deterministic };

    /// The largest mean.
    pub const MAX_MEAN: f64 = 1e6;

    /// Checks the values; fields are named from the batch's table.
    ///
    /// # Errors
    /// If the mean is below 1, too large, or not whole for batches of constant size.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1.0..=Self::MAX_MEAN).contains(&self.mean) {
            return Err(Fault::new("mean", self.mean, "a number of packets from 1 to 1000000"));
        }
        if self.distribution == BatchDistribution::Deterministic && self.mean.fract() != 0.0 {
            let expected = "a whole number of packets, or a `geometric` distribution";
            return Err(Fault::new("mean", self.mean, expected));
        }
        Ok(())
    }

    /// The distribution of the number of packets; the batch must have been checked.
    pub(crate) fn sizes(self) -> BatchSizes {
        match self.distribution {
            _ if self.mean == 1.0 => BatchSizes::Always(1),
            BatchDistribution::Deterministic => BatchSizes::Always(self.mean as u32),
            BatchDistribution::Geometric => BatchSizes::Geometric(Geometric::with_mean(self.mean)),
        }
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::ONE
    }
}

/// The distribution of the number of packets in a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BatchSizes {
    Always(u32),
    Geometric(Geometric),
}

/// The geometric distribution on 1, 2, ….
///
/// A sample is one more than the integer part of an exponential variable of mean 1 / -ln(1 - p): it is at
/// least k with the probability that the variable is at least k - 1, which is (1 - p)^(k - 1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometric {
    scale: f64,
}

impl Geometric {
    /// The distribution with mean `mean`, at least 1.
    pub(crate) fn with_mean(mean: f64) -> Self {
        Self { scale: -1.0 / (-1.0 / mean).ln_1p() }
    }

    #[inline]
    pub(crate) fn sample(self, random: &mut Random) -> u32 {
        let variable: f64 = Exp1.sample(random);
        1_u32.saturating_add((variable * self.scale) as u32)
    }
}
