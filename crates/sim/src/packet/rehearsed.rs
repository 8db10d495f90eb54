//! What the adaptive policy is told of a host, so that it can rehearse it: whose its stacks are,
//! and what a packet costs.

use crate::packet::host::Host;
use warmcore_costs::situation::{Experiment, Situation, ThreadStack};
use warmcore_policy::policies::adaptive::{Adaptive, Costs, Found, History, Stacks};
use warmcore_scenario::Parallelism;

/// The adaptive policy for `host`.
pub(super) fn adaptive(host: &Host) -> Adaptive {
    let stacks = match host.scheduling.approach {
        Parallelism::Locking => Stacks::Shared,
        Parallelism::Ips => Stacks::Independent,
        Parallelism::Hybrid => Stacks::PerProcessor,
    };
    let costs = Costs::of(|found, idle| host.model.receive_after(situation(found), idle));
    Adaptive::new(host.shape.processors, stacks, costs)
}

/// What a packet that finds this is called in the cost model, its thread being at home.
const fn situation(found: Found) -> Situation {
    let history_here = match found.history {
        History::Unwritten => None,
        History::Here => Some(true),
        History::Elsewhere => Some(false),
    };
    let experiment = Experiment::of(found.session_here, history_here);
    Situation { experiment, thread_stack: ThreadStack::Cached }
}
