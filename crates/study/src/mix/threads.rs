//! What each thread did, from the scheduler's events in the order of their times.

use super::histogram::Histogram;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use warmcore_linux::sched_trace::{SchedEvent, SchedRecord, StopState};
use warmcore_units::{CpuId, Nanos};

/// The thread that runs where nothing else does.
const IDLE: u32 = 0;

/// What a thread does now.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Doing {
    Running {
        since: Nanos,
        cpu: CpuId,
    },
    /// It could run.
    Waiting {
        since: Nanos,
    },
    Blocked,
}

/// A thread while it lives.
#[derive(Clone, PartialEq, Debug)]
struct Thread {
    command: String,
    doing: Doing,
    /// Since it last blocked.
    burst: Nanos,
    /// Since when it is known.
    born: Nanos,
    last_cpu: Option<CpuId>,
    did: Did,
}

/// What threads did in all.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Did {
    /// How many threads these are.
    pub(super) threads: u64,
    pub(super) alive: Nanos,
    pub(super) ran: Nanos,
    pub(super) waited: Nanos,
    pub(super) dispatches: u64,
    pub(super) migrations: u64,
    pub(super) stops: u64,
    pub(super) uninterruptible: u64,
    pub(super) exits: u64,
    pub(super) wakes: u64,
    pub(super) by_interrupt: u64,
    pub(super) bursts: Histogram,
}

impl Did {
    pub(super) fn merge(&mut self, other: &Self) {
        self.threads += other.threads;
        self.alive += other.alive;
        self.ran += other.ran;
        self.waited += other.waited;
        self.dispatches += other.dispatches;
        self.migrations += other.migrations;
        self.stops += other.stops;
        self.uninterruptible += other.uninterruptible;
        self.exits += other.exits;
        self.wakes += other.wakes;
        self.by_interrupt += other.by_interrupt;
        self.bursts.merge(&other.bursts);
    }
}

/// The threads of a machine while they are recorded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Threads {
    alive: HashMap<u32, Thread>,
    /// By command.
    did: BTreeMap<String, Did>,
    cpus: BTreeSet<CpuId>,
    running: HashMap<CpuId, u32>,
    inferred: u64,
    /// Threads left out, such as those that record.
    excluded: BTreeSet<u32>,
    first: Option<Nanos>,
    last: Nanos,
}

impl Threads {
    /// Threads of which `excluded` are left out.
    #[must_use]
    pub fn new(excluded: impl IntoIterator<Item = u32>) -> Self {
        Self { excluded: excluded.into_iter().collect(), ..Self::default() }
    }

    /// Takes an event into account. Times must not fall.
    pub fn record(&mut self, record: &SchedRecord<'_>) {
        let SchedRecord { at, cpu, event } = *record;
        let first = *self.first.get_or_insert(at);
        self.last = at;
        self.cpus.insert(cpu);
        match event {
            SchedEvent::Switch { from, command, state, to, to_command } => {
                self.infer(from, cpu, at, first);
                if self.counts(from) {
                    self.stop(from, command, state, cpu, at, first);
                }
                if self.counts(to) {
                    self.start(to, cpu, at, first);
                    if let Some(thread) = self.alive.get_mut(&to).filter(|thread| thread.command.is_empty()) {
                        to_command.clone_into(&mut thread.command);
                    }
                }
                self.running.insert(cpu, to);
            }
            SchedEvent::Woken { thread, by_interrupt, is_new } if self.counts(thread) => {
                self.wake(thread, by_interrupt, is_new, at, first);
            }
            SchedEvent::Woken { .. } | SchedEvent::Migrated { .. } => {}
        }
    }

    fn counts(&self, thread: u32) -> bool {
        thread != IDLE && !self.excluded.contains(&thread)
    }

    /// Some kernels leave out switches. If another thread stops on `cpu` than the one that was running there, that one has
    /// stopped before: when the other could run, as far as that is known. Else none of the time between counts.
    fn infer(&mut self, from: u32, cpu: CpuId, at: Nanos, first: Nanos) {
        let Some(&running) = self.running.get(&cpu).filter(|running| **running != from) else { return };
        self.inferred += 1;
        let could_run = match self.alive.get(&from).map(|thread| thread.doing) {
            Some(Doing::Waiting { since }) => Some(since),
            _ => None,
        };
        let mut switched = could_run.unwrap_or(at);
        if self.counts(running)
            && let Some(Doing::Running { since, .. }) = self.alive.get(&running).map(|thread| thread.doing)
        {
            switched = Nanos(could_run.unwrap_or(since).0.max(since.0));
            let command = self.alive.get(&running).map(|thread| thread.command.clone()).unwrap_or_default();
            self.stop(running, &command, StopState::Sleeping, cpu, switched, first);
        }
        if self.counts(from) {
            self.start(from, cpu, switched, first);
        }
    }

    /// How many switches were not in the trace.
    #[must_use]
    pub const fn inferred(&self) -> u64 {
        self.inferred
    }

    /// A thread that was seen for the first time, in this state since the recording began or it was made.
    fn thread(&mut self, id: u32, born: Nanos, doing: Doing) -> &mut Thread {
        self.alive.entry(id).or_insert_with(|| Thread {
            command: String::new(),
            doing,
            burst: Nanos::ZERO,
            born,
            last_cpu: None,
            did: Did { threads: 1, ..Did::default() },
        })
    }

    fn stop(&mut self, id: u32, command: &str, state: StopState, cpu: CpuId, at: Nanos, first: Nanos) {
        let thread = self.thread(id, first, Doing::Running { since: first, cpu });
        if thread.command != command {
            command.clone_into(&mut thread.command);
        }
        if let Doing::Running { since, .. } = thread.doing {
            thread.did.ran += at - since;
            thread.burst += at - since;
        }
        thread.last_cpu = Some(cpu);
        if state == StopState::Runnable {
            thread.doing = Doing::Waiting { since: at };
            return;
        }
        let burst = std::mem::replace(&mut thread.burst, Nanos::ZERO);
        thread.did.bursts.add(burst);
        thread.did.stops += 1;
        thread.did.uninterruptible += u64::from(state == StopState::Uninterruptible);
        thread.doing = Doing::Blocked;
        if state == StopState::Dead
            && let Some(mut thread) = self.alive.remove(&id)
        {
            thread.did.exits += 1;
            self.bury(thread, at);
        }
    }

    fn start(&mut self, id: u32, cpu: CpuId, at: Nanos, first: Nanos) {
        let thread = self.thread(id, first, Doing::Waiting { since: first });
        if let Doing::Waiting { since } = thread.doing {
            thread.did.waited += at - since;
        }
        thread.did.dispatches += 1;
        thread.did.migrations += u64::from(thread.last_cpu.is_some_and(|last| last != cpu));
        thread.doing = Doing::Running { since: at, cpu };
    }

    fn wake(&mut self, id: u32, by_interrupt: bool, is_new: bool, at: Nanos, first: Nanos) {
        let thread = self.thread(id, if is_new { at } else { first }, Doing::Blocked);
        // One that has not stopped yet is woken up too.
        if thread.doing == Doing::Blocked {
            thread.doing = Doing::Waiting { since: at };
            if !is_new {
                thread.did.wakes += 1;
                thread.did.by_interrupt += u64::from(by_interrupt);
            }
        }
    }

    fn bury(&mut self, mut thread: Thread, at: Nanos) {
        thread.did.alive += at - thread.born;
        self.did.entry(thread.command).or_default().merge(&thread.did);
    }

    /// Ends the recording: what threads of each command did, how long it took, and how many cpus there are.
    pub(super) fn finish(mut self) -> (BTreeMap<String, Did>, Nanos, usize) {
        let last = self.last;
        for (_, mut thread) in std::mem::take(&mut self.alive) {
            match thread.doing {
                Doing::Running { since, .. } => thread.did.ran += last - since,
                Doing::Waiting { since } => thread.did.waited += last - since,
                Doing::Blocked => {}
            }
            // Who was woken up and never ran has no name, and did nothing.
            if thread.did.dispatches > 0 || thread.did.ran > Nanos::ZERO {
                self.bury(thread, last);
            }
        }
        (self.did, last - self.first.unwrap_or(last), self.cpus.len())
    }
}
