//! Micro-positioning: Mosberger et al. 1996, §3.2, "a tool employing simple heuristics that, based on a trace-file, computed
//! a layout that minimizes replacement misses without introducing too many additional gaps". Which heuristics, the source does
//! not say. These are ours.
//!
//! Functions are placed in the order of first invocation, none is moved later. Each may begin right behind all others, or at any
//! line of the cache: in a gap if it fits one, else behind the others, which makes a gap. It goes where the functions
//! placed so far, with it, have the fewest replacement misses; of equal places to where memory grows least.
//!
//! Sets of the cache are independent of each other, so what each line of a function would cost in each set is reckoned
//! once ([`sets`]), and a place costs the sum over its lines. With V visits of lines in the trace, that takes V steps for
//! each line of code.

mod sets;
mod visits;

use super::graph::{CallGraph, Node};
use super::placement::Draft;
use super::site::Site;
use crate::trace::Trace;
use sets::Sets;
use visits::{Visit, Visits};

pub(super) fn place(trace: &Trace, graph: &CallGraph, site: &Site) -> Draft {
    let visits = Visits::new(trace, graph);
    let mut memory =
        Memory { site, draft: Draft::new(site), sets: Sets::new(&site.instructions), gaps: Vec::new() };
    for id in graph.ids() {
        memory.place(graph.node(id), &visits.of[id.index()]);
    }
    memory.draft
}

/// A place where a function could be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Candidate {
    /// Replacement misses that it adds.
    cost: u64,
    /// Bytes that it adds at the end.
    growth: u64,
    address: u64,
}

/// What is placed so far.
struct Memory<'a> {
    site: &'a Site,
    draft: Draft,
    sets: Sets,
    /// Where nothing is, before the end: from, to.
    gaps: Vec<(u64, u64)>,
}

impl Memory<'_> {
    fn place(&mut self, node: &Node, visits: &[Visit]) {
        let behind = self.behind(node, visits);
        let best = self.on_lines(node, visits).into_iter().fold(behind, Ord::min);
        self.fill(best.address, best.address + node.size.0);
        self.draft.put(node, best.address);
        self.sets.add(visits, best.address);
    }

    /// Right behind the others: it may share a line with the last.
    fn behind(&self, node: &Node, visits: &[Visit]) -> Candidate {
        let address = self.draft.next();
        let lines = visits::lines(visits, address, self.site.instructions.line.0);
        let cost =
            lines.iter().map(|(&line, times)| self.sets.added(self.sets.index(line), line, times)).sum();
        Candidate { cost, growth: address + node.size.0 - self.draft.end(), address }
    }

    /// At the beginning of each line of the cache.
    fn on_lines(&self, node: &Node, visits: &[Visit]) -> Vec<Candidate> {
        let (line, unit) = (self.site.instructions.line.0, self.site.unit());
        let lines = visits::lines(visits, 0, line);
        let sets = self.sets.count();
        // Lines at addresses where nothing is: as they are new everywhere, any number will do that no other line has.
        let other = u64::MAX;
        let costs: Vec<(usize, Vec<u64>)> = lines
            .iter()
            .map(|(&number, times)| {
                (number as usize % sets, (0..sets).map(|set| self.sets.added(set, other, times)).collect())
            })
            .collect();
        let candidate = |first: usize| {
            let cost = costs.iter().map(|(offset, by_set)| by_set[(first + offset) % sets]).sum();
            let address = self.free(first as u64 * line, node.size.0);
            let growth = (address + node.size.0).saturating_sub(self.draft.end());
            Candidate { cost, growth, address }
        };
        (0..sets).step_by((unit / line) as usize).map(candidate).collect()
    }

    /// The first address with this remainder by the size of a way where so many bytes are free.
    fn free(&self, remainder: u64, size: u64) -> u64 {
        let way = self.site.way();
        let at_or_after = |from: u64| from + (remainder + way - from % way) % way;
        let fits = |&(from, to): &(u64, u64)| {
            let at = at_or_after(from);
            (at + size <= to).then_some(at)
        };
        self.gaps.iter().find_map(fits).unwrap_or_else(|| at_or_after(self.draft.end()))
    }

    /// Takes the bytes between `from` and `to`: they were in a gap or at the end.
    fn fill(&mut self, from: u64, to: u64) {
        let end = self.draft.end();
        if from >= end {
            self.gaps.push((end, from));
        } else if let Some(at) = self.gaps.iter().position(|gap| gap.0 <= from && to <= gap.1) {
            let gap = self.gaps[at];
            self.gaps.splice(at..=at, [(gap.0, from), (to, gap.1)]);
        }
        self.gaps.retain(|gap| gap.0 < gap.1);
    }
}
