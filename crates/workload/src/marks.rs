//! The marks of arrivals: what is drawn besides the time, namely the stream and the number of packets.

use crate::arrivals::{Arrival, ImpossibleArrivals, mean_interval};
use crate::batch::{Batch, BatchSizes};
use crate::popularity::{Popularity, StreamChoice};
use crate::random::{Key, Purpose, Random};
use warmcore_units::{Nanos, PerSecond, StreamId};

/// The streams of arrivals and the numbers of packets in them, drawn independently of the times.
#[derive(Clone, Debug)]
pub struct Marks {
    choice: StreamChoice,
    mean: f64,
    packets: BatchSizes,
    random: Random,
}

impl Marks {
    /// Marks of batches from `streams` streams.
    ///
    /// # Errors
    /// If there is no stream, or the popularity or the batch is impossible.
    pub fn new(
        streams: u32,
        popularity: Popularity,
        batch: Batch,
        key: Key,
    ) -> Result<Self, ImpossibleArrivals> {
        batch.check()?;
        Ok(Self {
            choice: StreamChoice::new(streams, popularity, key)?,
            mean: batch.mean,
            packets: batch.sizes(),
            random: key.stream(Purpose::Batch),
        })
    }

    /// Fills `block` with batches at the times that `next_time` yields.
    #[inline]
    pub(crate) fn fill(&mut self, block: &mut [Arrival], next_time: impl FnMut() -> Nanos) {
        self.choice.fill(block, next_time);
        match self.packets {
            BatchSizes::Always(1) => {}
            BatchSizes::Always(packets) => block.iter_mut().for_each(|arrival| arrival.packets = packets),
            BatchSizes::Geometric(sizes) => {
                block.iter_mut().for_each(|arrival| arrival.packets = sizes.sample(&mut self.random));
            }
        }
    }

    /// The streams of successive packets, without end.
    pub fn packets(mut self) -> impl Iterator<Item = StreamId> + Send {
        let batches = core::iter::repeat_with(move || {
            let mut batch = [Arrival::default()];
            self.fill(&mut batch, || Nanos::ZERO);
            batch
        });
        batches.flatten().flat_map(|batch| core::iter::repeat_n(batch.stream, batch.packets as usize))
    }

    /// The mean time between batches whose packets arrive at `rate`.
    pub(crate) fn mean_interval(&self, rate: PerSecond) -> Result<Nanos, ImpossibleArrivals> {
        mean_interval(rate).map(|interval| interval * self.mean)
    }
}
