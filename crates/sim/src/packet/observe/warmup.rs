//! How the delay settles at the start of a run, and where the start was cut.

use crate::packet::steady::RunExtent;
use crate::packet::system::Finished;
use serde::{Deserialize, Serialize};
use warmcore_record::Column;

/// Batches of a run, about.
const BATCHES: u64 = 256;
/// Runs that are shown, at most.
pub(super) const SHOWN: usize = 10;

/// The mean delay of successive batches of packets, in the order in which they were finished, of the first
/// replications. Columns have equal lengths: a row for each batch.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WarmupSeries {
    /// The replication, from 0.
    pub replication: Vec<u64>,
    /// Packets of the run that were finished by the end of the batch.
    pub packets: Vec<u64>,
    /// When the batch ended, in nanoseconds since the start of the run.
    pub end_ns: Vec<f64>,
    /// Mean delay of the packets in the batch, in nanoseconds.
    pub mean_delay_ns: Vec<f64>,
    /// Whether packets of the batch were left out as warm-up.
    pub cut: Vec<bool>,
    /// Packets left out as warm-up, by replication.
    pub warmup_packets: Vec<u64>,
}

impl WarmupSeries {
    /// Appends the batches of another run.
    pub(super) fn append(&mut self, other: Self) {
        self.replication.extend(other.replication);
        self.packets.extend(other.packets);
        self.end_ns.extend(other.end_ns);
        self.mean_delay_ns.extend(other.mean_delay_ns);
        self.cut.extend(other.cut);
        self.warmup_packets.extend(other.warmup_packets);
    }

    /// The columns of a table.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let counts = |name: &str, of: &[u64]| {
            Column::integers(name, of.iter().map(|&count| i64::try_from(count).ok()))
        };
        let floats = |name: &str, of: &[f64]| Column::floats(name, "ns", of.iter().copied().map(Some));
        vec![
            counts("replication", &self.replication),
            counts("packets", &self.packets),
            floats("end", &self.end_ns),
            floats("mean_delay", &self.mean_delay_ns),
            Column::flags("cut", self.cut.iter().copied().map(Some)),
        ]
    }
}

/// Collects the batches of one run.
pub(super) struct Batches {
    extent: RunExtent,
    size: u64,
    finished: u64,
    sum: f64,
    series: WarmupSeries,
}

impl Batches {
    pub(super) fn new(replication: u64, extent: RunExtent) -> Self {
        let series = WarmupSeries { warmup_packets: vec![extent.warmup], ..WarmupSeries::default() };
        // The replication of each batch is filled in at its end.
        let series = WarmupSeries { replication: vec![replication], ..series };
        Self { extent, size: extent.packets.div_ceil(BATCHES).max(1), finished: 0, sum: 0.0, series }
    }

    pub(super) fn finishes(&mut self, finished: &Finished) {
        self.finished += 1;
        self.sum += finished.delay().0;
        if self.finished.is_multiple_of(self.size) {
            self.series.packets.push(self.finished);
            self.series.end_ns.push(finished.ended.0);
            self.series.mean_delay_ns.push(self.sum / self.size as f64);
            self.series.cut.push(self.finished - self.size < self.extent.warmup);
            self.sum = 0.0;
        }
    }

    /// The complete batches.
    pub(super) fn series(self) -> WarmupSeries {
        let replication = self.series.replication.first().copied().unwrap_or(0);
        let rows = self.series.packets.len();
        WarmupSeries { replication: vec![replication; rows], ..self.series }
    }
}
