//! The bipartite layout of Mosberger et al. 1996, §3.2: "it makes sense to partition the i-cache into a path partition and
//! a library partition. Within a partition, functions should be placed in the order in which they are called."
//!
//! ```text
//!  cache     |---- path ----|-library-|
//!  memory    |f1 f2 f3      |l1 l2    |f4 f5         |  (gap)  |f6 ...
//! ```
//!
//! Where both fit the cache together there is no gap. What part of the cache the library has follows from its size.

use super::graph::{CallGraph, NodeId};
use super::placement::Draft;
use super::site::Site;

pub(super) fn place(graph: &CallGraph, site: &Site) -> Draft {
    let (library, path): (Vec<NodeId>, Vec<NodeId>) = graph.ids().partition(|&id| graph.is_library(id));
    let sizes = [&path, &library].map(|ids| length(graph, site, ids));
    let part = sizes[1].next_multiple_of(site.unit());
    let mut draft = Draft::new(site);
    if sizes[0] + sizes[1] <= site.way() || part >= site.way() || part == 0 {
        path.into_iter().chain(library).for_each(|id| draft.append(graph.node(id)));
        return draft;
    }
    let window =
        Window { base: site.base.next_multiple_of(site.unit()), way: site.way(), path: site.way() - part };
    for id in path {
        let node = graph.node(id);
        draft.put(node, window.at_or_after(draft.next().max(window.base), node.size.0));
    }
    let mut at = window.library(&draft, sizes[1]);
    for id in library {
        let node = graph.node(id);
        draft.put(node, at);
        at = (at + node.size.0).next_multiple_of(site.alignment.0);
    }
    draft
}

/// What `ids` take one after the other.
fn length(graph: &CallGraph, site: &Site, ids: &[NodeId]) -> u64 {
    ids.iter().map(|&id| graph.node(id).size.0.next_multiple_of(site.alignment.0)).sum()
}

/// Memory as the cache divides it: from `base` on, of each `way` bytes the first `path` are the path's.
struct Window {
    base: u64,
    way: u64,
    path: u64,
}

impl Window {
    /// The first address from `next` on at which so many bytes of the path meet the least of the library's part.
    fn at_or_after(&self, next: u64, size: u64) -> u64 {
        let offset = (next - self.base) % self.way;
        if offset == 0 || offset + size <= self.path { next } else { next + self.way - offset }
    }

    /// The first library's part where so many bytes are free. Only functions of the path that are larger than its part
    /// are in the way.
    fn library(&self, draft: &Draft, size: u64) -> u64 {
        let mut at = self.base + self.path;
        while !draft.is_free(at, at + size) {
            at += self.way;
        }
        at
    }
}
