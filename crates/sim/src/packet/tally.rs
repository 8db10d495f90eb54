//! Statistics over the packets finished so far.

use crate::packet::by_stream::StreamTally;
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
use warmcore_workload::Arrival;

/// The quantities of a packet that are averaged in batches: its delay, its service time, and the time between
/// its arrival and that of the packet finished before it.
const DELAY: usize = 0;
const SERVICE: usize = 1;
const GAP: usize = 2;

/// Packets entered into the statistics at once, which makes each one cheap.
const BLOCK: usize = 64;

/// What the statistics need of a packet.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    delay: f64,
    service: f64,
    arrived: f64,
    stream: u32,
    situation: u8,
}

impl Entry {
    #[inline(always)]
    pub(super) fn new(finished: &Finished) -> Self {
        Self {
            delay: finished.delay().0,
            service: finished.service().0,
            arrived: finished.packet.arrived.0,
            stream: finished.packet.stream.0,
            // There are twelve.
            situation: finished.situation.index() as u8,
        }
    }
}

/// The statistics of one run.
pub(super) struct Tally {
    processors: f64,
    /// How many queues can grow independently of each other, at most.
    lines: u32,
    /// The latest packets, which are not in the statistics yet.
    latest: Vec<Entry>,
    read_after: usize,
    packets: BatchMeans<3>,
    delays: Quantiles,
    backlog: Backlog,
    streams: StreamTally,
    situations: [u64; Situation::COUNT],
    /// When the packet arrived that was entered last.
    last_arrival: f64,
    /// When the latest packet was finished.
    now: Nanos,
}

impl Tally {
    pub(super) fn new(shape: Shape, warmup: Option<u64>) -> Self {
        Self {
            processors: f64::from(shape.processors),
            lines: shape.processors.max(shape.stacks),
            latest: Vec::with_capacity(BLOCK),
            read_after: BLOCK,
            packets: BatchMeans::default().with_warmup(warmup),
            delays: Quantiles::default(),
            backlog: Backlog::default(),
            streams: StreamTally::new(shape, warmup),
            situations: [0; Situation::COUNT],
            last_arrival: 0.0,
            now: Nanos::ZERO,
        }
    }

    /// Records a finished packet. Returns whether it is time to [`read`](Self::read).
    #[inline(always)]
    pub(super) fn push(&mut self, finished: &Finished) -> bool {
        self.latest.push(Entry::new(finished));
        self.now = finished.ended;
        self.latest.len() == self.read_after
    }

    /// Reads what is kept of the streams of `ahead`, so that it is in the processor's cache when they are finished.
    /// Returns something that depends on it.
    pub(super) fn touch(&self, ahead: &[Arrival]) -> u32 {
        ahead.iter().fold(0, |sum, arrival| sum ^ self.streams.touch(arrival.stream.index()))
    }

    /// Makes sure that the next read happens no later than when `packets` have been recorded in all.
    pub(super) fn read_at(&mut self, packets: u64) {
        let missing = usize::try_from(packets - self.packets()).unwrap_or(BLOCK);
        self.read_after = missing.min(BLOCK);
    }

    /// Enters the latest packets into the statistics; `present` further packets are in the system.
    pub(super) fn read(&mut self, present: u64) {
        let mut latest = core::mem::take(&mut self.latest);
        self.enter(&latest);
        self.backlog.push(present);
        latest.clear();
        self.latest = latest;
    }

    /// Enters `entries` into the statistics. Each quantity has a loop of its own: the sums of one would wait for
    /// those of another.
    #[inline]
    fn enter(&mut self, entries: &[Entry]) {
        let mut last = self.last_arrival;
        self.packets.extend(entries.iter().map(|entry| {
            let gap = entry.arrived - core::mem::replace(&mut last, entry.arrived);
            [entry.delay, entry.service, gap]
        }));
        self.last_arrival = last;
        self.delays.extend(entries.iter().map(|entry| entry.delay));
        for entry in entries {
            self.streams.push(entry.stream, entry.delay);
            self.situations[usize::from(entry.situation)] += 1;
        }
        self.streams.reached(self.packets.observations());
    }

    /// Enters packets whose times are known before they are finished. The work that is left then amounts to
    /// `present` packets.
    pub(super) fn enter_settled(&mut self, entries: &[Entry]) {
        self.enter(entries);
        let ends = entries.iter().map(|entry| entry.arrived + entry.delay);
        self.now = Nanos(ends.fold(self.now.0, |latest, end| if end > latest { end } else { latest }));
    }

    /// Notes how many packets the system holds.
    pub(super) fn observe_backlog(&mut self, present: u64) {
        self.backlog.push(present);
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
            fairness: self.streams.fairness(steady.warmup),
            utilisation: utilisation(busy, self.processors),
            throughput: PerSecond(packets as f64 / self.now.secs()),
            situations: self.situations,
            warmup: steady.warmup,
            packets,
            ended,
            extensions: ExtensionFigures::default(),
        }
    }
}

/// What is `busy` of the `processors`. It is the work of packets over the time in which they arrived. If more arrives than is
/// processed, some of that work is not done yet: no processor is busy for more than all of its time.
fn utilisation(busy: Interval, processors: f64) -> Estimate<f64> {
    Estimate::new((busy.mean / processors).min(1.0), busy.half_width / processors)
}

impl Fairness {
    /// Among streams, each with the number of its packets and the sum of their delays.
    pub(super) fn among(streams: impl IntoIterator<Item = (u64, f64)>) -> Self {
        match fairness::among(streams) {
            Some(among) => {
                Self { jain: among.jain, least: Nanos(among.least), greatest: Nanos(among.greatest) }
            }
            None => Self { jain: 1.0, least: Nanos::ZERO, greatest: Nanos::ZERO },
        }
    }
}
