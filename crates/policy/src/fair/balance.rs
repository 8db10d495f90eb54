//! Tasks that a processor takes over from another: when it has nothing to run (`sched_balance_newidle`), at ticks
//! (`sched_balance_domains`), and for idle ones at the ticks of a busy one (`nohz_balancer_kick`). All processors are in one
//! domain.

use super::place::Pressure;
use super::scheduler::Fair;
use super::tree::Entry;
use warmcore_units::{CpuId, TaskId};

/// A busy processor looks for tasks this many times less often than an idle one (`busy_factor`).
const BUSY_FACTOR: u64 = 16;
/// After so many attempts that failed, a hot task is taken too (`cache_nice_tries`).
const NICE_TRIES: u32 = 1;
const MILLISECOND: u64 = 1_000_000;
/// How long a processor's idle times must be on average for a search of others' queues to pay. The kernel compares with what
/// searches took on the machine (`max_newidle_lb_cost`); this stands for it.
const SEARCH_COST: u64 = 20_000;
/// The greatest average idle time that counts: twice `sysctl_sched_migration_cost`.
const LONGEST_IDLE: u64 = 1_000_000;
/// After so many searches, their success is looked at (`update_newidle_stats`).
const SEARCHES: u32 = 1024;

/// When a processor last looked for tasks elsewhere, and how that went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balancing {
    next: u64,
    interval: u64,
    failed: u32,
    idle_since: Option<u64>,
    average_idle: u64,
    searches: u32,
    found: u32,
    /// The share of searches that found something, of 1024.
    success: u32,
}

impl Default for Balancing {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Balancing {
    /// Of a processor with this number: not all look at the same time.
    pub(super) fn new(cpu: u32) -> Self {
        Self {
            next: u64::from(cpu) * 7 * MILLISECOND,
            interval: 0,
            failed: 0,
            idle_since: None,
            average_idle: LONGEST_IDLE,
            searches: SEARCHES / 2,
            found: SEARCHES / 4,
            success: SEARCHES / 2,
        }
    }

    /// The processor has nothing to run.
    pub(super) fn idle(&mut self, now: u64) {
        self.idle_since.get_or_insert(now);
    }

    /// A task comes into its queue (`ttwu_do_activate`).
    pub(super) fn woken(&mut self, now: u64) {
        let Some(since) = self.idle_since.take() else { return };
        let idle = now.saturating_sub(since).min(2 * LONGEST_IDLE);
        let average = if idle >= self.average_idle {
            self.average_idle + (idle - self.average_idle) / 8
        } else {
            self.average_idle - (self.average_idle - idle) / 8
        };
        self.average_idle = average.min(LONGEST_IDLE);
    }

    /// A search that counts as `found` successes.
    fn searched(&mut self, found: u32) {
        self.searches += 1;
        self.found += found;
        if self.searches >= SEARCHES {
            self.success = self.found.min(SEARCHES);
            self.searches /= 2;
            self.found /= 2;
        }
    }
}

impl Fair {
    /// `cpu` is about to be idle: takes a task over, if it finds one.
    pub(super) fn pull_when_idle(&mut self, cpu: usize, now: u64) -> bool {
        let others_wait = self.cpus.iter().any(|other| other.runnable.len() > 1);
        if !others_wait || self.cpus[cpu].balancing.average_idle < SEARCH_COST {
            return false;
        }
        // The more often searches fail, the fewer there are (`NI_RANDOM`).
        let success = 1 + self.cpus[cpu].balancing.success;
        if self.drawn() % 1024 > success {
            self.cpus[cpu].balancing.searched(0);
            return false;
        }
        let pulled = self.pull(cpu, 1, u64::MAX, 0, now);
        let counts = (1024 + success / 2) / success;
        self.cpus[cpu].balancing.searched(counts * u32::from(pulled));
        pulled
    }

    /// The periodic search of `cpu` at one of its ticks. Returns the processor that has got a task and was idle.
    pub fn balance(&mut self, cpu: CpuId, now: u64) -> Option<CpuId> {
        let place = cpu.index();
        if self.cpus[place].runnable.len() > 1
            && let Some(idle) = (0..self.cpus.len()).find(|&other| self.is_idle(other))
            && self.rebalance(idle, now)
        {
            return Some(CpuId::from(idle));
        }
        if self.cpus[place].running.is_some() {
            self.rebalance(place, now);
        }
        None
    }

    /// Takes tasks over from the processor with the most load, if it is time and the difference is large enough
    /// (`sched_balance_rq`). Returns whether any came.
    fn rebalance(&mut self, cpu: usize, now: u64) -> bool {
        if now < self.cpus[cpu].balancing.next {
            return false;
        }
        let is_idle = self.is_idle(cpu);
        let least = (self.cpus.len() as u64).min(64) * MILLISECOND;
        let tick = self.tree.parameters.tick;
        let (amount, imbalance) = self.imbalance(cpu, now).unwrap_or_default();
        let failed = self.cpus[cpu].balancing.failed;
        let moved = amount > 0 && self.pull(cpu, amount, imbalance, failed, now);
        let balancing = &mut self.cpus[cpu].balancing;
        balancing.failed = if moved || amount == 0 { 0 } else { balancing.failed + 1 };
        balancing.interval =
            if moved || amount > 0 { least } else { (2 * balancing.interval).clamp(least, 2 * least) };
        let interval = if is_idle {
            balancing.interval
        } else {
            (balancing.interval * BUSY_FACTOR).saturating_sub(tick)
        };
        balancing.next = now + interval.div_ceil(tick) * tick;
        moved
    }

    /// How many tasks and how much load `cpu` should take over (`calculate_imbalance`); none if loads are near enough.
    fn imbalance(&mut self, cpu: usize, now: u64) -> Option<(usize, u64)> {
        for other in 0..self.cpus.len() {
            self.note_load(other, now);
        }
        let busiest = self.busiest(cpu)?;
        if self.cpus[cpu].runnable.is_empty() {
            return Some((1, u64::MAX));
        }
        let (own, other) = (self.pressure(cpu, 0), self.pressure(busiest, 0));
        if own > other {
            return None;
        }
        let [here, there] = [cpu, busiest].map(|cpu| self.tree.queues[cpu].load.get());
        let average = self.tree.queues[..self.cpus.len()].iter().map(|queue| queue.load.get()).sum::<u64>()
            / self.cpus.len() as u64;
        if here >= there || here >= average || there <= average {
            return None;
        }
        if own == Pressure::Overloaded && 100 * there <= super::place::IMBALANCE * here {
            return None;
        }
        Some((self.cpus[busiest].runnable.len(), (there - average).min(average - here)))
    }

    /// The other processor with the most load of those where tasks wait.
    fn busiest(&self, cpu: usize) -> Option<usize> {
        let others =
            (0..self.cpus.len()).filter(|&other| other != cpu && self.cpus[other].runnable.len() > 1);
        others.max_by_key(|&other| (self.tree.queues[other].load.get(), self.cpus[other].runnable.len()))
    }

    /// Takes over up to `amount` tasks of up to `imbalance` in load from the busiest processor (`detach_tasks`). Returns
    /// whether any came.
    fn pull(&mut self, cpu: usize, amount: usize, mut imbalance: u64, failed: u32, now: u64) -> bool {
        let Some(busiest) = self.busiest(cpu) else { return false };
        let mut waiting = self.cpus[busiest].runnable.clone();
        // Longest ago first.
        waiting.sort_by_key(|id| self.tree.entities[self.tasks[id.index()].entity].since);
        let mut moved = 0;
        for id in waiting {
            if moved == amount || self.cpus[busiest].runnable.len() < 2 || imbalance == 0 {
                break;
            }
            let load = self.task_load(id, now).max(1);
            if !self.may_move(id, cpu, busiest, failed, now) || load >> failed.min(63) > imbalance {
                continue;
            }
            self.take_over(id, cpu, now);
            imbalance = imbalance.saturating_sub(load);
            moved += 1;
        }
        moved > 0
    }

    /// Whether a task may be moved (`can_migrate_task`): it does not run, and is not hot unless that failed before.
    fn may_move(&self, id: TaskId, cpu: usize, from: usize, failed: u32, now: u64) -> bool {
        let task = &self.tasks[id.index()];
        let ran = self.tree.entities[task.entity].since;
        let is_hot = now.saturating_sub(ran) < self.tree.parameters.migration_cost;
        self.cpus[from].running != Some(id)
            && task.attached.is_none_or(|only| only.index() == cpu)
            && (!is_hot || failed > NICE_TRIES)
    }

    /// `id`, which waits, comes to `cpu`.
    fn take_over(&mut self, id: TaskId, cpu: usize, now: u64) {
        let from = self.tasks[id.index()].cpu;
        self.move_to(id, from, cpu, now);
    }

    /// Moves a runnable task that does not run to another processor.
    pub(super) fn move_to(&mut self, id: TaskId, from: usize, to: usize, now: u64) {
        for cpu in [from, to] {
            self.note_load(cpu, now);
        }
        let (entity, group) = (self.tasks[id.index()].entity, self.tasks[id.index()].group);
        let old = self.tree.entities[entity].queue;
        self.part_load(id, now);
        self.tree.detach(entity, now);
        self.cpus[from].runnable.retain(|&one| one != id);
        self.refresh_queue(old, now);
        let queue = self.queue(group, to, now);
        self.tree.entities[entity].queue = queue;
        self.tree.enqueue(entity, Entry::Woken, now);
        self.tasks[id.index()].cpu = to;
        self.join_load(id, now);
        self.cpus[to].runnable.push(id);
        self.cpus[to].balancing.woken(now);
        self.refresh_queue(queue, now);
    }

    /// The next random number (xorshift, as `sched_rng`).
    fn drawn(&mut self) -> u32 {
        let mut state = self.random;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.random = state;
        (state >> 32) as u32
    }
}
