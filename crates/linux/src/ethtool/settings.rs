//! The settings of an interface's driver, as values.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the driver of an interface, and the kernel's part of it, say.
///
/// ```toml
/// [channels]
/// combined = 8
/// combined_max = 16
///
/// [features.ntuple]
/// on = false
/// fixed = false
///
/// [[napi]]
/// id = 8193
/// interrupt = 41
/// receive = [0]
/// transmit = [0]
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriverSettings {
    /// How many channels it has, and could have.
    pub channels: Option<Channels>,
    /// How many packets its rings hold.
    pub rings: Option<Rings>,
    /// How long it gathers packets before it interrupts.
    pub coalescing: Option<Coalescing>,
    /// What it does to packets.
    pub features: Features,
    /// Which queue receives a packet, by its hash.
    pub indirection: Option<Indirection>,
    /// Its NAPI instances, by id. The kernel lists them while the interface is up (Linux 6.8).
    pub napi: Vec<Napi>,
}

impl DriverSettings {
    /// The places where its NAPI instances poll.
    #[must_use]
    pub fn threaded(&self) -> BTreeSet<Threaded> {
        self.napi.iter().filter_map(|napi| napi.threaded).collect()
    }
}

/// Channels: an interrupt with the queues that it serves (ethtool(8), `-l`). A count is `None` if the
/// device has no channels of that kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Channels {
    /// Channels that only receive.
    pub receive: Option<u32>,
    /// Channels that only transmit.
    pub transmit: Option<u32>,
    /// Channels that do both.
    pub combined: Option<u32>,
    /// Channels for anything else, such as link changes.
    pub other: Option<u32>,
    /// The most channels that only receive.
    pub receive_max: Option<u32>,
    /// The most channels that only transmit.
    pub transmit_max: Option<u32>,
    /// The most channels that do both.
    pub combined_max: Option<u32>,
    /// The most other channels.
    pub other_max: Option<u32>,
}

/// The sizes of each queue's ring, in packets (ethtool(8), `-g`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rings {
    /// Of a receive queue.
    pub receive: Option<u32>,
    /// Of a transmit queue.
    pub transmit: Option<u32>,
    /// The longest of a receive queue.
    pub receive_max: Option<u32>,
    /// The longest of a transmit queue.
    pub transmit_max: Option<u32>,
}

/// How long a device gathers packets before it interrupts (ethtool(8), `-c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Coalescing {
    /// Whether the driver adapts the times of receiving to the traffic.
    pub adaptive_receive: Option<bool>,
    /// Whether the driver adapts the times of transmitting to the traffic.
    pub adaptive_transmit: Option<bool>,
    /// How long after a packet was received, in microseconds.
    pub receive_usecs: Option<u32>,
    /// After how many received packets.
    pub receive_frames: Option<u32>,
    /// How long after a packet was sent, in microseconds.
    pub transmit_usecs: Option<u32>,
}

/// What an interface does to packets (ethtool(8), `-k`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Features {
    /// Rules that choose a queue by a flow's addresses and ports: what accelerated RFS needs.
    pub ntuple: Option<Feature>,
    /// The device hands its hash of a packet on.
    pub receive_hash: Option<Feature>,
    /// The kernel merges received packets (GRO).
    pub gro: Option<Feature>,
    /// The device merges received packets (LRO).
    pub lro: Option<Feature>,
}

/// A feature that is on or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Whether it is on.
    pub on: bool,
    /// Whether it cannot be changed.
    pub fixed: bool,
}

/// The table by which hashes choose receive queues (RSS): the low bits of a packet's hash choose an
/// entry, and the entry is a queue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Indirection(pub Vec<u32>);

impl Indirection {
    /// How many entries each queue has, which is its share of flows.
    #[must_use]
    pub fn entries_by_queue(&self) -> BTreeMap<u32, usize> {
        let mut entries = BTreeMap::new();
        for &queue in &self.0 {
            *entries.entry(queue).or_default() += 1;
        }
        entries
    }
}

/// Where NAPI instances poll.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threaded {
    /// In softirqs.
    Off,
    /// In kernel threads, which the scheduler places.
    On,
    /// In kernel threads that poll without pause.
    BusyPoll,
}

impl Threaded {
    /// From the kernel's number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Off),
            1 => Some(Self::On),
            2 => Some(Self::BusyPoll),
            _ => None,
        }
    }
}

/// A NAPI instance: what polls the queues of an interrupt.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Napi {
    /// Its number, which sockets have too (`SO_INCOMING_NAPI_ID`).
    pub id: u32,
    /// The number of its interrupt.
    pub interrupt: Option<u32>,
    /// The kernel thread in which it polls.
    pub thread: Option<u32>,
    /// Where it polls.
    pub threaded: Option<Threaded>,
    /// How many empty polls there are before interrupts are allowed again.
    pub defer_hard_irqs: Option<u32>,
    /// How long until it is polled without an interrupt, in nanoseconds.
    pub gro_flush_timeout: Option<u32>,
    /// How long interrupts stay off while an application polls, in nanoseconds.
    pub irq_suspend_timeout: Option<u32>,
    /// Its receive queues.
    pub receive: Vec<u32>,
    /// Its transmit queues.
    pub transmit: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_how_many_entries_each_queue_has() {
        let table = Indirection(vec![0, 1, 2, 0, 1, 2, 0, 5]);
        assert_eq!(table.entries_by_queue(), BTreeMap::from([(0, 3), (1, 2), (2, 2), (5, 1)]));
    }

    #[test]
    fn settings_are_written_and_read_without_loss() {
        let settings = DriverSettings {
            channels: Some(Channels { combined: Some(8), combined_max: Some(16), ..Channels::default() }),
            rings: Some(Rings { receive: Some(512), ..Rings::default() }),
            coalescing: Some(Coalescing { adaptive_receive: Some(true), ..Coalescing::default() }),
            features: Features { ntuple: Some(Feature { on: true, fixed: false }), ..Features::default() },
            indirection: Some(Indirection(vec![0, 1, 0, 1])),
            napi: vec![Napi {
                id: 8193,
                interrupt: Some(41),
                threaded: Some(Threaded::BusyPoll),
                receive: vec![0],
                ..Napi::default()
            }],
        };
        let text = toml::to_string(&settings).expect("plain values");
        assert_eq!(toml::from_str(&text), Ok(settings), "{text}");
        assert_eq!(toml::from_str(""), Ok(DriverSettings::default()));
        assert!(toml::from_str::<DriverSettings>("hkey = 1").is_err());
    }
}
