//! Statistics over the packets finished so far.

use crate::packet::figures::ExtensionFigures;
use crate::packet::host::Shape;
use crate::packet::outcome::{DelayQuantiles, Ended, Fairness, Outcome, nanos};
use crate::packet::system::Finished;
use warmcore_costs::Situation;
use warmcore_stats::batches::BatchMeans;
use warmcore_stats::drift::{Backlog, Trend};
use warmcore_stats::histogram::Histogram;
use warmcore_stats::{Interval, Quantiles, fairness};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The quantities of a packet that are averaged in batches: its delay, its service time, and the time between
/// its arrival and that of the packet finished before it.
const DELAY: usize = 0;
const SERVICE: usize = 1;
const GAP: usize = 2;

/// Packets entered into the statistics at once, which makes each one cheap.
const BLOCK: usize = 64;

/// The statistics of one run.
pub(super) struct Tally {
    processors: f64,
    /// How many queues can grow independently of each other, at most.
    lines: u32,
    /// The quantities of the latest packets. The first `unread` are not in the statistics yet.
    latest: [[f64; 3]; BLOCK],
    unread: usize,
    read_after: usize,
    packets: BatchMeans<3>,
    delays: Quantiles,
    backlog: Backlog,
    /// By stream: packets, and the sum of their delays.
    streams: Vec<(u64, f64)>,
    situations: [u64; Situation::COUNT],
    last_arrival: Nanos,
    now: Nanos,
}

impl Tally {
    pub(super) fn new(shape: Shape, warmup: Option<u64>) -> Self {
        Self {
            processors: f64::from(shape.processors),
            lines: shape.processors.max(shape.stacks),
            latest: [[0.0; 3]; BLOCK],
            unread: 0,
            read_after: BLOCK,
            packets: BatchMeans::default().with_warmup(warmup),
            delays: Quantiles::default(),
            backlog: Backlog::default(),
            streams: vec![(0, 0.0); shape.streams as usize],
            situations: [0; Situation::COUNT],
            last_arrival: Nanos::ZERO,
            now: Nanos::ZERO,
        }
    }

    /// Records a finished packet. Returns whether it is time to [`read`](Self::read).
    #[inline(always)]
    pub(super) fn push(&mut self, finished: &Finished) -> bool {
        let delay = finished.delay().0;
        let arrived = finished.packet.arrived;
        self.latest[self.unread % BLOCK] = [delay, finished.service().0, (arrived - self.last_arrival).0];
        self.unread += 1;
        let (packets, delays) = &mut self.streams[finished.packet.stream.index()];
        *packets += 1;
        *delays += delay;
        self.situations[finished.situation.index()] += 1;
        self.last_arrival = arrived;
        self.now = finished.ended;
        self.unread == self.read_after
    }

    /// Makes sure that the next read happens no later than when `packets` have been recorded in all.
    pub(super) fn read_at(&mut self, packets: u64) {
        let missing = usize::try_from(packets - self.packets()).unwrap_or(BLOCK);
        self.read_after = missing.min(BLOCK);
    }

    /// Enters the latest packets into the statistics; `present` further packets are in the system.
    pub(super) fn read(&mut self, present: u64) {
        let latest = &self.latest[..self.unread];
        self.packets.extend(latest);
        self.delays.extend(latest.iter().map(|quantities| quantities[DELAY]));
        self.backlog.push(present);
        self.unread = 0;
    }

    /// Packets that have entered the statistics.
    pub(super) fn packets(&self) -> u64 {
        self.packets.observations()
    }

    /// The mean delay. `mean_gap`, the exact mean time between packets where it is known, narrows its interval.
    pub(super) fn delay(&self, mean_gap: Option<Nanos>) -> Interval {
        match mean_gap {
            Some(gap) => self.packets.steady_controlled(DELAY, GAP, gap.0),
            None => self.packets.steady().intervals[DELAY],
        }
    }

    /// Whether the number of packets in the system keeps growing.
    pub(super) fn is_growing(&self) -> bool {
        self.backlog.trend(self.lines) == Trend::Growing
    }

    /// The delays after the warm-up.
    pub(super) fn steady_delays(&self) -> Histogram {
        self.delays.steady(self.packets.steady().warmup)
    }

    pub(super) fn outcome(&self, mean_gap: Option<Nanos>, ended: Ended) -> Outcome {
        let steady = self.packets.steady();
        let busy = self.packets.steady_ratio(SERVICE, GAP);
        let packets = self.packets();
        Outcome {
            delay: nanos(self.delay(mean_gap)),
            service: nanos(steady.intervals[SERVICE]),
            quantiles: DelayQuantiles::from_fn(|p| self.delays.quantile(p, steady.warmup)),
            fairness: Fairness::among(&self.streams),
            utilisation: Estimate::new(busy.mean / self.processors, busy.half_width / self.processors),
            throughput: PerSecond(packets as f64 / self.now.secs()),
            situations: self.situations,
            warmup: steady.warmup,
            packets,
            ended,
            extensions: ExtensionFigures::default(),
        }
    }
}

impl Fairness {
    pub(super) fn among(streams: &[(u64, f64)]) -> Self {
        match fairness::among(streams.iter().copied()) {
            Some(among) => {
                Self { jain: among.jain, least: Nanos(among.least), greatest: Nanos(among.greatest) }
            }
            None => Self { jain: 1.0, least: Nanos::ZERO, greatest: Nanos::ZERO },
        }
    }
}
