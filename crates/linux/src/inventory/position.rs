//! The queue of an interrupt whose name does not tell it: by its place among the interrupts of the device.
//!
//! Drivers request their interrupts in the order of their queues, with those of administration before or after
//! them. So the remaining vectors of an interface with as many receive queues are those queues, in order; twice
//! as many are first the transmit and then the receive queues, as Google's `gve` requests them. Anything else
//! is left unknown.

use super::identity::{Direction, Queue};
use super::interfaces::Interface;
use super::interrupts::Interrupt;
use std::collections::BTreeMap;

/// Parts of the names of interrupts that serve no queue.
const ADMINISTRATION: [&str; 9] =
    ["config", "mgmnt", "mgmt", "async", "misc", "hwc", "exception", "admin", "adminq"];

/// Tells the queues of interfaces whose interrupts have no queue in their names.
pub(super) fn number_queues(interrupts: &mut [Interrupt], interfaces: &[Interface]) {
    let mut by_interface: BTreeMap<String, Vec<&mut Interrupt>> = BTreeMap::new();
    for interrupt in interrupts {
        if let Some(name) = interrupt.interface.clone() {
            by_interface.entry(name).or_default().push(interrupt);
        }
    }
    for interface in interfaces {
        let Some(mut own) = by_interface.remove(&interface.name) else { continue };
        if own.iter().any(|of| of.queue.is_some()) {
            continue;
        }
        own.retain(|of| of.id.input.is_some() && !is_administration(of));
        own.sort_by_key(|interrupt| interrupt.id.input);
        let [receive, transmit] = [interface.receive.len(), interface.transmit.len()];
        let directions: &[Direction] = match own.len() {
            0 => continue,
            count if count == receive.max(transmit) => &[Direction::Both],
            count if count == receive + transmit && receive == transmit => {
                &[Direction::Transmit, Direction::Receive]
            }
            _ => continue,
        };
        let each = own.len() / directions.len();
        for (place, interrupt) in own.into_iter().enumerate() {
            let number = (place % each) as u32;
            interrupt.queue = Some(Queue { direction: directions[place / each], number });
        }
    }
}

fn is_administration(interrupt: &Interrupt) -> bool {
    let names = |action: &String| ADMINISTRATION.iter().any(|part| action.contains(part));
    interrupt.id.actions.is_empty() || interrupt.id.actions.iter().any(names)
}

#[cfg(test)]
mod tests {
    use crate::Probe;
    use crate::fake::{Device, FakeHost, Nic, Vector};
    use warmcore_topology::synthetic;
    use warmcore_units::CpuId;

    /// The queues of the interrupts with these `actions`, on an interface with so many queues.
    fn queues(actions: &[&str], count: u32) -> Vec<Option<String>> {
        let mut host = FakeHost::new(synthetic::virtual_machine(8));
        let vector = |action: &&str| Vector {
            action: (*action).to_owned(),
            allowed: host.machine.online(),
            effective: CpuId(0),
            count: 5,
            managed: false,
        };
        host.devices = vec![Device {
            address: "0000:00:04.0".to_owned(),
            driver: "gve".to_owned(),
            node: None,
            virtio: None,
            nic: Some(Nic {
                name: "eth0".to_owned(),
                receive: count,
                transmit: count,
                driver_settings: None,
            }),
            vectors: actions.iter().map(vector).collect(),
        }];
        let inventory = Probe::fake(host.tree()).inventory().expect("a sound tree");
        inventory.interrupts.iter().map(|of| of.queue.map(|queue| queue.to_string())).collect()
    }

    #[test]
    fn queues_without_names_are_told_by_their_place() {
        let named = |names: &[Option<&str>]| -> Vec<Option<String>> {
            names.iter().map(|name| name.map(str::to_owned)).collect()
        };
        let blocks =
            ["gve-ntfy-blk0@x", "gve-ntfy-blk1@x", "gve-ntfy-blk2@x", "gve-ntfy-blk3@x", "gve-mgmnt@x"];
        let both = [Some("tx-0"), Some("tx-1"), Some("rx-0"), Some("rx-1"), None];
        assert_eq!(queues(&blocks, 2), named(&both));
        let alike = ["device", "device", "device"];
        assert_eq!(queues(&alike, 3), named(&[Some("rxtx-0"), Some("rxtx-1"), Some("rxtx-2")]));
        assert_eq!(queues(&["virtio0-config", "virtio0-virtqueues"], 1), named(&[None, Some("rxtx-0")]));
        assert_eq!(queues(&alike, 5), named(&[None, None, None]), "too few: nothing tells which");
    }
}
