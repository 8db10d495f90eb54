//! Packets whose sizes determine their service times: a byte costs a nanosecond or more, everything else
//! almost nothing.

use super::formulas::Moments;
use rand::RngExt;
use rand_distr::Exp1;
use warmcore_workload::random::Random;
use warmcore_workload::{Arrival, Arrivals, Key, Purpose};

/// The distribution of the sizes, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// A constant size.
    Always(u16),
    /// `low`, or `high` with probability `share`.
    Two { low: u16, high: u16, share: f64 },
    /// Exponential, rounded up to whole bytes, and so geometric.
    Exponential { scale: f64 },
}

impl Size {
    /// An exponential size of about 3,000 bytes. Its mean is half a byte more than its scale, and its squared
    /// coefficient of variation is 1 - 1/mean, which changes mean waits by 1 in 6,000. A size above 65,535
    /// occurs once in 3·10⁹.
    pub(crate) const EXPONENTIAL: Self = Self::Exponential { scale: 3_000.0 };

    pub(crate) fn moments(self) -> Moments {
        match self {
            Self::Always(bytes) => Moments::of_constant(f64::from(bytes)),
            Self::Two { low, high, share } => Moments::of_two(f64::from(low), f64::from(high), share),
            Self::Exponential { scale } => Moments::of_geometric(-1.0 / (-1.0 / scale).exp_m1()),
        }
    }

    fn draw(self, random: &mut Random) -> u16 {
        match self {
            Self::Always(bytes) => bytes,
            Self::Two { low, high, share } => {
                if random.random::<f64>() < share {
                    high
                } else {
                    low
                }
            }
            Self::Exponential { scale } => {
                let variable: f64 = random.sample(Exp1);
                (variable * scale).ceil() as u16
            }
        }
    }
}

/// Arrivals with sizes. Each packet of a batch is a separate arrival here, since each has its own size.
pub(crate) struct OfSizes<A> {
    source: A,
    size: Size,
    random: Random,
    /// The packets of the last arrival that have not been given out yet.
    more: Arrival,
}

impl<A> OfSizes<A> {
    pub(crate) fn new(source: A, size: Size, key: Key) -> Self {
        Self { source, size, random: key.stream(Purpose::Size), more: Arrival::default() }
    }
}

impl<A: Arrivals> Arrivals for OfSizes<A> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let mut filled = 0;
        for arrival in block {
            if self.more.packets == 0 && self.source.fill(std::slice::from_mut(&mut self.more)) == 0 {
                break;
            }
            self.more.packets -= 1;
            *arrival = Arrival { packets: 1, bytes: self.size.draw(&mut self.random), ..self.more };
            filled += 1;
        }
        filled
    }
}
