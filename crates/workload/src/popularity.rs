//! The rates of streams, equal or unequal, and the choice of a stream for each arrival.

use crate::arrivals::{Arrival, ImpossibleArrivals};
use crate::random::{Key, Purpose, Random};
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, Uniform};
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos, StreamId};

/// The largest number of streams.
pub const MAX_STREAMS: u32 = 1 << 24;

/// How traffic is divided among its streams.
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
    /// Checks the exponent; the field is named from the popularity's table.
    ///
    /// # Errors
    /// If the exponent is not between 0 and 10.
    pub fn check(&self) -> Result<(), Fault> {
        match *self {
            Self::Zipf(exponent) if !(0.0..=10.0).contains(&exponent) => {
                Err(Fault::new("zipf", exponent, "an exponent between 0 and 10, such as 1"))
            }
            _ => Ok(()),
        }
    }

    /// The share of each of `streams` streams in the traffic; the shares add up to 1.
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

/// Checks the number of streams.
///
/// # Errors
/// If there are no streams, or more than [`MAX_STREAMS`].
pub fn check_streams(streams: u32) -> Result<(), ImpossibleArrivals> {
    match streams {
        0 => Err(ImpossibleArrivals::NoStreams),
        1..=MAX_STREAMS => Ok(()),
        _ => Err(Fault::new("streams", streams, format!("at most {MAX_STREAMS}")).into()),
    }
}

/// Draws the stream of each arrival independently.
///
/// A draw takes constant time for any number of streams: unequal shares use an alias table (Walker 1977),
/// which is exact up to the rounding of the shares and takes 12 bytes per stream.
#[derive(Clone, Debug)]
pub struct StreamChoice {
    shares: Shares,
    random: Random,
}

#[derive(Clone, Debug)]
enum Shares {
    Equal(Uniform<u32>),
    Unequal(WeightedAliasIndex<f64>),
}

impl StreamChoice {
    /// A generator for `streams` streams.
    ///
    /// # Errors
    /// If there are none or too many, or the popularity is impossible.
    pub fn new(streams: u32, popularity: Popularity, key: Key) -> Result<Self, ImpossibleArrivals> {
        check_streams(streams)?;
        let shares = match popularity {
            Popularity::Uniform => {
                Shares::Equal(Uniform::new(0, streams).map_err(|_| ImpossibleArrivals::NoStreams)?)
            }
            Popularity::Zipf(_) => Shares::Unequal(
                WeightedAliasIndex::new(popularity.shares(streams)?)
                    .map_err(|_| ImpossibleArrivals::NoStreams)?,
            ),
        };
        Ok(Self { shares, random: key.stream(Purpose::Stream) })
    }

    /// Fills `block` with single packets at the times that `next_time` yields.
    ///
    /// All times are drawn before the streams, from another generator: each of both loops stays in registers.
    #[inline]
    pub(crate) fn fill(&mut self, block: &mut [Arrival], mut next_time: impl FnMut() -> Nanos) {
        block.fill_with(|| Arrival::single(next_time(), StreamId(0)));
        // A copy that stays in registers while the block is filled.
        let mut random = self.random.clone();
        match &self.shares {
            Shares::Equal(law) => {
                block.iter_mut().for_each(|arrival| arrival.stream = StreamId(law.sample(&mut random)));
            }
            Shares::Unequal(law) => {
                block.iter_mut().for_each(|arrival| arrival.stream = StreamId::from(law.sample(&mut random)));
            }
        }
        self.random = random;
    }

    /// The streams of successive packets, without end.
    pub fn streams(mut self) -> impl Iterator<Item = StreamId> + Send {
        core::iter::repeat_with(move || self.choose())
    }

    /// The stream of the next arrival.
    #[inline]
    pub fn choose(&mut self) -> StreamId {
        match &self.shares {
            Shares::Equal(law) => StreamId(law.sample(&mut self.random)),
            Shares::Unequal(law) => StreamId::from(law.sample(&mut self.random)),
        }
    }
}

/// The streams of successive packets, without end, drawn uniformly.
///
/// # Errors
/// If there is no stream.
pub fn uniform_streams(
    streams: u32,
    key: Key,
) -> Result<impl Iterator<Item = StreamId> + Send, ImpossibleArrivals> {
    StreamChoice::new(streams, Popularity::Uniform, key).map(StreamChoice::streams)
}
