//! A trace through caches and a pipeline: Tables 6, 7 and 9 of Mosberger et al. 1996, and which functions are to blame.
//!
//! ```text
//!  Trace ──► blocks ──► Setup::run ──► Summary
//!                       caches          columns of Table 6, stalls, iCPI and mCPI, unused words,
//!                       pipeline        all of them by function and by block; who displaces whom
//! ```
//!
//! Each step is a fetch of its instruction's bytes, then its loads and stores. What a reference takes beyond a hit of the
//! nearest cache is a stall; the [`pipeline`] has the hit. At the end of a round the write buffer is drained, as it
//! would be before the path runs again.
//!
//! Sums always agree: of instructions, misses, stalls, cycles and words by block with those by function, and these with
//! the totals; of misses and words by line with those of the nearest cache for instructions. Only what a write-through cache passes on ([`Column::passed_on`]) is no one's.

pub(crate) mod code;
mod columns;
mod displaced;
mod path;
pub mod pipeline;
mod report;
mod round;
mod summary;
mod watch;

#[cfg(test)]
mod tests;

pub use columns::Side;
pub use path::PathSize;
pub use pipeline::{Pipeline, PipelineFigures};
pub use summary::{
    BlockFigures, Column, Displaced, Figures, FunctionFigures, FunctionPair, LineFigures, LinePair,
    MAX_LINE_PAIRS, Misses, Stalls, Summary, Words,
};

use crate::trace::Trace;
use columns::Columns;
use round::Simulation;
use serde::{Deserialize, Serialize};
use warmcore_cachesim::{CacheId, Description};
use warmcore_topology::Geometry;
use warmcore_units::{Bytes, Fault};

/// What the caches hold when counting begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Nothing, as in the source's simulations.
    #[default]
    Cold,
    /// What the trace itself left: it is repeated until misses and cycles are those of the round before, at most
    /// [`MAX_ROUNDS`] times.
    Steady,
    /// The same, but the caches nearest to the core are empty: between two executions something else ran, as an operating
    /// system does between two requests. Replacements there are counted from then on.
    NearestCold,
}

/// How often a trace is repeated at most. Caches that replace at random never settle.
pub const MAX_ROUNDS: u32 = 32;

/// What a trace goes through.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The caches. The trace runs on its first cpu.
    pub caches: Description,
    /// The processor before them.
    pub pipeline: Pipeline,
    /// What the caches hold when counting begins.
    #[serde(default)]
    pub start: Start,
    /// The unit in which words of fetched lines are used or not: a power of two, 4 bytes where all instructions have as
    /// many. No more than 64 of a line are told apart.
    pub word: Bytes,
}

impl Setup {
    /// Cold caches, the pipeline of the Alpha 21064, words of 4 bytes.
    #[must_use]
    pub const fn new(caches: Description) -> Self {
        Self { caches, pipeline: Pipeline::alpha_21064(), start: Start::Cold, word: Bytes(4) }
    }

    /// The same with other caches to begin with.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// Simulates `trace`.
    ///
    /// # Errors
    /// If there can be no such caches, pipeline or word, or the first cpu has no cache for instructions or none for data.
    pub fn run(&self, trace: &Trace) -> Result<Summary, Fault> {
        if !self.word.0.is_power_of_two() {
            return Err(Fault::new("word", self.word, "a power of two"));
        }
        self.pipeline.check()?;
        let mut simulation = Simulation::new(self, trace)?;
        let mut round = simulation.round();
        let (mut rounds, mut settled) = (1, self.start == Start::Cold);
        while !settled && rounds < MAX_ROUNDS {
            let next = simulation.round();
            settled = next.is_like(&round);
            round = next;
            rounds += 1;
        }
        Ok(simulation.summary(&round, rounds, settled))
    }
}

/// The nearest cache for instructions of the first cpu of `description`, and the next one.
pub(crate) fn instruction_caches(description: &Description) -> Result<(Geometry, Option<Geometry>), Fault> {
    description.check()?;
    let columns = Columns::new(description)?;
    let geometry = |cache: CacheId| description.caches[cache.index()].geometry;
    Ok((geometry(columns.headings[0].cache), columns.beyond(0).map(geometry)))
}
