//! Which interface a step is of. A name is no identity: interfaces are renamed, and moved to other network namespaces,
//! and their values go with them.
//!
//! The kernel numbers interfaces (`ifindex` in `Documentation/ABI/testing/sysfs-class-net`). The number stays with a new
//! name. A driver that is loaded anew gives a new number; then the device tells that it is the same interface.

use super::plan::Setting;
use super::step::Step;
use super::system::System;
use crate::inventory::PciAddress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const INTERFACES: &str = "sys/class/net";

/// What tells an interface from others, besides its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceIdentity {
    /// Its number in its network namespace.
    ifindex: u32,
    /// The PCI address of its device, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<String>,
}

impl InterfaceIdentity {
    /// Reads the identity of the interface of `set`; `None` if it is of none, or the kernel does not say.
    pub(super) fn new(set: &Setting, system: &dyn System) -> Option<Self> {
        Self::read(set.interface()?, system)
    }

    /// Whether it has a device, which goes back to the first namespace when its own one ends, with its values.
    pub(super) const fn has_device(&self) -> bool {
        self.device.is_some()
    }

    /// Whether this is another interface than `earlier`: it has another number, and no device tells that its driver was
    /// loaded anew.
    fn is_another_than(&self, earlier: &Self) -> bool {
        self.ifindex != earlier.ifindex && (self.device.is_none() || self.device != earlier.device)
    }

    fn read(name: &str, system: &dyn System) -> Option<Self> {
        let number = system.read(&format!("{INTERFACES}/{name}/ifindex")).ok()?;
        Some(Self { ifindex: number.trim().parse().ok()?, device: device(name, system) })
    }
}

/// The PCI address in the path of the interface `name`: the last one, behind those of bridges.
fn device(name: &str, system: &dyn System) -> Option<String> {
    let path = system.link(&format!("{INTERFACES}/{name}")).ok()?;
    let mut names = path.iter().rev().filter_map(|name| name.to_str());
    names.find(|name| name.parse::<PciAddress>().is_ok()).map(str::to_owned)
}

/// An interface that is no longer here, while another one has its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplacedInterface {
    name: String,
    number: u32,
    number_now: u32,
}

impl std::fmt::Display for ReplacedInterface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, number, number_now } = self;
        let name = name.escape_debug();
        write!(
            f,
            "{name} (number {number}) is no longer there, and this {name} (number {number_now}) is another"
        )
    }
}

/// Where the interface of a step is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Whereabouts {
    /// Under its name.
    Here,
    /// Under this name.
    Renamed(String),
    /// No interface here is it. Another one has its name.
    Replaced(ReplacedInterface),
    /// No interface here is it, or has its name.
    Away,
}

/// The interfaces that are here, by name.
#[derive(Debug)]
pub(super) struct Interfaces(BTreeMap<String, InterfaceIdentity>);

impl Interfaces {
    pub(super) fn read(system: &dyn System) -> Self {
        let names = system.entries(INTERFACES).unwrap_or_default();
        let named = |name: String| InterfaceIdentity::read(&name, system).map(|identity| (name, identity));
        Self(names.into_iter().filter_map(named).collect())
    }

    /// Where the interface of `step` is; here, if it is of none.
    pub(super) fn of(&self, step: &Step) -> Whereabouts {
        let interface = step.set.interface().zip(step.interface.as_ref());
        interface.map_or(Whereabouts::Here, |(name, identity)| self.find(name, identity))
    }

    /// Finds the interface `identity`, which was called `name`.
    fn find(&self, name: &str, identity: &InterfaceIdentity) -> Whereabouts {
        let named = self.0.get(name);
        if named == Some(identity) {
            return Whereabouts::Here;
        }
        let only = |is_it: &dyn Fn(&InterfaceIdentity) -> bool| {
            let mut found = self.0.iter().filter(|(_, found)| is_it(found)).map(|(name, _)| name);
            found.next().filter(|_| found.next().is_none()).cloned()
        };
        let of_device = || only(&|found| found.device.is_some() && found.device == identity.device);
        match (only(&|found| found == identity).or_else(of_device), named) {
            (Some(other), _) if other != name => Whereabouts::Renamed(other),
            (None, None) => Whereabouts::Away,
            (None, Some(now)) if now.is_another_than(identity) => Whereabouts::Replaced(ReplacedInterface {
                name: name.to_owned(),
                number: identity.ifindex,
                number_now: now.ifindex,
            }),
            _ => Whereabouts::Here,
        }
    }
}
