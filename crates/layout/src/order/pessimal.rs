//! The layout of Mosberger et al. 1996, §4.2, "BAD": "cloning has been used to artificially worsen the i-cache behavior".
//! How, the source does not say. Here every function begins at the same set of the instruction cache, so that each
//! call takes away what its caller needs next; and those that are invoked most begin at the same set of the cache
//! further away too, where the source's version has its only replacement misses (Table 6).

use super::graph::{CallGraph, NodeId};
use super::placement::Draft;
use super::site::Site;
use std::cmp::Reverse;

pub(super) fn place(graph: &CallGraph, site: &Site, hottest: usize) -> Draft {
    let mut ids: Vec<NodeId> = graph.ids().collect();
    ids.sort_by_key(|&id| (Reverse(graph.node(id).invocations), id));
    let mut others = ids.split_off(hottest.min(ids.len()));
    others.sort();
    let mut draft = Draft::new(site);
    let base = site.base;
    let mut put = |ids: &[NodeId], stride: u64| {
        for &id in ids {
            let at = base + (draft.next() - base).next_multiple_of(stride);
            draft.put(graph.node(id), at);
        }
    };
    put(&ids, site.further_way());
    put(&others, site.way());
    draft
}
