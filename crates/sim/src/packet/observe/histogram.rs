//! The distribution of times after the warm-up, as counts in buckets.

use serde::{Deserialize, Serialize};
use warmcore_record::Column;
use warmcore_stats::histogram::Histogram;

/// Counts of times in logarithmic buckets, each at most 0.8% wide. Columns have equal lengths; a row for each bucket
/// that is not empty, by ascending time. Replications are counted together.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Where a bucket begins, in nanoseconds.
    pub from_ns: Vec<f64>,
    /// Where it ends.
    pub to_ns: Vec<f64>,
    /// How many times fall into it.
    pub packets: Vec<u64>,
}

/// The counts behind a [`Distribution`].
pub(super) type Counts = Histogram;

impl From<&Counts> for Distribution {
    fn from(counts: &Counts) -> Self {
        let mut all = Self::default();
        for (from, to, packets) in counts.buckets() {
            all.from_ns.push(from);
            all.to_ns.push(to);
            all.packets.push(packets);
        }
        all
    }
}

impl Distribution {
    /// The columns of a table.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let floats = |name: &str, of: &[f64]| Column::floats(name, "ns", of.iter().copied().map(Some));
        vec![
            floats("from", &self.from_ns),
            floats("to", &self.to_ns),
            Column::integers("packets", self.packets.iter().map(|&count| i64::try_from(count).ok())),
        ]
    }

    /// How many times there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.packets.iter().sum()
    }
}
