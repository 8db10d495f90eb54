//! What each stream experiences.
//!
//! A stream's mean delay is a ratio of sums: of its delays, and of its packets. The run after its warm-up is divided
//! into 20 groups of equal length, and the interval comes from what the groups differ by (the ratio estimator,
//! Cochran 1977, §2.11). Only five sums for each stream are kept, so a million streams take 64 MB.

use crate::packet::replications::ENOUGH;
use crate::packet::steady::RunExtent;
use crate::packet::system::Finished;
use serde::{Deserialize, Serialize};
use warmcore_record::Column;
use warmcore_stats::histogram::{Filling, Histogram};
use warmcore_stats::interval::t_quantile_95;

/// Groups of a run where there are too few runs to compare.
const GROUPS: u64 = 20;
/// A stream's interval is known from this many packets in each group on, on average.
const LEAST_IN_GROUP: u64 = 10;
/// The most streams of which quantiles are kept: each takes 88 KiB.
pub const MAX_WITH_QUANTILES: usize = 512;
/// The p99 of a stream is known from this many packets on, of which 200 are beyond it.
pub const LEAST_FOR_P99: u64 = 20_000;

/// Figures of each stream over the steady part of all runs. Columns have equal lengths: a row for each stream.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StreamFigures {
    /// Packets finished after the warm-up.
    pub packets: Vec<u64>,
    /// Mean delay, in nanoseconds; `None` without packets.
    pub mean_delay_ns: Vec<Option<f64>>,
    /// Half-width of its 95% interval; `None` if it has too few packets for one.
    pub delay_half_width_ns: Vec<Option<f64>>,
    /// The delay that one packet in a hundred exceeds, to 0.8%, without an interval; `None` below
    /// [`LEAST_FOR_P99`] packets and with more than [`MAX_WITH_QUANTILES`] streams.
    pub p99_delay_ns: Vec<Option<f64>>,
}

impl StreamFigures {
    /// The same figures without intervals.
    pub(super) fn without_intervals(mut self) -> Self {
        self.delay_half_width_ns.fill(None);
        self
    }

    /// The columns of a table.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let integer = |count: usize| i64::try_from(count).ok();
        vec![
            Column::integers("stream", (0..self.packets.len()).map(integer)),
            Column::integers("packets", self.packets.iter().map(|&count| i64::try_from(count).ok())),
            Column::floats("mean_delay", "ns", self.mean_delay_ns.iter().copied()),
            Column::floats("delay_half_width", "ns", self.delay_half_width_ns.iter().copied()),
            Column::floats("p99_delay", "ns", self.p99_delay_ns.iter().copied()),
        ]
    }
}

/// Collects the streams of one run, or of several.
pub(super) struct Streams {
    streams: Vec<Stream>,
    delays: Vec<Filling>,
    /// By stream, the delays of earlier runs.
    merged: Vec<Histogram>,
    /// Packets of a group.
    group: u64,
    packets: u64,
    /// Groups of all runs.
    groups: u64,
}

/// The sums of one stream.
#[derive(Clone, Copy, Default)]
struct Stream {
    packets: u64,
    delays: f64,
    /// Over finished groups: the squares of their sums of delays, of their counts, and the products of both.
    squares: f64,
    counts: f64,
    products: f64,
    /// The group of its latest packets, and their sums.
    latest: u32,
    in_latest: u32,
    delays_in_latest: f64,
}

impl Stream {
    fn close_group(&mut self) {
        let (delays, count) = (self.delays_in_latest, f64::from(self.in_latest));
        self.delays += delays;
        self.squares += delays * delays;
        self.counts += count * count;
        self.products += delays * count;
        (self.in_latest, self.delays_in_latest) = (0, 0.0);
    }

    /// Half-width of the mean over `groups` groups.
    fn half_width(&self, groups: u64) -> Option<f64> {
        if groups < 3 || self.packets < LEAST_IN_GROUP * groups {
            return None;
        }
        let (n, packets) = (groups as f64, self.packets as f64);
        let mean = self.delays / packets;
        let residuals = self.squares - 2.0 * mean * self.products + mean * mean * self.counts;
        let deviation = (residuals.max(0.0) * n / (n - 1.0)).sqrt() / packets;
        Some(t_quantile_95(n - 1.0) * deviation)
    }
}

impl Streams {
    /// For one of `runs` runs of this `extent`.
    pub(super) fn new(streams: u32, extent: RunExtent, runs: usize) -> Self {
        let groups = if runs >= ENOUGH { 1 } else { GROUPS };
        let streams = streams as usize;
        let with_delays = if streams <= MAX_WITH_QUANTILES { streams } else { 0 };
        Self {
            streams: vec![Stream::default(); streams],
            delays: vec![Filling::default(); with_delays],
            merged: Vec::new(),
            group: (extent.packets - extent.warmup).div_ceil(groups).max(1),
            packets: 0,
            groups,
        }
    }

    /// A packet after the warm-up.
    pub(super) fn finishes(&mut self, finished: &Finished) {
        let group = (self.packets / self.group) as u32;
        self.packets += 1;
        let delay = finished.delay().0;
        let index = finished.packet.stream.index();
        let stream = &mut self.streams[index];
        if stream.latest != group {
            stream.close_group();
            stream.latest = group;
        }
        stream.packets += 1;
        stream.in_latest += 1;
        stream.delays_in_latest += delay;
        if let Some(delays) = self.delays.get_mut(index) {
            delays.push(delay);
        }
    }

    /// The same, ready to be [merged](Self::merge).
    pub(super) fn closed(mut self) -> Self {
        self.streams.iter_mut().for_each(Stream::close_group);
        self.merged = self.delays.drain(..).map(|delays| delays.trimmed()).collect();
        self
    }

    /// Adds another closed run.
    pub(super) fn merge(&mut self, other: &Self) {
        self.groups += other.groups;
        for (ours, theirs) in self.streams.iter_mut().zip(&other.streams) {
            ours.packets += theirs.packets;
            ours.delays += theirs.delays;
            ours.squares += theirs.squares;
            ours.counts += theirs.counts;
            ours.products += theirs.products;
        }
        self.merged.iter_mut().zip(&other.merged).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    /// The figures of closed runs.
    pub(super) fn figures(&self) -> StreamFigures {
        let all = || self.streams.iter();
        let p99 = |(index, stream): (usize, &Stream)| {
            let delays = self.merged.get(index)?;
            (stream.packets >= LEAST_FOR_P99).then(|| delays.quantile(0.99))
        };
        StreamFigures {
            packets: all().map(|stream| stream.packets).collect(),
            mean_delay_ns: all()
                .map(|stream| (stream.packets > 0).then(|| stream.delays / stream.packets as f64))
                .collect(),
            delay_half_width_ns: all().map(|stream| stream.half_width(self.groups)).collect(),
            p99_delay_ns: all().enumerate().map(p99).collect(),
        }
    }
}
