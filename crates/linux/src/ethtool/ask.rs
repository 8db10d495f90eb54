//! Asks the kernel about the driver of one interface.

use super::{Channels, Coalescing, DriverSettings, Feature, Features, Indirection, Napi, Rings, Threaded};
use crate::net::indirection_table;
use crate::netlink::Netlink;
use netlink_bindings::ethtool::{self, IterableBitset};
use netlink_bindings::netdev;
use rustix::io::Errno;
use std::collections::BTreeMap;

/// Asks about interfaces of the calling thread's network namespace, over one socket that is opened when
/// it is needed.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    netlink: Option<Netlink>,
}

impl Reader {
    /// What the driver of the interface `name` with number `index` says; `None` if it says nothing.
    pub(crate) fn read(&mut self, name: &str, index: u32) -> Option<DriverSettings> {
        if self.netlink.is_none() {
            self.netlink = Netlink::generic().ok();
        }
        let netlink = self.netlink.as_mut()?;
        let settings = DriverSettings {
            channels: channels(netlink, index).ok(),
            rings: rings(netlink, index).ok(),
            coalescing: coalescing(netlink, index).ok(),
            features: features(netlink, index).unwrap_or_default(),
            indirection: indirection_table(name).ok().filter(|table| !table.is_empty()).map(Indirection),
            napi: napi(netlink, index).unwrap_or_default(),
        };
        (settings != DriverSettings::default()).then_some(settings)
    }
}

/// Makes the request `$op` of the ethtool family about the interface `$index`; the answer becomes a value
/// by `$decode`.
macro_rules! about {
    ($netlink:expr, $index:expr, $op:ident, $command:expr, $decode:expr) => {{
        let mut request = ethtool::Request::new().$op();
        request.header_mut().cmd = $command;
        request.encode().nested_header().push_dev_index($index);
        let mut found = None;
        $netlink.request(&request, |answer| found = Some($decode(answer)))?;
        found.ok_or(Errno::NODATA)
    }};
}

/// Requests of `linux/ethtool_netlink.h`. `netlink-bindings` 0.3.5 codes the attributes of this family
/// rightly, but counts answers among its requests, so that its own numbers are too high.
mod command {
    pub(super) const FEATURES_GET: u8 = 11;
    pub(super) const RINGS_GET: u8 = 15;
    pub(super) const CHANNELS_GET: u8 = 17;
    pub(super) const COALESCE_GET: u8 = 19;
}

fn channels(netlink: &mut Netlink, index: u32) -> Result<Channels, Errno> {
    about!(netlink, index, op_channels_get_do, command::CHANNELS_GET, |answer: ethtool::IterableChannels<
        '_,
    >| Channels {
        receive: answer.get_rx_count().ok(),
        transmit: answer.get_tx_count().ok(),
        combined: answer.get_combined_count().ok(),
        other: answer.get_other_count().ok(),
        receive_max: answer.get_rx_max().ok(),
        transmit_max: answer.get_tx_max().ok(),
        combined_max: answer.get_combined_max().ok(),
        other_max: answer.get_other_max().ok(),
    })
}

fn rings(netlink: &mut Netlink, index: u32) -> Result<Rings, Errno> {
    about!(netlink, index, op_rings_get_do, command::RINGS_GET, |answer: ethtool::IterableRings<'_>| Rings {
        receive: answer.get_rx().ok(),
        transmit: answer.get_tx().ok(),
        receive_max: answer.get_rx_max().ok(),
        transmit_max: answer.get_tx_max().ok(),
    })
}

fn coalescing(netlink: &mut Netlink, index: u32) -> Result<Coalescing, Errno> {
    about!(netlink, index, op_coalesce_get_do, command::COALESCE_GET, |answer: ethtool::IterableCoalesce<
        '_,
    >| Coalescing {
        adaptive_receive: answer.get_use_adaptive_rx().ok().map(|on| on != 0),
        adaptive_transmit: answer.get_use_adaptive_tx().ok().map(|on| on != 0),
        receive_usecs: answer.get_rx_usecs().ok(),
        receive_frames: answer.get_rx_max_frames().ok(),
        transmit_usecs: answer.get_tx_usecs().ok(),
    })
}

fn features(netlink: &mut Netlink, index: u32) -> Result<Features, Errno> {
    about!(netlink, index, op_features_get_do, command::FEATURES_GET, |answer: ethtool::IterableFeatures<
        '_,
    >| {
        let bits = |set: Result<IterableBitset<'_>, _>| set.map(bits).unwrap_or_default();
        let (changeable, active) = (bits(answer.get_hw()), bits(answer.get_active()));
        let unchangeable = bits(answer.get_nochange());
        let is_set = |bits: &BTreeMap<String, bool>, name| bits.get(name).copied().unwrap_or(false);
        // The kernel lists every feature that it knows among the changeable ones, set or not.
        let feature = |name| {
            changeable.contains_key(name).then(|| Feature {
                on: is_set(&active, name),
                fixed: !is_set(&changeable, name) || is_set(&unchangeable, name),
            })
        };
        Features {
            ntuple: feature("rx-ntuple-filter"),
            receive_hash: feature("rx-hashing"),
            gro: feature("rx-gro"),
            lro: feature("rx-lro"),
        }
    })
}

/// The bits of a set by name. In a set without a mask every listed bit is set; in one with a mask those
/// that are marked.
fn bits(set: IterableBitset<'_>) -> BTreeMap<String, bool> {
    let all_set = set.get_nomask().is_ok();
    let Ok(listed) = set.get_bits() else { return BTreeMap::new() };
    let bit = |bit: ethtool::IterableBitsetBit<'_>| {
        let name = bit.get_name().ok()?.to_str().ok()?.to_owned();
        Some((name, all_set || bit.get_value().is_ok()))
    };
    listed.get_bit().filter_map(bit).collect()
}

/// The NAPI instances of an interface, with their queues.
fn napi(netlink: &mut Netlink, index: u32) -> Result<Vec<Napi>, Errno> {
    let mut instances = BTreeMap::new();
    let mut request = netdev::Request::new().op_napi_get_dump();
    request.encode().push_ifindex(index);
    netlink.request(&request, |answer| {
        let Ok(id) = answer.get_id() else { return };
        let napi = Napi {
            id,
            interrupt: answer.get_irq().ok(),
            thread: answer.get_pid().ok(),
            threaded: answer.get_threaded().ok().and_then(Threaded::from_number),
            defer_hard_irqs: answer.get_defer_hard_irqs().ok(),
            gro_flush_timeout: answer.get_gro_flush_timeout().ok(),
            irq_suspend_timeout: answer.get_irq_suspend_timeout().ok(),
            ..Napi::default()
        };
        instances.insert(id, napi);
    })?;
    let mut request = netdev::Request::new().op_queue_get_dump();
    request.encode().push_ifindex(index);
    netlink.request(&request, |answer| {
        let (Ok(queue), Ok(kind), Ok(id)) = (answer.get_id(), answer.get_type(), answer.get_napi_id()) else {
            return;
        };
        let Some(napi) = instances.get_mut(&id) else { return };
        if kind == netdev::QueueType::Rx as u32 {
            napi.receive.push(queue);
        } else {
            napi.transmit.push(queue);
        }
    })?;
    Ok(instances.into_values().collect())
}
