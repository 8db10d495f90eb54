//! PCI devices, which connect interrupts, network interfaces and NUMA nodes.

use crate::probe::Malformed;
use crate::tree::Tree;
use core::fmt;
use core::str::FromStr;
use serde::Serialize;
use std::collections::BTreeSet;
use warmcore_topology::CpuSet;

const DEVICES: &str = "sys/bus/pci/devices";

/// The PCI address of a device, such as `0000:3b:00.1`. It is the same after every boot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct PciAddress(String);

/// The text is not a PCI address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected domain, bus, device and function in hexadecimal, such as `0000:3b:00.1`")]
pub struct ParsePciAddressError;

impl FromStr for PciAddress {
    type Err = ParsePciAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (place, function) = text.split_once('.').ok_or(ParsePciAddressError)?;
        let parts: Vec<&str> = place.split(':').collect();
        let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        // The domains of some host bridges have more than four digits.
        let valid = matches!(lengths[..], [4..=8, 2, 2]) && function.len() == 1;
        if valid && parts.iter().all(|part| hexadecimal(part)) && hexadecimal(function) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParsePciAddressError)
        }
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A PCI device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PciDevice {
    pub(super) address: PciAddress,
    /// The NUMA node it is nearest to.
    pub(super) node: Option<u32>,
    /// The cpus of that node.
    pub(super) near: Option<CpuSet>,
    /// Numbers of its message-signalled interrupts.
    pub(super) messages: BTreeSet<u32>,
    /// The number of its legacy interrupt line, if it uses one.
    pub(super) line: Option<u32>,
    /// Network interfaces on it.
    pub(super) interfaces: BTreeSet<String>,
}

/// Reads every PCI device that has interrupts, in order of address.
pub(super) fn read(tree: &Tree) -> Result<Vec<PciDevice>, Malformed> {
    let addresses = tree.entries(DEVICES, &|name| name.parse::<PciAddress>().ok());
    let mut devices = Vec::new();
    for address in addresses {
        let directory = format!("{DEVICES}/{address}");
        let messages: BTreeSet<u32> =
            tree.numbered(format!("{directory}/msi_irqs"), "").into_iter().collect();
        let line = if messages.is_empty() { interrupt_line(tree, &directory)? } else { None };
        if messages.is_empty() && line.is_none() {
            continue;
        }
        let node = tree.value::<i64>(format!("{directory}/numa_node"), "the number of a node, or -1")?;
        let near = tree.cpus(format!("{directory}/local_cpulist"))?;
        let interfaces = interfaces(tree, &directory);
        let node = node.and_then(|node| u32::try_from(node).ok());
        devices.push(PciDevice { address, node, near, messages, line, interfaces });
    }
    Ok(devices)
}

fn interrupt_line(tree: &Tree, directory: &str) -> Result<Option<u32>, Malformed> {
    let line: Option<u32> = tree.value(format!("{directory}/irq"), "the number of an interrupt")?;
    Ok(line.filter(|&line| line > 0))
}

/// Returns the network interfaces of the device and of the virtio device on it.
fn interfaces(tree: &Tree, directory: &str) -> BTreeSet<String> {
    let any = |name: &str| Some(name.to_owned());
    let mut interfaces = tree.entries(format!("{directory}/net"), &any);
    for number in tree.numbered(directory, "virtio") {
        interfaces.extend(tree.entries(format!("{directory}/virtio{number}/net"), &any));
    }
    interfaces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pci_addresses_are_parsed() {
        for address in ["0000:00:03.0", "10000:e1:00.7"] {
            assert_eq!(address.parse::<PciAddress>().unwrap().to_string(), address);
        }
        for other in ["", "eth0", "00:03.0", "0000:00:03", "0000:0g:03.0", "0000:00:03.0.1", "0000:000:3.0"] {
            assert_eq!(other.parse::<PciAddress>(), Err(ParsePciAddressError), "{other}");
        }
    }
}
