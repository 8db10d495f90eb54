//! When a trace is in which bytes of each function.

use crate::order::graph::CallGraph;
use crate::trace::Trace;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// A stay in a function until the trace goes to another one. How often it goes through the same bytes meanwhile does not
/// matter: what a function displaces of itself, it displaces wherever it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Visit {
    /// The how manieth stay of all.
    pub(super) time: u32,
    /// Executed bytes, from and to (exclusive), as offsets in the function.
    pub(super) ranges: Vec<(u64, u64)>,
}

/// The stays of all functions.
#[derive(Clone, Debug)]
pub(super) struct Visits {
    /// By function of the graph.
    pub(super) of: Vec<Vec<Visit>>,
}

impl Visits {
    pub(super) fn new(trace: &Trace, graph: &CallGraph) -> Self {
        let nodes: HashMap<u32, usize> =
            (0..).zip(graph.nodes()).map(|(at, node)| (node.function, at)).collect();
        let place = |address: u64| {
            let function = trace.function_at(address)?;
            let node = *nodes.get(&(function as u32))?;
            Some((node, address - trace.functions()[function].address))
        };
        let places: Vec<Option<(usize, u64)>> =
            trace.instructions().iter().map(|instruction| place(instruction.address)).collect();
        let mut visits = Self { of: vec![Vec::new(); graph.nodes().len()] };
        let (mut time, mut here) = (0, None);
        for (at, _) in trace.executed() {
            let Some((node, offset)) = places[at] else { continue };
            if here != Some(node) {
                visits.leave(here);
                visits.of[node].push(Visit { time, ranges: Vec::new() });
                (time, here) = (time + 1, Some(node));
            }
            let length = u64::from(trace.instructions()[at].length).max(1);
            visits.extend(node, offset, offset + length);
        }
        visits.leave(here);
        visits
    }

    fn extend(&mut self, node: usize, from: u64, to: u64) {
        let Some(visit) = self.of[node].last_mut() else { return };
        // In a loop: do not let it grow with every turn.
        if visit.ranges.iter().rev().any(|range| range.0 <= from && to <= range.1) {
            return;
        }
        match visit.ranges.last_mut() {
            Some(range) if range.1 == from => range.1 = to,
            _ => visit.ranges.push((from, to)),
        }
    }

    /// Orders and joins what the last stay in `node` has seen.
    fn leave(&mut self, node: Option<usize>) {
        let Some(visit) = node.and_then(|node| self.of[node].last_mut()) else { return };
        visit.ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(visit.ranges.len());
        for &(from, to) in &visit.ranges {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        visit.ranges = joined;
    }
}

/// The lines of `line` bytes that `visits` touch if the function is at `address`: each with its times, in order.
pub(super) fn lines(visits: &[Visit], address: u64, line: u64) -> BTreeMap<u64, Vec<u32>> {
    let mut lines: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for visit in visits {
        for &(from, to) in &visit.ranges {
            for number in (address + from) / line..=(address + to - 1) / line {
                let times = lines.entry(number).or_default();
                if times.last() != Some(&visit.time) {
                    times.push(visit.time);
                }
            }
        }
    }
    lines
}
