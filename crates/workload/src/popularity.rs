//! Which stream an arrival belongs to: streams of equal or unequal rates.

use crate::arrivals::{Arrival, ImpossibleArrivals};
use crate::random::{Key, Purpose, Random};
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, Uniform};
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos, StreamId};

/// The most streams that traffic may have.
pub const MAX_STREAMS: u32 = 1 << 24;

/// How the traffic is shared out among its streams.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Popularity {
    /// Every stream has the same rate.
    #[default]
    Uniform,
    /// Zipf's law: the k-th stream's rate is proportional to k^-s, with this exponent s.
    Zipf(f64),
}

impl Popularity {
    /// # Errors
    /// If the exponent is not between 0 and 10; the field is named from the popularity's table.
    pub fn check(&self) -> Result<(), Fault> {
        match *self {
            Self::Zipf(exponent) if !(0.0..=10.0).contains(&exponent) => {
                Err(Fault::new("zipf", exponent, "an exponent between 0 and 10, such as 1"))
            }
            _ => Ok(()),
        }
    }

    /// The share of the traffic that each of `streams` streams has; they add up to 1.
    ///
    /// # Errors
    /// If there are no streams or too many, or the exponent is impossible.
    pub fn shares(self, streams: u32) -> Result<Vec<f64>, ImpossibleArrivals> {
        check_streams(streams)?;
        self.check()?;
        let weights = (1..=streams).map(|rank| match self {
            Self::Uniform => 1.0,
            Self::Zipf(exponent) => f64::from(rank).powf(-exponent),
        });
        let total: f64 = weights.clone().sum();
        Ok(weights.map(|weight| weight / total).collect())
    }
}

/// # Errors
/// If there are no streams, or more than [`MAX_STREAMS`].
pub fn check_streams(streams: u32) -> Result<(), ImpossibleArrivals> {
    match streams {
        0 => Err(ImpossibleArrivals::NoStreams),
        1..=MAX_STREAMS => Ok(()),
        _ => Err(Fault::new("streams", streams, format!("at most {MAX_STREAMS}")).into()),
    }
}

/// A choice of a stream for one arrival after the other, each independent of the others.
///
/// Takes the same time however many streams there are: unequal shares are sampled with an alias
/// table (Walker 1977), which is exact up to the rounding of the shares and takes 12 bytes a stream.
#[derive(Clone, Debug)]
pub struct StreamChoice {
    law: Law,
    random: Random,
}

#[derive(Clone, Debug)]
enum Law {
    Equal(Uniform<u32>),
    Unequal(WeightedAliasIndex<f64>),
}

impl StreamChoice {
    /// A choice among `streams` streams.
    ///
    /// # Errors
    /// If there are none or too many, or the popularity is impossible.
    pub fn new(streams: u32, popularity: Popularity, key: Key) -> Result<Self, ImpossibleArrivals> {
        check_streams(streams)?;
        let law = match popularity {
            Popularity::Uniform => {
                Law::Equal(Uniform::new(0, streams).map_err(|_| ImpossibleArrivals::NoStreams)?)
            }
            Popularity::Zipf(_) => Law::Unequal(
                WeightedAliasIndex::new(popularity.shares(streams)?)
                    .map_err(|_| ImpossibleArrivals::NoStreams)?,
            ),
        };
        Ok(Self { law, random: key.stream(Purpose::Stream) })
    }

    /// Fills `block` with single packets at the times that `next_time` yields.
    ///
    /// Times and streams are drawn side by side: neither waits for the other's generator.
    #[inline]
    pub(crate) fn fill(&mut self, block: &mut [Arrival], mut next_time: impl FnMut() -> Nanos) {
        // A copy that lives in registers while the block is filled.
        let mut random = self.random.clone();
        match &self.law {
            Law::Equal(law) => {
                block.fill_with(|| Arrival::single(next_time(), StreamId(law.sample(&mut random))));
            }
            Law::Unequal(law) => {
                block.fill_with(|| Arrival::single(next_time(), StreamId::from(law.sample(&mut random))));
            }
        }
        self.random = random;
    }

    /// The streams of one packet after the other, without end.
    pub fn streams(mut self) -> impl Iterator<Item = StreamId> + Send {
        core::iter::repeat_with(move || self.choose())
    }

    /// The stream of the next arrival.
    #[inline]
    pub fn choose(&mut self) -> StreamId {
        match &self.law {
            Law::Equal(law) => StreamId(law.sample(&mut self.random)),
            Law::Unequal(law) => StreamId::from(law.sample(&mut self.random)),
        }
    }
}

/// The streams of one packet after the other, without end: each packet's is chosen uniformly.
///
/// # Errors
/// If there is no stream.
pub fn uniform_streams(
    streams: u32,
    key: Key,
) -> Result<impl Iterator<Item = StreamId> + Send, ImpossibleArrivals> {
    StreamChoice::new(streams, Popularity::Uniform, key).map(StreamChoice::streams)
}
