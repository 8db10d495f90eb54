//! Self-similar arrivals: a superposition of sources whose on and off times are heavy-tailed, so that there
//! are bursts at every time scale (Willinger, Taqqu, Sherman & Wilson 1997).

use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals, mean_interval};
use crate::event_queue::EventQueue;
use crate::popularity::Popularity;
use crate::random::{Key, Purpose, Random};
use core::ops::RangeInclusive;
use rand::RngExt;
use rand_distr::OpenClosed01;
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos, PerSecond, StreamId};

/// The on-off source of each stream. On and off times are measured in the stream's own packets, so that the
/// traffic has the same shape at every rate.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Exponent of the Pareto distribution of on and off times, within [`ALPHA`](Self::ALPHA): their mean is
    /// finite, their variance is infinite. The Hurst parameter of many streams together is (3 - alpha) / 2.
    pub alpha: f64,
    /// Mean number of packets per on time, at least 1.
    pub burst: f64,
    /// Rate during an on time as a multiple of the mean rate, above 1.
    pub peak: f64,
}

impl OnOff {
    /// The allowed exponents. Nearer to 1, the mean is dominated by times so rare that no run meets them, with
    /// a huge number of short ones between them. Nearer to 2, the tail is hardly heavy.
    pub const ALPHA: RangeInclusive<f64> = 1.05..=1.99;

    /// Checks the parameters; fields are named from their table.
    ///
    /// # Errors
    /// The first parameter that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        if !Self::ALPHA.contains(&self.alpha) {
            let expected = format!("a number from {} to {}", Self::ALPHA.start(), Self::ALPHA.end());
            return Err(Fault::new("alpha", self.alpha, expected));
        }
        if !(1.0..=1e6).contains(&self.burst) {
            return Err(Fault::new("burst", self.burst, "a number of packets from 1 to 1000000"));
        }
        if !(self.peak > 1.0 && self.peak <= 1e6) {
            return Err(Fault::new(
                "peak",
                self.peak,
                "a multiple of the mean rate, above 1, at most 1000000",
            ));
        }
        Ok(())
    }
}

/// One on-off source for each stream, all starting in the steady state.
///
/// While on, a stream sends at a constant rate, and the interval to its next packet passes only while it is
/// on. So its mean rate is exact even if an on time is shorter than that interval.
#[derive(Clone, Debug)]
pub struct SelfSimilar {
    streams: EventQueue<Source>,
    cycle: Cycle,
}

/// The state of one stream.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Time from packet to packet while on.
    interval: Nanos,
    /// The end of the on time in which the next packet falls.
    on_until: Nanos,
}

/// Draws the on and off times of sources.
#[derive(Clone, Debug)]
struct Cycle {
    lengths: Pareto,
    sources: OnOff,
    random: Random,
}

impl SelfSimilar {
    /// Packets at a total of `rate`, of which each of `streams` streams sends its share.
    ///
    /// # Errors
    /// If there is no stream, the popularity or a parameter is impossible, or the rate is not a
    /// positive number.
    pub fn new(
        rate: PerSecond,
        sources: OnOff,
        streams: u32,
        popularity: Popularity,
        key: Key,
    ) -> Result<Self, ImpossibleArrivals> {
        sources.check()?;
        let interval = mean_interval(rate)?;
        let mut cycle =
            Cycle { lengths: Pareto { alpha: sources.alpha }, sources, random: key.stream(Purpose::Sojourn) };
        let mut start = key.stream(Purpose::Start);
        let shares = popularity.shares(streams)?;
        let streams = shares.into_iter().zip(0..).map(|(share, stream)| {
            let (first, source) = cycle.begin(interval / share / sources.peak, &mut start);
            (first, StreamId(stream), source)
        });
        Ok(Self { streams: streams.collect(), cycle })
    }
}

impl Arrivals for SelfSimilar {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let Self { streams, cycle } = self;
        streams.fill(block, |at, source| cycle.advance(at, source.interval, source))
    }
}

impl Cycle {
    /// A source in the steady state with `interval` between packets while on, and the time of its first
    /// packet.
    fn begin(&mut self, interval: Nanos, random: &mut Random) -> (Nanos, Source) {
        let mut source = Source { interval, on_until: Nanos::ZERO };
        let on = random.random_bool(1.0 / self.sources.peak);
        let rest = self.lengths.rest(random);
        let on_from = if on {
            source.on_until = self.mean_on(&source) * rest;
            Nanos::ZERO
        } else {
            let on_from = self.mean_off(&source) * rest;
            source.on_until = on_from + self.on_time(&source);
            on_from
        };
        let phase = interval * random.random::<f64>();
        (self.advance(on_from, phase, &mut source), source)
    }

    /// The time at which `source` has been on for `interval` since `from`, which is within an on time.
    fn advance(&mut self, from: Nanos, interval: Nanos, source: &mut Source) -> Nanos {
        let (mut from, mut left) = (from, interval);
        while from + left > source.on_until {
            left = (left - (source.on_until - from)).max(Nanos::ZERO);
            from = source.on_until + self.mean_off(source) * self.lengths.sample(&mut self.random);
            source.on_until = from + self.on_time(source);
        }
        from + left
    }

    fn on_time(&mut self, source: &Source) -> Nanos {
        self.mean_on(source) * self.lengths.sample(&mut self.random)
    }

    fn mean_on(&self, source: &Source) -> Nanos {
        source.interval * self.sources.burst
    }

    fn mean_off(&self, source: &Source) -> Nanos {
        self.mean_on(source) * (self.sources.peak - 1.0)
    }
}

/// The Pareto distribution with mean 1: it exceeds x with probability (least / x)^alpha.
#[derive(Clone, Copy, Debug)]
struct Pareto {
    alpha: f64,
}

impl Pareto {
    /// The longest length as a multiple of the mean, so that none is infinite.
    const MAX: f64 = 1e12;

    fn least(self) -> f64 {
        (self.alpha - 1.0) / self.alpha
    }

    fn sample(self, random: &mut Random) -> f64 {
        let tail: f64 = random.sample(OpenClosed01);
        (self.least() * tail.powf(-1.0 / self.alpha)).min(Self::MAX)
    }

    /// The rest of a length at a random moment in it. The density of this rest at x is proportional to the
    /// probability of a length above x: constant up to the least length, then a Pareto tail with an exponent
    /// lower by one.
    fn rest(self, random: &mut Random) -> f64 {
        let place: f64 = random.sample(OpenClosed01);
        let flat = random.random_bool(self.least());
        let multiple = if flat { place } else { place.powf(-1.0 / (self.alpha - 1.0)) };
        (self.least() * multiple).min(Self::MAX)
    }
}
