//! The adaptive policy's choice, from its own shadow simulation.
//!
//! The shadow simulation is a heuristic and has its own tests. Compared here are the requests that the policy
//! sees, and how packets are placed after its choice.

use warmcore_costs::{Experiment, Situation, ThreadStack};
use warmcore_policy::policies::Adaptive;
use warmcore_policy::policies::adaptive::{History, ServiceTimes, StackSharing, Strategy};
use warmcore_policy::{Policy, Request};
use warmcore_scenario::Parallelism;
use warmcore_sim::packet::SimulatedHost;

/// The shadow simulation of an adaptive policy that is never asked for a processor.
#[derive(Debug)]
pub(crate) struct Verdicts {
    listener: Adaptive,
}

impl Verdicts {
    pub(crate) fn new(host: &SimulatedHost) -> Self {
        let stacks = match host.scheduling.approach {
            Parallelism::Locking => StackSharing::Shared,
            Parallelism::Ips => StackSharing::Independent,
            Parallelism::Hybrid => StackSharing::PerProcessor,
        };
        let costs = ServiceTimes::from_fn(|found, idle| {
            let experiment = match (found.session_here, found.history) {
                (true, History::Unwritten) => Experiment::A1,
                (true, History::Here) => Experiment::A2,
                (true, History::Elsewhere) => Experiment::A3,
                (false, History::Unwritten) => Experiment::B1,
                (false, History::Here) => Experiment::B2,
                (false, History::Elsewhere) => Experiment::B3,
            };
            host.model.receive_after(Situation { experiment, thread_stack: ThreadStack::Cached }, idle)
        });
        Self { listener: Adaptive::new(host.shape.processors, stacks, costs) }
    }

    /// A packet has arrived.
    pub(crate) fn hear(&mut self, request: Request) {
        self.listener.joined(request);
    }

    pub(crate) const fn strategy(&self) -> Strategy {
        self.listener.strategy()
    }
}
