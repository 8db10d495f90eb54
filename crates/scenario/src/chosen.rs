//! From names to code: builds what a [`Scheduling`] names, for both the simulator and the runtime.
//!
//! Each pair of a policy and a kind of queue is compiled separately, so that a packet's path contains no
//! dynamic dispatch.

use crate::combination::Organisation;
use crate::policy::ProcessorPolicy;
use crate::scheduling::{Parallelism, QueueRule, Scheduling, ThreadOrder};
use warmcore_costs::residency::{Population, Residency, Sessions};
use warmcore_costs::situation::{Experiment, Situation, ThreadStack};
use warmcore_costs::{CostModel, ExecutionModel};
use warmcore_policy::dispatch::{Job, Layout, PacketQueues, StackQueues, StreamQueue, Waiting};
use warmcore_policy::policies::adaptive::{Adaptive, CacheState, History, ServiceTimes, StackSharing};
use warmcore_policy::policies::{
    CentralQueue, HomeFirst, HomeStealing, JoinShortestQueue, LeastRecentlyUsed, MostRecentlyUsed, Patient,
    PowerOfTwo, WiredStreams,
};
use warmcore_policy::{Order, Policy, ThreadPool};

/// A task that is generic over the policy and the kind of queue.
pub trait Task {
    /// What is dispatched.
    type Job: Job;
    /// What the task returns.
    type Output;

    /// Runs the task with `policy`.
    fn on<P: Policy, W: Waiting<Job = Self::Job>>(self, policy: P) -> Self::Output;
}

impl Scheduling {
    /// The layout of this many processors, streams and stacks.
    #[must_use]
    pub fn layout(&self, processors: u32, streams: u32, stacks: u32) -> Layout {
        let stack_per_processor = self.approach == Parallelism::Hybrid;
        Layout { processors, streams, stacks, stack_per_processor, hashed: self.policy.hashes() }
    }

    /// The processor that each stream is assigned to.
    #[must_use]
    pub fn homes(&self, layout: &Layout) -> Vec<u32> {
        if self.approach != Parallelism::Ips {
            return layout.homes_of_streams();
        }
        let homes = layout.homes_of_stacks();
        layout.stacks_of_streams().into_iter().map(|stack| homes[stack as usize]).collect()
    }

    /// The server of each stream, for each kind of server that takes one packet at a time and serves streams
    /// that no other serves: independent stacks, and processors with wired streams. Each of these
    /// assignments bounds the capacity of the host.
    #[must_use]
    pub fn servers(&self, layout: &Layout) -> Vec<Vec<u32>> {
        let stacks = (self.approach == Parallelism::Ips).then(|| layout.stacks_of_streams());
        let processors = self.is_wired().then(|| self.homes(layout));
        stacks.into_iter().chain(processors).collect()
    }

    /// Runs `task` with the chosen policy and queues, for `processors` processors with the costs of `model`.
    pub fn choose<T: Task>(&self, processors: u32, model: &ExecutionModel, task: T) -> T::Output {
        use ProcessorPolicy as Named;
        match self.policy {
            Named::Mru => self.with_common_queue(MostRecentlyUsed, task),
            Named::Lru => self.with_common_queue(LeastRecentlyUsed, task),
            Named::CentralQueue => self.with_common_queue(CentralQueue::new(processors), task),
            Named::Patient => self.with_common_queue(Patient::new(model.cold_to_hot()), task),
            Named::WiredStreams if self.approach == Parallelism::Hybrid => {
                self.with_common_queue(HomeFirst, task)
            }
            Named::WiredStreams | Named::Hash => self.with_any_queue(WiredStreams, task),
            Named::HashStealing => self.with_any_queue(HomeStealing::new(processors), task),
            Named::ShortestQueue => self.with_any_queue(JoinShortestQueue::new(processors), task),
            Named::PowerOfTwo => self.with_any_queue(PowerOfTwo, task),
            Named::Adaptive => self.with_any_queue(self.adaptive(processors, model), task),
        }
    }

    fn with_common_queue<T: Task, P: Policy>(&self, policy: P, task: T) -> T::Output {
        match self.queue {
            QueueRule::SameStreamFirst => task.on::<P, StreamQueue<T::Job>>(policy),
            QueueRule::Fifo => self.with_any_queue(policy, task),
        }
    }

    fn with_any_queue<T: Task, P: Policy>(&self, policy: P, task: T) -> T::Output {
        match self.approach {
            Parallelism::Ips => task.on::<P, StackQueues<T::Job>>(policy),
            Parallelism::Locking | Parallelism::Hybrid => task.on::<P, PacketQueues<T::Job>>(policy),
        }
    }

    /// The adaptive policy, with the stack sharing and packet costs that its shadow simulation needs.
    fn adaptive(&self, processors: u32, model: &ExecutionModel) -> Adaptive {
        let stacks = match self.approach {
            Parallelism::Locking => StackSharing::Shared,
            Parallelism::Ips => StackSharing::Independent,
            Parallelism::Hybrid => StackSharing::PerProcessor,
        };
        let costs = ServiceTimes::from_fn(|found, idle| model.receive_after(situation(found), idle));
        Adaptive::new(processors, stacks, costs)
    }

    /// The cache bookkeeping at the start, before anything was written.
    #[must_use]
    pub fn residency(&self, layout: &Layout, model: &impl CostModel) -> Residency {
        let processors = layout.processors;
        let (sessions, stacks) = match self.approach {
            Parallelism::Locking => (Sessions::PerStream, 1),
            Parallelism::Ips => (Sessions::PerStream, layout.stacks),
            Parallelism::Hybrid => (Sessions::PerStack, processors),
        };
        let population = Population { processors, threads: processors, streams: layout.streams, stacks };
        Residency::new(sessions, population, model)
    }

    /// The pool of protocol threads, as many as processors.
    #[must_use]
    pub fn thread_pool(&self, processors: u32) -> ThreadPool {
        if self.threads == Organisation::PerProcessor {
            return ThreadPool::PerProcessor;
        }
        let order = match (self.thread_order, self.policy) {
            (ThreadOrder::Mru, _) | (ThreadOrder::Opposite, ProcessorPolicy::Lru) => Order::MostRecent,
            (ThreadOrder::Lru | ThreadOrder::Opposite, _) => Order::LeastRecent,
        };
        ThreadPool::global(processors, order)
    }
}

/// The cost model's situation for a cache state, with the thread's stack cached.
const fn situation(found: CacheState) -> Situation {
    let history_here = match found.history {
        History::Unwritten => None,
        History::Here => Some(true),
        History::Elsewhere => Some(false),
    };
    let experiment = Experiment::from_caches(found.session_here, history_here);
    Situation { experiment, thread_stack: ThreadStack::Cached }
}
