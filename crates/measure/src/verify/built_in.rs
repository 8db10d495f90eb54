//! The built-in load, used if the user gives none: bytes over virtual wires between two network
//! namespaces ([`transfer`](crate::transfer)), placed as the plan places packets and threads.
//!
//! The wires are not the interfaces of the plan, so its lines do not affect them. Only the plan's
//! choice of cpus is tested: packets of the connections go where its lines send packets, and their
//! programs run where its lines put threads, in turn over the lines.

use crate::transfer::{
    ConnectionPlacement, Direction, Ends, Load, Network, RunningTransfer, Site, TransferError,
};
use core::fmt;
use warmcore_linux::tuning::{Plan, Setting};
use warmcore_topology::CpuSet;
use warmcore_units::Bytes;

/// Fewest and most connections.
const CONNECTIONS: std::ops::RangeInclusive<usize> = 2..=8;
/// The largest writes of Foong, Fung & Newell 2004.
const LOAD: Load = Load { direction: Direction::Transmit, size: Bytes::kib(64), rate: None };

/// The built-in load for a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuiltIn {
    ends: Ends,
    connections: usize,
}

/// A running load, which stops when this is dropped, with its wires.
pub(super) struct Running {
    pub(super) transfer: RunningTransfer,
    _site: Site,
}

impl BuiltIn {
    /// A load with a connection for each line of `plan` that places packets, or that places threads if
    /// there are more of those.
    #[must_use]
    pub fn new(plan: &Plan, ends: Ends) -> Self {
        let [packets, threads] = sets(plan).map(|sets| sets.len());
        Self { ends, connections: packets.max(threads).clamp(*CONNECTIONS.start(), *CONNECTIONS.end()) }
    }

    /// Starts the load, placed as `part` of the plan says. What that leaves open, the kernel places.
    pub(super) fn start(&self, part: &Plan) -> Result<Running, TransferError> {
        let places = self.places(part);
        let site = Site::Lab(Network::new(places.len() as u8, true)?);
        Ok(Running { transfer: RunningTransfer::start(&site, &self.ends, LOAD, &places)?, _site: site })
    }

    /// The placement of each connection.
    fn places(&self, part: &Plan) -> Vec<ConnectionPlacement> {
        let sets = sets(part);
        let place = |connection: usize| {
            let [packets, ends] = sets.each_ref().map(|sets| {
                let turns = sets.iter().cycle();
                turns.copied().nth(connection).cloned().unwrap_or_default()
            });
            ConnectionPlacement { packets, ends }
        };
        (0..self.connections).map(place).collect()
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bits of a transfer over {} virtual wires between two network namespaces, placed on the plan's cpus",
            self.connections
        )
    }
}

/// The cpus of the lines that place packets, and of those that place threads.
fn sets(plan: &Plan) -> [Vec<&CpuSet>; 2] {
    [Setting::places_packets, Setting::places_threads].map(|places| {
        let placing = plan.lines.iter().map(|line| &line.set).filter(|set| places(set));
        placing.filter_map(Setting::cpus).filter(|cpus| !cpus.is_empty()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::verify::model_plan::{model_plan, tests::plan};

    fn on(cpus: &str) -> CpuSet {
        cpus.parse().expect("a set")
    }

    #[test]
    fn connections_take_turns_on_the_cpus_of_lines() {
        let rps =
            |queue, cpus: &str| Setting::RpsCpus { interface: "eth0".to_owned(), queue, cpus: on(cpus) };
        let thread =
            Setting::Thread { pid: 1, started: 1, name: "a".to_owned(), thread: None, cpus: on("4-5") };
        let flows = Setting::RpsFlows { interface: "eth0".to_owned(), queue: 0, flows: 64 };
        let whole = plan(&[rps(0, "1"), rps(1, ""), rps(2, "2"), rps(3, "3"), flows, thread]);
        let built_in = BuiltIn::new(&whole, Ends::Threads);
        let places = |model| built_in.places(&model_plan(&whole, model));
        let place = |packets: &str, ends: &str| ConnectionPlacement { packets: on(packets), ends: on(ends) };
        assert_eq!(places(Model::Full), [place("1", "4-5"), place("2", "4-5"), place("3", "4-5")]);
        assert_eq!(places(Model::InterruptOnly)[2], place("3", ""));
        assert_eq!(places(Model::ProcessOnly)[1], place("", "4-5"));
        assert_eq!(places(Model::None), vec![place("", ""); 3]);
        let global = plan(&[Setting::GlobalFlows { flows: 64 }]);
        assert_eq!(BuiltIn::new(&global, Ends::Threads).places(&global), vec![place("", ""); 2]);
        assert!(built_in.to_string().contains("over 3 virtual wires"), "{built_in}");
    }
}
