//! The queues of a machine: tasks that begin, wake up, stop, and end.

use super::average::Average;
use super::balance::Balancing;
use super::parameters::{InvalidParameter, Parameters};
use super::task::{Processor, Spec, Task, Waker, Woken};
use super::tree::{Entry, QueueId, Tree};
use super::weight::of_nice;
use crate::runqueue::StopCause;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use warmcore_units::{CpuId, TaskId};

/// The scheduler of a machine.
#[derive(Clone, Debug)]
pub struct Fair {
    pub(super) tree: Tree,
    pub(super) tasks: Vec<Task>,
    free: Vec<TaskId>,
    /// The task of each entity that is one.
    pub(super) owners: Vec<TaskId>,
    pub(super) cpus: Vec<Processor>,
    /// The first queue of each group, that of the first processor; those of the others follow.
    pub(super) groups: BTreeMap<u32, QueueId>,
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
    /// If it is fixed to a processor that is not there, or last ran on one.
    pub fn add(&mut self, spec: Spec, now: u64) -> TaskId {
        for cpu in [spec.attached, spec.last_cpu].into_iter().flatten() {
            assert!(cpu.index() < self.cpus.len(), "a task of cpu {}, which is not there", cpu.0);
        }
        let cpu = spec.attached.or(spec.last_cpu).map_or(0, CpuId::index);
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

    /// Brings the averages of a processor up to date.
    pub(super) fn note_load(&mut self, cpu: usize, now: u64) {
        self.tree.load(cpu, now);
        let Processor { running, runnable, busy, pressure, .. } = &mut self.cpus[cpu];
        busy.advance(u64::from(running.is_some()) * 1024, now);
        pressure.advance(runnable.len() as u64 * 1024, now);
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
