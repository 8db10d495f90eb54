//! The compiled form of the model for each policy: nothing is decided at run time in the packet's
//! path.

use crate::packet::extent::{Extended, Extent, General, Small};
use crate::packet::host::{Host, Packet};
use crate::packet::system::System;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_scenario::chosen;

/// Something to do with a [`System`] of whatever kind.
pub trait SystemTask {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run<P: Policy, W: Waiting<Job = Packet>, E: Extent>(self, system: System<P, W, E>) -> Self::Output;
}

/// Does `task` with a system of `host`.
pub fn dispatch<T: SystemTask>(host: &Host, task: T) -> T::Output {
    host.scheduling.choose(host.shape.processors, host.model, ToItsExtent { host, task })
}

struct ToItsExtent<'a, T> {
    host: &'a Host<'a>,
    task: T,
}

impl<T: SystemTask> chosen::Task for ToItsExtent<'_, T> {
    type Job = Packet;
    type Output = T::Output;

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) -> T::Output {
        let Self { host, task } = self;
        if Small::is_enough(host) {
            task.run(System::<P, W, Small>::new(policy, host))
        } else if General::is_enough(host) {
            task.run(System::<P, W, General>::new(policy, host))
        } else {
            task.run(System::<P, W, Extended>::new(policy, host))
        }
    }
}
