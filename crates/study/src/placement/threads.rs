//! A cpu for each thread, where each is to have one of its own.
//!
//! Cpus near the packets come first, then fast cores, then the least loaded, then the order of the
//! pool. A thread that already runs on such a cpu stays there. A cpu takes threads until its time is
//! used up, before the next best class of cpus is used.

use super::Goal;
use super::cpu_pool::{CpuPool, PoolCpu};
use super::device_queues::DeviceQueue;
use super::target_threads::TargetThread;
use core::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// The whole time of one cpu.
pub(super) const FULL_CPU: f64 = 1.0;

/// How good a cpu is, the best first: whether it is misplaced, far from the packets, slow, and a second
/// hardware thread. Cpus of one class differ in their load only.
type Class = (bool, bool, bool, bool);

struct Placer<'a> {
    pool: &'a CpuPool,
    goal: Goal,
    /// The cores of interrupts that cannot be moved.
    fixed: CpuSet,
    /// Whether no interrupt can be moved.
    all_fixed: bool,
    /// The node that they are to be on.
    node: Option<u32>,
    /// What the threads placed so far use of each cpu.
    load: BTreeMap<CpuId, f64>,
    /// The cores with a thread placed on them.
    cores: BTreeSet<usize>,
}

/// Chooses the cpu of each thread, in the order of `threads`, on `node` where there is one; a thread that may run
/// nowhere keeps its cpu.
pub(super) fn choose(
    pool: &CpuPool,
    goal: Goal,
    threads: &[TargetThread<'_>],
    queues: &[DeviceQueue<'_>],
    node: Option<u32>,
) -> Vec<CpuId> {
    let unmovable = queues.iter().filter(|queue| !queue.is_movable()).map(|queue| queue.current_cpu);
    let fixed = pool.cores_of(&unmovable.collect());
    let all_fixed = !queues.iter().any(DeviceQueue::is_movable);
    let mut placer =
        Placer { pool, goal, fixed, all_fixed, node, load: BTreeMap::new(), cores: BTreeSet::new() };
    let mut chosen: Vec<Option<CpuId>> = threads.iter().map(|thread| placer.keep(thread)).collect();
    for (thread, chosen) in threads.iter().zip(&mut chosen) {
        *chosen = chosen.or_else(|| placer.find(thread));
    }
    let chosen = threads.iter().zip(chosen);
    chosen.map(|(thread, chosen)| chosen.unwrap_or_else(|| thread.last_cpu())).collect()
}

/// The node of the devices that receive most packets.
pub(super) fn busiest_node(queues: &[DeviceQueue<'_>]) -> Option<u32> {
    let mut parts: BTreeMap<u32, f64> = BTreeMap::new();
    for queue in queues {
        if let Some(node) = queue.interface.node {
            *parts.entry(node).or_default() += queue.part;
        }
    }
    parts.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(node, _)| node)
}

impl Placer<'_> {
    /// The cpu `thread` runs on, if none is better and nothing else has been placed on its core. With
    /// the core to itself, it does not matter which of the core's hardware threads that is.
    fn keep(&mut self, thread: &TargetThread<'_>) -> Option<CpuId> {
        let cpu = self.pool.get(thread.last_cpu())?;
        let best = self.candidates(thread).map(|cpu| self.class(cpu)).min();
        let (misplaced, far, slow, _) = self.class(cpu);
        let stays = thread.dedicated
            || thread.permitted.contains(cpu.id)
                && !self.pool.reserved.contains(cpu.id)
                && best.is_some_and(|best| (misplaced, far, slow, false) <= best)
                && !self.cores.contains(&cpu.core);
        stays.then(|| self.take(cpu, thread))
    }

    /// The least loaded cpu of the best class that has room for `thread`; of all cpus where none has.
    fn find(&mut self, thread: &TargetThread<'_>) -> Option<CpuId> {
        let candidates: Vec<PoolCpu> = self.candidates(thread).collect();
        let has_room = |cpu: &&PoolCpu| self.load_of(cpu.id) + thread.share() <= FULL_CPU;
        let class = candidates.iter().filter(has_room).map(|&cpu| self.class(cpu)).min();
        let of_class = candidates.iter().filter(|&&cpu| class.is_none_or(|class| self.class(cpu) == class));
        let least = of_class.min_by(|one, other| self.compare(**one, **other));
        least.copied().map(|cpu| self.take(cpu, thread))
    }

    fn candidates(&self, thread: &TargetThread<'_>) -> impl Iterator<Item = PoolCpu> {
        self.pool.available().filter(|cpu| thread.permitted.contains(cpu.id))
    }

    /// For latency and isolation, a second hardware thread of a core is as bad as a slow core.
    fn class(&self, cpu: PoolCpu) -> Class {
        let far = self.node.is_some_and(|node| cpu.node != node);
        let misplaced = match self.goal {
            Goal::Isolation => self.fixed.contains(cpu.id),
            _ => self.all_fixed && !self.fixed.contains(cpu.id),
        };
        (misplaced, far, cpu.slow, self.goal != Goal::Throughput && cpu.smt_index > 0)
    }

    /// The less loaded cpu first, then the one whose core is free, then the one with fixed interrupts.
    fn compare(&self, one: PoolCpu, other: PoolCpu) -> Ordering {
        let key = |cpu: PoolCpu| (self.cores.contains(&cpu.core), !self.fixed.contains(cpu.id));
        self.load_of(one.id).total_cmp(&self.load_of(other.id)).then(key(one).cmp(&key(other)))
    }

    fn load_of(&self, cpu: CpuId) -> f64 {
        self.load.get(&cpu).copied().unwrap_or(0.0)
    }

    fn take(&mut self, cpu: PoolCpu, thread: &TargetThread<'_>) -> CpuId {
        *self.load.entry(cpu.id).or_default() += thread.share();
        self.cores.insert(cpu.core);
        cpu.id
    }
}
