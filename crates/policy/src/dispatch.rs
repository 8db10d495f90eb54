//! The dispatcher: a policy, what it sees of the processors, and the jobs that wait (Salehi, Kurose & Towsley 1994, §3).
//!
//! The dispatcher is a pure state machine. A *driver* reports that a job has arrived or that a processor
//! has finished one, and learns which processor continues with which job. The simulator and the runtime
//! are the two drivers, so the code that made the prediction is the code that runs.
//!
//! Invariant: a processor is idle in the policy's view exactly if it holds no job as far as its driver
//! has reported, and every admitted job is held by one processor or waits in one queue.

mod observed;
pub mod waiting;

pub use waiting::{
    ClassQueues, Layout, PacketQueues, QueueLimit, QueueRules, StackQueues, StreamQueue, Waiting,
};

use crate::policy::{Decision, Policy, Queues, Request, View};
use observed::ObservedProcessors;
use rand_core::Rng;
use warmcore_units::{CpuId, Nanos, StackId, StreamId};

/// How many jobs must wait per processor before a processor is given jobs ahead.
const WAITING_PER_PROCESSOR: u32 = 2;

/// What is dispatched: the parts of a packet that decisions depend on.
pub trait Job: Send + 'static {
    /// When it arrived.
    fn arrived(&self) -> Nanos;

    /// The stream it belongs to.
    fn stream(&self) -> StreamId;
}

/// Applies a policy to jobs: `P` chooses processors, `W` holds the waiting jobs.
#[derive(Clone, Debug)]
pub struct Dispatcher<P, W> {
    policy: P,
    observed: ObservedProcessors,
    waiting: W,
}

/// What comes of a job that arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrived<J> {
    /// This idle processor starts with this job.
    Starts(CpuId, J),
    /// It waits.
    Waits,
    /// It would have to wait in a queue that is full: it is lost.
    Refused(J),
}

/// What a processor that has finished a job does next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next<J> {
    /// It continues with this job; the change is `None` if the processor's load stays the same.
    Continue(J, Option<Change>),
    /// It turns to other work, and goes [idle](Change::Idle).
    Stop,
}

/// What the end of a job changes at its processor. A driver [reports](Dispatcher::observe) it at once, or
/// later if the policy is to learn of it later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It has taken a job from its own queue: its load is one less.
    OneLess,
    /// It has gone idle.
    Idle,
}

impl<P: Policy, W: Waiting> Dispatcher<P, W> {
    /// A dispatcher with all processors idle and nothing waiting.
    #[must_use]
    pub fn new(policy: P, layout: &Layout) -> Self {
        Self::with_waiting(policy, W::new(layout, P::QUEUES), layout.processors)
    }

    /// A dispatcher of `processors` idle processors with its own `waiting` jobs, of which there are none yet.
    #[must_use]
    pub fn with_waiting(policy: P, waiting: W, processors: u32) -> Self {
        Self { policy, observed: ObservedProcessors::idle(processors), waiting }
    }

    /// Handles the arrival of `job`; `last` is the processor that last wrote its session lines. Returns
    /// the idle processor that starts and the job it takes, or `None` if the job waits.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        job: W::Job,
        last: Option<CpuId>,
        random: &mut impl Rng,
    ) -> Option<(CpuId, W::Job)> {
        match self.arrive_or_refuse(job, last, random) {
            Arrived::Starts(cpu, first) => Some((cpu, first)),
            Arrived::Waits | Arrived::Refused(_) => None,
        }
    }

    /// As [`arrive`](Self::arrive), for a driver whose queues may be [limited](Waiting::LIMITED). The policy was asked about a
    /// job that is refused, and hears no more of it.
    #[inline(always)]
    pub fn arrive_or_refuse(
        &mut self,
        job: W::Job,
        last: Option<CpuId>,
        random: &mut impl Rng,
    ) -> Arrived<W::Job> {
        let request = self.request(&job, last);
        let Some(job) = self.waiting.admit(job) else {
            self.policy.joined(request);
            return Arrived::Waits;
        };
        match self.policy.place(request, &self.observed, random) {
            Decision::Run(cpu) => {
                self.observed.more(cpu, &mut self.policy);
                let first = self.first_come(cpu, job);
                self.observed.start(cpu);
                Arrived::Starts(cpu, first)
            }
            Decision::Wait(at) if W::LIMITED && self.waiting.is_full(Self::queue(at)) => {
                Arrived::Refused(job)
            }
            Decision::Wait(at) => {
                self.waiting.enqueue(job, Self::queue(at));
                self.observed.queued();
                if P::QUEUES == Queues::PerProcessor {
                    self.observed.more(at, &mut self.policy);
                }
                Arrived::Waits
            }
        }
    }

    /// The request that the policy sees for `job`.
    #[inline]
    fn request(&self, job: &W::Job, last: Option<CpuId>) -> Request {
        let home = self.waiting.home(job);
        let stack = self.waiting.stack(job, home);
        Request { now: job.arrived(), stream: job.stream(), stack, home, last }
    }

    /// Handles the end of job `finished` on `cpu` at `now`; returns what `cpu` does next.
    #[inline(always)]
    pub fn finish(&mut self, cpu: CpuId, finished: &W::Job, now: Nanos) -> Next<W::Job> {
        self.policy.finished(now, now - finished.arrived());
        if let Some(next) = self.waiting.next_of_stack(finished) {
            Next::Continue(next, None)
        } else if let Some(next) = self.take(cpu, Some(finished)) {
            Next::Continue(next, (P::QUEUES == Queues::PerProcessor).then_some(Change::OneLess))
        } else if let Some(next) = self.steal(cpu) {
            Next::Continue(next, None)
        } else {
            Next::Stop
        }
    }

    /// Another job for `cpu` to run after `running`, which it still holds: the job it would take next
    /// anyway, or very likely, since all processors are busy and more jobs wait than they will take next.
    /// This saves a driver from asking after each job. It reports the last job with [`finish`] and the ones
    /// before it with [`finish_and_continue`].
    ///
    /// [`finish`]: Self::finish
    /// [`finish_and_continue`]: Self::finish_and_continue
    #[inline]
    pub fn prefetch(&mut self, cpu: CpuId, running: &W::Job) -> Option<W::Job> {
        if let Some(next) = self.waiting.prefetch_of_stack(running) {
            return Some(next);
        }
        if W::HOLDS_STACK {
            return None;
        }
        let processors = self.observed.processors();
        let all_are_busy = self.observed.busy() == processors;
        let enough_wait = self.observed.waiting() > WAITING_PER_PROCESSOR * processors;
        if !(P::HOME_ONLY || all_are_busy && enough_wait) {
            return None;
        }
        let next = self.take(cpu, Some(running))?;
        if P::QUEUES == Queues::PerProcessor {
            self.observed.less(cpu, &mut self.policy);
        }
        Some(next)
    }

    /// Whether `job`, which arrives now, is the next one that `cpu` takes after those it holds, the last of which is in
    /// `stack`: nothing waits before it, and no decision depends on it. [Arriving](Self::arrive) and being
    /// [prefetched](Self::prefetch) would then change nothing, so a driver may leave both out.
    #[inline]
    pub fn passes(&self, cpu: CpuId, job: &W::Job, stack: StackId) -> bool {
        P::HOME_ONLY
            && !P::USES_LOAD
            && P::QUEUES == Queues::PerProcessor
            && self.waiting.passes(cpu, job, stack)
    }

    /// Reports that a processor has finished `finished` at `now` and continues with a job that
    /// [`prefetch`](Self::prefetch) gave it.
    #[inline]
    pub fn finish_and_continue(&mut self, finished: &W::Job, now: Nanos) {
        self.policy.finished(now, now - finished.arrived());
    }

    /// The idle processor that should poll for arrivals.
    #[inline]
    pub fn poller(&self) -> Option<CpuId> {
        self.policy.poller(&self.observed)
    }

    /// Lets the policy see a `change` at `cpu`.
    #[inline]
    pub fn observe(&mut self, cpu: CpuId, change: Change) {
        self.observed.less(cpu, &mut self.policy);
        if change == Change::Idle {
            self.observed.stop(cpu);
        }
    }

    /// A job for the idle `cpu` that was queued because the policy did not yet know that `cpu` was idle.
    pub fn take_over(&mut self, cpu: CpuId) -> Option<W::Job> {
        let next = if let Some(next) = self.take(cpu, None) {
            if P::QUEUES == Queues::Common {
                self.observed.more(cpu, &mut self.policy);
            }
            next
        } else {
            let next = self.steal(cpu)?;
            self.observed.more(cpu, &mut self.policy);
            next
        };
        self.observed.start(cpu);
        Some(next)
    }

    /// Reads what is kept of `stream`, so that it is in the processor's cache when its next job arrives. Returns
    /// something that depends on it.
    #[inline]
    pub fn touch(&self, stream: StreamId) -> u32 {
        self.waiting.touch(stream)
    }

    /// Calls `touch` with the jobs that `cpu` is about to take from a queue, if the jobs in that wait for long. Returns
    /// something that depends on what it returned.
    #[inline]
    pub fn touch_next(&self, cpu: CpuId, touch: impl Fn(&W::Job) -> u32) -> u32 {
        self.waiting.touch_next(Self::queue(cpu), touch)
    }

    /// The stack that `job` visits on `cpu`.
    #[inline]
    pub fn stack(&self, job: &W::Job, cpu: CpuId) -> StackId {
        self.waiting.stack(job, cpu)
    }

    /// What the policy sees of the processors.
    #[inline]
    pub fn view(&self) -> &impl View {
        &self.observed
    }

    /// The job to start when the arrival of `job` starts `cpu`: if jobs wait although processors are idle,
    /// the one that is first in their queue.
    #[inline]
    fn first_come(&mut self, cpu: CpuId, job: W::Job) -> W::Job {
        if P::QUEUES == Queues::PerProcessor || self.observed.waiting() == 0 {
            return job;
        }
        self.waiting.enqueue(job, Self::queue(cpu));
        self.waiting.take(Self::queue(cpu), None).expect("a job that has just joined")
    }

    /// The queue that `cpu` takes jobs from; a common queue has number 0.
    #[inline]
    fn queue(cpu: CpuId) -> CpuId {
        if P::QUEUES == Queues::Common { CpuId(0) } else { cpu }
    }

    /// A job from the queue of `cpu`.
    #[inline]
    fn take(&mut self, cpu: CpuId, finished: Option<&W::Job>) -> Option<W::Job> {
        let next = self.waiting.take(Self::queue(cpu), finished)?;
        self.observed.taken();
        Some(next)
    }

    /// A job for `cpu` from another processor's queue, if the policy says so.
    #[inline]
    fn steal(&mut self, cpu: CpuId) -> Option<W::Job> {
        let victim = self.policy.steal(cpu, &self.observed)?;
        let next = self.take(victim, None)?;
        self.observed.less(victim, &mut self.policy);
        Some(next)
    }
}
