//! Poisson arrivals, single or in batches.

use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals};
use crate::batch::Batch;
use crate::marks::Marks;
use crate::popularity::Popularity;
use crate::random::{Key, Purpose, Random};
use rand_distr::{Distribution, Exp1};
use warmcore_units::{Nanos, PerSecond};

/// Batches of packets at exponential intervals (Salehi, Kurose & Towsley 1994, §3).
#[derive(Clone, Debug)]
pub struct Poisson {
    mean_interval: Nanos,
    now: Nanos,
    random: Random,
    marks: Marks,
}

impl Poisson {
    /// Single packets at `rate`, each from one of `streams` streams, drawn uniformly.
    ///
    /// # Errors
    /// If there is no stream, or the rate is not a positive number.
    pub fn new(rate: PerSecond, streams: u32, key: Key) -> Result<Self, ImpossibleArrivals> {
        Self::marked(rate, Marks::new(streams, Popularity::Uniform, Batch::ONE, key)?, key)
    }

    /// Packets at `rate`, in batches drawn by `marks`. Batches arrive at `rate` divided by their mean number
    /// of packets.
    ///
    /// # Errors
    /// If the rate is not a positive number.
    pub fn marked(rate: PerSecond, marks: Marks, key: Key) -> Result<Self, ImpossibleArrivals> {
        Ok(Self {
            mean_interval: marks.mean_interval(rate)?,
            now: Nanos::ZERO,
            random: key.stream(Purpose::Interarrival),
            marks,
        })
    }
}

impl Arrivals for Poisson {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        // A copy that stays in registers while the block is filled.
        let mut random = self.random.clone();
        self.marks.fill(block, || {
            // Not `random.sample(Exp1)`: only this form is inlined here, which saves a quarter of the time.
            let interval: f64 = Exp1.sample(&mut random);
            Nanos(interval)
        });
        self.random = random;
        // A loop of its own keeps the sum in a register, which the draw of an interval may have to spill.
        for arrival in block.iter_mut() {
            self.now += self.mean_interval * arrival.at.0;
            arrival.at = self.now;
        }
        block.len()
    }
}
