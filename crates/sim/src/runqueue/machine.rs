//! The processors of a time-sharing machine, its queue, and the events that move both.
//!
//! | module | holds |
//! |---|---|
//! | `life` | what begins and ends: processes, jobs, the serial beginning of an application |
//! | `segments` | what runs on a processor, until it stops or an interrupt comes |
//! | `wake` | processes that can run again |

mod life;
mod segments;
mod wake;

use super::cache::Caches;
use super::logged::LoggedQueue;
use super::process::{Behaviour, BurstEnd, Process};
use super::tally::{ApplicationTally, Tally};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use warmcore_policy::runqueue::{Record, Ticks};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::UnixScheduler;
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

const SECOND: u64 = 1_000_000_000;
/// How long a process has lived when it is old.
const OLD: u64 = 5 * SECOND;
/// Computing below this, in nanoseconds, is no computing: rounding of times leaves it.
const NOTHING: f64 = 1.0;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// What runs on a processor stops, unless it was stopped before: the number counts its segments.
    Stop(usize, u64),
    Wake(usize),
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
    /// The part of its state that was absent then.
    absent: f64,
    /// What a miss costs in this segment, and how many there are per nanosecond.
    miss_ns: f64,
    miss_rate: f64,
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

pub(super) struct Machine<'s> {
    scenario: &'s RunQueueScenario,
    queue: LoggedQueue,
    /// The process of each task.
    owners: Vec<usize>,
    processes: Vec<Process>,
    behaviours: Vec<Behaviour>,
    progress: Vec<Progress>,
    cpus: Vec<Processor>,
    idle: Vec<usize>,
    caches: Caches,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    foreseen: u64,
    now: u64,
    unfinished: usize,
    started: u32,
    tick: u64,
    random: Random,
    tally: Vec<ApplicationTally>,
}

impl<'s> Machine<'s> {
    /// The machine of a checked `scenario` in run number `replication`, before anything runs. `None` if the scenario was
    /// not checked and is impossible.
    pub(super) fn new(scenario: &'s RunQueueScenario, replication: u64, logs: bool) -> Option<Self> {
        let parameters = scenario.scheduler.parameters();
        let cpus = scenario.machine.cpus as usize;
        let mut processes = Vec::new();
        let mut progress = Vec::new();
        for (index, application) in scenario.applications.iter().enumerate() {
            let (first, count) = (processes.len(), application.processes as usize);
            let jobs = application.jobs.map_or(0, |jobs| jobs.count);
            progress.push(Progress { alive: application.processes, jobs, serial: false, first, count });
            processes
                .extend((0..count).map(|place| Process::new(scenario, first + place, index, replication)));
        }
        let key = Key { seed: scenario.seed, point: u64::MAX, replication };
        Some(Self {
            queue: LoggedQueue::new(parameters, scenario.machine.cpus, logs).ok()?,
            owners: Vec::new(),
            behaviours: scenario
                .applications
                .iter()
                .map(|one| Behaviour::new(one, scenario.machine.miss_ns))
                .collect(),
            cpus: vec![Processor { idle_since: Some(0), ..Processor::default() }; cpus],
            idle: (0..cpus).collect(),
            caches: Caches::new(scenario),
            events: BinaryHeap::new(),
            foreseen: 0,
            now: 0,
            unfinished: scenario.applications.len(),
            started: 0,
            tick: nanos(scenario.scheduler.tick_ms * 1e6),
            random: key.stream(Purpose::Policy),
            tally: vec![ApplicationTally::default(); scenario.applications.len()],
            scenario,
            processes,
            progress,
        })
    }

    /// Runs until all work is done or the time is over. Returns what happened to the queue too, if that is logged.
    pub(super) fn run(mut self) -> (Tally, Vec<Record>) {
        let end = self.scenario.seconds.map_or(u64::MAX, |seconds| nanos(seconds * 1e9));
        self.start();
        while self.unfinished > 0 {
            let Some(Reverse((at, _, event))) = self.events.pop() else { break };
            if at > end {
                break;
            }
            self.now = at;
            match event {
                Event::Stop(cpu, segment) if self.cpus[cpu].segment == segment => self.finish_segment(cpu),
                Event::Stop(..) => {}
                Event::Wake(process) => self.wake(process),
                Event::Decay => self.decay(),
                Event::Sample => self.sample(),
            }
        }
        if self.unfinished > 0 && end != u64::MAX {
            self.now = end;
        }
        let log = self.queue.take_log();
        (self.report(), log)
    }

    fn start(&mut self) {
        let period = nanos(self.scenario.scheduler.decay_ms * 1e6);
        self.foresee(period, Event::Decay);
        self.foresee(SECOND, Event::Sample);
        // The applications start together: their processes are forked in turn. Those of a serial beginning come later.
        let most = self.progress.iter().map(|one| one.count).max().unwrap_or(0);
        for place in 0..most {
            for application in 0..self.progress.len() {
                let Progress { first, count, .. } = self.progress[application];
                let is_serial = self.scenario.applications[application].serial_ms > 0.0;
                if place == 0 || (place < count && !is_serial) {
                    self.begin(first + place);
                }
            }
        }
    }

    fn foresee(&mut self, at: u64, event: Event) {
        self.foreseen += 1;
        self.events.push(Reverse((at, self.foreseen, event)));
    }

    fn ticks(&self) -> Ticks {
        Ticks(self.now / self.tick)
    }

    /// Charges the timer interrupts since the last time to what runs on `cpu`.
    fn charge(&mut self, cpu: usize) {
        let place = &mut self.cpus[cpu];
        let ticks = self.now / self.tick - place.charged / self.tick;
        place.charged = self.now;
        let Some(process) = place.running else { return };
        let (task, now) = (self.processes[process].task, self.ticks());
        for _ in 0..ticks {
            self.queue.tick(now, task);
        }
    }

    fn decay(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.charge(cpu);
        }
        self.spare_old();
        self.queue.decay(self.ticks());
        let period = nanos(self.scenario.scheduler.decay_ms * 1e6);
        self.foresee(self.now + period, Event::Decay);
    }

    /// Charges old processes beforehand what they would otherwise get back by the part of a decay that they escape.
    fn spare_old(&mut self) {
        let UnixScheduler { decay_to, decay_spares_old, .. } = self.scenario.scheduler;
        if decay_spares_old == 0.0 || decay_to == 0.0 {
            return;
        }
        let left = decay_to + (1.0 - decay_to) * decay_spares_old;
        let now = self.ticks();
        let is_old = |one: &&Process| one.alive && self.now.saturating_sub(one.born) >= OLD;
        for one in self.processes.iter().filter(is_old) {
            let more = f64::from(self.queue.task(one.task).cpu) * (left / decay_to - 1.0);
            for _ in 0..nanos(more) {
                self.queue.tick(now, one.task);
            }
        }
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

/// A time in nanoseconds, rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive float saturates")]
fn nanos(ns: f64) -> u64 {
    ns.round() as u64
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
