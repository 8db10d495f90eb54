//! "Closest is best": Pettis & Hansen, PLDI 1990, §3.
//!
//! Calls have no direction. The two chains with the most calls between them become one, until none is left; of the four
//! ways to join them that one is taken in which the two functions with the most calls between them are closest. Chains
//! without calls between them follow each other by invocations.

use super::graph::{CallGraph, NodeId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn order(graph: &CallGraph) -> Vec<NodeId> {
    let calls = undirected(graph);
    let mut chains: Vec<Vec<NodeId>> = graph.ids().map(|id| vec![id]).collect();
    let mut chain_of: Vec<usize> = (0..chains.len()).collect();
    let mut weights: BTreeMap<(usize, usize), u64> =
        calls.iter().map(|(&(one, other), &times)| ((one.index(), other.index()), times)).collect();
    while let Some((&(to, from), _)) = weights.iter().min_by_key(|&(&pair, &times)| (Reverse(times), pair)) {
        let (first, second) = (std::mem::take(&mut chains[to]), std::mem::take(&mut chains[from]));
        second.iter().for_each(|member| chain_of[member.index()] = to);
        chains[to] = joined(graph, &calls, first, second);
        weights = merged(weights, to, from);
    }
    chains.retain(|chain| !chain.is_empty());
    let invocations =
        |chain: &Vec<NodeId>| -> u64 { chain.iter().map(|&id| graph.node(id).invocations).sum() };
    chains.sort_by_cached_key(|chain| (Reverse(invocations(chain)), chain.iter().min().copied()));
    chains.into_iter().flatten().collect()
}

/// Calls between two different functions, in both directions together.
fn undirected(graph: &CallGraph) -> BTreeMap<(NodeId, NodeId), u64> {
    let mut calls = BTreeMap::new();
    for (from, to, times) in graph.calls().filter(|&(from, to, _)| from != to) {
        *calls.entry((from.min(to), from.max(to))).or_default() += times;
    }
    calls
}

/// The same weights once the chain `from` is part of `to`.
fn merged(weights: BTreeMap<(usize, usize), u64>, to: usize, from: usize) -> BTreeMap<(usize, usize), u64> {
    let mut merged = BTreeMap::new();
    for ((one, other), times) in weights {
        let [one, other] = [one, other].map(|chain| if chain == from { to } else { chain });
        if one != other {
            *merged.entry((one.min(other), one.max(other))).or_default() += times;
        }
    }
    merged
}

/// Both chains as one.
fn joined(
    graph: &CallGraph,
    calls: &BTreeMap<(NodeId, NodeId), u64>,
    first: Vec<NodeId>,
    second: Vec<NodeId>,
) -> Vec<NodeId> {
    let between = first.iter().flat_map(|&one| second.iter().map(move |&other| (one, other)));
    let weight = |&(one, other): &(NodeId, NodeId)| calls.get(&(one.min(other), one.max(other))).copied();
    let heaviest = between.min_by_key(|pair| (Reverse(weight(pair).unwrap_or(0)), *pair));
    let Some((one, other)) = heaviest else { return first };
    // Bytes between the function and the seam, if the chain ends there (or begins).
    let turned_first = room(graph, first.iter().rev(), one) > room(graph, first.iter(), one);
    let turned_second = room(graph, second.iter(), other) > room(graph, second.iter().rev(), other);
    let mut chain = turned(first, turned_first);
    chain.extend(turned(second, turned_second));
    chain
}

/// Bytes of the functions that `chain` has before `id`.
fn room<'a>(graph: &CallGraph, chain: impl Iterator<Item = &'a NodeId>, id: NodeId) -> u64 {
    chain.take_while(|&&other| other != id).map(|&other| graph.node(other).size.0).sum()
}

fn turned(mut chain: Vec<NodeId>, turn: bool) -> Vec<NodeId> {
    if turn {
        chain.reverse();
    }
    chain
}
