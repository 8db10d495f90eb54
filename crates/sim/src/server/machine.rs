//! The events of the processors: sources send, workers process.
//!
//! Each processor has at most two events pending, one of its worker and one of its source, so no event list is needed. Of
//! events at the same time those of workers come first, then those of lower processors.

use crate::completions::{NEVER, Pending, Tournament};
use crate::server::arrivals::Next;
use crate::server::curve::Idle;
use crate::server::host::ServerHost;
use crate::server::queues::{Queues, is_shared};
use crate::server::source::{Source, Stage};
use crate::server::worker::{AfterFalling, MOST_AT_ONCE, Phase, Request, Worker};
use rand::RngExt;
use warmcore_scenario::ServerPolicy;
use warmcore_units::{CpuId, Nanos, PerSecond};
use warmcore_workload::random::{Key, Purpose, Random};

/// A request that has its reply.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Finished {
    pub(super) request: Request,
    /// When the reply was at the source's socket.
    pub(super) at: f64,
    /// The worker that processed it.
    pub(super) worker: u32,
    /// Requests of its cycle.
    pub(super) batch: u32,
}

/// The processors and what is under way on them.
pub(super) struct Machine<'h> {
    host: &'h ServerHost,
    is_shared: bool,
    pub(super) now: f64,
    /// Events of the workers, then of the sources.
    agenda: Tournament,
    pub(super) sources: Vec<Source>,
    pub(super) workers: Vec<Worker>,
    /// By processor: when it was last busy.
    idle_since: Vec<f64>,
    pub(super) queues: Queues,
    /// By flow: the processor that last used its state, or [`NOWHERE`].
    state_at: Vec<u32>,
    /// The processor that last used the shared socket.
    socket_at: u32,
    sections: Random,
    /// Replies since they were last cleared.
    finished: Vec<Finished>,
    /// Processor time of workers, all of it.
    pub(super) worker_cpu: f64,
    /// Calls that have ended.
    pub(super) sent: u64,
    /// By queue: whether a worker has found it empty.
    pub(super) was_empty: Vec<bool>,
}

/// Not used on any processor before.
const NOWHERE: u32 = u32::MAX;

impl<'h> Machine<'h> {
    /// A machine on which all sleep.
    pub(super) fn new(host: &'h ServerHost, rate: PerSecond, key: Key) -> Self {
        let processors = host.processors;
        let sources: Vec<Source> =
            Next::first(&host.flows, processors, rate, key).into_iter().map(Source::new).collect();
        let queues = Queues::new(host.policy, processors);
        let mut agenda = Tournament::new(2 * processors);
        for (cpu, source) in sources.iter().enumerate() {
            agenda.start(CpuId(processors + cpu as u32), Nanos(source.next.due));
        }
        Self {
            host,
            is_shared: is_shared(host.policy),
            now: 0.0,
            agenda,
            sources,
            workers: vec![Worker::new(); processors as usize],
            idle_since: vec![0.0; processors as usize],
            was_empty: vec![false; queues.count()],
            queues,
            state_at: vec![NOWHERE; host.flows.count()],
            socket_at: NOWHERE,
            sections: key.stream(Purpose::KernelSection),
            finished: Vec::with_capacity(MOST_AT_ONCE),
            worker_cpu: 0.0,
            sent: 0,
        }
    }

    /// Begins with `requests` queued and every worker awake.
    pub(super) fn fill(&mut self, requests: usize) {
        self.queues.clear_sleepers();
        // Where a worker that is always busy would have left each flow: anywhere.
        let processors = self.host.processors;
        if self.is_shared {
            for (flow, state_at) in (0_u32..).zip(&mut self.state_at) {
                *state_at = flow / processors % processors;
            }
        }
        for number in 0..requests {
            let cpu = number % self.sources.len();
            let next = &mut self.sources[cpu].next;
            let (flow, source) = (next.flow, cpu as u32);
            next.advance();
            let queue = self.queue(flow, source);
            self.queues.push(queue, Request { due: 0.0, call: 0.0, flow, source, woke: false, moved: false });
        }
        for cpu in 0..self.workers.len() {
            self.sources[cpu].next.restart();
            self.set_source(cpu, Stage::Asleep, self.sources[cpu].next.due);
            self.workers[cpu].phase = Phase::Rising;
            self.set_worker(cpu, 0.0);
        }
    }

    /// Sets when the next request of a source that sleeps is due.
    #[cfg(test)]
    pub(super) fn set_due(&mut self, cpu: usize, due: f64) {
        self.sources[cpu].next.due = due;
        self.set_source(cpu, Stage::Asleep, due);
    }

    /// The replies since they were cleared.
    #[inline]
    pub(super) fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// Forgets the replies, which have been recorded.
    #[inline]
    pub(super) fn clear_finished(&mut self) {
        self.finished.clear();
    }

    /// Processes the next event. There always is one: requests never end.
    #[inline]
    pub(super) fn step(&mut self) {
        let (event, Nanos(now)) = self.agenda.first();
        self.now = now;
        let cpu = event.index();
        match cpu.checked_sub(self.workers.len()) {
            None => self.worker_event(cpu),
            Some(cpu) => match self.sources[cpu].stage {
                Stage::Asleep => self.due(cpu),
                Stage::Pending => self.interrupt(cpu),
                Stage::Beginning => self.begin(cpu),
                Stage::Calling => self.end_call(cpu),
            },
        }
    }

    #[inline]
    fn set_worker(&mut self, cpu: usize, ends: f64) {
        self.workers[cpu].ends = ends;
        self.agenda.start(CpuId(cpu as u32), Nanos(ends));
    }

    #[inline]
    fn set_source(&mut self, cpu: usize, stage: Stage, at: f64) {
        self.sources[cpu].stage = stage;
        self.agenda.start(CpuId((self.workers.len() + cpu) as u32), Nanos(at));
    }

    /// The queue of a request.
    #[inline]
    fn queue(&self, flow: u32, source: u32) -> usize {
        match self.host.policy {
            // There is no host with the last two.
            ServerPolicy::ByFlow
            | ServerPolicy::KernelHash
            | ServerPolicy::Adaptive
            | ServerPolicy::Stealing
            | ServerPolicy::Exclusive => self.host.flows.worker(flow) as usize,
            ServerPolicy::ByCpu => source as usize,
            ServerPolicy::SharedLifo | ServerPolicy::SharedFifo => 0,
        }
    }
}

/// Sources.
impl Machine<'_> {
    /// A request is due, and its source sleeps.
    fn due(&mut self, cpu: usize) {
        let worker = &self.workers[cpu];
        if worker.is_running() {
            // The worker cannot be preempted before the kernel has done with the request that it is at.
            let section = if worker.phase == Phase::Cycle {
                let left: f64 = self.sections.random();
                left * self.host.rates.kernel_section * worker.length / worker.batch.len() as f64
            } else {
                0.0
            };
            self.set_source(cpu, Stage::Pending, self.now + section);
        } else {
            let idle = Idle::new(self.now - self.idle_since[cpu]);
            self.sources[cpu].idle = idle;
            self.set_source(cpu, Stage::Beginning, self.now + self.host.rates.late.at(idle));
        }
    }

    /// The interrupt takes the processor from the worker.
    fn interrupt(&mut self, cpu: usize) {
        self.pause(cpu);
        let source = &mut self.sources[cpu];
        source.has_cpu = true;
        source.idle = Idle::NONE;
        self.set_source(cpu, Stage::Beginning, self.now + self.host.rates.late_busy);
    }

    /// The source is on its processor.
    fn begin(&mut self, cpu: usize) {
        // A worker may have begun while the source woke up.
        self.pause(cpu);
        let is_worker_paused = self.workers[cpu].paused.is_some();
        let source = &mut self.sources[cpu];
        source.idle = if is_worker_paused { Idle::NONE } else { source.idle };
        source.has_cpu = true;
        source.has_woken_own = false;
        source.exit = self.host.rates.exit;
        source.is_first = true;
        self.begin_call(cpu);
    }

    fn begin_call(&mut self, cpu: usize) {
        let source = &mut self.sources[cpu];
        let Next { due, flow, .. } = source.next;
        source.next.advance();
        source.began = self.now;
        source.request = Request { due, call: 0.0, flow, source: cpu as u32, woke: false, moved: false };
        let wakes = self.claim(flow, cpu);
        self.sources[cpu].wakes = wakes;
        let time = self.call(cpu, wakes);
        self.set_source(cpu, Stage::Calling, self.now + time);
    }

    /// The time of a call that wakes this worker or nobody.
    fn call(&self, cpu: usize, wakes: Option<u32>) -> f64 {
        let source = &self.sources[cpu];
        let rates = &self.host.rates;
        match wakes {
            Some(worker) => {
                let idle = if source.is_first { source.idle } else { Idle::NONE };
                rates.place(worker as usize != cpu).waking_call.at(idle)
            }
            None if self.is_shared => {
                rates.place(self.socket_at != NOWHERE && self.socket_at as usize != cpu).call
            }
            None => rates.place(self.queue(source.request.flow, cpu as u32) != cpu).call,
        }
    }

    /// The worker that a request must wake. No other request wakes it.
    fn claim(&mut self, flow: u32, cpu: usize) -> Option<u32> {
        let worker = if self.is_shared {
            self.queues.next_sleeper()?
        } else {
            let worker = self.queue(flow, cpu as u32);
            self.workers[worker].is_asleep().then_some(worker as u32)?
        };
        self.workers[worker as usize].is_claimed = true;
        Some(worker)
    }

    fn end_call(&mut self, cpu: usize) {
        let flow = self.sources[cpu].request.flow;
        if self.sources[cpu].wakes.is_none()
            && let Some(worker) = self.claim(flow, cpu)
        {
            // It has fallen asleep during the call, which now takes as long as one that wakes.
            self.sources[cpu].wakes = Some(worker);
            let end = self.sources[cpu].began + self.call(cpu, Some(worker));
            if end > self.now {
                self.set_source(cpu, Stage::Calling, end);
                return;
            }
        }
        let source = &mut self.sources[cpu];
        source.is_first = false;
        let wakes = source.wakes.take();
        let request = Request { call: self.now - source.began, woke: wakes.is_some(), ..source.request };
        let is_more_due = source.next.due <= self.now;
        let queue = self.queue(flow, cpu as u32);
        self.queues.push(queue, request);
        self.sent += 1;
        if let Some(worker) = wakes {
            self.wake(worker as usize, cpu);
        }
        if is_more_due {
            self.sources[cpu].exit += self.host.rates.exit_more;
            self.begin_call(cpu);
        } else {
            self.leave(cpu);
        }
    }

    /// The source of `cpu` has woken a worker, as its call ends.
    fn wake(&mut self, worker: usize, cpu: usize) {
        let host = self.host;
        let is_elsewhere = worker != cpu;
        let is_falling = self.workers[worker].phase == Phase::Falling;
        let idle = if !is_elsewhere {
            self.sources[cpu].idle
        } else if is_falling || self.sources[worker].has_cpu {
            Idle::NONE
        } else {
            Idle::new(self.now - self.idle_since[worker])
        };
        let rates = host.rates.place(is_elsewhere);
        let ready = self.now + rates.wake_up.at(idle).max(0.0);
        let woken = &mut self.workers[worker];
        woken.idle = idle;
        woken.cold = rates.cold.at(idle);
        // A worker that still falls asleep pays for that as it was going to.
        if !is_falling {
            woken.half_sleep = rates.sleep / 2.0;
        }
        if !is_elsewhere {
            self.sources[cpu].has_woken_own = true;
        } else if is_falling {
            woken.after_falling = AfterFalling::WakeAt(ready);
        } else {
            woken.phase = Phase::Waking;
            woken.is_claimed = false;
            self.set_worker(worker, ready);
        }
    }

    /// The source has sent what was due, and leaves the processor to its worker.
    fn leave(&mut self, cpu: usize) {
        let Source { exit, has_woken_own, idle, next: Next { due, .. }, .. } = self.sources[cpu];
        self.sources[cpu].has_cpu = false;
        self.set_source(cpu, Stage::Asleep, due);
        let rise = self.host.rates.here.wake_up.at(idle).max(0.0);
        let worker = &mut self.workers[cpu];
        if let Some((left, since)) = worker.paused.take() {
            if has_woken_own {
                worker.after_falling = AfterFalling::Rise(rise);
            }
            let resumed = self.now + exit;
            worker.began += resumed - since;
            self.set_worker(cpu, resumed + left);
        } else if has_woken_own {
            worker.phase = Phase::Rising;
            worker.is_claimed = false;
            self.set_worker(cpu, self.now + rise);
        } else if worker.wants_cpu {
            worker.wants_cpu = false;
            worker.phase = Phase::Rising;
            self.set_worker(cpu, self.now + exit);
        } else {
            self.idle_since[cpu] = self.now;
        }
    }
}

/// Workers.
impl Machine<'_> {
    /// Takes the processor from its worker, if that runs.
    fn pause(&mut self, cpu: usize) {
        let now = self.now;
        let worker = &mut self.workers[cpu];
        if !worker.is_running() || worker.paused.is_some() {
            return;
        }
        worker.paused = Some((worker.ends - now, now));
        if worker.phase == Phase::Cycle {
            self.reply(cpu, now);
        }
        self.agenda.start(CpuId(cpu as u32), NEVER);
    }

    fn worker_event(&mut self, cpu: usize) {
        let worker = &mut self.workers[cpu];
        match worker.phase {
            Phase::Waking if self.sources[cpu].has_cpu => {
                worker.wants_cpu = true;
                self.agenda.start(CpuId(cpu as u32), NEVER);
            }
            Phase::Waking | Phase::Rising => {
                self.worker_cpu += worker.half_sleep;
                self.look(cpu);
            }
            Phase::Cycle => {
                self.reply(cpu, f64::INFINITY);
                self.look(cpu);
            }
            Phase::Falling => self.end_falling(cpu),
            Phase::Asleep => unreachable!("a worker that sleeps has no event"),
        }
    }

    /// The worker looks at its queue.
    fn look(&mut self, cpu: usize) {
        let queue = self.queues.of_worker(cpu as u32);
        let most = if self.is_shared { 1 } else { self.host.rates.most_at_once };
        let mut batch = core::mem::take(&mut self.workers[cpu].batch);
        batch.clear();
        while batch.len() < most
            && let Some(request) = self.queues.pop(queue)
        {
            batch.push(request);
        }
        if batch.is_empty() {
            self.was_empty[queue] = true;
            self.workers[cpu].batch = batch;
            self.fall_asleep(cpu);
        } else {
            self.begin_cycle(cpu, batch);
        }
    }

    fn begin_cycle(&mut self, cpu: usize, mut batch: Vec<Request>) {
        let rates = &self.host.rates;
        let idle = core::mem::replace(&mut self.workers[cpu].idle, Idle::NONE);
        let cold = core::mem::take(&mut self.workers[cpu].cold);
        let (mut time, mut processor_time) = (cold, cold);
        for (index, request) in batch.iter_mut().enumerate() {
            let place = rates.place(request.source as usize != cpu);
            let own = if index == 0 { place.first } else { place.each };
            time += own;
            processor_time += own;
            let state_at = core::mem::replace(&mut self.state_at[request.flow as usize], cpu as u32);
            request.moved = state_at != NOWHERE && state_at as usize != cpu;
            let mut add = |(more, more_cpu): (f64, f64)| {
                time += more;
                processor_time += more_cpu;
            };
            if request.moved {
                add(place.state.at(idle));
            }
            if self.is_shared {
                let socket_at = core::mem::replace(&mut self.socket_at, cpu as u32);
                if socket_at != NOWHERE && socket_at as usize != cpu {
                    add(place.socket.at(idle));
                }
            }
        }
        self.worker_cpu += processor_time.max(0.0);
        let worker = &mut self.workers[cpu];
        worker.phase = Phase::Cycle;
        worker.began = self.now;
        worker.length = time.max(0.0);
        worker.batch = batch;
        worker.replied = 0;
        let ends = self.now + worker.length;
        self.set_worker(cpu, ends);
    }

    /// The replies that leave until `until`.
    fn reply(&mut self, cpu: usize, until: f64) {
        let worker = &mut self.workers[cpu];
        let batch = worker.batch.len();
        while worker.replied < batch {
            let at = worker.reply_at(worker.replied);
            if at > until {
                break;
            }
            let request = worker.batch[worker.replied];
            self.finished.push(Finished { request, at, worker: cpu as u32, batch: batch as u32 });
            worker.replied += 1;
        }
    }

    fn fall_asleep(&mut self, cpu: usize) {
        let worker = &mut self.workers[cpu];
        worker.phase = Phase::Falling;
        worker.cold = 0.0;
        worker.idle = Idle::NONE;
        self.worker_cpu += worker.half_sleep;
        let ends = self.now + worker.half_sleep;
        if self.is_shared {
            self.queues.sleeps(cpu as u32);
        }
        self.set_worker(cpu, ends);
    }

    fn end_falling(&mut self, cpu: usize) {
        let now = self.now;
        let worker = &mut self.workers[cpu];
        match core::mem::replace(&mut worker.after_falling, AfterFalling::Sleep) {
            AfterFalling::Sleep => {
                worker.phase = Phase::Asleep;
                self.idle_since[cpu] = now;
                self.agenda.start(CpuId(cpu as u32), NEVER);
            }
            AfterFalling::WakeAt(at) => {
                worker.phase = Phase::Waking;
                worker.is_claimed = false;
                self.idle_since[cpu] = now;
                self.set_worker(cpu, at.max(now));
            }
            AfterFalling::Rise(rise) => {
                worker.phase = Phase::Rising;
                worker.is_claimed = false;
                self.set_worker(cpu, now + rise);
            }
        }
    }
}
