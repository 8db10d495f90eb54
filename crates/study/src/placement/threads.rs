//! On which cpu each thread is to run.
//!
//! Near the packets first, then on fast cores, then where least runs already, then in the order of
//! the cpus. A thread that runs on such a cpu stays there. One cpu takes threads up to the whole of its time before the next best
//! kind of cpu is used.

use super::Goal;
use super::ground::{Ground, Seat};
use super::subject::Meant;
use super::traffic::Flow;
use core::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// The parts of a cpu's time that can be given away.
pub(super) const WHOLE: f64 = 1.0;

/// How good a cpu is, the best first. What is alike in this is alike in everything but its load.
type Kind = (bool, bool, bool, bool);

struct Choice<'a> {
    ground: &'a Ground,
    goal: Goal,
    /// The cores of interrupts that cannot be moved.
    fixed: CpuSet,
    /// Whether none can.
    all_fixed: bool,
    /// The node that most packets come in at.
    node: Option<u32>,
    /// What each chosen cpu has to do.
    load: BTreeMap<CpuId, f64>,
    /// The cores with a chosen cpu.
    cores: BTreeSet<usize>,
}

/// The cpu of each thread, in their order; where one may run nowhere, the cpu it is on.
pub(super) fn choose(ground: &Ground, goal: Goal, meant: &[Meant<'_>], flows: &[Flow<'_>]) -> Vec<CpuId> {
    let unmovable = flows.iter().filter(|flow| !flow.is_movable()).map(|flow| flow.now);
    let fixed = ground.cores_of(&unmovable.collect());
    let all_fixed = !flows.iter().any(Flow::is_movable);
    let node = (goal != Goal::Isolation).then(|| busiest_node(flows)).flatten();
    let mut choice =
        Choice { ground, goal, fixed, all_fixed, node, load: BTreeMap::new(), cores: BTreeSet::new() };
    let mut chosen: Vec<Option<CpuId>> = meant.iter().map(|of| choice.keep(of)).collect();
    for (of, chosen) in meant.iter().zip(&mut chosen) {
        *chosen = chosen.or_else(|| choice.find(of));
    }
    meant.iter().zip(chosen).map(|(of, chosen)| chosen.unwrap_or_else(|| of.now())).collect()
}

/// The node that the device is nearest to through which most packets come.
fn busiest_node(flows: &[Flow<'_>]) -> Option<u32> {
    let mut parts: BTreeMap<u32, f64> = BTreeMap::new();
    for flow in flows {
        if let Some(node) = flow.interface.node {
            *parts.entry(node).or_default() += flow.part;
        }
    }
    parts.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(node, _)| node)
}

impl Choice<'_> {
    /// The cpu `of` runs on, if none is better and nothing else has been put on its core: which of the
    /// core's hardware threads that is does not matter then.
    fn keep(&mut self, of: &Meant<'_>) -> Option<CpuId> {
        let seat = self.ground.seat(of.now())?;
        let best = self.open(of).map(|seat| self.kind(seat)).min();
        let (misplaced, far, slow, _) = self.kind(seat);
        let stays = of.settled
            || of.limit.contains(seat.cpu)
                && !self.ground.apart.contains(seat.cpu)
                && best.is_some_and(|best| (misplaced, far, slow, false) <= best)
                && !self.cores.contains(&seat.core);
        stays.then(|| self.take(seat, of))
    }

    /// The least loaded cpu of the best kind with one that `of` fits on.
    fn find(&mut self, of: &Meant<'_>) -> Option<CpuId> {
        let seats: Vec<Seat> = self.open(of).collect();
        let free = |seat: &&Seat| self.load_of(seat.cpu) + of.share() <= WHOLE;
        let kind = seats.iter().filter(free).map(|&seat| self.kind(seat)).min();
        let of_kind = seats.iter().filter(|&&seat| kind.is_none_or(|kind| self.kind(seat) == kind));
        let least = of_kind.min_by(|one, other| self.order(**one, **other));
        least.copied().map(|seat| self.take(seat, of))
    }

    fn open(&self, of: &Meant<'_>) -> impl Iterator<Item = Seat> {
        self.ground.open().filter(|seat| of.limit.contains(seat.cpu))
    }

    /// Where delay counts, or quiet, a second hardware thread of a core is as bad as a slow core.
    fn kind(&self, seat: Seat) -> Kind {
        let far = self.node.is_some_and(|node| seat.node != node);
        let misplaced = match self.goal {
            Goal::Isolation => self.fixed.contains(seat.cpu),
            _ => self.all_fixed && !self.fixed.contains(seat.cpu),
        };
        (misplaced, far, seat.slow, self.goal != Goal::Throughput && seat.rank > 0)
    }

    /// The less loaded cpu first, then the one whose core is free, then where packets come in.
    fn order(&self, one: Seat, other: Seat) -> Ordering {
        let key = |seat: Seat| (self.cores.contains(&seat.core), !self.fixed.contains(seat.cpu));
        self.load_of(one.cpu).total_cmp(&self.load_of(other.cpu)).then(key(one).cmp(&key(other)))
    }

    fn load_of(&self, cpu: CpuId) -> f64 {
        self.load.get(&cpu).copied().unwrap_or(0.0)
    }

    fn take(&mut self, seat: Seat, of: &Meant<'_>) -> CpuId {
        *self.load.entry(seat.cpu).or_default() += of.share();
        self.cores.insert(seat.core);
        seat.cpu
    }
}
