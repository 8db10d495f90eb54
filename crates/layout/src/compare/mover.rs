//! A trace, moved to where its functions would be.

use super::CompareError;
use crate::order::{CallGraph, Placement, Site, Strategy};
use crate::relocate::relocate;
use crate::simulate::{Setup, Summary};
use crate::trace::Trace;
use warmcore_units::{Bytes, Fault};

/// A layout and what the trace costs there.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// How functions are placed.
    pub strategy: Strategy,
    /// Where they are.
    pub placement: Placement,
    /// Bytes that it is longer than its order alone; `None` if it is the order alone, one function after the other, as linkers
    /// make it that get a list.
    pub gaps: Option<Bytes>,
    /// What the trace costs.
    pub summary: Summary,
}

impl Layout {
    /// Whether it is meant to be bad.
    #[must_use]
    pub const fn is_pessimal(&self) -> bool {
        matches!(self.strategy, Strategy::Pessimal { .. })
    }
}

/// Places functions of a trace, moves the trace there and simulates it.
#[derive(Clone, Copy, Debug)]
pub struct Mover<'a> {
    trace: &'a Trace,
    graph: &'a CallGraph,
    setup: &'a Setup,
    site: Site,
}

impl<'a> Mover<'a> {
    /// For the functions of `graph`, one of `trace`, which are placed from `base` on at multiples of `alignment`.
    ///
    /// # Errors
    /// If there can be no such site.
    pub fn new(
        trace: &'a Trace,
        graph: &'a CallGraph,
        setup: &'a Setup,
        base: u64,
        alignment: Bytes,
    ) -> Result<Self, Fault> {
        Ok(Self { trace, graph, setup, site: Site::new(&setup.caches, base, alignment)? })
    }

    /// The layout that `strategy` asks for.
    ///
    /// # Errors
    /// If something about the machine is impossible, or code that no function has lies where functions are to be.
    pub fn layout(&self, strategy: Strategy) -> Result<Layout, CompareError> {
        let placement = strategy.place(self.trace, self.graph, &self.site)?;
        let packed = placement.packed(&self.site);
        let longer = Bytes(placement.extent().0.saturating_sub(packed.extent().0));
        let gaps = (placement != packed).then_some(longer);
        self.simulated(strategy, placement, gaps)
    }

    /// The order of `layout` alone.
    ///
    /// # Errors
    /// As [`layout`](Self::layout).
    pub fn packed(&self, layout: &Layout) -> Result<Layout, CompareError> {
        self.simulated(layout.strategy, layout.placement.packed(&self.site), None)
    }

    fn simulated(
        &self,
        strategy: Strategy,
        placement: Placement,
        gaps: Option<Bytes>,
    ) -> Result<Layout, CompareError> {
        let summary = self.setup.run(&relocate(self.trace, &placement)?)?;
        Ok(Layout { strategy, placement, gaps, summary })
    }
}
