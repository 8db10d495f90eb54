//! One trace under several layouts.

use super::luck::{Cost, Luck};
use crate::order::{CallGraph, Placement, Site, Strategy};
use crate::relocate::{RelocateError, relocate};
use crate::simulate::{Setup, Summary};
use crate::trace::Trace;
use thiserror::Error;
use warmcore_units::{Bytes, Fault};

/// What is to be simulated.
#[derive(Clone, Debug)]
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
    /// How many random orders to try.
    pub random_orders: u32,
    /// What the first of them depends on; the others take the numbers behind it.
    pub seed: u64,
}

/// A trace as it lies, and under other layouts.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// What was traced, in a few words.
    pub path: String,
    /// What the trace went through.
    pub setup: Setup,
    /// As it lies.
    pub present: Summary,
    /// Other layouts.
    pub others: Vec<Layout>,
    /// What random orders cost; `None` if none were tried.
    pub luck: Option<Luck>,
}

/// A layout and what the trace costs there.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// How functions are placed.
    pub strategy: Strategy,
    /// Bytes from the first function's beginning to the last one's end.
    pub extent: Bytes,
    /// Bytes of these that no function has.
    pub gaps: Bytes,
    /// What the trace costs.
    pub summary: Summary,
}

/// Why a trace cannot be studied.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StudyError {
    /// There can be no such machine or site.
    #[error(transparent)]
    Setup(#[from] Fault),
    /// A layout cannot be.
    #[error(transparent)]
    Layout(#[from] RelocateError),
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
            random_orders: 0,
            seed: 1,
        }
    }

    /// Simulates `trace` under all layouts of the functions of `graph`, which is one of it. Others stay where they are.
    ///
    /// # Errors
    /// If there can be no such machine, site or layout.
    pub fn run(&self, trace: &Trace, graph: &CallGraph) -> Result<Study, StudyError> {
        let site = Site::new(&self.setup.caches, self.base, self.alignment)?;
        let present = self.setup.run(trace)?;
        let mut others = Vec::new();
        for &strategy in &self.strategies {
            let placement = strategy.place(trace, graph, &site)?;
            others.push(self.layout(trace, strategy, &placement)?);
        }
        let mut random = Vec::new();
        for seed in (0..u64::from(self.random_orders)).map(|number| self.seed.wrapping_add(number)) {
            let placement = Strategy::Random { seed }.place(trace, graph, &site)?;
            random.push(Cost::from(&self.setup.run(&relocate(trace, &placement)?)?));
        }
        let luck = Luck::new(self.seed, &random, &present);
        Ok(Study { path: self.path.clone(), setup: self.setup.clone(), present, others, luck })
    }

    fn layout(
        &self,
        trace: &Trace,
        strategy: Strategy,
        placement: &Placement,
    ) -> Result<Layout, StudyError> {
        let summary = self.setup.run(&relocate(trace, placement)?)?;
        Ok(Layout { strategy, extent: placement.extent(), gaps: placement.gaps(), summary })
    }
}

impl Study {
    /// The layout with the fewest cycles, if it has fewer than the present one.
    #[must_use]
    pub fn best(&self) -> Option<&Layout> {
        let best = self.others.iter().min_by_key(|layout| layout.summary.cycles())?;
        (best.summary.cycles() < self.present.cycles()).then_some(best)
    }
}
