//! Call-chain clustering, "C3": Ottoni & Maher, CGO 2017, §4; the program was hfsort.
//!
//! Functions are taken hottest first. Each one's cluster is appended to that of its most frequent caller, unless they are one
//! already or would be larger than a page. Since only its own turn appends a cluster, a function is always the first
//! of it: callers come before callees. At last clusters are sorted by density, instructions executed by size.

use super::graph::{CallGraph, NodeId};
use std::cmp::Reverse;
use warmcore_units::Bytes;

/// The most bytes in a cluster, as in the source.
pub(super) const PAGE: Bytes = Bytes(4096);

struct Cluster {
    members: Vec<NodeId>,
    size: u64,
    steps: u64,
}

pub(super) fn order(graph: &CallGraph, page: Bytes) -> Vec<NodeId> {
    let callers = hottest_callers(graph);
    let mut clusters: Vec<Cluster> = graph
        .ids()
        .map(|id| Cluster { members: vec![id], size: graph.node(id).size.0, steps: graph.node(id).steps })
        .collect();
    let mut cluster_of: Vec<usize> = (0..clusters.len()).collect();
    let mut hottest: Vec<NodeId> = graph.ids().collect();
    hottest.sort_by_key(|&id| (Reverse(graph.node(id).steps), id));
    for id in hottest {
        let Some(caller) = callers[id.index()] else { continue };
        let (to, from) = (cluster_of[caller.index()], cluster_of[id.index()]);
        if to == from || clusters[to].size + clusters[from].size > page.0 {
            continue;
        }
        let members = std::mem::take(&mut clusters[from].members);
        members.iter().for_each(|member| cluster_of[member.index()] = to);
        clusters[to].members.extend(members);
        clusters[to].size += clusters[from].size;
        clusters[to].steps += clusters[from].steps;
    }
    clusters.retain(|cluster| !cluster.members.is_empty());
    clusters.sort_by(|one, other| denser(one, other).then(one.members[0].cmp(&other.members[0])));
    clusters.into_iter().flat_map(|cluster| cluster.members).collect()
}

/// The denser one first, without rounding.
fn denser(one: &Cluster, other: &Cluster) -> std::cmp::Ordering {
    let crosswise = |first: &Cluster, second: &Cluster| u128::from(first.steps) * u128::from(second.size);
    crosswise(other, one).cmp(&crosswise(one, other))
}

/// Of each function, the other one that calls it most; of several the one that was invoked first.
fn hottest_callers(graph: &CallGraph) -> Vec<Option<NodeId>> {
    let mut best: Vec<Option<(u64, NodeId)>> = vec![None; graph.nodes().len()];
    for (from, to, times) in graph.calls().filter(|&(from, to, _)| from != to) {
        let known = &mut best[to.index()];
        if known.is_none_or(|(most, _)| times > most) {
            *known = Some((times, from));
        }
    }
    best.into_iter().map(|best| best.map(|(_, from)| from)).collect()
}
