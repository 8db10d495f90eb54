//! Which interfaces belong to which PCI device. A capture has no links, so the devices are searched.

use super::system::System;

/// The devices of the PCI bus.
const DEVICES: &str = "sys/bus/pci/devices";

/// The interfaces of the device at `address`. A virtio device lies between the two.
pub(super) fn interfaces_of(address: &str, system: &dyn System) -> Vec<String> {
    let entries = |directory: &str| system.entries(directory).unwrap_or_default();
    let device = format!("{DEVICES}/{address}");
    let virtio = entries(&device).into_iter().filter(|entry| entry.starts_with("virtio"));
    let mut interfaces = entries(&format!("{device}/net"));
    interfaces.extend(virtio.flat_map(|entry| entries(&format!("{device}/{entry}/net"))));
    interfaces
}

/// The PCI address of the device of `interface`; `None` if it is virtual or on another bus.
pub(super) fn device_of(interface: &str, system: &dyn System) -> Option<String> {
    let addresses = system.entries(DEVICES).unwrap_or_default();
    addresses.into_iter().find(|address| interfaces_of(address, system).iter().any(|name| name == interface))
}
