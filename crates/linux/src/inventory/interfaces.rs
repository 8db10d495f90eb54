//! Network interfaces, their queues, and how packets are steered.
//!
//! Receive packet steering (RPS) hands packets of a receive queue to other cpus; receive flow
//! steering (RFS) to the cpu where their reader runs; transmit packet steering (XPS) chooses the queue
//! by the sending cpu, or by the queue that its connection is received from
//! (`Documentation/networking/scaling.rst` of the kernel). Only names and numbers of queues are read,
//! no addresses. What stands in no file, the driver is [asked](crate::ethtool) for.

use super::identity::{Direction, Queue};
use super::interrupts::Interrupt;
use super::mask;
use super::pci::{PciAddress, PciDevice};
use crate::ethtool::{self, DriverSettings, Napi, Threaded};
use crate::probe::Malformed;
use crate::tree::Tree;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;

const INTERFACES: &str = "sys/class/net";
const DRIVER_SETTINGS: &str = "the settings of a driver in TOML, as a capture of Warmcore writes them";

/// A network interface.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number in this network namespace.
    pub index: u32,
    /// The driver of its device; `None` for a virtual interface.
    pub driver: Option<String>,
    /// The kind of a virtual interface, such as `bridge` or `vlan`, where the kernel says.
    pub kind: Option<String>,
    /// The PCI address of its device.
    pub device: Option<PciAddress>,
    /// The NUMA node of its device.
    pub node: Option<u32>,
    /// The cpus near its device.
    pub near: Option<CpuSet>,
    /// Its operational state, in the kernel's word: `up`, `down`, `unknown`.
    pub state: Option<String>,
    /// Packets received since the driver was loaded.
    pub received: Option<u64>,
    /// Its receive queues, by number.
    pub receive: Vec<ReceiveQueue>,
    /// Its transmit queues, by number.
    pub transmit: Vec<TransmitQueue>,
    /// Where its NAPI instances poll (`threaded`).
    pub threaded_napi: Option<Threaded>,
    /// How long until a queue is polled without an interrupt, in nanoseconds (`gro_flush_timeout`).
    pub gro_flush_timeout: Option<u64>,
    /// How many empty polls there are before interrupts are allowed again (`napi_defer_hard_irqs`).
    pub defer_hard_irqs: Option<u64>,
    /// What its driver says: channels, rings, coalescing, features, RSS and NAPI.
    pub driver_settings: Option<DriverSettings>,
}

/// A receive queue and its steering.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReceiveQueue {
    /// Its number.
    pub number: u32,
    /// The cpus that RPS hands packets to; none where it is off (`rps_cpus`).
    pub rps: Option<CpuSet>,
    /// The number of flows that RFS tracks; 0 where it is off (`rps_flow_cnt`).
    pub rfs_flows: Option<u64>,
}

/// A transmit queue and its steering.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransmitQueue {
    /// Its number.
    pub number: u32,
    /// The cpus that XPS lets send through it (`xps_cpus`); `None` also where there is one queue.
    pub xps: Option<CpuSet>,
    /// The receive queues whose connections send through it (`xps_rxqs`).
    pub xps_receive: Option<Vec<u32>>,
}

impl Interface {
    /// Whether it has a hardware device.
    #[must_use]
    pub fn is_physical(&self) -> bool {
        self.driver.is_some() || self.device.is_some()
    }

    /// The queues of its NAPI instances, by the numbers of their interrupts, where the kernel says.
    fn queues_by_interrupt(&self) -> impl Iterator<Item = (u32, Queue)> {
        let queue = |napi: &Napi| match (napi.receive.first(), napi.transmit.first()) {
            (Some(&number), Some(_)) => Some(Queue { direction: Direction::Both, number }),
            (Some(&number), None) => Some(Queue { direction: Direction::Receive, number }),
            (None, Some(&number)) => Some(Queue { direction: Direction::Transmit, number }),
            (None, None) => None,
        };
        let instances = self.driver_settings.iter().flat_map(|settings| &settings.napi);
        instances.filter_map(move |napi| Some((napi.interrupt?, queue(napi)?)))
    }
}

/// Reads every interface, in order of name.
pub(super) fn read(tree: &Tree, devices: &[PciDevice]) -> Result<Vec<Interface>, Malformed> {
    let names = tree.entries(INTERFACES, &|name| Some(name.to_owned()));
    let (mut interfaces, mut reader) = (Vec::new(), ethtool::Reader::default());
    for name in names {
        interfaces.extend(interface(tree, name, devices, &mut reader)?);
    }
    Ok(interfaces)
}

/// Completes interrupts whose names do not tell their queue, by what the kernel says of NAPI instances.
pub(super) fn name_queues(interrupts: &mut [Interrupt], interfaces: &[Interface]) {
    let mut by_number: BTreeMap<u32, Vec<(&str, Queue)>> = BTreeMap::new();
    for interface in interfaces {
        for (number, queue) in interface.queues_by_interrupt() {
            by_number.entry(number).or_default().push((&interface.name, queue));
        }
    }
    for interrupt in interrupts.iter_mut().filter(|interrupt| interrupt.queue.is_none()) {
        let may_be_of =
            |(name, _): &&(&str, Queue)| interrupt.interface.as_ref().is_none_or(|own| own == name);
        let mut found = by_number.get(&interrupt.number).into_iter().flatten();
        if let Some(&(name, queue)) = found.find(may_be_of) {
            interrupt.interface = Some(name.to_owned());
            interrupt.queue = Some(queue);
        }
    }
}

/// Reads the interface `name`; `None` if it has vanished or is not an interface.
fn interface(
    tree: &Tree,
    name: String,
    devices: &[PciDevice],
    reader: &mut ethtool::Reader,
) -> Result<Option<Interface>, Malformed> {
    let file = |file: &str| format!("{INTERFACES}/{name}/{file}");
    let Some(index) = tree.value(file("ifindex"), "the number of an interface")? else { return Ok(None) };
    let device = devices.iter().find(|device| device.interfaces.contains(&name));
    let property = |name: &str, key: &str| {
        let line = |text: &str| text.lines().find(|line| property_of(line, key).is_some()).map(str::to_owned);
        tree.filtered(file(name), |text| line(text).unwrap_or_default())
            .and_then(|line| property_of(&line, key).map(str::to_owned))
    };
    let node_of_device = || tree.value::<i64>(file("device/numa_node"), "the number of a node, or -1");
    let node = match device {
        Some(device) => device.node,
        None => node_of_device()?.and_then(|node| u32::try_from(node).ok()),
    };
    let queues = |prefix: &str| tree.numbered(file("queues"), prefix).into_iter();
    let receive =
        queues("rx-").map(|number| receive_queue(tree, &file(&format!("queues/rx-{number}")), number));
    let transmit =
        queues("tx-").map(|number| transmit_queue(tree, &file(&format!("queues/tx-{number}")), number));
    Ok(Some(Interface {
        index,
        driver: property("device/uevent", "DRIVER"),
        kind: property("uevent", "DEVTYPE"),
        device: device.map(|device| device.address.clone()),
        node,
        near: device.and_then(|device| device.near.clone()),
        state: tree.text(file("operstate")),
        received: tree.value(file("statistics/rx_packets"), "a number of packets")?,
        receive: receive.collect::<Result<_, _>>()?,
        transmit: transmit.collect::<Result<_, _>>()?,
        threaded_napi: tree.value(file("threaded"), "0, 1 or 2")?.and_then(Threaded::from_number),
        gro_flush_timeout: tree.value(file("gro_flush_timeout"), "a number of nanoseconds")?,
        defer_hard_irqs: tree.value(file("napi_defer_hard_irqs"), "a number of polls")?,
        driver_settings: tree.asked(&ethtool::file(&name), DRIVER_SETTINGS, || reader.read(&name, index))?,
        name,
    }))
}

fn property_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('=')
}

fn receive_queue(tree: &Tree, directory: &str, number: u32) -> Result<ReceiveQueue, Malformed> {
    Ok(ReceiveQueue {
        number,
        rps: mask::cpus(tree, &format!("{directory}/rps_cpus"))?,
        rfs_flows: tree.value(format!("{directory}/rps_flow_cnt"), "a number of flows")?,
    })
}

fn transmit_queue(tree: &Tree, directory: &str, number: u32) -> Result<TransmitQueue, Malformed> {
    Ok(TransmitQueue {
        number,
        xps: mask::cpus(tree, &format!("{directory}/xps_cpus"))?,
        xps_receive: mask::bits(tree, &format!("{directory}/xps_rxqs"))?,
    })
}
