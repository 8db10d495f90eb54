//! Where a task goes that wakes up, is new, or begins another program (`select_task_rq_fair`). All processors share a cache.

use super::scheduler::Fair;
use super::task::Waker;
use super::tree::Entity;
use warmcore_units::{CpuId, TaskId};

/// By how many hundredths the load of processors may differ before anything is moved (`imbalance_pct` of processors that
/// share a cache).
pub(super) const IMBALANCE: u64 = 117;
const SECOND: u64 = 1_000_000_000;

/// What a processor has to do, the less the better (`enum group_type`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Pressure {
    Spare,
    FullyBusy,
    Overloaded,
}

impl Fair {
    /// Where `id` wakes up. Only tasks draw others to their processor: on the machine where this was measured (Linux 6.18), 4%
    /// of 1400 tasks that interrupts woke up from another processor came to it, of those that tasks woke up, 43%.
    pub(super) fn place_woken(&mut self, id: TaskId, waker: Waker, now: u64) -> usize {
        let task = &self.tasks[id.index()];
        let last = task.cpu;
        if let Some(only) = task.attached {
            return only.index();
        }
        let target = match waker {
            Waker::Task(cpu) if !self.is_wide(id, cpu.index()) => self.near_waker(id, cpu.index(), last, now),
            _ => last,
        };
        // `select_idle_sibling`
        if self.is_idle(target) {
            return target;
        }
        if self.is_idle(last) {
            return last;
        }
        let count = self.cpus.len();
        (1..count).map(|step| (target + step) % count).find(|&cpu| self.is_idle(cpu)).unwrap_or(target)
    }

    pub(super) fn is_idle(&self, cpu: usize) -> bool {
        self.cpus[cpu].running.is_none() && self.cpus[cpu].runnable.is_empty()
    }

    /// Whether `id` should rather run where its waker is, or where it last ran (`wake_affine`).
    fn near_waker(&mut self, id: TaskId, waker: usize, last: usize, now: u64) -> usize {
        if waker == last || self.is_idle(last) {
            return last;
        }
        if self.is_idle(waker) {
            return waker;
        }
        // `wake_affine_weight`
        for cpu in [waker, last] {
            self.note_load(cpu, now);
        }
        let own = self.task_load(id, now);
        let [there, here] = [waker, last].map(|cpu| self.tree.queues[cpu].load.get());
        let there = (there + own) * 100;
        let here = here.saturating_sub(own) * (100 + (IMBALANCE - 100) / 2);
        if there < here { waker } else { last }
    }

    /// What a task adds to the load of a processor, within the share of its group (`task_h_load`).
    pub(super) fn task_load(&mut self, id: TaskId, now: u64) -> u64 {
        let (queue, load) = self.own_load(id, now);
        match self.tree.queues[queue].group {
            Some(group) => {
                let whole = self.tree.load(queue, now);
                // The task is part of the whole, which may not have heard of it yet.
                load * self.tree.entities[group].weight / (whole.max(load) + 1)
            }
            None => load,
        }
    }

    /// A task takes its load of the last time along when it goes from its queue (`detach_entity_load_avg`). That of its group
    /// follows with the group's weight.
    pub(super) fn part_load(&mut self, id: TaskId, now: u64) {
        let (queue, load) = self.own_load(id, now);
        self.tree.queues[queue].load.remove(load);
    }

    /// A task brings its load of the last time to the queue where it is now (`attach_entity_load_avg`).
    pub(super) fn join_load(&mut self, id: TaskId, now: u64) {
        let (queue, load) = self.own_load(id, now);
        self.tree.queues[queue].load.join(load);
    }

    /// The queue of a task and its load there.
    fn own_load(&mut self, id: TaskId, now: u64) -> (usize, u64) {
        let is_runnable = self.tasks[id.index()].is_runnable;
        let active = self.tasks[id.index()].active.advance(u64::from(is_runnable) * 1024, now);
        let Entity { queue, weight, .. } = self.tree.entities[self.tasks[id.index()].entity];
        self.tree.load(queue, now);
        (queue, weight * active / 1024)
    }

    /// Notes who wakes up whom (`record_wakee`).
    pub(super) fn note_waker(&mut self, woken: TaskId, waker: usize, now: u64) {
        let Some(running) = self.cpus[waker].running else { return };
        let task = &mut self.tasks[running.index()];
        if now.saturating_sub(task.flips_at) > SECOND {
            task.flips >>= 1;
            task.flips_at = now;
        }
        if task.last_woken != Some(woken) {
            task.last_woken = Some(woken);
            task.flips += 1;
        }
    }

    /// Whether the waker has so many to wake up that they should not all come to its processor (`wake_wide`).
    fn is_wide(&self, woken: TaskId, waker: usize) -> bool {
        let flips = |id: TaskId| self.tasks[id.index()].flips as usize;
        let one = self.cpus[waker].running.map_or(0, flips);
        let other = flips(woken);
        let (most, least) = (one.max(other), one.min(other));
        let factor = self.cpus.len();
        least >= factor && most >= least * factor
    }

    /// Where a new task goes that something on `parent` started (`sched_balance_find_dst_cpu`).
    pub(super) fn place_new(&mut self, id: TaskId, parent: usize, now: u64) -> usize {
        if let Some(only) = self.tasks[id.index()].attached {
            return only.index();
        }
        self.least_loaded(parent, 0, now)
    }

    /// Where `id`, which runs, goes on with another program (`sched_exec`).
    #[must_use]
    pub fn place_exec(&mut self, id: TaskId, now: u64) -> CpuId {
        let cpu = self.tasks[id.index()].cpu;
        if self.tasks[id.index()].attached.is_some() {
            return CpuId::from(cpu);
        }
        let own = self.task_load(id, now);
        CpuId::from(self.least_loaded(cpu, own, now))
    }

    /// The processor with the least to do; `home`, without `own` of its load, unless another has clearly less.
    fn least_loaded(&mut self, home: usize, own: u64, now: u64) -> usize {
        let without = usize::from(own > 0);
        let count = self.cpus.len();
        for cpu in 0..count {
            self.note_load(cpu, now);
        }
        let here = (self.pressure(home, without), self.tree.queues[home].load.get().saturating_sub(own));
        let others = (1..count).map(|step| (home + step) % count);
        let state =
            |cpu: usize| (self.pressure(cpu, 0), !self.is_idle(cpu), self.tree.queues[cpu].load.get(), cpu);
        let Some((pressure, is_busy, load, cpu)) = others.map(state).min() else { return home };
        let is_better = match pressure.cmp(&here.0) {
            core::cmp::Ordering::Less => true,
            core::cmp::Ordering::Greater => false,
            core::cmp::Ordering::Equal if pressure == Pressure::Spare => {
                let home_is_idle = self.cpus[home].runnable.len() <= without;
                !is_busy && !home_is_idle
            }
            // About a sixth of a task of nice 0 does not count.
            core::cmp::Ordering::Equal => load < here.1 + 174 && 100 * here.1 > IMBALANCE * load,
        };
        if is_better { cpu } else { home }
    }

    /// What a processor has to do (`group_classify`), without so many of its tasks.
    pub(super) fn pressure(&self, cpu: usize, without: usize) -> Pressure {
        let place = &self.cpus[cpu];
        let count = place.runnable.len().saturating_sub(without);
        let busy = place.busy.get() * IMBALANCE > 1024 * 100;
        let pressed = place.pressure.get().saturating_sub(1024 * without as u64) * 100 > 1024 * IMBALANCE;
        match count {
            0 => Pressure::Spare,
            1 if busy || pressed => Pressure::FullyBusy,
            1 => Pressure::Spare,
            _ if busy || pressed => Pressure::Overloaded,
            _ => Pressure::Spare,
        }
    }
}
