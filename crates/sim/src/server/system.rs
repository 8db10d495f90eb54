//! The processors of a server, and what happens next.

use super::source::{Activity as SourceActivity, Request, Source};
use super::terms::{Place, Terms};
use super::worker::{Activity, Woken, Worker};
use core::mem;
use std::collections::VecDeque;
use warmcore_costs::server::Waiting;
use warmcore_scenario::ServerPolicy;

/// The most requests of a batch.
const BATCH: usize = 64;

/// A request that is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Done {
    pub(super) request: Request,
    /// When its reply is back.
    pub(super) at: f64,
    /// The worker that handled it.
    pub(super) worker: usize,
    /// Whether its flow's state was last used on another processor.
    pub(super) moved: bool,
}

/// Sums over everything so far, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Spent {
    /// Processor time of the workers.
    pub(super) workers: f64,
    /// Time of the sources' calls.
    pub(super) calls: f64,
    pub(super) cycles: u64,
    pub(super) wake_ups: u64,
}

struct Processor {
    source: Source,
    worker: Worker,
    /// What waits at the worker's own socket.
    queue: VecDeque<Request>,
    /// Since when nothing runs; later than now while the worker falls asleep.
    idle_since: f64,
}

/// A server under one policy.
pub(super) struct System<'a> {
    terms: &'a Terms,
    policy: ServerPolicy,
    processors: Vec<Processor>,
    /// What waits at the socket of all.
    shared: VecDeque<Request>,
    /// Workers that sleep at the socket of all, in the order in which they fell asleep.
    sleepers: VecDeque<usize>,
    /// The worker of each flow, where flows have one.
    homes: Vec<usize>,
    /// Where each flow's state was last used.
    last: Vec<usize>,
    socket_last: usize,
    now: f64,
    pub(super) spent: Spent,
}

impl<'a> System<'a> {
    /// A server whose workers all sleep. `homes` has the worker of each flow.
    pub(super) fn new(
        terms: &'a Terms,
        policy: ServerPolicy,
        sources: Vec<Source>,
        homes: Vec<usize>,
    ) -> Self {
        let sleepers = (0..sources.len()).collect();
        let processor = |source| Processor {
            source,
            worker: Worker::new(),
            queue: VecDeque::with_capacity(1024),
            idle_since: 0.0,
        };
        let processors = sources.into_iter().map(processor).collect();
        let (shared, last, spent) = (VecDeque::with_capacity(1024), homes.clone(), Spent::default());
        Self { terms, policy, processors, shared, sleepers, homes, last, socket_last: 0, now: 0.0, spent }
    }

    /// Lets happen what happens next. Calls `done` for each request that is done.
    pub(super) fn step(&mut self, done: impl FnMut(Done)) {
        let mut next = (f64::INFINITY, 0, false);
        for (number, processor) in self.processors.iter().enumerate() {
            let source = processor.source.next_event();
            let worker = processor.worker.next_event(processor.source.takes());
            if worker < next.0 {
                next = (worker, number, false);
            }
            if source < next.0 {
                next = (source, number, true);
            }
        }
        let (at, number, is_source) = next;
        self.now = at;
        if is_source {
            self.source(number);
        } else {
            self.worker(number, done);
        }
    }

    /// How many requests wait.
    pub(super) fn waiting(&self) -> usize {
        self.shared.len() + self.processors.iter().map(|processor| processor.queue.len()).sum::<usize>()
    }

    /// How late the sources are, together.
    pub(super) fn behind(&self) -> f64 {
        self.processors.iter().map(|processor| (self.now - processor.source.next.due).max(0.0)).sum()
    }

    pub(super) const fn now(&self) -> f64 {
        self.now
    }

    fn source(&mut self, number: usize) {
        let (now, terms) = (self.now, self.terms);
        let Processor { source, worker, idle_since, .. } = &mut self.processors[number];
        match source.activity {
            SourceActivity::Asleep => {
                let (at, takes) = if worker.is_running() {
                    // A kernel that is not preempted first ends what it does for one request.
                    let kernel = source.draw() * terms.each;
                    let at = now + terms.late_busy + kernel;
                    source.idle_before = 0.0;
                    (at, at - terms.entry)
                } else {
                    source.idle_before = (now - *idle_since).max(0.0);
                    let at = now + terms.late.at(source.idle_before);
                    (at, (at - terms.entry).max(now))
                };
                source.activity = SourceActivity::Starting { takes, at };
            }
            SourceActivity::Starting { takes, .. } => {
                if let Activity::Running { until } = &mut worker.activity
                    && *until > takes
                {
                    // What is left of its cycle, from when the source has gone.
                    let left = *until - takes;
                    worker.activity = Activity::Held { after: left };
                }
                let call = self.call(number);
                self.spent.calls += call;
                self.processors[number].source.activity = SourceActivity::Calling { until: now + call };
            }
            SourceActivity::Calling { .. } => self.deliver(number),
            SourceActivity::Leaving { .. } => self.leave(number),
        }
    }

    /// How long the call of a source takes that begins now.
    fn call(&mut self, number: usize) -> f64 {
        let source = &mut self.processors[number].source;
        // Only the first call of several is cold.
        let (request, idle) = (source.next, mem::take(&mut source.idle_before));
        match self.wakes(&request) {
            None => self.terms.call,
            Some(worker) => self.terms.woken(self.place(worker, number)).call.at(idle),
        }
    }

    /// Where a woken worker is. One whose processor does something needs no interrupt: it is as if it were here.
    fn place(&self, worker: usize, source: usize) -> Place {
        let Processor { source: own, .. } = &self.processors[worker];
        if worker == source || own.takes() <= self.now { Place::Here } else { Place::There }
    }

    /// The worker that `request` would wake.
    fn wakes(&self, request: &Request) -> Option<usize> {
        let own = |worker: usize| self.processors[worker].worker.is_asleep().then_some(worker);
        match self.policy {
            ServerPolicy::ByFlow | ServerPolicy::KernelHash => own(self.homes[request.flow]),
            ServerPolicy::ByCpu => own(request.source),
            ServerPolicy::SharedFifo => self.sleepers.front().copied(),
            ServerPolicy::SharedLifo => self.sleepers.back().copied(),
        }
    }

    /// A call has ended: its request is in a queue.
    fn deliver(&mut self, number: usize) {
        let now = self.now;
        let source = &mut self.processors[number].source;
        let request = source.next;
        source.advance();
        let soon = source.next.due <= now + self.terms.between;
        source.activity = if soon {
            let at = (now + self.terms.between).max(source.next.due);
            SourceActivity::Starting { takes: now, at }
        } else {
            SourceActivity::Leaving { until: now + self.terms.exit }
        };
        let woken = self.wakes(&request);
        match self.policy {
            ServerPolicy::ByFlow | ServerPolicy::KernelHash => {
                self.processors[self.homes[request.flow]].queue.push_back(request);
            }
            ServerPolicy::ByCpu => self.processors[number].queue.push_back(request),
            ServerPolicy::SharedFifo => {
                self.shared.push_back(request);
                self.sleepers.pop_front();
            }
            ServerPolicy::SharedLifo => {
                self.shared.push_back(request);
                self.sleepers.pop_back();
            }
        }
        if let Some(worker) = woken {
            self.wake(worker, number);
        }
    }

    fn wake(&mut self, worker: usize, source: usize) {
        let (now, terms, place) = (self.now, self.terms, self.place(worker, source));
        let Processor { worker: woken, idle_since, .. } = &mut self.processors[worker];
        let idle = if place == Place::Here { 0.0 } else { (now - *idle_since).max(0.0) };
        let steps = terms.woken(place);
        let (reply, cpu) = (steps.reply.at(idle), steps.cpu.at(idle));
        let gone = if place == Place::Here { terms.exit } else { 0.0 };
        let cold = (cpu - steps.cpu.hot()).max(0.0);
        let cycle = (terms.first + cold).min((reply - gone).max(0.0));
        let latency = (reply - gone - cycle).max(0.0);
        woken.woken = Woken { cycle, cpu };
        woken.activity = match place {
            Place::Here => Activity::Held { after: latency },
            Place::There => Activity::Waking { at: now + latency },
        };
        self.spent.wake_ups += 1;
    }

    /// A source has gone away.
    fn leave(&mut self, number: usize) {
        let now = self.now;
        let Processor { source, worker, idle_since, .. } = &mut self.processors[number];
        if source.next.due <= now {
            source.activity = SourceActivity::Starting { takes: now, at: now + self.terms.between };
            return;
        }
        source.activity = SourceActivity::Asleep;
        match worker.activity {
            Activity::Held { after } if worker.batch.is_empty() => {
                worker.activity = Activity::Waking { at: now + after };
            }
            Activity::Held { after } => worker.activity = Activity::Running { until: now + after },
            _ => *idle_since = now,
        }
    }

    fn worker(&mut self, number: usize, done: impl FnMut(Done)) {
        let Processor { source, worker, .. } = &mut self.processors[number];
        match worker.activity {
            Activity::Waking { .. } if source.takes() <= self.now => {
                worker.activity = Activity::Held { after: 0.0 };
            }
            Activity::Waking { .. } => {
                let Woken { cycle, cpu } = worker.woken;
                self.begin(number, cycle, cpu);
            }
            _ => {
                self.end(number, done);
                let first = self.terms.first;
                if self.queued(number) > 0 {
                    self.begin(number, first, first);
                } else {
                    self.sleep(number);
                }
            }
        }
    }

    fn is_shared(&self) -> bool {
        self.policy.waiting() != Waiting::Own
    }

    fn queued(&self, number: usize) -> usize {
        if self.is_shared() { self.shared.len() } else { self.processors[number].queue.len() }
    }

    /// A worker takes what is queued. The first request takes `cycle`, and `cpu` of processor time.
    fn begin(&mut self, number: usize, cycle: f64, cpu: f64) {
        let is_shared = self.is_shared();
        let Processor { worker, queue, .. } = &mut self.processors[number];
        let (queue, most) = if is_shared { (&mut self.shared, 1) } else { (queue, BATCH) };
        let taken = queue.len().min(most);
        if taken == 0 {
            // Another worker has it.
            self.spent.workers += self.terms.sleep;
            self.sleep(number);
            return;
        }
        worker.batch.extend(queue.drain(..taken));
        let mut more = self.terms.each * (taken - 1) as f64;
        for request in &worker.batch {
            more += if self.last[request.flow] == number { 0.0 } else { self.terms.state_moves };
        }
        if is_shared && mem::replace(&mut self.socket_last, number) != number {
            more += self.terms.socket_moves;
        }
        worker.activity = Activity::Running { until: self.now + cycle + more };
        self.spent.workers += cpu + more;
        self.spent.cycles += 1;
    }

    /// A cycle has ended. Replies left one after another in its second half.
    fn end(&mut self, number: usize, mut done: impl FnMut(Done)) {
        let each = self.terms.each / 2.0;
        let batch = &mut self.processors[number].worker.batch;
        let count = batch.len();
        for (place, request) in batch.drain(..).enumerate() {
            let at = self.now - each * (count - 1 - place) as f64;
            let moved = mem::replace(&mut self.last[request.flow], number) != number;
            done(Done { request, at, worker: number, moved });
        }
    }

    fn sleep(&mut self, number: usize) {
        let Processor { worker, idle_since, .. } = &mut self.processors[number];
        worker.activity = Activity::Asleep;
        *idle_since = self.now + self.terms.sleep / 2.0;
        if self.is_shared() {
            self.sleepers.push_back(number);
        }
    }
}
