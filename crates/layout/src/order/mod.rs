//! Orders of functions, and addresses for them: what a linker can be told, and what a clone can be moved to.
//!
//! | strategy | source |
//! |---|---|
//! | [`Linear`](Strategy::Linear), [`Bipartite`](Strategy::Bipartite), [`Micro`](Strategy::Micro) | Mosberger et al. 1996, §3.2 |
//! | [`Pessimal`](Strategy::Pessimal) | the same, §4.2, "BAD" |
//! | [`Chains`](Strategy::Chains) | Ottoni & Maher, "Optimizing function placement for large-scale data-center applications", CGO 2017 |
//! | [`PettisHansen`](Strategy::PettisHansen) | Pettis & Hansen, "Profile guided code positioning", PLDI 1990, §3 |
//! | [`Random`](Strategy::Random) | none: chance, to compare with |
//!
//! A [`CallGraph`] says what a trace called. A strategy puts every function that was executed at an address of a [`Site`],
//! none twice, none over another: that is a [`Placement`]. Functions that were not executed have no place in it.
//! [`relocate`](crate::relocate) tells what a trace would be there.

mod bipartite;
mod chains;
mod graph;
mod micro;
mod names;
mod pessimal;
mod pettis_hansen;
mod placement;
mod random;
mod site;

#[cfg(test)]
mod tests;

pub use graph::{CallGraph, Node, NodeId};
pub use placement::{Placed, Placement, PlacementError};
pub use site::Site;

use crate::trace::Trace;
use placement::Draft;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// How functions are placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// In the order of first invocation, without gaps.
    Linear,
    /// Functions invoked once on a path apart from those invoked more often, each in the order of first invocation, so
    /// that both share no set of the instruction cache, as far as it allows. It leaves gaps where the path has more than its part
    /// of the cache.
    Bipartite,
    /// Call-chain clustering: each function behind its most frequent caller, hottest first, in clusters of at most a
    /// page; the densest cluster first.
    Chains,
    /// Closest is best: the ends of the heaviest edges of the call graph near each other.
    PettisHansen,
    /// Micro-positioning: each function, in the order of first invocation, where it adds the fewest replacement misses. It leaves
    /// gaps.
    Micro,
    /// Every function at the same place of the instruction cache, and those invoked most also at the same place of the
    /// cache further away.
    Pessimal {
        /// How many share a place there.
        hottest: u32,
    },
    /// In random order, without gaps.
    Random {
        /// What the order depends on.
        seed: u64,
    },
}

impl Strategy {
    /// All but random ones, with eight hottest functions.
    pub const ALL: [Self; 6] = [
        Self::Linear,
        Self::Bipartite,
        Self::Chains,
        Self::PettisHansen,
        Self::Micro,
        Self::Pessimal { hottest: 8 },
    ];

    /// All whose order a linker can be told to make: [`ALL`](Self::ALL) but the pessimal one, which gaps alone make.
    pub const LINKABLE: [Self; 5] =
        [Self::Linear, Self::Bipartite, Self::Chains, Self::PettisHansen, Self::Micro];

    /// Places the functions of `graph`, which is that of `trace`.
    ///
    /// # Errors
    /// If there can be no such site, or the functions are too large for it.
    pub fn place(self, trace: &Trace, graph: &CallGraph, site: &Site) -> Result<Placement, Fault> {
        site.check()?;
        graph.check()?;
        let draft = match self {
            Self::Linear => packed(graph, site, graph.ids()),
            Self::Bipartite => bipartite::place(graph, site),
            Self::Chains => packed(graph, site, chains::order(graph, chains::PAGE)),
            Self::PettisHansen => packed(graph, site, pettis_hansen::order(graph)),
            Self::Micro => micro::place(trace, graph, site),
            Self::Random { seed } => packed(graph, site, random::order(graph, seed)),
            Self::Pessimal { hottest } => pessimal::place(graph, site, hottest as usize),
        };
        Ok(draft.finish())
    }
}

/// One after the other.
fn packed(graph: &CallGraph, site: &Site, order: impl IntoIterator<Item = NodeId>) -> Draft {
    let mut draft = Draft::new(site);
    order.into_iter().for_each(|id| draft.append(graph.node(id)));
    draft
}
