//! Tasks and processors, as the scheduler and its drivers know them.

use super::average::Average;
use super::balance::Balancing;
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
