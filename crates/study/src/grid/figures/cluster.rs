//! The figures of one run of a cluster.

use serde::{Deserialize, Serialize};
use warmcore_record::Column;
use warmcore_sim::cluster::scenario::Simulated;

/// The figures of one run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ClusterRun {
    /// What is compared: cycles of the program, of a microbenchmark's operation, or for each byte that is read.
    pub cost: f64,
    /// Cycles of 400 MHz until everything has ended.
    pub cycles: u64,
    /// References of all processors.
    pub references: u64,
    /// Misses that other nodes served.
    pub remote_misses: u64,
    /// What these took, in cycles.
    pub remote_miss_cycles: u64,
    /// Messages over the network.
    pub messages: u64,
    /// Handlers that were executed.
    pub handlers: u64,
    /// How long events waited for their handlers, in cycles.
    pub waited_cycles: u64,
}

impl ClusterRun {
    /// Those of what was `simulated`.
    #[must_use]
    pub fn new(simulated: &Simulated) -> Self {
        let outcome = &simulated.outcome;
        let devices = || outcome.nodes.iter().map(|node| &node.device);
        let remote = || outcome.processors.iter().map(|processor| processor.remote_misses);
        Self {
            cost: simulated.cost(),
            cycles: outcome.cycles,
            references: outcome.references(),
            remote_misses: remote().map(|count| count.times).sum(),
            remote_miss_cycles: remote().map(|count| count.cycles).sum(),
            messages: outcome.network.messages.values().sum(),
            handlers: devices().flat_map(|device| device.handlers.values()).map(|count| count.times).sum(),
            waited_cycles: devices().map(|device| device.waited).sum(),
        }
    }

    /// Names are those of the figures of `simulate` in Python, where it has them.
    pub(super) fn columns(&self) -> Vec<Column> {
        let counts = [
            ("cycles", "cycles", self.cycles),
            ("references", "", self.references),
            ("remote_misses", "", self.remote_misses),
            ("remote_miss_time", "cycles", self.remote_miss_cycles),
            ("messages", "", self.messages),
            ("handlers", "", self.handlers),
            ("handler_wait", "cycles", self.waited_cycles),
        ];
        let counts = counts.map(|(name, unit, count)| Column::counts(name, unit, [count]));
        [Column::floats("cost", "cycles", [Some(self.cost)])].into_iter().chain(counts).collect()
    }
}
