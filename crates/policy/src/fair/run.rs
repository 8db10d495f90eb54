//! Who runs on a processor: picked from its queues, taken off by a task that wakes up, or at a tick.

use super::scheduler::Fair;
use warmcore_units::{CpuId, TaskId};

impl Fair {
    /// Whether `id`, which has just come into a queue, takes the processor (`wakeup_preempt_fair`).
    pub(super) fn preempts(&mut self, id: TaskId, now: u64) -> bool {
        let cpu = self.tasks[id.index()].cpu;
        let Some(running) = self.cpus[cpu].running else { return false };
        if !self.tree.parameters.wakeup_preemption {
            return false;
        }
        // Both are compared where they are in one queue (`find_matching_se`).
        let [mut own, other] = [id, running].map(|id| self.tasks[id.index()].entity);
        let mut queue = self.tree.entities[own].queue;
        if queue != self.tree.entities[other].queue {
            own = self.tree.queues[queue].group.unwrap_or(own);
            queue = cpu;
        }
        self.tree.account(queue, now);
        let takes_over = self.tree.choose(queue) == Some(own);
        takes_over || self.is_replaced(cpu, running, now)
    }

    /// Whether `running` is to stop on `cpu`, for another is found to run there.
    fn is_replaced(&mut self, cpu: usize, running: TaskId, now: u64) -> bool {
        core::mem::take(&mut self.tree.is_due[cpu]) && self.choose(cpu, now) != Some(running)
    }

    /// Takes the task that `cpu` runs next out of those that wait; `None` if there is none there, and none can be taken over.
    pub fn pick(&mut self, cpu: CpuId, now: u64) -> Option<TaskId> {
        let place = cpu.index();
        self.note_load(place, now);
        if self.cpus[place].runnable.is_empty() {
            self.drop_delayed(place, now);
            if !self.pull_when_idle(place, now) {
                self.cpus[place].running = None;
                self.cpus[place].balancing.idle(now);
                return None;
            }
        }
        let id = self.choose(place, now)?;
        self.set_running(place, id, now);
        Some(id)
    }

    /// Who would run on `cpu` now. Those that blocked and are now eligible leave.
    fn choose(&mut self, cpu: usize, now: u64) -> Option<TaskId> {
        let mut queue = cpu;
        loop {
            let entity = self.tree.choose(queue)?;
            if self.tree.entities[entity].is_delayed {
                self.tree.leave_late(entity, now);
                self.refresh_queue(queue, now);
                queue = cpu;
                continue;
            }
            match self.tree.entities[entity].children {
                Some(children) => queue = children,
                None => return Some(self.owners[entity]),
            }
        }
    }

    /// An idle processor's queue empties (`pick_next_entity` of delayed entities).
    fn drop_delayed(&mut self, cpu: usize, now: u64) {
        let found = self.choose(cpu, now);
        debug_assert!(found.is_none(), "nothing is runnable");
    }

    fn set_running(&mut self, cpu: usize, id: TaskId, now: u64) {
        let before = self.cpus[cpu].running.map(|id| self.tree.entities[self.tasks[id.index()].entity].queue);
        let entity = self.tasks[id.index()].entity;
        let queue = self.tree.entities[entity].queue;
        if let Some(before) = before
            && before != queue
        {
            self.tree.clear_current(before);
        }
        if let Some(group) = self.tree.queues[queue].group {
            self.tree.set_current(group, now);
        }
        self.tree.set_current(entity, now);
        self.tree.is_due[cpu] = false;
        self.cpus[cpu].running = Some(id);
    }

    /// A timer interrupt of `cpu` (`task_tick_fair`). Returns whether another task should run there.
    pub fn tick(&mut self, cpu: CpuId, now: u64) -> bool {
        let place = cpu.index();
        self.note_load(place, now);
        let Some(running) = self.cpus[place].running else { return false };
        self.account(place, now);
        self.refresh(running, now);
        self.is_replaced(place, running, now)
    }

    /// Accounts for the running time of who runs on `cpu`.
    pub(super) fn account(&mut self, cpu: usize, now: u64) {
        let Some(running) = self.cpus[cpu].running else { return };
        let queue = self.tree.entities[self.tasks[running.index()].entity].queue;
        self.tree.account(queue, now);
        if queue != cpu {
            self.tree.account(cpu, now);
        }
    }
}
