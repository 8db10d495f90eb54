//! Simulates a recorded trace. All of its packets count; none is left out as warm-up. Replaying it again
//! gives the same result, and nothing shows how much another trace would differ, so the figures have no
//! intervals.

use crate::packet::figures::ExtensionFigures;
use crate::packet::host::{Shape, SimulatedHost};
use crate::packet::outcome::{DelayQuantiles, Ended, Fairness, Outcome};
use crate::packet::run::trace;
use crate::packet::system::Finished;
use warmcore_costs::Situation;
use warmcore_stats::histogram::{Filling, Histogram};
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::Arrivals;

/// The outcome over all of `arrivals`. There must be at least one, the first at time 0.
pub(super) fn replay(host: &SimulatedHost, arrivals: &mut dyn Arrivals) -> Outcome {
    let mut all = TraceTally::new(host.shape);
    trace(host, arrivals, u64::MAX, &mut |finished| all.push(&finished));
    all.outcome(host.shape.processors)
}

/// Sums over all packets.
pub(super) struct TraceTally {
    packets: u64,
    delay: f64,
    service: f64,
    delays: Filling,
    /// Per stream: its number of packets, and the sum of their delays.
    streams: Vec<(u64, f64)>,
    situations: [u64; Situation::COUNT],
    ended: Nanos,
}

impl TraceTally {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            packets: 0,
            delay: 0.0,
            service: 0.0,
            delays: Filling::default(),
            streams: vec![(0, 0.0); shape.streams as usize],
            situations: [0; Situation::COUNT],
            ended: Nanos::ZERO,
        }
    }

    pub(super) fn push(&mut self, finished: &Finished) {
        let delay = finished.delay().0;
        self.packets += 1;
        self.delay += delay;
        self.service += finished.service().0;
        self.delays.push(delay);
        let (packets, delays) = &mut self.streams[finished.packet.stream.index()];
        *packets += 1;
        *delays += delay;
        self.situations[finished.situation.index()] += 1;
        self.ended = Nanos(self.ended.0.max(finished.ended.0));
    }

    pub(super) fn outcome(&self, processors: u32) -> Outcome {
        let mean = |sum: f64| Estimate::published(Nanos(sum / self.packets as f64));
        let delays = self.delays.trimmed();
        Outcome {
            delay: mean(self.delay),
            service: mean(self.service),
            quantiles: DelayQuantiles {
                p50: quantile(&delays, 0.5),
                p99: quantile(&delays, 0.99),
                p999: quantile(&delays, 0.999),
            },
            fairness: Fairness::among(self.streams.iter().copied()),
            utilisation: Estimate::published(self.service / (self.ended.0 * f64::from(processors))),
            throughput: PerSecond(self.packets as f64 / self.ended.secs()),
            situations: self.situations,
            warmup: 0,
            packets: self.packets,
            ended: Ended::NoMoreArrivals,
            extensions: ExtensionFigures::default(),
        }
    }
}

impl Outcome {
    /// The outcome of a trace of so many `packets`, of which those that are not finished were lost.
    pub(super) fn with_lost_of(mut self, packets: u64) -> Self {
        self.extensions.lost = Some(Estimate::published(1.0 - self.packets as f64 / packets as f64));
        self
    }
}

fn quantile(delays: &Histogram, p: f64) -> Estimate<Nanos> {
    Estimate::published(Nanos(delays.quantile(p)))
}
