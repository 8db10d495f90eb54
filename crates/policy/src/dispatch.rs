//! The dispatcher: a policy, what it sees of the processors, and the jobs that wait (§3).
//!
//! It is a pure machine. A *driver* tells it that a job has arrived or that a processor has
//! finished one, and is told who goes on with what; the simulator and the runtime are the two
//! drivers, so that what was predicted is what runs.
//!
//! Invariant: a processor is idle in the policy's view exactly if it has nothing in hand as far as
//! its driver has reported, and every job that was let in is in one hand or in one line.

mod observed;
pub mod waiting;

pub use waiting::{Layout, PacketQueues, StackQueues, StreamQueue, Waiting};

use crate::policy::{Decision, Policy, Queues, Request, View};
use observed::Observed;
use rand_core::Rng;
use warmcore_units::{CpuId, Nanos, StackId, StreamId};

/// So many jobs must wait for each processor before one is given jobs ahead.
const ENOUGH_FOR_ALL: u32 = 2;

/// What is dispatched: a packet, as far as decisions go.
pub trait Job: Send {
    /// When it arrived.
    fn arrived(&self) -> Nanos;

    /// Whose it is.
    fn stream(&self) -> StreamId;
}

/// A policy at work: `P` chooses processors, `W` keeps who waits.
#[derive(Clone, Debug)]
pub struct Dispatcher<P, W> {
    policy: P,
    observed: Observed,
    waiting: W,
}

/// What a processor that has finished a job does next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next<J> {
    /// It goes on with this job; there are as many at the processor as before, or one less.
    Continue(J, Option<Change>),
    /// Nothing: it turns to other work, and goes [idle](Change::Idle).
    Stop,
}

/// What the end of a job changes at its processor. A driver [reports](Dispatcher::see) it, at once
/// or when the policy is to know of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It has gone on to a job of its own line: one less is there.
    OneLess,
    /// It has gone idle.
    Idle,
}

impl<P: Policy, W: Waiting> Dispatcher<P, W> {
    /// All processors idle, nothing waiting.
    #[must_use]
    pub fn new(policy: P, layout: &Layout) -> Self {
        Self { policy, observed: Observed::idle(layout.processors), waiting: W::none(layout, P::QUEUES) }
    }

    /// `job` arrives, of a stream whose session lines `last` wrote last. The idle processor that
    /// takes over, and the job it takes; `None` if all there is to do is wait.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        job: W::Job,
        last: Option<CpuId>,
        random: &mut impl Rng,
    ) -> Option<(CpuId, W::Job)> {
        let request = self.request(&job, last);
        let Some(job) = self.waiting.admit(job) else {
            self.policy.joined(request);
            return None;
        };
        match self.policy.place(request, &self.observed, random) {
            Decision::Run(cpu) => {
                self.observed.more(cpu, &mut self.policy);
                let first = self.first_come(cpu, job);
                self.observed.start(cpu);
                Some((cpu, first))
            }
            Decision::Wait(at) => {
                self.waiting.enqueue(job, Self::line(at));
                self.observed.queued();
                if P::QUEUES == Queues::PerProcessor {
                    self.observed.more(at, &mut self.policy);
                }
                None
            }
        }
    }

    /// What the policy is told of `job`.
    #[inline]
    fn request(&self, job: &W::Job, last: Option<CpuId>) -> Request {
        let home = self.waiting.home(job);
        let stack = self.waiting.stack(job, home);
        Request { now: job.arrived(), stream: job.stream(), stack, home, last }
    }

    /// `cpu` has finished `finished` at `now`: what it does next.
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

    /// A further job for `cpu`, which still has `running` in hand: what it would go on with anyway, or
    /// would most likely, as all processors are busy and more wait than they will all take next. A
    /// driver saves itself to ask after each job; it reports the end of what it [`finish`]es by
    /// itself with [`finish_ahead`].
    ///
    /// [`finish`]: Self::finish
    /// [`finish_ahead`]: Self::finish_ahead
    #[inline]
    pub fn ahead(&mut self, cpu: CpuId, running: &W::Job) -> Option<W::Job> {
        if let Some(next) = self.waiting.next_of_stack_ahead(running) {
            return Some(next);
        }
        if W::HOLDS_STACK {
            return None;
        }
        let processors = self.observed.processors();
        let all_are_busy = self.observed.busy() == processors;
        let enough_wait = self.observed.waiting() > ENOUGH_FOR_ALL * processors;
        if !(P::HOME_ONLY || all_are_busy && enough_wait) {
            return None;
        }
        let next = self.take(cpu, Some(running))?;
        if P::QUEUES == Queues::PerProcessor {
            self.observed.less(cpu, &mut self.policy);
        }
        Some(next)
    }

    /// A processor has finished `finished` at `now`, and goes on with what it was given
    /// [`ahead`](Self::ahead).
    #[inline]
    pub fn finish_ahead(&mut self, finished: &W::Job, now: Nanos) {
        self.policy.finished(now, now - finished.arrived());
    }

    /// The idle processor that had best look out for what comes.
    #[inline]
    pub fn poller(&self) -> Option<CpuId> {
        self.policy.poller(&self.observed)
    }

    /// The policy sees a `change` at `cpu`.
    #[inline]
    pub fn observe(&mut self, cpu: CpuId, change: Change) {
        self.observed.less(cpu, &mut self.policy);
        if change == Change::Idle {
            self.observed.stop(cpu);
        }
    }

    /// What the idle `cpu` takes over that was made to wait for it by a decision that did not know
    /// that it was idle.
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

    /// Whose turn it is when the arrival of `job` starts `cpu`: where jobs were made to wait beside
    /// idle processors, the one that has waited longest.
    #[inline]
    fn first_come(&mut self, cpu: CpuId, job: W::Job) -> W::Job {
        if P::QUEUES == Queues::PerProcessor || self.observed.waiting() == 0 {
            return job;
        }
        let Some(first) = self.waiting.take(Self::line(cpu), None) else { return job };
        self.waiting.enqueue(job, Self::line(cpu));
        first
    }

    /// The line that `cpu` takes jobs from: one that is common to all is the first.
    #[inline]
    fn line(cpu: CpuId) -> CpuId {
        if P::QUEUES == Queues::Common { CpuId(0) } else { cpu }
    }

    /// A job from the line of `cpu`.
    #[inline]
    fn take(&mut self, cpu: CpuId, finished: Option<&W::Job>) -> Option<W::Job> {
        let next = self.waiting.take(Self::line(cpu), finished)?;
        self.observed.taken();
        Some(next)
    }

    /// A job for `cpu` from another's line, if the policy says so.
    #[inline]
    fn steal(&mut self, cpu: CpuId) -> Option<W::Job> {
        let victim = self.policy.steal(cpu, &self.observed)?;
        let next = self.take(victim, None)?;
        self.observed.less(victim, &mut self.policy);
        Some(next)
    }
}
