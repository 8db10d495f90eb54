//! What each thread did, from the scheduler's events in the order of their times: in all, and step by step.

use super::chain::Chain;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use warmcore_linux::sched_trace::{Attributes, SchedEvent, SchedRecord, StopState, Waker};
use warmcore_units::{CpuId, Nanos};

/// The thread that runs where nothing else does.
const IDLE: u32 = 0;
/// The kernel's own means to move others; what the scheduler does with them is its decision, not a demand.
const MOVER: &str = "migration/";

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
    /// It waits, for something that another thread may do even in deferred work.
    Blocked {
        by_thread: bool,
    },
}

/// A thread while it lives.
#[derive(Clone, PartialEq, Debug)]
struct Thread {
    command: String,
    doing: Doing,
    /// Since when it is known.
    born: Nanos,
    last_cpu: Option<CpuId>,
    did: Did,
    chain: Chain,
    /// The index of the thread that started it.
    parent: Option<usize>,
    attributes: Option<Attributes>,
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
    }
}

/// A thread when the recording has ended.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Past {
    /// Its command when it ended, or at last.
    pub(super) command: String,
    pub(super) did: Did,
    pub(super) chain: Chain,
    /// The group whose share of the cpus it had.
    pub(super) group: String,
    /// Whether another thread started it in the recording.
    pub(super) is_started: bool,
    pub(super) attached: Option<CpuId>,
}

/// The threads of a machine while they are recorded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Threads {
    /// All, in the order in which they were first seen.
    all: Vec<Thread>,
    /// Those that live, by the kernel's number, which others get later.
    alive: HashMap<u32, usize>,
    cpus: BTreeSet<CpuId>,
    /// Who runs where, and since when.
    running: HashMap<CpuId, (u32, Nanos)>,
    inferred: u64,
    first: Option<Nanos>,
    last: Nanos,
}

impl Threads {
    /// Takes an event into account. Times must not fall.
    pub fn record(&mut self, record: &SchedRecord<'_>) {
        let SchedRecord { at, cpu, thread, event } = *record;
        self.first.get_or_insert(at);
        self.last = at;
        self.cpus.insert(cpu);
        match event {
            SchedEvent::Switch { from, command, priority, state, to, to_command, to_priority } => {
                self.infer(from, !command.starts_with(MOVER), cpu, at);
                if from != IDLE && !command.starts_with(MOVER) {
                    self.stop(from, command, priority, state, cpu, at);
                }
                if to != IDLE && !to_command.starts_with(MOVER) {
                    self.start(to, to_command, to_priority, cpu, at);
                }
                self.running.insert(cpu, (to, at));
            }
            SchedEvent::Woken { thread: woken, waker, cpu: last_cpu, is_new } if woken != IDLE => {
                let by = self.running_on(cpu, thread).filter(|_| self.is_by_thread(woken, waker));
                if is_new {
                    self.begin(woken, by, last_cpu, at);
                } else {
                    self.wake(woken, by, waker, (cpu, last_cpu), at);
                }
            }
            SchedEvent::Exec => {
                if let Some(runs) = self.running_on(cpu, thread) {
                    self.all[runs].chain.exec(at);
                }
            }
            SchedEvent::Woken { .. } => {}
        }
    }

    /// The threads that live and of which only their events are known.
    #[must_use]
    pub fn undescribed(&self) -> Vec<u32> {
        let is_unknown = |index: &usize| self.all[*index].attributes.is_none();
        self.alive.iter().filter(|(_, index)| is_unknown(index)).map(|(id, _)| *id).collect()
    }

    /// Says what else is known of a thread that lives; nothing if it was not found.
    pub fn describe(&mut self, id: u32, attributes: Option<Attributes>) {
        if let Some(&index) = self.alive.get(&id) {
            self.all[index].attributes = attributes;
        }
    }

    /// The thread that runs on `cpu`, if it is `id` as far as is known.
    fn running_on(&self, cpu: CpuId, id: u32) -> Option<usize> {
        let index = *self.alive.get(&id)?;
        let is_there = matches!(self.all[index].doing, Doing::Running { cpu: there, .. } if there == cpu);
        is_there.then_some(index)
    }

    /// Whether it was the thread that ran which woke up `id`. Deferred work is of that thread if it sends to its own host; it
    /// is of a timer or a device if `id` waits for these.
    fn is_by_thread(&self, id: u32, waker: Waker) -> bool {
        let waits_for_thread = || {
            let doing = self.alive.get(&id).map(|&index| self.all[index].doing);
            !matches!(doing, Some(Doing::Blocked { by_thread: false }))
        };
        waker == Waker::Thread || (waker == Waker::Deferred && waits_for_thread())
    }

    /// Some kernels leave out switches. If another thread stops on `cpu` than the one that was running there, that one has
    /// stopped before: when the other could run, as far as that is known. Else none of the time between counts.
    fn infer(&mut self, from: u32, counts: bool, cpu: CpuId, at: Nanos) {
        let Some(&(running, begun)) = self.running.get(&cpu).filter(|running| running.0 != from) else {
            return;
        };
        self.inferred += 1;
        let doing = |id: u32| self.alive.get(&id).map(|&index| self.all[index].doing);
        let could_run = match doing(from) {
            Some(Doing::Waiting { since }) => Some(since),
            _ => None,
        };
        let mut switched = Nanos(could_run.unwrap_or(at).0.max(begun.0));
        if let Some(index) = self.running_on(cpu, running) {
            switched = Nanos(could_run.unwrap_or(begun).0.max(begun.0));
            let command = self.all[index].command.clone();
            let priority = self.all[index].chain.priority();
            self.stop(running, &command, priority, StopState::Sleeping, cpu, switched);
        }
        if counts && from != IDLE {
            let priority = self.alive.get(&from).map_or(120, |&index| self.all[index].chain.priority());
            self.start(from, "", priority, cpu, switched);
        }
    }

    /// How many switches were not in the trace.
    #[must_use]
    pub const fn inferred(&self) -> u64 {
        self.inferred
    }

    /// The index of a thread. One that was not seen before was in this state since the recording began.
    fn thread(&mut self, id: u32, doing: Doing) -> usize {
        if let Some(&index) = self.alive.get(&id) {
            return index;
        }
        let first = self.first.unwrap_or_default();
        self.add(id, doing, first)
    }

    fn add(&mut self, id: u32, doing: Doing, born: Nanos) -> usize {
        self.all.push(Thread {
            command: String::new(),
            doing,
            born,
            last_cpu: None,
            did: Did { threads: 1, ..Did::default() },
            chain: Chain::new(born),
            parent: None,
            attributes: None,
        });
        self.alive.insert(id, self.all.len() - 1);
        self.all.len() - 1
    }

    fn stop(&mut self, id: u32, command: &str, priority: i32, state: StopState, cpu: CpuId, at: Nanos) {
        let first = self.first.unwrap_or_default();
        let index = self.thread(id, Doing::Running { since: first, cpu });
        let thread = &mut self.all[index];
        if thread.command != command {
            command.clone_into(&mut thread.command);
        }
        if let Doing::Running { since, .. } = thread.doing {
            thread.did.ran += at - since;
            thread.chain.ran(at, cpu, priority);
        }
        thread.last_cpu = Some(cpu);
        if state == StopState::Runnable {
            thread.doing = Doing::Waiting { since: at };
            thread.chain.wait();
            return;
        }
        thread.did.stops += 1;
        thread.did.uninterruptible += u64::from(state == StopState::Uninterruptible);
        thread.doing = Doing::Blocked { by_thread: state == StopState::Sleeping };
        if state == StopState::Dead {
            thread.did.exits += 1;
            thread.did.alive += at - thread.born;
            thread.chain.exit();
            self.alive.remove(&id);
        } else {
            thread.chain.block(at);
        }
    }

    fn start(&mut self, id: u32, command: &str, priority: i32, cpu: CpuId, at: Nanos) {
        let first = self.first.unwrap_or_default();
        let index = self.thread(id, Doing::Waiting { since: first });
        let thread = &mut self.all[index];
        if thread.command.is_empty() {
            command.clone_into(&mut thread.command);
        }
        match thread.doing {
            Doing::Waiting { since } => thread.did.waited += at - since,
            // What woke it up was not seen.
            Doing::Blocked { .. } => thread.chain.slept(at, None),
            Doing::Running { .. } => {}
        }
        thread.did.dispatches += 1;
        thread.did.migrations += u64::from(thread.last_cpu.is_some_and(|last| last != cpu));
        thread.doing = Doing::Running { since: at, cpu };
        thread.chain.runs(at, cpu, priority);
    }

    /// A new thread, started by thread number `by`.
    fn begin(&mut self, id: u32, by: Option<usize>, cpu: CpuId, at: Nanos) {
        // The kernel gives numbers again.
        self.alive.remove(&id);
        let index = self.add(id, Doing::Waiting { since: at }, at);
        self.all[index].parent = by;
        match by {
            Some(by) => self.all[by].chain.start(index, at),
            None => {
                let first = self.first.unwrap_or(at);
                self.all[index].chain = Chain::new(first);
                self.all[index].chain.was_blocked(cpu);
                self.all[index].chain.slept(at, None);
            }
        }
    }

    /// Thread number `by`, or an interrupt of the first cpu, wakes up one that last ran on the other.
    fn wake(&mut self, id: u32, by: Option<usize>, waker: Waker, (cpu, last_cpu): (CpuId, CpuId), at: Nanos) {
        let is_known = self.alive.contains_key(&id);
        let index = self.thread(id, Doing::Blocked { by_thread: true });
        let thread = &mut self.all[index];
        if !is_known {
            thread.last_cpu = Some(last_cpu);
            thread.chain.was_blocked(last_cpu);
        }
        // One that has not stopped yet is woken up too.
        if !matches!(thread.doing, Doing::Blocked { .. }) {
            return;
        }
        thread.doing = Doing::Waiting { since: at };
        thread.did.wakes += 1;
        match by {
            Some(by) => self.all[by].chain.wake(index, waker == Waker::Deferred, at),
            None => {
                thread.did.by_interrupt += 1;
                let elsewhere = thread.last_cpu != Some(cpu);
                thread.chain.slept(at, elsewhere.then_some(cpu));
            }
        }
    }

    /// Whether a thread that waits since then has run without that the trace has it: its cpu has become idle later.
    fn has_run_unseen(&self, thread: &Thread, since: Nanos) -> bool {
        let on = thread.last_cpu.and_then(|cpu| self.running.get(&cpu));
        on.is_some_and(|&(running, begun)| running == IDLE && begun > since)
    }

    /// Ends the recording: what each thread did, how long it took, and how many cpus there are.
    pub(super) fn finish(mut self) -> (Vec<Past>, Nanos, usize) {
        let last = self.last;
        for &index in self.alive.values() {
            let has_run_unseen = match self.all[index].doing {
                Doing::Waiting { since } => self.has_run_unseen(&self.all[index], since),
                Doing::Running { .. } | Doing::Blocked { .. } => false,
            };
            let thread = &mut self.all[index];
            match thread.doing {
                Doing::Running { since, cpu } => {
                    thread.did.ran += last - since;
                    let priority = thread.chain.priority();
                    thread.chain.ran(last, cpu, priority);
                    thread.chain.run_on();
                }
                Doing::Waiting { .. } if has_run_unseen => thread.chain.block(last),
                Doing::Waiting { since } => {
                    thread.did.waited += last - since;
                    // One that was never seen to run is the scheduler's own, or demands nothing that is known.
                    if thread.did.dispatches > 0 || thread.did.ran > Nanos::ZERO {
                        thread.chain.run_on();
                    }
                }
                Doing::Blocked { .. } => {}
            }
            thread.did.alive += last - thread.born;
        }
        let groups = self.groups();
        let past = self.all.into_iter().zip(groups).map(|(thread, group)| Past {
            command: thread.command,
            did: thread.did,
            chain: thread.chain,
            group,
            is_started: thread.parent.is_some(),
            attached: thread.attributes.and_then(|known| known.attached),
        });
        (past.collect(), last - self.first.unwrap_or(last), self.cpus.len())
    }

    /// The group of each thread. One that ended before it was looked at was in that of the thread that started it.
    fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = Vec::with_capacity(self.all.len());
        for thread in &self.all {
            let inherited = || thread.parent.map(|parent| groups[parent].clone()).unwrap_or_default();
            groups.push(thread.attributes.as_ref().map_or_else(inherited, |known| known.group.clone()));
        }
        groups
    }

    /// The totals of each command.
    pub(super) fn by_command(past: &[Past]) -> BTreeMap<String, Did> {
        let mut did: BTreeMap<String, Did> = BTreeMap::new();
        for one in past {
            did.entry(one.command.clone()).or_default().merge(&one.did);
        }
        did
    }
}
