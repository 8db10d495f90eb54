//! Describes the kind of machine for which a plan was made: enough to refuse it on a different machine,
//! but nothing that identifies the machine.

use super::system::{System, is_absent};
use crate::bitmap;
use crate::inventory::{self, Interface, Inventory};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::io;
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

const CPUS: &str = "sys/devices/system/cpu";

/// The cpus of a machine, and the interfaces that a plan uses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// The cpus that are present, online or not.
    pub cpus: CpuSet,
    /// The cpus of each NUMA node that has any; empty if the kernel does not say.
    #[serde(default)]
    pub nodes: Vec<CpuSet>,
    /// The interfaces that the plan uses. The machine may have others.
    #[serde(default)]
    pub interfaces: Vec<InterfaceKind>,
}

/// The kind of an interface.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceKind {
    /// Its name.
    pub name: String,
    /// The driver of its device; none for an interface without a device, such as a veth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The number of its receive queues, before the plan changes its channels.
    pub receive_queues: u32,
    /// The number of its transmit queues, before the plan changes its channels.
    pub transmit_queues: u32,
}

impl Fingerprint {
    /// Reads the fingerprint of this machine, with those of `interfaces` that exist.
    ///
    /// # Errors
    /// If a file is there and cannot be read.
    pub fn read<'a>(
        system: &dyn System,
        interfaces: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, io::Error> {
        let kinds = interfaces.into_iter().map(|name| InterfaceKind::read(system, name));
        let kinds: Vec<_> = kinds.collect::<Result<_, _>>()?;
        let present = cpu_list(system, &format!("{CPUS}/present"))?;
        let cpus = match present {
            Some(cpus) => cpus,
            None => cpu_list(system, &format!("{CPUS}/online"))?.unwrap_or_default(),
        };
        let nodes = inventory::nodes(&Tree::directory(system.root()));
        let nodes = nodes.map_err(io::Error::other)?;
        Ok(Self { cpus, nodes, interfaces: kinds.into_iter().flatten().collect() })
    }

    /// Reads the kinds of the described interfaces that exist on `system`.
    pub(super) fn read_interfaces(&self, system: &dyn System) -> Result<Vec<InterfaceKind>, io::Error> {
        let kinds = self.interfaces.iter().map(|interface| InterfaceKind::read(system, &interface.name));
        Ok(kinds.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Returns the fingerprint of the machine in `inventory`, with those of `interfaces` that exist.
    #[must_use]
    pub fn from_inventory<'a>(inventory: &Inventory, interfaces: impl IntoIterator<Item = &'a str>) -> Self {
        let find = |name| inventory.interfaces.iter().find(|interface| interface.name == name);
        Self {
            cpus: inventory.present.clone().unwrap_or_else(|| inventory.machine.online()),
            nodes: inventory.nodes.clone(),
            interfaces: interfaces.into_iter().filter_map(find).map(InterfaceKind::from_inventory).collect(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        let mut interfaces = self.interfaces.iter().enumerate();
        interfaces.try_for_each(|(index, interface)| {
            let field = |name: &str| format!("machine.interfaces.{index}.{name}");
            check_interface_name(&field("name"), &interface.name)?;
            let counts = [
                ("receive_queues", interface.receive_queues),
                ("transmit_queues", interface.transmit_queues),
            ];
            match counts.into_iter().find(|(_, count)| *count > bitmap::LIMIT) {
                Some((name, count)) => {
                    Err(Fault::new(field(name), count, format!("at most {} queues", bitmap::LIMIT)))
                }
                None => Ok(()),
            }
        })
    }

    /// Returns the differences between this fingerprint and `system`.
    ///
    /// # Errors
    /// If a file is there and cannot be read.
    pub fn differences(&self, system: &dyn System) -> Result<Vec<Fault>, io::Error> {
        let here = Self::read(system, self.interfaces.iter().map(|interface| interface.name.as_str()))?;
        let mut faults = Vec::new();
        if here.cpus != self.cpus {
            faults.push(another("machine.cpus", &self.cpus, &here.cpus));
        }
        if here.nodes != self.nodes {
            faults.push(another("machine.nodes", listed(&self.nodes), listed(&here.nodes)));
        }
        for (index, wanted) in self.interfaces.iter().enumerate() {
            let found = here.interfaces.iter().find(|found| found.name == wanted.name);
            faults.extend(wanted.difference(found, &format!("machine.interfaces.{index}")));
        }
        Ok(faults)
    }
}

/// Refuses what cannot be an interface's name. Names become parts of paths, so none may lead elsewhere.
pub(crate) fn check_interface_name(field: &str, name: &str) -> Result<(), Fault> {
    // As the kernel does (`dev_valid_name` in its net/core/dev.c), which allows control characters, though.
    let is_wrong = |c: char| matches!(c, '/' | ':') || c.is_whitespace() || c.is_control();
    let sound = (1..16).contains(&name.len()) && !name.contains(is_wrong) && name != "." && name != "..";
    let expected = "the name of an interface: 1 to 15 bytes, without `/`, `:`, space or control characters";
    if sound { Ok(()) } else { Err(Fault::new(field, format!("`{}`", name.escape_debug()), expected)) }
}

impl InterfaceKind {
    /// Reads the kind of the interface `name`; `None` if there is no such interface.
    fn read(system: &dyn System, name: &str) -> Result<Option<Self>, io::Error> {
        let Some(queues) = present(system.entries(&format!("sys/class/net/{name}/queues")))? else {
            return Ok(None);
        };
        let count = |prefix: &str| queues.iter().filter(|queue| queue.starts_with(prefix)).count() as u32;
        let driver = driver(system, &format!("sys/class/net/{name}/device"))?;
        let (receive_queues, transmit_queues) = (count("rx-"), count("tx-"));
        Ok(Some(Self { name: name.to_owned(), driver, receive_queues, transmit_queues }))
    }

    fn from_inventory(interface: &Interface) -> Self {
        Self {
            name: interface.name.clone(),
            driver: interface.driver.clone(),
            receive_queues: interface.receive.len() as u32,
            transmit_queues: interface.transmit.len() as u32,
        }
    }

    fn difference(&self, here: Option<&Self>, field: &str) -> Option<Fault> {
        let Some(here) = here else {
            let found = format!("`{}`", self.name);
            return Some(Fault::new(
                format!("{field}.name"),
                found,
                "an interface of this machine, which has none of this name",
            ));
        };
        if here.driver != self.driver {
            let shown = |driver: &Option<String>| {
                driver.as_ref().map_or_else(|| "none".to_owned(), |name| name.escape_debug().to_string())
            };
            return Some(another(&format!("{field}.driver"), shown(&self.driver), shown(&here.driver)));
        }
        [
            ("receive_queues", self.receive_queues, here.receive_queues),
            ("transmit_queues", self.transmit_queues, here.transmit_queues),
        ]
        .into_iter()
        .find(|(_, wanted, found)| wanted != found)
        .map(|(name, wanted, found)| another(&format!("{field}.{name}"), wanted, found))
    }
}

/// Creates the error that the plan's machine has `there` where this one has `here`.
fn another(field: &str, there: impl std::fmt::Display, here: impl std::fmt::Display) -> Fault {
    Fault::new(field, there, format!("{here} as on this machine: the plan was made on a different machine"))
}

fn listed(sets: &[CpuSet]) -> String {
    let sets: Vec<_> = sets.iter().map(|set| format!("\"{set}\"")).collect();
    format!("[{}]", sets.join(", "))
}

/// Converts the error that something is absent into `None`.
fn present<T>(answer: io::Result<T>) -> Result<Option<T>, io::Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the name of the driver of `device`, from its link or its uevent file. A capture has no links.
fn driver(system: &dyn System, device: &str) -> Result<Option<String>, io::Error> {
    if let Some(path) = present(system.link(&format!("{device}/driver")))? {
        return Ok(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    let text = present(system.read(&format!("{device}/uevent")))?.unwrap_or_default();
    Ok(text.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned))
}

fn cpu_list(system: &dyn System, file: &str) -> Result<Option<CpuSet>, io::Error> {
    Ok(present(system.read(file))?.and_then(|text| text.parse().ok()))
}
