//! The stable identity of an interrupt, and the queue it serves.
//!
//! Interrupt numbers change at every boot and whenever a driver is loaded. The device, the vector and
//! the names of the actions stay the same, so these identify an interrupt.

use super::pci::PciAddress;
use core::fmt;
use serde::Serialize;

/// Identifies an interrupt across reboots. Unique on a machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct InterruptId {
    /// The device or controller it comes from.
    pub source: InterruptSource,
    /// The vector of the device, or the input of the controller; `None` where the kernel does not say.
    pub input: Option<u64>,
    /// The names of its handlers: several where devices share it, none where no driver has requested it.
    pub actions: Vec<String>,
}

/// Where an interrupt comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptSource {
    /// A PCI device with message-signalled interrupts.
    Pci(PciAddress),
    /// An interrupt controller, by its name.
    Chip(String),
}

impl fmt::Display for InterruptId {
    /// `0000:00:03.0/1 virtio2-input.0`, or `IO-APIC/9 acpi`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            InterruptSource::Pci(address) => address.fmt(f)?,
            InterruptSource::Chip(name) => f.write_str(name)?,
        }
        if let Some(input) = self.input {
            write!(f, "/{input}")?;
        }
        if !self.actions.is_empty() {
            write!(f, " {}", self.actions.join(", "))?;
        }
        Ok(())
    }
}

/// A queue of a network interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Queue {
    /// The direction of its packets.
    pub direction: Direction,
    /// Its number among the queues of that direction.
    pub number: u32,
}

/// The direction of packets through a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the network.
    Receive,
    /// To the network.
    Transmit,
    /// Both: a pair of queues with one number.
    Both,
}

impl Direction {
    /// Whether the queue receives packets.
    #[must_use]
    pub fn receives(self) -> bool {
        self != Self::Transmit
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Receive => "rx",
            Direction::Transmit => "tx",
            Direction::Both => "rxtx",
        };
        write!(f, "{direction}-{}", self.number)
    }
}

impl Queue {
    /// Parses the queue of `interface` from the name of an action, in the ways drivers write it: `eth0-TxRx-3`,
    /// `eth0-Tx-Rx-3`, `eth0-rx-3`, `eth0-3`, `virtio2-input.3`, `eth0-q3-tx`, `mlx5_comp3@pci:0000:3b:00.0`.
    pub(crate) fn in_action(action: &str, interface: &str) -> Option<Self> {
        let name = action.split('@').next()?.to_ascii_lowercase();
        if name == "iwlwifi:default_queue" {
            return Some(Self { direction: Direction::Both, number: 0 });
        }
        let suffixed = [("-rx", Direction::Receive), ("-tx", Direction::Transmit)];
        for (suffix, direction) in suffixed {
            if let Some((_, number)) = name.strip_suffix(suffix).and_then(|name| name.rsplit_once("-q")) {
                return Some(Self { direction, number: number.parse().ok()? });
            }
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[stem.len()..].parse().ok()?;
        let stem = stem.trim_end_matches(['-', '.', ':', '_']);
        if stem.len() < name.len() - 1
            && stem == interface.to_ascii_lowercase()
            && name[stem.len()..].starts_with('-')
        {
            return Some(Self { direction: Direction::Both, number });
        }
        let direction = DIRECTIONS.iter().find(|(end, _)| stem.ends_with(end))?.1;
        Some(Self { direction, number })
    }
}

/// The suffix before the number and its direction. Longer suffixes come first.
const DIRECTIONS: [(&str, Direction); 14] = [
    ("txrx", Direction::Both),
    ("tx-rx", Direction::Both),
    ("rxtx", Direction::Both),
    ("rx-tx", Direction::Both),
    ("-fp", Direction::Both),
    ("-q", Direction::Both),
    ("mana_q", Direction::Both),
    ("iwlwifi:queue", Direction::Both),
    ("mlx5_comp", Direction::Both),
    ("mlx4", Direction::Both),
    ("rx", Direction::Receive),
    ("input", Direction::Receive),
    ("tx", Direction::Transmit),
    ("output", Direction::Transmit),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_write_their_queues_in_many_ways() {
        for (action, queue) in [
            ("i40e-eth0-TxRx-13", "rxtx-13"),
            ("eth0-Tx-Rx-3", "rxtx-3"),
            ("eth0-rx-2", "rx-2"),
            ("eth0-tx-0", "tx-0"),
            ("eth0:rx-1", "rx-1"),
            ("virtio2-input.7", "rx-7"),
            ("virtio2-output.7", "tx-7"),
            ("eth0-q3-tx", "tx-3"),
            ("eth0-q3-rx", "rx-3"),
            ("eth0-fp-4", "rxtx-4"),
            ("mlx5_comp12@pci:0000:3b:00.0", "rxtx-12"),
            ("mlx4-5@0000:05:00.0", "rxtx-5"),
            ("eth0-7", "rxtx-7"),
            ("eth0-q11", "rxtx-11"),
            ("mana_q3@pci:7870:00:00.0", "rxtx-3"),
            ("iwlwifi:default_queue", "rxtx-0"),
            ("iwlwifi:queue_5", "rxtx-5"),
        ] {
            let found = Queue::in_action(action, "eth0").map(|queue| queue.to_string());
            assert_eq!(found.as_deref(), Some(queue), "{action}");
        }
        for action in [
            "virtio2-config",
            "eth0",
            "eth1-7",
            "mlx5_async0@pci:0000:3b:00.0",
            "mana_hwc@pci:7870:00:00.0",
            "iwlwifi:exception",
            "nvme0q3",
            "é7",
            "",
        ] {
            assert_eq!(Queue::in_action(action, "eth0"), None, "{action}");
        }
    }
}
