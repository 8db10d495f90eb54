//! Arrival processes.

use crate::random::{Key, Purpose, Random};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, Uniform};
use warmcore_units::{Nanos, PerSecond, StreamId};

/// Packets of one stream that arrive together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrival {
    /// When, since the start of the run.
    pub at: Nanos,
    /// Whose.
    pub stream: StreamId,
    /// How many packets, at least one.
    pub packets: u32,
}

/// A source of arrivals in order of time, without end.
pub trait Arrivals {
    /// The next arrival.
    fn next(&mut self) -> Arrival;
}

/// Single packets at exponential intervals, each of a uniformly chosen stream
/// (Salehi, Kurose & Towsley 1994, §3, with batches of one).
#[derive(Clone, Debug)]
pub struct Poisson {
    mean_interval: Nanos,
    now: Nanos,
    streams: Uniform<u32>,
    interarrival: Random,
    choice: Random,
}

/// The arrivals cannot be made.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ImpossibleArrivals {
    /// No stream to belong to.
    #[error("packets need at least 1 stream to belong to, not 0")]
    NoStreams,
    /// A rate that is no rate.
    #[error("packets cannot arrive at a rate of {0} per second; give a number above 0")]
    NoRate(f64),
}

impl Poisson {
    /// Packets at `rate`, spread over `streams` streams.
    ///
    /// # Errors
    /// If there is no stream, or the rate is not a positive number.
    pub fn new(rate: PerSecond, streams: u32, key: Key) -> Result<Self, ImpossibleArrivals> {
        if !(rate.0.is_finite() && rate.0 > 0.0) {
            return Err(ImpossibleArrivals::NoRate(rate.0));
        }
        Ok(Self {
            mean_interval: rate.interval(),
            now: Nanos::ZERO,
            streams: Uniform::new(0, streams).map_err(|_| ImpossibleArrivals::NoStreams)?,
            interarrival: key.stream(Purpose::Interarrival),
            choice: key.stream(Purpose::Stream),
        })
    }
}

/// The streams of one packet after the other, without end: each packet's is chosen uniformly.
///
/// # Errors
/// If there is no stream.
pub fn uniform_streams(streams: u32, key: Key) -> Result<impl Iterator<Item = StreamId>, ImpossibleArrivals> {
    let choice = Uniform::new(0, streams).map_err(|_| ImpossibleArrivals::NoStreams)?;
    Ok(choice.sample_iter(key.stream(Purpose::Stream)).map(StreamId))
}

impl Arrivals for Poisson {
    #[inline]
    fn next(&mut self) -> Arrival {
        let interval: f64 = self.interarrival.sample(Exp1);
        self.now += self.mean_interval * interval;
        Arrival { at: self.now, stream: StreamId(self.streams.sample(&mut self.choice)), packets: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key { seed: 1, point: 0, replication: 0 };

    /// Intervals are exponential (their standard deviation is their mean, and e^-1 of them exceed
    /// it) and streams uniform, each within five standard errors.
    #[test]
    fn packets_come_at_random_and_from_every_stream_alike() {
        const COUNT: u32 = 200_000;
        let mut source = Poisson::new(PerSecond(20_000.0), 8, KEY).unwrap();
        let (mut last, mut long, mut per_stream) = (Nanos::ZERO, 0, [0_u32; 8]);
        for _ in 0..COUNT {
            let arrival = source.next();
            let interval = arrival.at - last;
            long += u32::from(interval > Nanos::from_micros(50.0));
            per_stream[arrival.stream.index()] += 1;
            last = arrival.at;
        }
        let count = f64::from(COUNT);
        let within = |value: f64, expected: f64, deviation: f64| {
            assert!((value - expected).abs() < 5.0 * deviation, "{value} instead of {expected}");
        };
        within(last.secs() * 20_000.0, count, count.sqrt());
        let share = (-1.0_f64).exp();
        within(f64::from(long), count * share, (count * share * (1.0 - share)).sqrt());
        for packets in per_stream {
            within(f64::from(packets), count / 8.0, (count * 7.0 / 64.0).sqrt());
        }
    }

    #[test]
    fn impossible_arrivals_are_refused() {
        assert_eq!(Poisson::new(PerSecond(1.0), 0, KEY).unwrap_err(), ImpossibleArrivals::NoStreams);
        for rate in [0.0, -1.0, f64::INFINITY] {
            let refused = Poisson::new(PerSecond(rate), 1, KEY).unwrap_err();
            assert_eq!(refused, ImpossibleArrivals::NoRate(rate));
        }
    }
}
