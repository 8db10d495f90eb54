//! Everything a placement is decided from, gathered once; and what is decided.

use super::cost_model::{CostModel, NoPrediction, Performance};
use super::cpu_pool::CpuPool;
use super::device_queues::{self, DeviceQueue, Steering};
use super::layout::{Layout, QueueLoad, ThreadLoad};
use super::target_threads::{self, TargetThread};
use super::{Goal, Request, Unplaceable};
use warmcore_linux::Inventory;
use warmcore_units::{CpuId, PerSecond};

/// Everything a placement is decided from.
pub(super) struct Context<'a> {
    pub(super) picture: &'a Inventory,
    pub(super) goal: Goal,
    pub(super) pool: CpuPool,
    pub(super) threads: Vec<TargetThread<'a>>,
    pub(super) queues: Vec<DeviceQueue<'a>>,
    pub(super) rate: Option<PerSecond>,
    pub(super) costs: Result<CostModel<'a>, NoPrediction>,
    /// Where everything is now.
    pub(super) current: Layout,
}

/// The cpus chosen for threads and queues.
pub(super) struct Assignment {
    /// The cpu of each thread.
    pub(super) threads: Vec<CpuId>,
    /// The cpu of each queue's interrupt.
    pub(super) queues: Vec<CpuId>,
    /// Which cpus process the packets of each queue.
    pub(super) steering: Vec<Steering>,
    /// Why the queues are where they are.
    pub(super) why: String,
}

/// An assignment with its layout.
pub(super) struct Proposal {
    pub(super) assignment: Assignment,
    pub(super) layout: Layout,
}

impl<'a> Context<'a> {
    pub(super) fn new(picture: &'a Inventory, request: &Request<'a>) -> Result<Self, Unplaceable> {
        let pool = CpuPool::new(picture, request.goal);
        let threads = target_threads::find(picture, &pool, request.target)?;
        let queues = device_queues::find(picture, &pool)?;
        let current = layout(
            &pool,
            (&queues, &threads),
            queues.iter().map(|queue| queue.current_cpu),
            queues.iter().map(|queue| queue.steering.clone()),
            threads.iter().map(TargetThread::current_cpu),
        );
        Ok(Self {
            picture,
            goal: request.goal,
            pool,
            threads,
            queues,
            rate: request.rate.or_else(|| device_queues::rate(picture)),
            costs: CostModel::new(request.profile),
            current,
        })
    }

    /// `assignment` with its layout.
    pub(super) fn propose(&self, assignment: Assignment) -> Proposal {
        let layout = layout(
            &self.pool,
            (&self.queues, &self.threads),
            assignment.queues.iter().copied(),
            assignment.steering.iter().cloned(),
            assignment.threads.iter().copied(),
        );
        Proposal { assignment, layout }
    }

    /// The cpus' worth of time that the target threads use.
    pub(super) fn thread_load(&self) -> f64 {
        self.threads.iter().map(TargetThread::share).sum()
    }

    /// The predicted performance of the current layout and of the proposed one.
    pub(super) fn performance(&self, proposal: &Proposal) -> Result<[Performance; 2], NoPrediction> {
        let costs = self.costs.as_ref().map_err(Clone::clone)?;
        let predict = |layout: &Layout| costs.performance(layout, self.rate, self.thread_load());
        Ok([predict(&self.current)?, predict(&proposal.layout)?])
    }
}

/// The layout of `queues` and `threads` on the given cpus, in the same order.
fn layout(
    pool: &CpuPool,
    (queues, threads): (&[DeviceQueue<'_>], &[TargetThread<'_>]),
    queue_cpus: impl Iterator<Item = CpuId>,
    steering: impl Iterator<Item = Steering>,
    thread_cpus: impl Iterator<Item = CpuId>,
) -> Layout {
    let all: f64 = threads.iter().map(TargetThread::share).sum();
    let part = |thread: &TargetThread<'_>| {
        if all > 0.0 { thread.share() / all } else { 1.0 / threads.len() as f64 }
    };
    let queues = queue_cpus.zip(queues).zip(steering);
    let queues = queues.map(|((cpu, queue), steering)| QueueLoad { cpu, part: queue.part, steering });
    let threads = thread_cpus.zip(threads).map(|(cpu, thread)| ThreadLoad { cpu, part: part(thread) });
    Layout::new(pool, queues.collect(), threads.collect())
}
