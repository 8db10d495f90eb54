//! The processors of a time-sharing machine, its queue, and the events that move both.
//!
//! | module | holds |
//! |---|---|
//! | `life` | what begins and ends: processes, jobs, the serial beginning of an application |
//! | `segments` | what runs on a processor, until it stops or an interrupt comes |
//! | `steps` | what a recorded thread does between its segments |
//! | `ticks` | timer interrupts, and what schedulers do at them |
//! | `wake` | processes that can run again |

mod life;
mod segments;
mod steps;
mod ticks;
mod wake;

use super::cache::{CacheModel, cache_model};
use super::process::{Behaviour, BurstEnd, Process};
use super::scheduling::Scheduling;
use super::tally::{ApplicationTally, Tally};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_policy::runqueue::Record;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{SchedulerKind, Step};
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

const SECOND: u64 = 1_000_000_000;
/// Events between two looks at whether to stop.
const LOOKS_EVERY: u32 = 1024;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// What runs on a processor stops, unless it was stopped before: the number counts its segments.
    Stop(usize, u64),
    Wake(usize),
    /// Timer interrupts of all processors.
    Tick,
    Decay,
    /// A second is over.
    Sample,
}

/// A processor. What runs there does so in *segments*, which end when it stops or an interrupt comes.
#[derive(Clone, Debug, Default)]
struct Processor {
    running: Option<usize>,
    /// The number of the segment.
    segment: u64,
    /// When its process began to compute in this segment.
    began: u64,
    /// How far it computes in this segment if nothing stops it, in nanoseconds.
    target: f64,
    /// When its quantum is over.
    quantum_ends: u64,
    /// When the dispatch interval began.
    dispatched: u64,
    /// Until when timer interrupts are charged.
    charged: u64,
    /// Whose effective time slice it is, and how long it is so far.
    slice: Option<(usize, f64)>,
    idle_since: Option<u64>,
    idle: u64,
    rescheduling: u64,
}

/// An application's progress.
#[derive(Clone, Debug)]
struct Progress {
    alive: u32,
    jobs: u32,
    /// Whether its first process is alone at work, before the others start.
    serial: bool,
    first: usize,
    count: usize,
}

/// What a run keeps beside its figures.
#[derive(Clone, Copy, Default)]
pub(super) struct Keeps {
    /// What happened to the queue.
    pub(super) log: bool,
    /// Misses by kind, of simulated caches.
    pub(super) kinds: bool,
}

pub(super) struct Machine<'s> {
    scenario: &'s RunQueueScenario,
    scheduling: Scheduling,
    /// The process of each task.
    owners: Vec<usize>,
    processes: Vec<Process<'s>>,
    behaviours: Vec<Behaviour>,
    progress: Vec<Progress>,
    cpus: Vec<Processor>,
    idle: Vec<usize>,
    /// The longest time until the scheduler looks at what runs, in nanoseconds.
    quantum: u64,
    caches: Box<dyn CacheModel>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    foreseen: u64,
    now: u64,
    unfinished: usize,
    started: u32,
    random: Random,
    tally: Vec<ApplicationTally>,
}

impl<'s> Machine<'s> {
    /// The machine of a checked `scenario` in run number `replication`, before anything runs. `None` if the scenario was
    /// not checked and is impossible.
    pub(super) fn new(scenario: &'s RunQueueScenario, replication: u64, keeps: Keeps) -> Option<Self> {
        let cpus = scenario.machine.cpus as usize;
        let mut processes = Vec::new();
        let mut progress = Vec::new();
        for (index, application) in scenario.applications.iter().enumerate() {
            let (first, count) = (processes.len(), application.processes as usize);
            let jobs = application.jobs.map_or(0, |jobs| jobs.count);
            progress.push(Progress { alive: application.processes, jobs, serial: false, first, count });
            processes.extend(
                (0..count).map(|place| Process::new(scenario, first + place, place, index, replication)),
            );
        }
        mark_started(scenario, &mut processes);
        let key = Key { seed: scenario.seed, point: u64::MAX, replication };
        Some(Self {
            scheduling: Scheduling::new(scenario, scenario.seed ^ (replication << 32), keeps.log)?,
            owners: Vec::new(),
            behaviours: scenario.applications.iter().map(Behaviour::new).collect(),
            cpus: vec![Processor { idle_since: Some(0), ..Processor::default() }; cpus],
            idle: (0..cpus).collect(),
            quantum: match scenario.scheduler.kind() {
                SchedulerKind::Unix => nanos(scenario.scheduler.unix().quantum_ms * 1e6),
                // Slices end at ticks.
                SchedulerKind::Fair => u64::MAX,
            },
            caches: cache_model(scenario, replication, keeps.kinds)?,
            events: BinaryHeap::new(),
            foreseen: 0,
            now: 0,
            unfinished: scenario.applications.len(),
            started: 0,
            random: key.stream(Purpose::Policy),
            tally: scenario
                .applications
                .iter()
                .map(|one| ApplicationTally { is_background: one.background, ..ApplicationTally::default() })
                .collect(),
            scenario,
            processes,
            progress,
        })
    }

    /// Runs until all work is done or the time is over. Returns what happened to the queue too, if that is logged; `None`
    /// once `stop` is set.
    pub(super) fn run(mut self, stop: &AtomicBool) -> Option<(Tally, Vec<Record>)> {
        let end = self.scenario.seconds.map_or(u64::MAX, |seconds| nanos(seconds * 1e9));
        self.start();
        let mut events = 0_u32;
        while self.unfinished > 0 {
            events = events.wrapping_add(1);
            if events.is_multiple_of(LOOKS_EVERY) && stop.load(Ordering::Relaxed) {
                return None;
            }
            let Some(Reverse((at, _, event))) = self.events.pop() else { break };
            if at > end {
                break;
            }
            self.now = at;
            match event {
                Event::Stop(cpu, segment) if self.cpus[cpu].segment == segment => self.finish_segment(cpu),
                Event::Stop(..) => {}
                Event::Wake(process) => self.wake(process),
                Event::Tick => self.tick(),
                Event::Decay => self.decay(),
                Event::Sample => self.sample(),
            }
        }
        if self.unfinished > 0 && end != u64::MAX {
            self.now = end;
        }
        let log = self.scheduling.take_log();
        Some((self.report(), log))
    }

    fn start(&mut self) {
        self.foresee_ticks();
        self.foresee(SECOND, Event::Sample);
        // The applications start together: their processes are forked in turn. Those of a serial beginning come later.
        let most = self.progress.iter().map(|one| one.count).max().unwrap_or(0);
        for place in 0..most {
            for application in 0..self.progress.len() {
                let Progress { first, count, .. } = self.progress[application];
                let is_serial = self.scenario.applications[application].serial_ms > 0.0;
                let process = first + place;
                let is_due = place == 0 || (place < count && !is_serial);
                if is_due && !self.processes[process].is_started_by_another {
                    self.begin(process, self.started as usize % self.cpus.len());
                }
            }
        }
    }

    fn foresee(&mut self, at: u64, event: Event) {
        self.foreseen += 1;
        self.events.push(Reverse((at, self.foreseen, event)));
    }

    fn sample(&mut self) {
        for tally in &mut self.tally {
            if tally.finished_s.is_none() {
                tally.cpu_by_second.push(tally.cpu_s);
            }
        }
        self.foresee(self.now + SECOND, Event::Sample);
    }

    fn report(mut self) -> Tally {
        for cpu in 0..self.cpus.len() {
            self.settle(cpu);
            let place = &mut self.cpus[cpu];
            if let Some(since) = place.idle_since.take() {
                place.idle += self.now - since;
            }
            if let Some((owner, length)) = place.slice.take() {
                self.tally[self.processes[owner].application].slices.push(length);
            }
        }
        // A process that waits at the end has waited too, also if it never ran.
        for one in &self.processes {
            let waited = one.queued_at.map_or(0.0, |since| seconds(self.now - since));
            let longest = &mut self.tally[one.application].longest_wait_s;
            *longest = longest.max(waited);
        }
        self.caches.report(&mut self.tally);
        let all = self.now as f64 * self.cpus.len() as f64;
        let part = |of: fn(&Processor) -> u64| self.cpus.iter().map(of).sum::<u64>() as f64 / all;
        Tally {
            seconds: seconds(self.now),
            idle: part(|cpu| cpu.idle),
            rescheduling: part(|cpu| cpu.rescheduling),
            applications: self.tally,
        }
    }
}

/// Notes which processes a recorded thread starts: they do not begin by themselves.
fn mark_started(scenario: &RunQueueScenario, processes: &mut [Process<'_>]) {
    for thread in scenario.applications.iter().flat_map(|one| &one.threads) {
        for step in &thread.steps.0 {
            if let Step::Start(other) = step {
                processes[*other as usize].is_started_by_another = true;
            }
        }
    }
}

/// A time in nanoseconds, rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive float saturates")]
pub(super) fn nanos(ns: f64) -> u64 {
    ns.round() as u64
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
