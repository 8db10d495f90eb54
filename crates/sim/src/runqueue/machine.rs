//! The processors of a time-sharing machine, its queue, and the events that move both.

use super::cache::Caches;
use super::logged::LoggedQueue;
use super::process::{Behaviour, BurstEnd, Process};
use super::tally::{ApplicationTally, Tally};
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_policy::runqueue::{Record, StopCause, Task, Ticks};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{Attachment, Jobs, WakeSource};
use warmcore_units::{CpuId, TaskId};
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

const SECOND: u64 = 1_000_000_000;
/// Events between two looks at whether to stop.
const LOOKS_EVERY: u32 = 1024;
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

    /// Runs until all work is done or the time is over. Returns what happened to the queue too, if that is logged; `None`
    /// once `stop` is set.
    pub(super) fn run(mut self, stop: &AtomicBool) -> Option<(Tally, Vec<Record>)> {
        let end = self.scenario.seconds.map_or(u64::MAX, |seconds| nanos(seconds * 1e9));
        self.start();
        let mut events = 0_u32;
        while self.unfinished > 0 {
            events = events.wrapping_add(1);
            if events % LOOKS_EVERY == 0 && stop.load(Ordering::Relaxed) {
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
                Event::Decay => self.decay(),
                Event::Sample => self.sample(),
            }
        }
        if self.unfinished > 0 && end != u64::MAX {
            self.now = end;
        }
        let log = self.queue.take_log();
        Some((self.report(), log))
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

    /// Gives the place of `process` a new process.
    fn begin(&mut self, process: usize) {
        let index = self.processes[process].application;
        let application = &self.scenario.applications[index];
        let work = application.work_ms.map_or(f64::INFINITY, |ms| ms * 1e6);
        match application.jobs {
            None => {
                let is_first = process == self.progress[index].first;
                let serial = application.serial_ms * 1e6;
                self.progress[index].serial |= is_first && serial > 0.0;
                self.processes[process].work = if is_first && serial > 0.0 { serial } else { work };
            }
            Some(Jobs { stages, spread, .. }) => {
                let one = &mut self.processes[process];
                if one.stages == 0 {
                    let progress = &mut self.progress[index];
                    if progress.jobs == 0 {
                        self.retire(process);
                        return;
                    }
                    progress.jobs -= 1;
                    one.stage_work = one.job_size(spread) * work / f64::from(stages);
                    one.stages = stages;
                }
                one.stages -= 1;
                one.work = one.stage_work;
                self.caches.forget(process);
            }
        }
        let attached = self.attachment(process);
        let task = self.queue.add(self.ticks(), Task { base: application.base, attached, ..Task::default() });
        if self.owners.len() <= task.index() {
            self.owners.resize(task.index() + 1, 0);
        }
        self.owners[task.index()] = process;
        let one = &mut self.processes[process];
        one.task = task;
        one.last_cpu = None;
        one.waits_for = None;
        one.next_burst(&self.behaviours[index]);
        self.started += 1;
        self.enqueue(process, true);
    }

    fn attachment(&mut self, process: usize) -> Option<CpuId> {
        let index = self.processes[process].application;
        let application = &self.scenario.applications[index];
        if !application.attached.is_empty() {
            let place = process - self.progress[index].first;
            return Some(application.attached[place % application.attached.len()]);
        }
        let cpus = self.scenario.machine.cpus;
        match self.scenario.scheduler.attach {
            Attachment::None => None,
            Attachment::Inherited if application.jobs.is_some() => Some(CpuId(CpuId::from(index).0 % cpus)),
            Attachment::RoundRobin | Attachment::Inherited => Some(CpuId(self.started % cpus)),
            Attachment::Random => Some(CpuId(self.random.random_range(0..cpus))),
        }
    }

    /// `process` has no more to do.
    fn retire(&mut self, process: usize) {
        let index = self.processes[process].application;
        self.processes[process].alive = false;
        self.progress[index].alive -= 1;
        if self.progress[index].alive == 0 {
            self.tally[index].finished_s = Some(seconds(self.now));
            self.unfinished -= 1;
        }
    }

    fn enqueue(&mut self, process: usize, woken: bool) {
        let one = &mut self.processes[process];
        one.queued_at = self.now;
        one.woken = woken;
        self.queue.enqueue(Ticks(self.now / self.tick), one.task);
        if !self.idle.is_empty() {
            self.employ(process);
        }
    }

    /// An idle processor takes `process`, which waits.
    fn employ(&mut self, process: usize) {
        let attached = self.queue.task(self.processes[process].task).attached;
        let place = match attached {
            Some(only) => self.idle.iter().position(|&cpu| cpu == only.index()),
            None => Some(self.random.random_range(0..self.idle.len())),
        };
        if let Some(place) = place {
            let cpu = self.idle.swap_remove(place);
            self.dispatch(cpu);
        }
    }

    fn ticks(&self) -> Ticks {
        Ticks(self.now / self.tick)
    }

    /// `cpu` searches the queue.
    fn dispatch(&mut self, cpu: usize) {
        let picked = self.queue.pick(self.ticks(), CpuId::from(cpu));
        let now = self.now;
        let place = &mut self.cpus[cpu];
        place.charged = now;
        let Some(task) = picked else {
            place.idle_since.get_or_insert(now);
            self.idle.push(cpu);
            return;
        };
        if let Some(since) = place.idle_since.take() {
            place.idle += now - since;
        }
        let overhead = nanos(self.scenario.machine.reschedule_us * 1e3);
        place.rescheduling += overhead;
        place.dispatched = now + overhead;
        place.quantum_ends = place.dispatched + nanos(self.scenario.scheduler.quantum_ms * 1e6);
        let process = self.owners[task.index()];
        place.running = Some(process);
        self.note_dispatch(process, cpu);
        let began = self.cpus[cpu].dispatched;
        self.begin_segment(cpu, process, began);
    }

    fn note_dispatch(&mut self, process: usize, cpu: usize) {
        let one = &mut self.processes[process];
        let index = one.application;
        let tally = &mut self.tally[index];
        let waited = (self.now - one.queued_at) as f64;
        tally.longest_wait_s = tally.longest_wait_s.max(waited / 1e9);
        if one.woken {
            tally.responses.push(waited);
        }
        one.dispatches += 1;
        if let Some(last) = one.last_cpu {
            tally.returns += 1;
            if last != cpu {
                tally.migrations += 1;
                self.caches.invalidate(process, last, self.behaviours[index].written);
            }
        }
        one.last_cpu = Some(cpu);
        let place = &mut self.cpus[cpu];
        match place.slice {
            Some((owner, _)) if owner == process => {}
            before => {
                if let Some((owner, length)) = before {
                    self.tally[self.processes[owner].application].slices.push(length);
                }
                place.slice = Some((process, 0.0));
            }
        }
    }

    /// `process` computes on `cpu` from `began` on.
    fn begin_segment(&mut self, cpu: usize, process: usize, began: u64) {
        let absent = self.caches.absent(process, cpu);
        let one = &self.processes[process];
        let behaviour = &self.behaviours[one.application];
        let mut target = one.burst.min(one.work);
        if self.is_locked_out(process) {
            target = target.min(behaviour.retry);
        }
        let elapsed = behaviour.model.elapsed(target, absent);
        let place = &mut self.cpus[cpu];
        place.began = began;
        place.absent = absent;
        place.target = target;
        place.segment += 1;
        let stops = began.saturating_add(nanos(elapsed).max(1)).min(place.quantum_ends.max(began));
        let segment = place.segment;
        self.foresee(stops, Event::Stop(cpu, segment));
    }

    /// Whether `process` needs a lock whose holder has not run since.
    fn is_locked_out(&self, process: usize) -> bool {
        self.processes[process].waits_for.is_some_and(|(holder, dispatches)| {
            let holder = &self.processes[holder];
            holder.alive && holder.dispatches == dispatches
        })
    }

    /// Accounts for what `cpu` did in its segment until now. Returns its process and how far it computed.
    fn settle(&mut self, cpu: usize) -> Option<(usize, f64)> {
        let place = &mut self.cpus[cpu];
        let process = place.running?;
        let index = self.processes[process].application;
        let model = self.behaviours[index].model;
        let elapsed = self.now.saturating_sub(place.began) as f64;
        let computed = model.computed(elapsed, place.absent);
        // The end was rounded to a nanosecond.
        let computed = if computed + NOTHING >= place.target { place.target } else { computed };
        let misses = model.misses(computed, place.absent);
        let tally = &mut self.tally[index];
        tally.misses += misses;
        tally.reload_misses += misses - model.steady * computed;
        tally.compute_s += computed / 1e9;
        tally.cpu_s += elapsed / 1e9;
        if let Some((_, length)) = &mut place.slice {
            *length += elapsed;
        }
        let left = model.absent_after(computed, place.absent);
        self.caches.displace(cpu, misses);
        self.caches.leave(process, cpu, left);
        let one = &mut self.processes[process];
        one.work -= computed;
        one.burst -= computed;
        Some((process, computed))
    }

    /// A segment has ended as foreseen.
    fn finish_segment(&mut self, cpu: usize) {
        let target = self.cpus[cpu].target;
        let locked_out = self.cpus[cpu].running.is_some_and(|process| self.is_locked_out(process));
        let Some((process, computed)) = self.settle(cpu) else { return };
        let one = &self.processes[process];
        let cause = match () {
            () if one.work <= NOTHING && self.progress[one.application].serial => StopCause::Reschedule,
            () if one.work <= NOTHING => StopCause::Exit,
            () if one.burst <= NOTHING => match one.end {
                BurstEnd::Block => StopCause::Block,
                BurstEnd::Yield => StopCause::Yield,
                BurstEnd::Reschedule => StopCause::Reschedule,
            },
            () if locked_out && computed >= target => StopCause::Yield,
            () => StopCause::Quantum,
        };
        self.stop(cpu, process, cause);
        if self.processes[process].work <= NOTHING && cause == StopCause::Reschedule {
            self.fork(process);
        }
        self.dispatch(cpu);
        if !self.idle.is_empty() && self.queue.is_waiting(self.processes[process].task) {
            self.employ(process);
        }
    }

    /// The serial beginning of an application is over: `process`, its first, starts the others and works like them.
    fn fork(&mut self, process: usize) {
        let index = self.processes[process].application;
        self.progress[index].serial = false;
        let work = self.scenario.applications[index].work_ms.map_or(f64::INFINITY, |ms| ms * 1e6);
        self.processes[process].work = work;
        let Progress { first, count, .. } = self.progress[index];
        for other in first + 1..first + count {
            self.begin(other);
        }
    }

    /// `process` stops on `cpu`, whose last segment is settled.
    fn stop(&mut self, cpu: usize, process: usize, cause: StopCause) {
        self.charge(cpu);
        let place = &mut self.cpus[cpu];
        place.running = None;
        place.segment += 1;
        let length = self.now.saturating_sub(place.dispatched) as f64;
        let index = self.processes[process].application;
        self.tally[index].dispatches.push(length);
        self.tally[index].ended.count(cause);
        let (task, ticks) = (self.processes[process].task, self.ticks());
        let one = &mut self.processes[process];
        one.queued_at = self.now;
        one.woken = false;
        let is_over = one.burst <= NOTHING;
        self.queue.stop(ticks, task, CpuId::from(cpu), cause);
        match cause {
            StopCause::Exit => self.exit(process),
            StopCause::Block => {
                let wakes = self.now.saturating_add(nanos(one.blocked(&self.behaviours[index])));
                self.foresee(wakes, Event::Wake(process));
            }
            StopCause::Yield if is_over => self.find_holder(process),
            _ => {}
        }
        if is_over {
            self.processes[process].next_burst(&self.behaviours[index]);
        }
    }

    /// The task of `process` has exited.
    fn exit(&mut self, process: usize) {
        let index = self.processes[process].application;
        if self.scenario.applications[index].jobs.is_some() {
            self.begin(process);
        } else {
            self.retire(process);
        }
    }

    /// `process` failed to get a lock: finds out who holds it.
    fn find_holder(&mut self, process: usize) {
        let index = self.processes[process].application;
        let Progress { first, count, .. } = self.progress[index];
        let held = self.behaviours[index].lock_held;
        let one = &mut self.processes[process];
        one.waits_for = None;
        if count < 2 || !one.happens(held) {
            return;
        }
        let other = first + one.one_of(count - 1);
        let holder = if other >= process { other + 1 } else { other };
        let runs = self.cpus.iter().any(|cpu| cpu.running == Some(holder));
        if self.processes[holder].alive && !runs {
            self.processes[process].waits_for = Some((holder, self.processes[holder].dispatches));
        }
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

    fn wake(&mut self, process: usize) {
        let index = self.processes[process].application;
        let by_interrupt = self.behaviours[index].wake == WakeSource::Interrupt;
        let task = self.processes[process].task;
        let preempted = by_interrupt && self.interrupt(task);
        if !preempted {
            self.enqueue(process, true);
        }
    }

    /// An interrupt hits the designated processor to wake `task` up. Returns whether `task` took the processor over.
    fn interrupt(&mut self, task: TaskId) -> bool {
        let machine = &self.scenario.machine;
        let cpu = machine.interrupt_cpu as usize;
        let takes = nanos(machine.interrupt_us * 1e3);
        self.charge(cpu);
        let settled = self.settle(cpu);
        self.caches.displace(cpu, machine.interrupt_misses);
        let Some((process, _)) = settled else { return false };
        let place = &mut self.cpus[cpu];
        let goes_on = self.now.max(place.began) + takes;
        place.quantum_ends = place.quantum_ends.max(goes_on);
        let running = self.processes[process].task;
        let queue = &self.queue;
        let preempts = self.idle.is_empty() && queue.task(task).preempts(queue.task(running));
        if preempts {
            self.preempt(cpu, process, task);
        } else {
            self.begin_segment(cpu, process, goes_on);
        }
        preempts
    }

    /// `process` leaves `cpu` to `task`, which wakes up there.
    fn preempt(&mut self, cpu: usize, process: usize, task: TaskId) {
        self.stop(cpu, process, StopCause::Preempted);
        let woken = self.owners[task.index()];
        let one = &mut self.processes[woken];
        one.queued_at = self.now;
        one.woken = true;
        self.queue.enqueue(self.ticks(), task);
        self.dispatch(cpu);
    }

    fn decay(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.charge(cpu);
        }
        self.queue.decay(self.ticks());
        let period = nanos(self.scenario.scheduler.decay_ms * 1e6);
        self.foresee(self.now + period, Event::Decay);
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
