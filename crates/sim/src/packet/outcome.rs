//! The result of a run.

use crate::packet::figures::ExtensionFigures;
use serde::{Deserialize, Serialize};
use warmcore_costs::Situation;
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The result of a run, in steady state.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Mean time from arrival to the end of service.
    pub delay: Estimate<Nanos>,
    /// Mean time in service.
    pub service: Estimate<Nanos>,
    /// Quantiles of the delay.
    pub quantiles: DelayQuantiles,
    /// How the mean delays of the streams compare, after the warm-up.
    pub fairness: Fairness,
    /// Mean fraction of the processors' time spent on protocol work, at most 1.
    pub utilisation: Estimate<f64>,
    /// Packets finished per second.
    pub throughput: PerSecond,
    /// How many packets found each [`Situation`], by the situation's index, over the whole run.
    pub situations: [u64; Situation::COUNT],
    /// Packets left out at the start, before the steady state.
    pub warmup: u64,
    /// Packets simulated, the warm-up included.
    pub packets: u64,
    /// How well the mean delay is known.
    pub ended: Ended,
    /// What is lost, and the delays of each class, where the scenario has such.
    #[serde(default, flatten)]
    pub extensions: ExtensionFigures,
}

/// How well the mean delay is known when a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// As precisely as asked for.
    Precise,
    /// The run reached its maximum number of packets before it was precise.
    Exhausted,
    /// The run took exactly the packets asked for, whatever precision that gave.
    FixedLength,
    /// As [`Exhausted`](Self::Exhausted), at a rate [so near](crate::packet::capacity::NEAR_CAPACITY) to the capacity
    /// that queues fluctuate slowly. The host keeps up.
    NearCapacity,
    /// It is not known whether there is a steady state: the rate lies within the interval of the capacity, or
    /// queues grew for as long as the run lasted.
    Unknown,
    /// No interval holds. Times between arrivals have infinite variance, or service times no third moment, so the means of
    /// a run converge too slowly, and a mean delay may not exist. The figures are those of this run.
    HeavyTailed,
    /// No more packets arrived.
    NoMoreArrivals,
}

/// Quantiles of the delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct DelayQuantiles {
    /// Half of the packets have a smaller delay.
    pub p50: Estimate<Nanos>,
    /// One packet in a hundred has a larger delay.
    pub p99: Estimate<Nanos>,
    /// One packet in a thousand has a larger delay.
    pub p999: Estimate<Nanos>,
}

/// How equally streams are treated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fairness {
    /// Jain's index of the streams' mean delays: 1 if all are equal.
    pub jain: f64,
    /// The smallest mean delay of a stream.
    pub least: Nanos,
    /// The largest mean delay of a stream.
    pub greatest: Nanos,
}

impl DelayQuantiles {
    /// The three quantiles, from a function that gives any.
    pub(super) fn from_fn(quantile: impl Fn(f64) -> Interval) -> Self {
        Self { p50: nanos(quantile(0.5)), p99: nanos(quantile(0.99)), p999: nanos(quantile(0.999)) }
    }
}

impl Outcome {
    /// The same figures with infinite half-widths.
    #[must_use]
    pub fn without_intervals(self) -> Self {
        let time = |time: Estimate<Nanos>| Estimate::new(time.mean, Nanos::INFINITY);
        let DelayQuantiles { p50, p99, p999 } = self.quantiles;
        Self {
            delay: time(self.delay),
            service: time(self.service),
            quantiles: DelayQuantiles { p50: time(p50), p99: time(p99), p999: time(p999) },
            utilisation: Estimate::new(self.utilisation.mean, f64::INFINITY),
            extensions: self.extensions.without_intervals(),
            ..self
        }
    }

    /// Removes the intervals of the delays where they would not hold. Near capacity a queue remembers for
    /// longer than a run lasts: its mean is too small, and the spread within the run does not show it. Of 95%
    /// intervals of M/D/1 at loads of 0.99 and 0.995, 27 and 24 of 40 held the exact mean.
    #[must_use]
    pub fn without_false_intervals(self) -> Self {
        match self.ended {
            Ended::NearCapacity | Ended::Unknown => {
                Self { service: self.service, utilisation: self.utilisation, ..self.without_intervals() }
            }
            _ => self,
        }
    }

    /// The outcome, unless it is unknown whether there is a steady state.
    #[must_use]
    pub fn steady(self) -> Option<Self> {
        (self.ended != Ended::Unknown).then_some(self)
    }

    /// Whether the precision asked for was reached.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        self.ended == Ended::Precise
    }
}

/// An interval of observations in nanoseconds.
pub(crate) fn nanos(interval: Interval) -> Estimate<Nanos> {
    Estimate::new(Nanos(interval.mean), Nanos(interval.half_width))
}
