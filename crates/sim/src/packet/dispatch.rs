//! From names to code: picks the compiled form of the model, so that nothing is decided at run
//! time in the packet's path.

use crate::packet::extent::{Extended, Extent, General, Small};
use crate::packet::host::Host;
use crate::packet::rehearsed::adaptive;
use crate::packet::system::System;
use crate::packet::waiting::{PacketLines, StackLines, StreamLines, Waiting};
use warmcore_policy::Policy;
use warmcore_policy::policies::{
    CentralQueue, HomeStealing, JoinShortestQueue, LeastRecentlyUsed, MostRecentlyUsed, Patient, PowerOfTwo,
    WiredStreams,
};
use warmcore_scenario::{Parallelism, ProcessorPolicy, QueueRule};

/// Something to do with a [`System`] of whatever kind.
pub trait Task {
    /// What comes of it.
    type Output;

    /// Does it.
    fn on<P: Policy, W: Waiting, E: Extent>(self, system: System<P, W, E>) -> Self::Output;
}

/// Does `task` with a system of `host`.
pub fn dispatch<T: Task>(host: &Host, task: T) -> T::Output {
    use ProcessorPolicy as Named;
    let processors = host.shape.processors;
    match host.scheduling.policy {
        Named::Mru => with_common_line(host, MostRecentlyUsed, task),
        Named::Lru => with_common_line(host, LeastRecentlyUsed, task),
        Named::CentralQueue => with_common_line(host, CentralQueue::new(processors), task),
        Named::Patient => with_common_line(host, Patient::new(host.model.cold_to_hot()), task),
        Named::WiredStreams | Named::Hash => with_any_line(host, WiredStreams, task),
        Named::HashStealing => with_any_line(host, HomeStealing::new(processors), task),
        Named::ShortestQueue => with_any_line(host, JoinShortestQueue::new(processors), task),
        Named::PowerOfTwo => with_any_line(host, PowerOfTwo, task),
        Named::Adaptive => with_any_line(host, adaptive(host), task),
    }
}

fn with_common_line<T: Task, P: Policy>(host: &Host, policy: P, task: T) -> T::Output {
    match host.scheduling.queue {
        QueueRule::SameStreamFirst => to_its_extent::<_, _, StreamLines>(host, policy, task),
        QueueRule::Fifo => with_any_line(host, policy, task),
    }
}

fn with_any_line<T: Task, P: Policy>(host: &Host, policy: P, task: T) -> T::Output {
    match host.scheduling.approach {
        Parallelism::Ips => to_its_extent::<_, _, StackLines>(host, policy, task),
        Parallelism::Locking | Parallelism::Hybrid => to_its_extent::<_, _, PacketLines>(host, policy, task),
    }
}

fn to_its_extent<T: Task, P: Policy, W: Waiting>(host: &Host, policy: P, task: T) -> T::Output {
    if Small::is_enough(host) {
        task.on(System::<P, W, Small>::new(policy, host))
    } else if General::is_enough(host) {
        task.on(System::<P, W, General>::new(policy, host))
    } else {
        task.on(System::<P, W, Extended>::new(policy, host))
    }
}
