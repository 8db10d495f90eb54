//! A log of what happened to a run queue and what it decided, and its replay: how schedulers written in other languages are
//! held to the decisions of [`RunQueue`].
//!
//! A line is `TICK EVENT`, where TICK is the time in ticks, which never falls, and EVENT is one of
//!
//! ```text
//! add task3 base 60            a new task; `attached cpu1` may follow
//! enqueue task3                it can run
//! pick cpu0 task3              cpu0 searched the queue and took it; `none` if it found nothing
//! tick task3                   a timer interrupt hit it while it ran
//! decay                        all accumulated CPU time decays
//! stop task3 cpu0 yield        it stops there: quantum, preempted, yield, reschedule, block or exit
//! ```
//!
//! The names of tasks are the writer's own, such as process ids. A task that stops for a reason other than `block` and
//! `exit` waits again without an `enqueue`.

use super::parameters::{InvalidParameter, Parameters};
use super::queue::{RunQueue, StopCause};
use super::task::{Task, Ticks};
use alloc::collections::BTreeMap;
use core::fmt;
use core::str::FromStr;
use warmcore_units::{CpuId, TaskId};

/// What happened, or what was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A new task.
    Add {
        /// Its name in the log.
        task: TaskId,
        /// Its base priority.
        base: i32,
        /// The only processor it may run on.
        attached: Option<CpuId>,
    },
    /// A task can run.
    Enqueue(TaskId),
    /// A processor searched the queue.
    Pick {
        /// The processor.
        cpu: CpuId,
        /// What it took.
        chosen: Option<TaskId>,
    },
    /// A timer interrupt hit a running task.
    Tick(TaskId),
    /// All accumulated CPU time decayed.
    Decay,
    /// A task stopped running.
    Stop {
        /// The task.
        task: TaskId,
        /// Where it ran.
        cpu: CpuId,
        /// Why.
        cause: StopCause,
    },
}

/// An event and its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// When it happened.
    pub at: Ticks,
    /// What happened.
    pub event: Event,
}

/// The names of the causes in a log.
const CAUSES: [(StopCause, &str); 6] = [
    (StopCause::Quantum, "quantum"),
    (StopCause::Preempted, "preempted"),
    (StopCause::Yield, "yield"),
    (StopCause::Reschedule, "reschedule"),
    (StopCause::Block, "block"),
    (StopCause::Exit, "exit"),
];

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CAUSES.iter().find(|(cause, _)| cause == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.at.0)?;
        match self.event {
            Event::Add { task, base, attached: None } => write!(f, "add {task} base {base}"),
            Event::Add { task, base, attached: Some(cpu) } => {
                write!(f, "add {task} base {base} attached {cpu}")
            }
            Event::Enqueue(task) => write!(f, "enqueue {task}"),
            Event::Pick { cpu, chosen: Some(task) } => write!(f, "pick {cpu} {task}"),
            Event::Pick { cpu, chosen: None } => write!(f, "pick {cpu} none"),
            Event::Tick(task) => write!(f, "tick {task}"),
            Event::Decay => f.write_str("decay"),
            Event::Stop { task, cpu, cause } => write!(f, "stop {task} {cpu} {cause}"),
        }
    }
}

/// A line that is no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRecord;

impl fmt::Display for NoRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no record of a run queue: expected a tick and add, enqueue, pick, tick, decay or stop")
    }
}

impl core::error::Error for NoRecord {}

impl FromStr for Record {
    type Err = NoRecord;

    fn from_str(line: &str) -> Result<Self, NoRecord> {
        parse(line).ok_or(NoRecord)
    }
}

fn parse(line: &str) -> Option<Record> {
    let mut words = line.split_ascii_whitespace();
    let at = Ticks(words.next()?.parse().ok()?);
    let event = match words.next()? {
        "add" => {
            let task = task(words.next()?)?;
            let base =
                words.next().filter(|word| *word == "base").and_then(|_| words.next())?.parse().ok()?;
            let attached = match words.next() {
                None => None,
                Some("attached") => Some(cpu(words.next()?)?),
                Some(_) => return None,
            };
            Event::Add { task, base, attached }
        }
        "enqueue" => Event::Enqueue(task(words.next()?)?),
        "pick" => {
            let cpu = cpu(words.next()?)?;
            let chosen = match words.next()? {
                "none" => None,
                word => Some(task(word)?),
            };
            Event::Pick { cpu, chosen }
        }
        "tick" => Event::Tick(task(words.next()?)?),
        "decay" => Event::Decay,
        "stop" => {
            let (task, cpu, word) = (task(words.next()?)?, cpu(words.next()?)?, words.next()?);
            let (cause, _) = CAUSES.into_iter().find(|(_, name)| *name == word)?;
            Event::Stop { task, cpu, cause }
        }
        _ => return None,
    };
    words.next().is_none().then_some(Record { at, event })
}

fn task(word: &str) -> Option<TaskId> {
    word.strip_prefix("task")?.parse().ok().map(TaskId)
}

fn cpu(word: &str) -> Option<CpuId> {
    word.strip_prefix("cpu")?.parse().ok().map(CpuId)
}

/// A log that does not fit the decisions of this scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// The parameters are impossible.
    Parameters(InvalidParameter),
    /// A pick is not the one that the queue makes.
    Pick {
        /// The record, counted from 0.
        index: usize,
        /// What was logged.
        record: Record,
        /// The task that should have been picked.
        expected: Option<TaskId>,
    },
    /// An event that cannot happen: an unknown task or processor, a task that runs twice, or a time that falls.
    Impossible {
        /// The record, counted from 0.
        index: usize,
        /// What was logged.
        record: Record,
    },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(invalid) => invalid.fmt(f),
            Self::Pick { index, record, expected: Some(task) } => {
                write!(f, "record {index}, `{record}`: expected {task}")
            }
            Self::Pick { index, record, expected: None } => {
                write!(f, "record {index}, `{record}`: expected none")
            }
            Self::Impossible { index, record } => write!(f, "record {index}, `{record}`: this cannot happen"),
        }
    }
}

impl core::error::Error for Divergence {}

/// Replays a log of a machine with `cpus` processors; returns how many picks it held.
///
/// # Errors
/// The first record that differs from what [`RunQueue`] decides, or that cannot happen.
pub fn replay(
    parameters: Parameters,
    cpus: u32,
    log: impl IntoIterator<Item = Record>,
) -> Result<usize, Divergence> {
    let queue = RunQueue::new(parameters, cpus).map_err(Divergence::Parameters)?;
    let mut replay = Replay { queue, cpus, known: BTreeMap::new(), at: Ticks(0), picks: 0 };
    for (index, record) in log.into_iter().enumerate() {
        let differs = match replay.step(record) {
            Some(differs) => differs,
            None => return Err(Divergence::Impossible { index, record }),
        };
        if let Some(expected) = differs {
            return Err(Divergence::Pick { index, record, expected });
        }
    }
    Ok(replay.picks)
}

struct Replay {
    queue: RunQueue,
    cpus: u32,
    /// The queue's name and the processor of each task, by its name in the log.
    known: BTreeMap<TaskId, (TaskId, Option<CpuId>)>,
    at: Ticks,
    picks: usize,
}

impl Replay {
    /// Applies a record. `None` if it cannot happen; the pick that was expected if it is another.
    fn step(&mut self, record: Record) -> Option<Option<Option<TaskId>>> {
        if record.at < self.at {
            return None;
        }
        self.at = record.at;
        match record.event {
            Event::Add { task, base, attached } => {
                if self.known.contains_key(&task) || attached.is_some_and(|cpu| !self.has(cpu)) {
                    return None;
                }
                let id = self.queue.add(Task { base, attached, ..Task::default() });
                self.known.insert(task, (id, None));
            }
            Event::Enqueue(task) => {
                let (id, cpu) = *self.known.get(&task)?;
                if cpu.is_some() || self.queue.is_waiting(id) {
                    return None;
                }
                self.queue.enqueue(id);
            }
            Event::Pick { cpu, chosen } => {
                if !self.has(cpu) || self.known.values().any(|(_, on)| *on == Some(cpu)) {
                    return None;
                }
                let picked = self.queue.pick(cpu, record.at);
                let name = picked.and_then(|id| self.name(id));
                if name != chosen {
                    return Some(Some(name));
                }
                self.picks += 1;
                if let Some(known) = chosen.and_then(|task| self.known.get_mut(&task)) {
                    known.1 = Some(cpu);
                }
            }
            Event::Tick(task) => {
                let (id, cpu) = *self.known.get(&task)?;
                cpu?;
                self.queue.tick(id);
            }
            Event::Decay => self.queue.decay(),
            Event::Stop { task, cpu, cause } => {
                let known = self.known.get_mut(&task)?;
                if known.1.take() != Some(cpu) {
                    return None;
                }
                let id = known.0;
                if cause == StopCause::Exit {
                    self.known.remove(&task);
                }
                self.queue.stop(id, cpu, record.at, cause);
            }
        }
        Some(None)
    }

    const fn has(&self, cpu: CpuId) -> bool {
        cpu.0 < self.cpus
    }

    fn name(&self, id: TaskId) -> Option<TaskId> {
        self.known.iter().find(|(_, (known, _))| *known == id).map(|(name, _)| *name)
    }
}
