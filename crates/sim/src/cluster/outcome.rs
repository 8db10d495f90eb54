//! What a run came to.

use super::tally::{Breakdown, Episode, NetworkTally, NodeTally};

/// What a run came to. Its program's results are right, or there would be no outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// When the last processor left the program, in cycles of 400 MHz.
    pub cycles: u64,
    /// A number made of every bit of the program's results.
    pub digest: u64,
    /// Where the time of each compute processor went.
    pub processors: Vec<Breakdown>,
    /// What happened on each node.
    pub nodes: Vec<NodeTally>,
    /// When all processors had come to a barrier, in order of time.
    pub episodes: Vec<Episode>,
    /// What was sent.
    pub network: NetworkTally,
}

impl Outcome {
    /// Loads and stores of shared data by all processors.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.processors.iter().map(|processor| processor.references).sum()
    }
}
