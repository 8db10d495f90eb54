//! What each thread did, from the scheduler's events in the order of their times: in all, and step by step.

use super::chain::Chain;
use super::process::Origin;
use super::selection::Selection;
use super::totals::ThreadTotals;
use std::collections::{BTreeSet, HashMap};
use warmcore_linux::sched_trace::{Attributes, SchedEvent, SchedRecord, StopState, Waker};
use warmcore_units::{CpuId, Nanos};

/// The thread that runs where nothing else does.
const IDLE: u32 = 0;
/// The kernel's own means to move others; what the scheduler does with them is its decision, not a demand.
const MOVER: &str = "migration/";

/// What a thread does now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum RunState {
    Running {
        since: Nanos,
        cpu: CpuId,
    },
    /// It could run. `is_delay` if it has been woken up or is new since it last ran.
    Waiting {
        since: Nanos,
        is_delay: bool,
    },
    /// It waits, for something that another thread may do even in deferred work.
    Blocked {
        by_thread: bool,
    },
}

/// A thread while it lives.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Thread {
    /// The kernel's number.
    pub(super) id: u32,
    pub(super) command: String,
    /// What is known of its process from when it was made.
    pub(super) origin: Origin,
    state: RunState,
    /// Since when it is known.
    born: Nanos,
    last_cpu: Option<CpuId>,
    totals: ThreadTotals,
    chain: Chain,
    /// The index of the thread that started it.
    pub(super) parent: Option<usize>,
    pub(super) attributes: Option<Attributes>,
}

/// A thread when the recording has ended.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FinishedThread {
    /// The command of its process when that ended, or at last.
    pub(super) command: String,
    /// Whether it is one of those asked for.
    pub(super) is_selected: bool,
    pub(super) totals: ThreadTotals,
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
    pub(super) all: Vec<Thread>,
    /// Those that live, by the kernel's number, which others get later.
    alive: HashMap<u32, usize>,
    cpus: BTreeSet<CpuId>,
    /// Who runs where, and since when.
    running: HashMap<CpuId, (u32, Nanos)>,
    /// Those that have been made and not started, and whether they are of their maker's process.
    made: HashMap<u32, bool>,
    /// What is known of threads that have not been seen yet and are older than the recording.
    foreseen: HashMap<u32, Attributes>,
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
            SchedEvent::Made { thread, is_of_process } => drop(self.made.insert(thread, is_of_process)),
            SchedEvent::Woken { .. } => {}
        }
    }

    /// The threads that live and of which only their events are known.
    #[must_use]
    pub fn undescribed(&self) -> Vec<u32> {
        let is_unknown = |index: &usize| self.all[*index].attributes.is_none();
        self.alive.iter().filter(|(_, index)| is_unknown(index)).map(|(id, _)| *id).collect()
    }

    /// Says what is known of a thread before anything is recorded: it may end before it can be described.
    pub fn foresee(&mut self, id: u32, attributes: Attributes) {
        self.foreseen.insert(id, attributes);
    }

    /// Says what else is known of a thread that lives; nothing if it was not found.
    pub fn describe(&mut self, id: u32, attributes: Option<Attributes>) {
        let Some(&index) = self.alive.get(&id) else { return };
        if let (Origin::Unknown, Some(known)) = (self.all[index].origin, &attributes) {
            let leader = self.alive.get(&known.process).filter(|_| known.process != id);
            self.all[index].origin = match leader {
                Some(&leader) => Origin::ThreadOf(leader),
                None if known.process == id => Origin::Process,
                None => Origin::Unknown,
            };
        }
        self.all[index].attributes = attributes;
    }

    /// The thread that runs on `cpu`, if it is `id` as far as is known.
    fn running_on(&self, cpu: CpuId, id: u32) -> Option<usize> {
        let index = *self.alive.get(&id)?;
        let is_there = matches!(self.all[index].state, RunState::Running { cpu: there, .. } if there == cpu);
        is_there.then_some(index)
    }

    /// Whether it was the thread that ran which woke up `id`. Deferred work is of that thread if it sends to its own host; it
    /// is of a timer or a device if `id` waits for these.
    fn is_by_thread(&self, id: u32, waker: Waker) -> bool {
        let waits_for_thread = || {
            let state = self.alive.get(&id).map(|&index| self.all[index].state);
            !matches!(state, Some(RunState::Blocked { by_thread: false }))
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
        let state = |id: u32| self.alive.get(&id).map(|&index| self.all[index].state);
        let could_run = match state(from) {
            Some(RunState::Waiting { since, .. }) => Some(since),
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
    fn thread(&mut self, id: u32, state: RunState) -> usize {
        if let Some(&index) = self.alive.get(&id) {
            return index;
        }
        let first = self.first.unwrap_or_default();
        let index = self.add(id, state, first);
        let attributes = self.foreseen.remove(&id);
        self.describe(id, attributes);
        index
    }

    fn add(&mut self, id: u32, state: RunState, born: Nanos) -> usize {
        self.all.push(Thread {
            id,
            origin: Origin::Unknown,
            command: String::new(),
            state,
            born,
            last_cpu: None,
            totals: ThreadTotals { threads: 1, ..ThreadTotals::default() },
            chain: Chain::new(born),
            parent: None,
            attributes: None,
        });
        self.alive.insert(id, self.all.len() - 1);
        self.all.len() - 1
    }

    fn stop(&mut self, id: u32, command: &str, priority: i32, state: StopState, cpu: CpuId, at: Nanos) {
        let first = self.first.unwrap_or_default();
        let index = self.thread(id, RunState::Running { since: first, cpu });
        let thread = &mut self.all[index];
        if thread.command != command {
            command.clone_into(&mut thread.command);
        }
        if let RunState::Running { since, .. } = thread.state {
            thread.totals.ran += at - since;
            thread.chain.ran(at, cpu, priority);
        }
        thread.last_cpu = Some(cpu);
        if state == StopState::Runnable {
            thread.state = RunState::Waiting { since: at, is_delay: false };
            thread.chain.wait();
            return;
        }
        thread.totals.stops += 1;
        thread.totals.uninterruptible += u64::from(state == StopState::Uninterruptible);
        thread.state = RunState::Blocked { by_thread: state == StopState::Sleeping };
        if state == StopState::Dead {
            thread.totals.exits += 1;
            thread.totals.alive += at - thread.born;
            thread.chain.exit();
            self.alive.remove(&id);
        } else {
            thread.chain.block(at);
        }
    }

    fn start(&mut self, id: u32, command: &str, priority: i32, cpu: CpuId, at: Nanos) {
        let first = self.first.unwrap_or_default();
        let index = self.thread(id, RunState::Waiting { since: first, is_delay: false });
        let thread = &mut self.all[index];
        if thread.command.is_empty() {
            command.clone_into(&mut thread.command);
        }
        match thread.state {
            RunState::Waiting { since, is_delay } => {
                thread.totals.waited += at - since;
                if is_delay {
                    thread.totals.delays.push(at - since);
                }
            }
            // What woke it up was not seen.
            RunState::Blocked { .. } => thread.chain.slept(at, None),
            RunState::Running { .. } => {}
        }
        thread.totals.dispatches += 1;
        thread.totals.migrations += u64::from(thread.last_cpu.is_some_and(|last| last != cpu));
        thread.state = RunState::Running { since: at, cpu };
        thread.chain.runs(at, cpu, priority);
    }

    /// A new thread, started by thread number `by`.
    fn begin(&mut self, id: u32, by: Option<usize>, cpu: CpuId, at: Nanos) {
        // The kernel gives numbers again.
        self.alive.remove(&id);
        self.foreseen.remove(&id);
        let index = self.add(id, RunState::Waiting { since: at, is_delay: true }, at);
        self.all[index].parent = by;
        self.all[index].origin = match (self.made.remove(&id), by) {
            (Some(false), _) => Origin::Process,
            (Some(true), Some(by)) => Origin::ThreadOf(self.leader(by)),
            _ => Origin::Unknown,
        };
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
        let index = self.thread(id, RunState::Blocked { by_thread: true });
        let thread = &mut self.all[index];
        if !is_known {
            thread.last_cpu = Some(last_cpu);
            thread.chain.was_blocked(last_cpu);
        }
        // One that has not stopped yet is woken up too.
        if !matches!(thread.state, RunState::Blocked { .. }) {
            return;
        }
        thread.state = RunState::Waiting { since: at, is_delay: true };
        thread.totals.wakes += 1;
        match by {
            Some(by) => self.all[by].chain.wake(index, waker == Waker::Deferred, at),
            None => {
                thread.totals.by_interrupt += 1;
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
    pub(super) fn finish(mut self, selection: &Selection) -> (Vec<FinishedThread>, Nanos, usize) {
        let last = self.last;
        for &index in self.alive.values() {
            let has_run_unseen = match self.all[index].state {
                RunState::Waiting { since, .. } => self.has_run_unseen(&self.all[index], since),
                RunState::Running { .. } | RunState::Blocked { .. } => false,
            };
            let thread = &mut self.all[index];
            match thread.state {
                RunState::Running { since, cpu } => {
                    thread.totals.ran += last - since;
                    let priority = thread.chain.priority();
                    thread.chain.ran(last, cpu, priority);
                    thread.chain.run_on();
                }
                RunState::Waiting { .. } if has_run_unseen => thread.chain.block(last),
                RunState::Waiting { since, .. } => {
                    thread.totals.waited += last - since;
                    // One that was never seen to run is the scheduler's own, or demands nothing that is known.
                    if thread.totals.dispatches > 0 || thread.totals.ran > Nanos::ZERO {
                        thread.chain.run_on();
                    }
                }
                RunState::Blocked { .. } => {}
            }
            thread.totals.alive += last - thread.born;
        }
        let groups = self.groups();
        let commands: Vec<String> = (0..self.all.len()).map(|index| self.process_command(index)).collect();
        let selected = selection.of(&self.all, &commands);
        let known = self.all.into_iter().zip(commands).zip(selected.into_iter().zip(groups));
        let finished = known.map(|((thread, command), (is_selected, group))| FinishedThread {
            command,
            is_selected,
            totals: thread.totals,
            chain: thread.chain,
            group,
            is_started: thread.parent.is_some(),
            attached: thread.attributes.and_then(|known| known.attached),
        });
        (finished.collect(), last - self.first.unwrap_or(last), self.cpus.len())
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
}
