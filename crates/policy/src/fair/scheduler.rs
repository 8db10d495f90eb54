//! The queues of a machine: tasks that begin, run, stop, and end.

use super::average::Average;
use super::balance::Balancing;
use super::parameters::{InvalidParameter, Parameters};
use super::tree::{Entry, QueueId, Tree};
use super::weight::{NICE_0, of_nice};
use crate::runqueue::StopCause;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use warmcore_units::{CpuId, TaskId};

/// What a driver says of a new task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spec {
    /// Its nice value.
    pub nice: i32,
    /// Its group; 0 if it is in none.
    pub group: u32,
    /// The only processor that it may run on.
    pub attached: Option<CpuId>,
    /// Where it last ran, for one that is older than what the driver knows.
    pub last_cpu: Option<CpuId>,
}

/// Where a task that can run again waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Woken {
    /// The processor in whose queue it is.
    pub cpu: CpuId,
    /// Whether it takes that processor from who runs there.
    pub preempts: bool,
}

/// What wakes a task up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waker {
    /// The task that runs on this processor.
    Task(CpuId),
    /// An interrupt, or its deferred work.
    Interrupt,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) entity: usize,
    pub(super) group: u32,
    pub(super) attached: Option<CpuId>,
    /// Where it runs, waits, or last ran.
    pub(super) cpu: usize,
    /// Whether it runs or waits to run.
    pub(super) is_runnable: bool,
    /// The part of the last time in which it could run, of 1024.
    pub(super) active: Average,
    /// How often it woke up another task than before, halved each second, and which one (`record_wakee`).
    pub(super) flips: u32,
    pub(super) flips_at: u64,
    pub(super) last_woken: Option<TaskId>,
}

/// A processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Processor {
    pub(super) running: Option<TaskId>,
    /// The tasks that run or wait here.
    pub(super) runnable: Vec<TaskId>,
    pub(super) busy: Average,
    pub(super) pressure: Average,
    pub(super) balancing: Balancing,
}

/// The scheduler of a machine.
#[derive(Clone, Debug)]
pub struct Fair {
    pub(super) tree: Tree,
    pub(super) tasks: Vec<Task>,
    free: Vec<TaskId>,
    /// The task of each entity that is one.
    owners: Vec<TaskId>,
    pub(super) cpus: Vec<Processor>,
    /// The queues of a group, one for each processor.
    groups: BTreeMap<u32, Vec<QueueId>>,
    pub(super) random: u64,
}

impl Fair {
    /// The empty queues of a machine with `cpus` processors that share a cache. `seed` starts the random numbers by which the
    /// scheduler decides how often it looks for work elsewhere.
    ///
    /// # Errors
    /// If a parameter is impossible.
    pub fn new(parameters: Parameters, cpus: u32, seed: u64) -> Result<Self, InvalidParameter> {
        parameters.check()?;
        let mut tree = Tree::new(parameters);
        for cpu in 0..cpus {
            tree.add_queue(None, cpu as usize);
        }
        Ok(Self {
            tree,
            tasks: Vec::new(),
            free: Vec::new(),
            owners: Vec::new(),
            cpus: (0..cpus)
                .map(|cpu| Processor { balancing: Balancing::new(cpu), ..Processor::default() })
                .collect(),
            groups: BTreeMap::new(),
            random: seed | 1,
        })
    }

    /// The constants of the scheduler.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.tree.parameters
    }

    /// A new task, which does not wait yet. The ids of tasks that exited are given again.
    ///
    /// # Panics
    /// If it is fixed to a processor that is not there.
    pub fn add(&mut self, spec: Spec, now: u64) -> TaskId {
        let cpu = spec.attached.or(spec.last_cpu).map_or(0, |cpu| cpu.index() % self.cpus.len());
        let queue = self.queue(spec.group, cpu, now);
        let entity = self.tree.add_entity(of_nice(spec.nice), queue, now);
        let task = Task {
            entity,
            group: spec.group,
            attached: spec.attached,
            cpu,
            is_runnable: false,
            // As if it had always been active, until more is known (`init_entity_runnable_average`).
            active: Average::new(1024, now),
            flips: 0,
            flips_at: now,
            last_woken: None,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.tasks[id.index()] = task;
                id
            }
            None => {
                self.tasks.push(task);
                TaskId::from(self.tasks.len() - 1)
            }
        };
        if self.owners.len() <= entity {
            self.owners.resize(entity + 1, id);
        }
        self.owners[entity] = id;
        id
    }

    /// Gives a task another nice value.
    pub fn renice(&mut self, id: TaskId, nice: i32, now: u64) {
        let entity = self.tasks[id.index()].entity;
        self.tree.reweight(entity, of_nice(nice), now);
        self.refresh(id, now);
    }

    /// The queue of `group` on `cpu`.
    pub(super) fn queue(&mut self, group: u32, cpu: usize, now: u64) -> QueueId {
        if group == 0 {
            return cpu;
        }
        let Self { groups, tree, cpus, .. } = self;
        let queues = groups.entry(group).or_insert_with(|| {
            let each = (0..cpus.len()).map(|cpu| {
                let entity = tree.add_entity(NICE_0, cpu, now);
                let queue = tree.add_queue(Some(entity), cpu);
                tree.entities[entity].children = Some(queue);
                queue
            });
            each.collect()
        });
        queues[cpu]
    }

    /// A task can run again. Nothing happens if it can already.
    pub fn wake(&mut self, id: TaskId, waker: Waker, now: u64) -> Option<Woken> {
        if self.tasks[id.index()].is_runnable {
            return None;
        }
        if let Waker::Task(cpu) = waker {
            self.note_waker(id, cpu.index(), now);
        }
        let task = &self.tasks[id.index()];
        // Who is still in a queue stays there (`ttwu_runnable`).
        let cpu = match self.tree.entities[task.entity].is_delayed {
            true => task.cpu,
            false => self.place_woken(id, waker, now),
        };
        Some(self.enqueue(id, cpu, Entry::Woken, now))
    }

    /// A new task can run, started by what runs on `parent`.
    pub fn start(&mut self, id: TaskId, parent: CpuId, now: u64) -> Woken {
        let cpu = self.place_new(id, parent.index(), now);
        self.enqueue(id, cpu, Entry::New, now)
    }

    fn enqueue(&mut self, id: TaskId, cpu: usize, entry: Entry, now: u64) -> Woken {
        self.note_load(cpu, now);
        let was_active = u64::from(entry == Entry::New) * 1024;
        self.tasks[id.index()].active.advance(was_active, now);
        let Task { entity, group, .. } = self.tasks[id.index()];
        if !self.tree.undelay(entity, now) {
            let moves = entry == Entry::Woken && self.tasks[id.index()].cpu != cpu;
            if moves {
                self.part_load(id, now);
            }
            self.tree.entities[entity].queue = self.queue(group, cpu, now);
            self.tree.enqueue(entity, entry, now);
            self.tasks[id.index()].cpu = cpu;
            if moves || entry == Entry::New {
                self.join_load(id, now);
            }
        }
        self.tasks[id.index()].is_runnable = true;
        self.cpus[cpu].runnable.push(id);
        self.cpus[cpu].balancing.woken(now);
        self.refresh(id, now);
        Woken { cpu: CpuId::from(cpu), preempts: self.preempts(id, now) }
    }

    /// Whether `id`, which has just come into a queue, takes the processor (`wakeup_preempt_fair`).
    fn preempts(&mut self, id: TaskId, now: u64) -> bool {
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

    /// The task `id`, which runs on `cpu`, stops there. Who can go on waits.
    pub fn stop(&mut self, id: TaskId, cpu: CpuId, cause: StopCause, now: u64) {
        let place = cpu.index();
        self.account(place, now);
        self.note_load(place, now);
        let entity = self.tasks[id.index()].entity;
        if cause.is_runnable() {
            if cause == StopCause::Yield {
                self.tree.forgo(entity);
            }
            return;
        }
        let task = &mut self.tasks[id.index()];
        task.active.advance(1024, now);
        task.is_runnable = false;
        self.cpus[place].runnable.retain(|&one| one != id);
        let queue = self.tree.entities[entity].queue;
        if cause == StopCause::Exit {
            self.part_load(id, now);
            self.tree.leave(entity, now);
            self.tree.clear_current(queue);
            self.cpus[place].running = None;
            self.refresh_queue(queue, now);
            self.tree.remove_entity(entity);
            self.free.push(id);
        } else {
            self.tree.block(entity, now);
            self.refresh_queue(queue, now);
        }
    }

    /// Moves `id`, which has just stopped on its processor and can go on, to another one.
    pub fn relocate(&mut self, id: TaskId, to: CpuId, now: u64) -> Woken {
        let from = self.tasks[id.index()].cpu;
        self.move_to(id, from, to.index(), now);
        Woken { cpu: to, preempts: self.preempts(id, now) }
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
    fn account(&mut self, cpu: usize, now: u64) {
        let Some(running) = self.cpus[cpu].running else { return };
        let queue = self.tree.entities[self.tasks[running.index()].entity].queue;
        self.tree.account(queue, now);
        if queue != cpu {
            self.tree.account(cpu, now);
        }
    }

    /// Brings the averages of a processor up to date.
    pub(super) fn note_load(&mut self, cpu: usize, now: u64) {
        self.tree.load(cpu, now);
        let Processor { running, runnable, busy, pressure, .. } = &mut self.cpus[cpu];
        busy.advance(u64::from(running.is_some()) * 1024, now);
        pressure.advance(runnable.len() as u64 * 1024, now);
    }

    fn refresh(&mut self, id: TaskId, now: u64) {
        let queue = self.tree.entities[self.tasks[id.index()].entity].queue;
        self.refresh_queue(queue, now);
    }

    /// The weight of a group on a processor is its share of the group's load (`calc_group_shares`).
    pub(super) fn refresh_queue(&mut self, queue: QueueId, now: u64) {
        let Some(group) = self.tree.queues[queue].group else { return };
        let average = self.tree.load(queue, now);
        let weight: u64 =
            self.tree.queues[queue].members.iter().map(|&id| self.tree.entities[id].weight).sum();
        let own = weight.max(average);
        let Some(queues) = self.groups.values().find(|queues| queues.contains(&queue)) else { return };
        let all: u64 = queues
            .iter()
            .filter(|&&other| other != queue)
            .map(|&other| self.tree.queues[other].load.get())
            .sum();
        let share = NICE_0 * own / (all + own).max(1);
        self.tree.reweight(group, share.clamp(2, NICE_0), now);
    }

    /// Whether a task runs or waits to run.
    #[must_use]
    pub fn is_runnable(&self, id: TaskId) -> bool {
        self.tasks[id.index()].is_runnable
    }

    /// Where a task runs, waits, or last ran.
    #[must_use]
    pub fn cpu(&self, id: TaskId) -> CpuId {
        CpuId::from(self.tasks[id.index()].cpu)
    }

    /// How far the virtual runtime of a task is behind the average of its queue, in nanoseconds of nice 0.
    #[must_use]
    pub fn lag(&self, id: TaskId) -> i64 {
        self.tree.lag(self.tasks[id.index()].entity)
    }

    /// How many tasks run or wait on `cpu`.
    #[must_use]
    pub fn load(&self, cpu: CpuId) -> usize {
        self.cpus[cpu.index()].runnable.len()
    }
}
