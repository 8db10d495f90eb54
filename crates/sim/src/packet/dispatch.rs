//! Chooses the compiled form of the model for a host's policy and features, so that nothing is decided at run
//! time in a packet's path.

use crate::packet::features::{Extended, General, ModelFeatures, Small};
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::System;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::{ClassQueues, QueueRules, Waiting};
use warmcore_scenario::chosen;
use warmcore_workload::TimeFactors;

/// Something to do with a [`System`] of any policy, queues and features.
pub trait SystemTask {
    /// The result.
    type Output;

    /// Runs the task on `system`.
    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
        self,
        system: System<P, W, F>,
    ) -> Self::Output;
}

/// Runs `task` on a system of `host`, whose extensions must be [possible](SimulatedHost::check).
pub fn dispatch<T: SystemTask>(host: &SimulatedHost, task: T) -> T::Output {
    host.scheduling.choose(host.shape.processors, host.model, WithItsFeatures { host, task })
}

struct WithItsFeatures<'a, T> {
    host: &'a SimulatedHost<'a>,
    task: T,
}

impl<T: SystemTask> chosen::Task for WithItsFeatures<'_, T> {
    type Job = Packet;
    type Output = T::Output;

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) -> T::Output {
        let Self { host, task } = self;
        let waiting = W::new(&host.layout(), P::QUEUES);
        let always = TimeFactors::ONE;
        if Small::is_enough(host) {
            task.run(System::<P, W, Small>::new(policy, waiting, host, always))
        } else if General::is_enough(host) {
            task.run(System::<P, W, General>::new(policy, waiting, host, always))
        } else {
            let service = host.extensions.service_factors();
            if host.extensions.queues == QueueRules::default() {
                return task.run(System::<P, W, Extended>::new(policy, waiting, host, service));
            }
            let waiting = ClassQueues::with_rules(&host.layout(), P::QUEUES, &host.extensions.queues);
            task.run(System::<P, ClassQueues<Packet>, Extended>::new(policy, waiting, host, service))
        }
    }
}
