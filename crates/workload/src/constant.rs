//! Arrivals at a constant rate.

use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals, mean_interval};
use crate::event_queue::EventQueue;
use crate::marks::Marks;
use crate::popularity::Popularity;
use crate::random::{Key, Purpose};
use rand::RngExt;
use warmcore_units::{Nanos, PerSecond, StreamId};

/// Batches at equal intervals, the first after one interval, from randomly drawn streams.
#[derive(Clone, Debug)]
pub struct Constant {
    interval: Nanos,
    batches: u64,
    marks: Marks,
}

impl Constant {
    /// Packets at `rate`, in batches drawn by `marks`.
    ///
    /// # Errors
    /// If the rate is not a positive number.
    pub fn new(rate: PerSecond, marks: Marks) -> Result<Self, ImpossibleArrivals> {
        Ok(Self { interval: marks.mean_interval(rate)?, batches: 0, marks })
    }
}

impl Arrivals for Constant {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        // Multiplication avoids the rounding errors that repeated addition would accumulate.
        self.marks.fill(block, || {
            self.batches += 1;
            self.interval * self.batches as f64
        });
        block.len()
    }
}

/// Streams that each send single packets at equal intervals, starting at a random phase, such as voice or
/// video sources.
#[derive(Clone, Debug)]
pub struct Periodic {
    next: EventQueue<Nanos>,
}

impl Periodic {
    /// Packets at a total of `rate`, of which each of `streams` streams sends its share.
    ///
    /// # Errors
    /// If there is no stream, the popularity is impossible, or the rate is not a positive number.
    pub fn new(
        rate: PerSecond,
        streams: u32,
        popularity: Popularity,
        key: Key,
    ) -> Result<Self, ImpossibleArrivals> {
        let interval = mean_interval(rate)?;
        let mut phases = key.stream(Purpose::Start);
        let shares = popularity.shares(streams)?;
        let first = shares.into_iter().zip(0..).map(|(share, stream)| {
            let interval = interval / share;
            (interval * phases.random::<f64>(), StreamId(stream), interval)
        });
        Ok(Self { next: first.collect() })
    }
}

impl Arrivals for Periodic {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        self.next.fill(block, |at, interval| at + *interval)
    }
}
