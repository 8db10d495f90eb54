//! The run queue with an index, so that a pick does not search it: §4, "given minor changes to the run queue structure, we
//! can examine these processes without searching the run queue".
//!
//! The winner of a search is one of few: the best of all tasks, the best of those that last ran on the searching
//! processor (all of which get `a_p`), the task that ran there last, and, for complex affinity, those that ran there
//! less than `a_t` ticks ago. Each is compared by its boosted priority, and so the pick is that of
//! [`choose`](super::choose::choose()).

use super::choose::{Candidate, Search};
use super::parameters::{AffinityForm, InvalidParameter, Parameters};
use super::task::{Task, Ticks};
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use warmcore_units::{CpuId, TaskId};

/// Why a task stops running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopCause {
    /// Its quantum is over.
    Quantum,
    /// A task with a better priority woke up on its processor.
    Preempted,
    /// It gives the processor away, since it failed to get a lock.
    Yield,
    /// It entered the kernel, which searches the queue before it goes on: a system call or a TLB fault.
    Reschedule,
    /// It waits for an event and leaves the queue.
    Block,
    /// It is finished.
    Exit,
}

impl StopCause {
    /// Whether the task can go on at once.
    #[must_use]
    pub const fn is_runnable(self) -> bool {
        !matches!(self, Self::Block | Self::Exit)
    }
}

/// Order of the tasks in a set: priority, then time of enqueueing.
type Place = (i32, u64, TaskId);

#[derive(Clone, Debug)]
struct Slot {
    task: Task,
    /// The number of its enqueueing while it waits in the queue.
    queued: Option<u64>,
    /// Whether a task has this id.
    used: bool,
}

#[derive(Clone, Debug, Default)]
struct Cpu {
    /// Waiting tasks that last ran here.
    here: BTreeSet<Place>,
    /// Waiting tasks attached to this processor that never ran.
    new: BTreeSet<Place>,
    ran_last: Option<TaskId>,
    yielded: Option<TaskId>,
    /// Who ran here in the last `a_t` ticks, and when, for complex affinity. Oldest first.
    recent: VecDeque<(TaskId, Ticks)>,
}

/// The tasks of a machine and the queue of those that wait to run.
#[derive(Clone, Debug)]
pub struct RunQueue {
    parameters: Parameters,
    slots: Vec<Slot>,
    free: Vec<TaskId>,
    /// Waiting tasks that any processor may run.
    all: BTreeSet<Place>,
    cpus: Vec<Cpu>,
    enqueued: u64,
    waiting: usize,
}

impl RunQueue {
    /// An empty queue of a machine with `cpus` processors.
    ///
    /// # Errors
    /// If a parameter is impossible.
    pub fn new(parameters: Parameters, cpus: u32) -> Result<Self, InvalidParameter> {
        parameters.check()?;
        Ok(Self {
            parameters,
            slots: Vec::new(),
            free: Vec::new(),
            all: BTreeSet::new(),
            cpus: (0..cpus).map(|_| Cpu::default()).collect(),
            enqueued: 0,
            waiting: 0,
        })
    }

    /// The constants of the scheduler.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How many tasks wait.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// A new task, which does not wait yet. The ids of tasks that exited are given again.
    ///
    /// # Panics
    /// If there are 2^32 tasks.
    pub fn add(&mut self, task: Task) -> TaskId {
        let slot = Slot { task, queued: None, used: true };
        match self.free.pop() {
            Some(id) => {
                self.slots[id.index()] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                TaskId::from(self.slots.len() - 1)
            }
        }
    }

    /// The state of a task.
    ///
    /// # Panics
    /// If no task has this id.
    #[must_use]
    #[inline]
    pub fn task(&self, id: TaskId) -> &Task {
        &self.slots[id.index()].task
    }

    /// Whether a task waits in the queue.
    #[must_use]
    pub fn is_waiting(&self, id: TaskId) -> bool {
        self.slots.get(id.index()).is_some_and(|slot| slot.queued.is_some())
    }

    /// The task can run. Nothing happens if it waits already.
    pub fn enqueue(&mut self, id: TaskId) {
        let slot = &mut self.slots[id.index()];
        if slot.queued.is_some() || !slot.used {
            return;
        }
        slot.queued = Some(self.enqueued);
        self.enqueued += 1;
        self.waiting += 1;
        self.insert(id);
    }

    /// Takes the task that `cpu` runs next out of the queue; `None` if none may run there.
    pub fn pick(&mut self, cpu: CpuId, now: Ticks) -> Option<TaskId> {
        let chosen = self.peek(cpu, now);
        self.cpus[cpu.index()].yielded = None;
        let id = chosen?;
        self.take_out(id);
        Some(id)
    }

    /// The task that `cpu` would run next.
    #[must_use]
    pub fn peek(&mut self, cpu: CpuId, now: Ticks) -> Option<TaskId> {
        self.forget(cpu, now);
        let Cpu { here, new, ran_last, yielded, recent } = &self.cpus[cpu.index()];
        let search = Search { cpu, now, ran_last: *ran_last, yielded: *yielded };
        let sets = [&self.all, here, new];
        // Two of each set, since who yielded may be the first.
        let listed = sets.into_iter().flat_map(|set| set.iter().take(2).map(|place| place.2));
        let recent = recent.iter().map(|(id, _)| *id);
        let mut best: Option<((bool, i32, u64), TaskId)> = None;
        for id in listed.chain(*ran_last).chain(recent) {
            let Some(key) = self.key(id, search) else { continue };
            if best.is_none_or(|(least, _)| key < least) {
                best = Some((key, id));
            }
        }
        best.map(|(_, id)| id)
    }

    /// A timer interrupt hits `id` while it runs.
    #[inline]
    pub fn tick(&mut self, id: TaskId) {
        self.slots[id.index()].task.tick(self.parameters.cap);
    }

    /// The periodic decay of all accumulated CPU time.
    pub fn decay(&mut self) {
        self.all.clear();
        for cpu in &mut self.cpus {
            cpu.here.clear();
            cpu.new.clear();
        }
        for index in 0..self.slots.len() {
            self.slots[index].task.decay(self.parameters.decay);
            if self.slots[index].queued.is_some() {
                self.insert(TaskId::from(index));
            }
        }
    }

    /// The task `id`, which runs on `cpu`, stops there. If it can go on, it waits in the queue.
    pub fn stop(&mut self, id: TaskId, cpu: CpuId, now: Ticks, cause: StopCause) {
        let task = &mut self.slots[id.index()].task;
        task.last_cpu = Some(cpu);
        task.last_ran = now;
        let excludes = cause == StopCause::Yield && self.parameters.exclude_yielder;
        let is_complex = self.parameters.affinity.form == AffinityForm::Complex;
        let place = &mut self.cpus[cpu.index()];
        place.ran_last = Some(id);
        place.yielded = excludes.then_some(id);
        if is_complex {
            place.recent.push_back((id, now));
        }
        if cause.is_runnable() {
            self.enqueue(id);
        } else if cause == StopCause::Exit {
            self.remove(id);
        }
    }

    /// The waiting tasks, for [`choose`](super::choose::choose()).
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            Some(Candidate { id: TaskId::from(index), task: slot.task, queued: slot.queued? })
        })
    }

    /// What the next search of `cpu` knows.
    #[must_use]
    pub fn search(&self, cpu: CpuId, now: Ticks) -> Search {
        let Cpu { ran_last, yielded, .. } = self.cpus[cpu.index()];
        Search { cpu, now, ran_last, yielded }
    }

    /// A task that exited: its id names another task later.
    fn remove(&mut self, id: TaskId) {
        self.slots[id.index()].used = false;
        // Also where it ran before its last processor.
        for cpu in &mut self.cpus {
            cpu.ran_last = cpu.ran_last.filter(|ran| *ran != id);
            cpu.yielded = cpu.yielded.filter(|yielded| *yielded != id);
        }
        self.free.push(id);
    }

    /// What a search compares; `None` if the task does not wait or may not run there.
    #[inline]
    fn key(&self, id: TaskId, search: Search) -> Option<(bool, i32, u64)> {
        let slot = &self.slots[id.index()];
        let queued = slot.queued?;
        if !slot.task.may_run_on(search.cpu) {
            return None;
        }
        let ran_last = search.ran_last == Some(id);
        let boost = slot.task.boost(self.parameters.affinity, search.cpu, search.now, ran_last);
        let priority = slot.task.priority().saturating_sub_unsigned(boost);
        Some((search.yielded == Some(id), priority, queued))
    }

    /// The tasks that ran on `cpu` so long ago that they get no `a_t` are no longer recent.
    fn forget(&mut self, cpu: CpuId, now: Ticks) {
        let a_t = u64::from(self.parameters.affinity.a_t);
        let recent = &mut self.cpus[cpu.index()].recent;
        while recent.front().is_some_and(|(_, ran)| now.0.saturating_sub(ran.0) >= a_t) {
            recent.pop_front();
        }
    }

    fn insert(&mut self, id: TaskId) {
        let Slot { task, queued: Some(queued), .. } = &self.slots[id.index()] else { return };
        let place = (task.priority(), *queued, id);
        match (task.attached, task.last_cpu) {
            (Some(only), last) if last != Some(only) => self.cpus[only.index()].new.insert(place),
            (Some(only), _) => self.cpus[only.index()].here.insert(place),
            (None, last) => {
                if let Some(cpu) = last {
                    self.cpus[cpu.index()].here.insert(place);
                }
                self.all.insert(place)
            }
        };
    }

    fn take_out(&mut self, id: TaskId) {
        let slot = &mut self.slots[id.index()];
        let Some(queued) = slot.queued.take() else { return };
        self.waiting -= 1;
        let task = slot.task;
        let place = (task.priority(), queued, id);
        self.all.remove(&place);
        for cpu in [task.last_cpu, task.attached].into_iter().flatten() {
            let cpu = &mut self.cpus[cpu.index()];
            cpu.here.remove(&place);
            cpu.new.remove(&place);
        }
    }
}
