//! Changes settings of a driver. Needs `CAP_NET_ADMIN`.

use super::change::{ChannelCounts, DriverSetting, parse_switch, parse_table};
use super::netlink::Netlink;
use super::{Channels, Feature, driver_settings};
use crate::net::{indirection_table, set_indirection_table};
use core::ffi::CStr;
use netlink_bindings::ethtool;
use rustix::io::Errno;

/// Requests of `linux/ethtool_netlink.h`; see [`ask`](super::ask) for why they stand here.
const FEATURES_SET: u8 = 12;
const CHANNELS_SET: u8 = 18;

const NTUPLE: &CStr = c"rx-ntuple-filter";

/// Reads a setting as text.
pub(crate) fn read(interface: &str, setting: DriverSetting) -> Result<String, Errno> {
    let settings = driver_settings(interface).ok_or(Errno::NODEV)?;
    settings.text(setting).ok_or(Errno::OPNOTSUPP)
}

/// Writes a setting, given as text.
pub(crate) fn write(interface: &str, setting: DriverSetting, text: &str) -> Result<(), Errno> {
    match setting {
        DriverSetting::Channels(_) => {
            set_channels(interface, ChannelCounts::parse(text).ok_or(Errno::INVAL)?)
        }
        DriverSetting::Indirection => set_table(interface, &parse_table(text).ok_or(Errno::INVAL)?),
        DriverSetting::Ntuple => set_ntuple(interface, parse_switch(text).ok_or(Errno::INVAL)?),
    }
}

fn set_channels(interface: &str, counts: ChannelCounts) -> Result<(), Errno> {
    let mut request = ethtool::Request::new().op_channels_set_do();
    request.header_mut().cmd = CHANNELS_SET;
    let mut encoder = request.encode().nested_header().push_dev_name_bytes(interface.as_bytes()).end_nested();
    if let Some(count) = counts.combined {
        encoder = encoder.push_combined_count(count);
    }
    if let Some(count) = counts.receive {
        encoder = encoder.push_rx_count(count);
    }
    if let Some(count) = counts.transmit {
        encoder = encoder.push_tx_count(count);
    }
    drop(encoder);
    Netlink::open()?.request(&request, |_| ())
}

/// Switches ntuple filters. The kernel would accept what a driver cannot do, and not do it.
fn set_ntuple(interface: &str, on: bool) -> Result<(), Errno> {
    match driver_settings(interface).and_then(|settings| settings.features.ntuple) {
        Some(Feature { fixed: false, .. }) => set_feature(interface, NTUPLE, on),
        _ => Err(Errno::OPNOTSUPP),
    }
}

fn set_feature(interface: &str, feature: &CStr, on: bool) -> Result<(), Errno> {
    let mut request = ethtool::Request::new().op_features_set_do();
    request.header_mut().cmd = FEATURES_SET;
    let encoder = request.encode().nested_header().push_dev_name_bytes(interface.as_bytes()).end_nested();
    let bit = encoder.nested_wanted().nested_bits().nested_bit().push_name(feature);
    drop(if on { bit.push_value(()) } else { bit });
    Netlink::open()?.request(&request, |_| ())
}

/// Sets the table. One that the kernel would choose itself is set by giving the choice back: otherwise the
/// kernel would take it for a wish of the user's, and refuse channels without those queues. Some drivers
/// start with another table than the kernel chooses (igb: blocks of entries); that one stays a wish.
fn set_table(interface: &str, table: &[u32]) -> Result<(), Errno> {
    let queues = driver_settings(interface).and_then(|settings| settings.channels).map_or(0, receiving);
    let is_default = queues > 0 && (0..).zip(table).all(|(at, &queue): (u32, _)| queue == at % queues);
    if is_default {
        set_indirection_table(interface, &[])?;
        if indirection_table(interface)? == table {
            return Ok(());
        }
    }
    set_indirection_table(interface, table)
}

/// How many channels receive.
fn receiving(channels: Channels) -> u32 {
    channels.combined.unwrap_or(0).saturating_add(channels.receive.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::lab::{Lab, LinkOptions};

    #[test]
    fn a_feature_is_switched_on_and_off() {
        if let Some(missing) = crate::net::privilege_missing() {
            return println!("skipped: needs {missing}");
        }
        let lab = Lab::new(&LinkOptions::default()).expect("a lab");
        let name = &lab.link.near.name;
        for on in [true, false, true] {
            let changed = lab.near.run(|| set_feature(name, c"rx-gro", on)).expect("a namespace");
            assert_eq!(changed, Ok(()));
            let settings = lab.near.run(|| driver_settings(name)).expect("a namespace").expect("settings");
            assert_eq!(settings.features.gro.map(|feature| feature.on), Some(on));
        }
        let refused = lab.near.run(|| write(name, DriverSetting::Ntuple, "1")).expect("a namespace");
        assert_eq!(refused, Err(Errno::OPNOTSUPP), "it is fixed for a veth");
        let refused = lab.near.run(|| write(name, DriverSetting::Indirection, "0 0")).expect("a namespace");
        assert_eq!(refused, Err(Errno::OPNOTSUPP), "a veth has no table");
    }
}
