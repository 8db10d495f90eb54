//! One path under several layouts: as it lies, under each strategy, and under random orders.
//!
//! ```text
//!  Plan::run(trace, graph) ──► Comparison ──┬──► rows ──► page, terminal, JSON
//!    strategy ► Placement ► relocate        └──► a Layout ──► a linker's list
//!             ► Setup::run ► Summary
//! ```
//!
//! Functions that the graph does not have stay where they are.

mod mover;
mod namesakes;
mod random_orders;
mod rows;

#[cfg(test)]
mod tests;

pub use mover::{Layout, Mover};
pub use random_orders::{CentralRange, RandomOrders, central_range};
pub use rows::LayoutRow;

use crate::order::{CallGraph, Strategy};
use crate::relocate::RelocateError;
use crate::simulate::{Setup, Summary};
use crate::trace::Trace;
use random_orders::Cost;
use thiserror::Error;
use warmcore_units::{Bytes, Fault};

/// What is to be compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// What is traced, in a few words: `TCP/IP round trip`.
    pub path: String,
    /// What the trace goes through.
    pub setup: Setup,
    /// Where strategies begin to place functions.
    pub base: u64,
    /// Functions begin at multiples of it.
    pub alignment: Bytes,
    /// Strategies to try.
    pub strategies: Vec<Strategy>,
    /// Whether the order alone of those that leave gaps is tried too, before them.
    pub packs: bool,
    /// How many random orders to try.
    pub random_orders: u32,
    /// What the first of them depends on; the others take the numbers behind it.
    pub seed: u64,
}

/// A trace as it lies, and under other layouts.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// What was traced, in a few words.
    pub path: String,
    /// What the trace went through.
    pub setup: Setup,
    /// As it lies.
    pub present: Summary,
    /// Other layouts.
    pub layouts: Vec<Layout>,
    /// What random orders cost; `None` if none were tried.
    pub random_orders: Option<RandomOrders>,
    /// The linker's names of functions of the path that other functions of the program have too, executed or not: an order for a
    /// linker moves all of them.
    pub namesakes: Vec<String>,
}

/// Why layouts cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CompareError {
    /// There can be no such machine or site.
    #[error(transparent)]
    Setup(#[from] Fault),
    /// The trace cannot be moved.
    #[error(transparent)]
    Relocate(#[from] RelocateError),
}

impl Plan {
    /// All strategies from 64 MiB on and no random orders.
    #[must_use]
    pub fn new(path: impl Into<String>, setup: Setup) -> Self {
        Self {
            path: path.into(),
            setup,
            base: 0x0400_0000,
            alignment: Bytes(4),
            strategies: Strategy::ALL.to_vec(),
            packs: false,
            random_orders: 0,
            seed: 1,
        }
    }

    /// Simulates `trace` under all layouts of the functions of `graph`, which is one of it. `progress` is told what
    /// comes next, and which part of all is done.
    ///
    /// # Errors
    /// If there can be no such machine, site or layout.
    pub fn run(
        &self,
        trace: &Trace,
        graph: &CallGraph,
        progress: &mut dyn FnMut(&str, f64),
    ) -> Result<Comparison, CompareError> {
        let mover = Mover::new(trace, graph, &self.setup, self.base, self.alignment)?;
        let present = self.setup.run(trace)?;
        let all = self.strategies.len() + self.random_orders as usize;
        let mut tell = |next: Strategy, done: usize| progress(next.name(), done as f64 / all.max(1) as f64);
        let mut layouts = Vec::new();
        for (done, &strategy) in self.strategies.iter().enumerate() {
            tell(strategy, done);
            let layout = mover.layout(strategy)?;
            if self.packs && layout.gaps.is_some() {
                layouts.push(mover.packed(&layout)?);
            }
            layouts.push(layout);
        }
        let mut costs = Vec::new();
        for number in 0..self.random_orders {
            let random = Strategy::Random { seed: self.seed.wrapping_add(number.into()) };
            tell(random, self.strategies.len() + number as usize);
            costs.push(Cost::from(&mover.layout(random)?.summary));
        }
        let random_orders = RandomOrders::new(self.seed, &costs, &present);
        Ok(Comparison {
            path: self.path.clone(),
            setup: self.setup.clone(),
            present,
            layouts,
            random_orders,
            namesakes: namesakes::namesakes(trace, graph, self.base),
        })
    }
}

impl Comparison {
    /// The layout with the fewest cycles, if it has fewer than the present one. The pessimal one is there for scale: it is no
    /// answer, even where it is better than the present one.
    #[must_use]
    pub fn best(&self) -> Option<&Layout> {
        let layouts = self.layouts.iter().filter(|layout| !layout.is_pessimal());
        let best = layouts.min_by_key(|layout| layout.summary.cycles())?;
        (best.summary.cycles() < self.present.cycles()).then_some(best)
    }
}
