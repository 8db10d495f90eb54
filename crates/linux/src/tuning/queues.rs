//! The queues that interfaces have once a plan is applied, as far as the plan alone tells: those of its machine, or
//! those that its lines for channels leave.

use super::channels::{most_combined, queues_after};
use super::fingerprint::InterfaceKind;
use super::location::Value;
use super::plan::{Plan, Setting};
use std::collections::BTreeMap;
use warmcore_units::Fault;

/// The queues of each interface that the plan describes, by name.
pub(super) struct QueuesAfter<'a>(BTreeMap<&'a str, Queues>);

/// The queues of an interface. Their numbers are bounds where a plan does not tell them.
struct Queues {
    receive: u32,
    transmit: u32,
    /// Whether the plan changes its channels, and so its queues.
    is_changed: bool,
}

impl<'a> QueuesAfter<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let described = |kind: &'a InterfaceKind| {
            let (receive, transmit) = (kind.receive_queues, kind.transmit_queues);
            (kind.name.as_str(), Queues { receive, transmit, is_changed: false })
        };
        let mut interfaces: BTreeMap<&str, Queues> = plan.machine.interfaces.iter().map(described).collect();
        let channels = plan.lines.iter().filter(|line| matches!(line.set, Setting::Channels { .. }));
        for set in channels.map(|line| &line.set) {
            let (Value::Channels(counts), Some(name)) = (set.wanted(), set.interface()) else { continue };
            if let Some(queues) = interfaces.get_mut(name) {
                let now = (queues.receive, queues.transmit);
                (queues.receive, queues.transmit) = queues_after(counts, now, most_combined(now));
                queues.is_changed = true;
            }
        }
        Self(interfaces)
    }

    /// Checks that the plan describes the interface of `set`, so that a different interface with the same name is
    /// recognised, and that the queues it names can be there. Whether the machine has a queue of a line that the plan
    /// neither makes nor takes away, the machine tells best.
    pub(super) fn check(&self, set: &Setting) -> Result<(), Fault> {
        let Some(name) = set.interface() else { return Ok(()) };
        let Some(queues) = self.0.get(name) else {
            let expected = "an interface that `machine.interfaces` describes, with driver and queues";
            return Err(Fault::new("interface", format!("`{name}`"), expected));
        };
        let receive = |field: &str, wanted: &[u32]| within(field, wanted, ("receive", queues.receive), name);
        let transmit =
            |field: &str, wanted: &[u32]| within(field, wanted, ("transmit", queues.transmit), name);
        match set {
            Setting::Indirection { queues, .. } => receive("queues", &queues.listed()),
            Setting::XpsQueues { queue, receive_queues, .. } => {
                receive("receive_queues", receive_queues)?;
                if queues.is_changed { transmit("queue", &[*queue]) } else { Ok(()) }
            }
            Setting::XpsCpus { queue, .. } if queues.is_changed => transmit("queue", &[*queue]),
            Setting::RpsCpus { queue, .. } | Setting::RpsFlows { queue, .. } if queues.is_changed => {
                receive("queue", &[*queue])
            }
            _ => Ok(()),
        }
    }
}

/// Refuses queues that the interface `name` does not have, or not any more.
fn within(field: &str, wanted: &[u32], (kind, count): (&str, u32), name: &str) -> Result<(), Fault> {
    let Some(absent) = wanted.iter().find(|queue| **queue >= count) else { return Ok(()) };
    let expected = match count.checked_sub(1) {
        Some(last) => format!("{kind} queues of {name}, which are 0 to {last} under this plan"),
        None => format!("none, as {name} has no {kind} queue"),
    };
    Err(Fault::new(field, absent, expected))
}
