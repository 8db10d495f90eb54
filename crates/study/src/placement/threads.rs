//! A cpu for each thread, where each is to have one of its own.
//!
//! Cpus near the packets come first, then fast cores, then the least loaded, then the order of the
//! pool. A thread that already runs on such a cpu stays there. A cpu takes threads until its time is
//! used up, before the next best class of cpus is used. Where threads need no cpu each, they share as few cores as
//! their time asks for.

use super::Goal;
use super::cpu_pool::{CpuPool, PoolCpu};
use super::device_queues::DeviceQueue;
use super::target_threads::{BUSY, TargetThread};
use core::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// The part of the time of a node or a core that readers may use, so that the kernel's work and bursts find time as well.
pub(super) const FULL: f64 = 0.7;

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
    /// The cores of busy threads that are pinned there and are not placed.
    others: BTreeSet<usize>,
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
    let mut placer = Placer::new(pool, goal, (threads, queues), node);
    let mut chosen: Vec<Option<CpuId>> = threads.iter().map(|thread| placer.keep(thread)).collect();
    for (thread, chosen) in threads.iter().zip(&mut chosen) {
        *chosen = chosen.or_else(|| placer.find(thread));
    }
    or_last(threads, chosen)
}

/// Chooses the cpu of each thread as [`choose`] does, on as few cores as have time for all of them.
pub(super) fn share_cores(
    pool: &CpuPool,
    goal: Goal,
    threads: &[TargetThread<'_>],
    queues: &[DeviceQueue<'_>],
    node: Option<u32>,
) -> Vec<CpuId> {
    let mut placer = Placer::new(pool, goal, (threads, queues), node);
    // Who stays takes its cpu before others choose.
    let stays = |thread: &TargetThread<'_>| if thread.dedicated { placer.keep(thread) } else { None };
    let mut chosen: Vec<Option<CpuId>> = threads.iter().map(stays).collect();
    for (thread, chosen) in threads.iter().zip(&mut chosen) {
        *chosen = chosen
            .or_else(|| placer.join(thread))
            .or_else(|| placer.keep(thread))
            .or_else(|| placer.find(thread));
    }
    or_last(threads, chosen)
}

/// The `chosen` cpu of each thread; the one it ran on last, where none was found.
fn or_last(threads: &[TargetThread<'_>], chosen: Vec<Option<CpuId>>) -> Vec<CpuId> {
    let chosen = threads.iter().zip(chosen);
    chosen.map(|(thread, chosen)| chosen.unwrap_or_else(|| thread.last_cpu())).collect()
}

/// The cores to which busy threads other than `threads` are pinned.
fn others_pinned(pool: &CpuPool, threads: &[TargetThread<'_>]) -> BTreeSet<usize> {
    let mut own: BTreeMap<usize, f64> = BTreeMap::new();
    for thread in threads {
        if let Some(home) = thread.home(pool).and_then(|cpu| pool.get(cpu)) {
            *own.entry(home.core).or_default() += thread.share();
        }
    }
    let rest = |core: &usize| pool.pinned_to(*core) - own.get(core).copied().unwrap_or(0.0);
    pool.available().map(|cpu| cpu.core).filter(|core| rest(core) >= BUSY).collect()
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

impl<'a> Placer<'a> {
    fn new(
        pool: &'a CpuPool,
        goal: Goal,
        (threads, queues): (&[TargetThread<'_>], &[DeviceQueue<'_>]),
        node: Option<u32>,
    ) -> Self {
        let unmovable = queues.iter().filter(|queue| !queue.is_movable()).map(|queue| queue.current_cpu);
        let fixed = pool.cores_of(&unmovable.collect());
        let all_fixed = !queues.iter().any(DeviceQueue::is_movable);
        let others = others_pinned(pool, threads);
        Self { pool, goal, fixed, all_fixed, others, node, load: BTreeMap::new(), cores: BTreeSet::new() }
    }

    /// The least loaded of the cores with threads, where they have time for `thread`. Threads of a process with one mask
    /// share its cores as the scheduler likes; others stay on theirs.
    fn join(&mut self, thread: &TargetThread<'_>) -> Option<CpuId> {
        let taken: Vec<PoolCpu> =
            self.candidates(thread).filter(|cpu| self.cores.contains(&cpu.core)).collect();
        let on_core = |of: &PoolCpu| -> f64 {
            self.pool.cores_of(&CpuSet::from_iter([of.id])).iter().map(|cpu| self.load_of(cpu)).sum()
        };
        let cores: BTreeMap<usize, f64> = taken.iter().map(|cpu| (cpu.core, on_core(cpu))).collect();
        let least = taken.iter().min_by(|one, other| cores[&one.core].total_cmp(&cores[&other.core]))?;
        let (used, room) = match thread.stands_for_process {
            true => (cores.values().sum(), FULL * cores.len() as f64),
            false => (cores[&least.core], FULL),
        };
        let fits = used + thread.share() <= room;
        fits.then(|| self.take(*least, thread))
    }

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
        let least = of_class.min_by(|one, other| self.compare(thread, **one, **other));
        least.copied().map(|cpu| self.take(cpu, thread))
    }

    fn candidates(&self, thread: &TargetThread<'_>) -> impl Iterator<Item = PoolCpu> {
        // For isolation too, nobody leaves the mask that somebody gave it; who asks for single cpus (--pin) means it.
        let cpus = match self.goal {
            Goal::Isolation => thread.permitted.intersection(&thread.current),
            _ => thread.permitted.clone(),
        };
        self.pool.available().filter(move |cpu| cpus.contains(cpu.id))
    }

    /// For latency and isolation, a second hardware thread of a core is as bad as a slow core.
    fn class(&self, cpu: PoolCpu) -> Class {
        let far = self.node.is_some_and(|node| cpu.node != node);
        let misplaced = match self.goal {
            Goal::Isolation => self.fixed.contains(cpu.id) || self.others.contains(&cpu.core),
            _ => self.all_fixed && !self.fixed.contains(cpu.id),
        };
        (misplaced, far, cpu.slow, self.goal != Goal::Throughput && cpu.smt_index > 0)
    }

    /// The less loaded cpu first, then the one whose core is free, then the one with fixed interrupts, then one that
    /// `thread` has already.
    fn compare(&self, thread: &TargetThread<'_>, one: PoolCpu, other: PoolCpu) -> Ordering {
        let key = |cpu: PoolCpu| {
            let is_own = thread.current.contains(cpu.id);
            (self.cores.contains(&cpu.core), !self.fixed.contains(cpu.id), !is_own)
        };
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
