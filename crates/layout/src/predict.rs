//! What each order of functions would bring: the trace is moved there and simulated.

use crate::order::{CallGraph, Placement, Site, Strategy};
use crate::relocate::{RelocateError, relocate};
use crate::simulate::{Setup, Summary};
use crate::trace::Trace;
use thiserror::Error;
use warmcore_units::{Bytes, Fault};

/// A strategy's placements of a trace, and what the trace does there.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Which strategy.
    pub strategy: Strategy,
    /// The order alone, one function after the other, as linkers make it that get a list.
    pub order: Predicted,
    /// What the strategy asks for, if there are gaps in it.
    pub gaps: Option<Predicted>,
}

/// A placement and what the trace does there.
#[derive(Clone, PartialEq, Debug)]
pub struct Predicted {
    /// Where functions are.
    pub placement: Placement,
    /// What the trace does there.
    pub summary: Summary,
}

/// Why nothing can be predicted.
#[derive(Debug, Error)]
pub enum PredictError {
    /// The caches, the pipeline or the site are impossible.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The trace cannot be moved.
    #[error(transparent)]
    Relocate(#[from] RelocateError),
}

impl Prediction {
    /// Places the functions of `graph`, one of `trace`, at `site` by `strategy`, and simulates the trace there.
    ///
    /// # Errors
    /// If something about the machine is impossible, or code that no function has lies where functions are to be.
    pub fn new(
        trace: &Trace,
        graph: &CallGraph,
        strategy: Strategy,
        setup: &Setup,
        site: &Site,
    ) -> Result<Self, PredictError> {
        let asked_for = strategy.place(trace, graph, site)?;
        let packed = asked_for.packed(site);
        let gaps = if asked_for == packed { None } else { Some(Predicted::new(trace, asked_for, setup)?) };
        Ok(Self { strategy, order: Predicted::new(trace, packed, setup)?, gaps })
    }

    /// How many bytes of gaps the strategy asks for.
    #[must_use]
    pub fn gap_bytes(&self) -> Bytes {
        let extent = |one: &Predicted| one.placement.extent().0;
        Bytes(self.gaps.as_ref().map_or(0, |gaps| extent(gaps).saturating_sub(extent(&self.order))))
    }
}

impl Predicted {
    fn new(trace: &Trace, placement: Placement, setup: &Setup) -> Result<Self, PredictError> {
        let summary = setup.run(&relocate(trace, &placement)?)?;
        Ok(Self { placement, summary })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Walk, function};
    use warmcore_cachesim::machines;
    use warmcore_units::Cycles;

    #[test]
    fn gaps_are_predicted_beside_the_order_alone() {
        // Four path functions of 3 KiB around a library function: they do not fit a cache of 8 KiB together.
        let functions = ["p", "q", "r", "l"]
            .map(|name| function(name, 0x10000 + 4096 * u64::from(name.as_bytes()[0]), 3072));
        let mut walk = Walk::new(&functions);
        walk.whole("l").whole("p").whole("l").whole("q").whole("l").whole("r").whole("l");
        let setup = Setup::new(machines::dec_3000_600(Cycles(50)));
        let site = Site::new(&setup.caches, 0x100_0000, Bytes(16)).unwrap();
        let graph = CallGraph::new(&walk.trace);
        let of = |strategy| Prediction::new(&walk.trace, &graph, strategy, &setup, &site).unwrap();
        let linear = of(Strategy::Linear);
        assert!(linear.gaps.is_none() && linear.gap_bytes() == Bytes(0));
        let bipartite = of(Strategy::Bipartite);
        let gaps = bipartite.gaps.as_ref().expect("the library has its own part of the cache");
        assert_eq!(gaps.placement.extent().0, bipartite.order.placement.extent().0 + bipartite.gap_bytes().0);
        assert!(gaps.summary.columns[0].replacements < bipartite.order.summary.columns[0].replacements);
        assert_eq!(gaps.placement.symbols(&walk.trace), bipartite.order.placement.symbols(&walk.trace));
    }
}
