//! Arrivals, and the interface of their sources.

use warmcore_units::{Fault, Nanos, PerSecond, StreamId};

/// Packets of one stream that arrive together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Arrival {
    /// Time since the start of the run.
    pub at: Nanos,
    /// The packets' stream.
    pub stream: StreamId,
    /// How many packets, at least one.
    pub packets: u32,
    /// The size of each of them in bytes; 0 where no size is modelled.
    pub bytes: u16,
    /// Whether they are received or sent.
    pub direction: Direction,
}

impl Arrival {
    /// One packet to be received, without a size.
    #[must_use]
    pub const fn single(at: Nanos, stream: StreamId) -> Self {
        Self { at, stream, packets: 1, bytes: 0, direction: Direction::Receive }
    }
}

/// The direction of a packet through the protocol stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Direction {
    /// From the network to a user.
    #[default]
    Receive,
    /// From a user to the network.
    Send,
}

/// A source of arrivals in order of time.
pub trait Arrivals: Send {
    /// Fills `block` from its start with the next arrivals, in order of time, and returns how many. It
    /// returns fewer than the block's length only if the source has ended.
    ///
    /// The arrivals do not depend on the lengths of the blocks.
    fn fill(&mut self, block: &mut [Arrival]) -> usize;
}

/// A source without arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Silence;

impl Arrivals for Silence {
    fn fill(&mut self, _block: &mut [Arrival]) -> usize {
        0
    }
}

impl<A: Arrivals + ?Sized> Arrivals for Box<A> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        (**self).fill(block)
    }
}

/// The arrivals cannot be generated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ImpossibleArrivals {
    /// There are no streams.
    #[error("packets need at least 1 stream, not 0")]
    NoStreams,
    /// The rate is not a positive number.
    #[error("packets cannot arrive at a rate of {0} per second; give a number above 0")]
    NoRate(f64),
    /// A parameter of the source is not valid.
    #[error(transparent)]
    Parameter(#[from] Fault),
}

/// The mean time between packets that arrive at `rate`.
pub(crate) fn mean_interval(rate: PerSecond) -> Result<Nanos, ImpossibleArrivals> {
    let interval = rate.interval();
    if rate.0 > 0.0 && interval.0 > 0.0 && interval.0.is_finite() {
        Ok(interval)
    } else {
        Err(ImpossibleArrivals::NoRate(rate.0))
    }
}
