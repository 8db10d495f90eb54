//! The run queue, with a log of what happens to it if one is wanted: other schedulers are held to the same events.

use warmcore_policy::runqueue::log::Event;
use warmcore_policy::runqueue::{InvalidParameter, Parameters, Record, RunQueue, StopCause, Task, Ticks};
use warmcore_units::{CpuId, TaskId};

/// A [`RunQueue`] that keeps a log. The machine says what time it is with each call.
#[derive(Debug)]
pub(super) struct LoggedQueue {
    queue: RunQueue,
    log: Option<Vec<Record>>,
}

impl LoggedQueue {
    pub(super) fn new(parameters: Parameters, cpus: u32, logs: bool) -> Result<Self, InvalidParameter> {
        Ok(Self { queue: RunQueue::new(parameters, cpus)?, log: logs.then(Vec::new) })
    }

    pub(super) fn add(&mut self, at: Ticks, state: Task) -> TaskId {
        let task = self.queue.add(state);
        self.note(at, Event::Add { task, base: state.base, attached: state.attached });
        task
    }

    pub(super) fn enqueue(&mut self, at: Ticks, task: TaskId) {
        self.note(at, Event::Enqueue(task));
        self.queue.enqueue(task);
    }

    pub(super) fn pick(&mut self, at: Ticks, cpu: CpuId) -> Option<TaskId> {
        let chosen = self.queue.pick(cpu, at);
        self.note(at, Event::Pick { cpu, chosen });
        chosen
    }

    pub(super) fn tick(&mut self, at: Ticks, task: TaskId) {
        self.note(at, Event::Tick(task));
        self.queue.tick(task);
    }

    pub(super) fn decay(&mut self, at: Ticks) {
        self.note(at, Event::Decay);
        self.queue.decay();
    }

    pub(super) fn stop(&mut self, at: Ticks, task: TaskId, cpu: CpuId, cause: StopCause) {
        self.note(at, Event::Stop { task, cpu, cause });
        self.queue.stop(task, cpu, at, cause);
    }

    pub(super) fn task(&self, id: TaskId) -> &Task {
        self.queue.task(id)
    }

    pub(super) fn is_waiting(&self, id: TaskId) -> bool {
        self.queue.is_waiting(id)
    }

    /// The log so far; empty if none is kept.
    pub(super) fn take_log(&mut self) -> Vec<Record> {
        self.log.take().unwrap_or_default()
    }

    #[inline]
    fn note(&mut self, at: Ticks, event: Event) {
        if let Some(log) = &mut self.log {
            log.push(Record { at, event });
        }
    }
}
