//! The schedulers that a machine may have, behind one interface. The machine says what happens and when, and applies what is
//! decided.

use super::logged::LoggedQueue;
use warmcore_policy::fair::{Fair, Spec, Waker};
use warmcore_policy::runqueue::{Record, StopCause, Task, Ticks};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::SchedulerKind;
use warmcore_units::{CpuId, TaskId};

/// What the scheduler is told of a new process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newcomer {
    /// Its base priority or nice value.
    pub(super) base: i32,
    pub(super) attached: Option<CpuId>,
    /// Its group of the fair scheduler; 0 if it is in none.
    pub(super) group: u32,
    /// Where it ran before the simulation.
    pub(super) last_cpu: Option<CpuId>,
}

/// Why a process can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// It was woken up by what runs on this processor.
    Woken(usize),
    /// It was woken up by an interrupt.
    Interrupted,
    /// It could run before the simulation already.
    Resumed,
    /// It is new, started from this processor.
    Started(usize),
}

/// Where a process that can run waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ready {
    /// In the queue of all processors.
    Shared,
    /// In the queue of this processor, which it takes from who runs there if `preempts`.
    On { cpu: usize, preempts: bool },
}

/// One scheduler or the other.
pub(super) enum Scheduling {
    /// One queue, which processors search (Torrellas 1995).
    Unix { queue: LoggedQueue, tick: u64 },
    /// A queue for each processor (Linux).
    Fair(Box<Fair>),
}

impl Scheduling {
    /// The scheduler of `scenario`; `None` if its constants were not checked and are impossible.
    pub(super) fn new(scenario: &RunQueueScenario, seed: u64, logs: bool) -> Option<Self> {
        let cpus = scenario.machine.cpus;
        match scenario.scheduler.kind() {
            SchedulerKind::Unix => {
                let unix = scenario.scheduler.unix();
                let queue = LoggedQueue::new(unix.parameters(), cpus, logs).ok()?;
                Some(Self::Unix { queue, tick: super::machine::nanos(unix.tick_ms * 1e6) })
            }
            SchedulerKind::Fair => {
                let parameters = scenario.scheduler.fair().parameters(cpus);
                Some(Self::Fair(Box::new(Fair::new(parameters, cpus, seed).ok()?)))
            }
        }
    }

    pub(super) fn add(&mut self, newcomer: Newcomer, now: u64) -> TaskId {
        let Newcomer { base, attached, group, last_cpu } = newcomer;
        match self {
            Self::Unix { queue, tick } => {
                queue.add(Ticks(now / *tick), Task { base, attached, ..Task::default() })
            }
            Self::Fair(fair) => fair.add(Spec { nice: base, group, attached, last_cpu }, now),
        }
    }

    /// `task` can run.
    pub(super) fn ready(&mut self, task: TaskId, origin: Origin, now: u64) -> Ready {
        let fair = match self {
            Self::Unix { queue, tick } => {
                queue.enqueue(Ticks(now / *tick), task);
                return Ready::Shared;
            }
            Self::Fair(fair) => fair,
        };
        let woken = match origin {
            Origin::Woken(cpu) => fair.wake(task, Waker::Task(CpuId::from(cpu)), now),
            Origin::Interrupted | Origin::Resumed => fair.wake(task, Waker::Interrupt, now),
            Origin::Started(cpu) => Some(fair.start(task, CpuId::from(cpu), now)),
        };
        match woken {
            Some(woken) => Ready::On { cpu: woken.cpu.index(), preempts: woken.preempts },
            None => Ready::On { cpu: fair.cpu(task).index(), preempts: false },
        }
    }

    pub(super) fn pick(&mut self, cpu: usize, now: u64) -> Option<TaskId> {
        let cpu = CpuId::from(cpu);
        match self {
            Self::Unix { queue, tick } => queue.pick(Ticks(now / *tick), cpu),
            Self::Fair(fair) => fair.pick(cpu, now),
        }
    }

    pub(super) fn stop(&mut self, task: TaskId, cpu: usize, cause: StopCause, now: u64) {
        let cpu = CpuId::from(cpu);
        match self {
            Self::Unix { queue, tick } => queue.stop(Ticks(now / *tick), task, cpu, cause),
            Self::Fair(fair) => fair.stop(task, cpu, cause, now),
        }
    }

    /// What was logged; empty if nothing was.
    pub(super) fn take_log(&mut self) -> Vec<Record> {
        match self {
            Self::Unix { queue, .. } => queue.take_log(),
            Self::Fair(_) => Vec::new(),
        }
    }
}
