//! Device interrupts: which cpus handle them, which may, and which queue they serve.

use super::identity::{InterruptId, InterruptSource, Queue};
use super::pci::{PciAddress, PciDevice};
use super::table::{Line, Table};
use crate::probe::Malformed;
use crate::tree::Tree;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A count per cpu. Cpus with a count of zero are left out.
pub type Counts = BTreeMap<CpuId, u64>;

/// The interrupt of a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Interrupt {
    /// Its stable identity.
    pub id: InterruptId,
    /// Its number, valid until the next boot or driver load.
    pub number: u32,
    /// The interrupt controller.
    pub chip: String,
    /// How it is triggered, in the kernel's word.
    pub trigger: Option<String>,
    /// How often each cpu handled it since boot.
    pub counts: Counts,
    /// The cpus it may go to (`smp_affinity_list`).
    pub allowed: Option<CpuSet>,
    /// The cpus it really goes to (`effective_affinity_list`), one cpu on most machines. After a change
    /// of `allowed`, some controllers update it only at the next interrupt.
    pub effective: Option<CpuSet>,
    /// The cpus it is [seen on](super::handling).
    pub(super) goes_to: CpuSet,
    /// Whether the kernel manages it, so that `allowed` cannot be changed.
    pub managed: Managed,
    /// The PCI devices that use it.
    pub devices: Vec<PciAddress>,
    /// Whether another interrupt of one of these has the same actions, so that no line of a plan can name it.
    #[serde(skip)]
    pub shares_name: bool,
    /// The network interface it serves.
    pub interface: Option<String>,
    /// The queue of that interface, as the name of an action shows it, or else its place among the device's
    /// interrupts.
    pub queue: Option<Queue>,
}

/// Whether the kernel manages the placement of an interrupt and refuses other masks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Managed {
    /// Yes: a write of the mask fails with EIO.
    Yes,
    /// No.
    No,
    /// Unknown: neither debugfs (`/sys/kernel/debug/irq`) nor the file of its mask can be seen here.
    Unknown,
}

impl Interrupt {
    /// The cpus it goes to; empty if it never came and the kernel does not say. After two looks, what happened between
    /// them decides, or else what happened since boot.
    #[must_use]
    pub const fn goes_to(&self) -> &CpuSet {
        &self.goes_to
    }

    /// The number of interrupts on all cpus.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}

/// A count that the architecture keeps in addition to device interrupts, such as `RES`, the
/// interrupts by which one cpu makes another reschedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SpecialInterrupt {
    /// Its short name.
    pub label: String,
    /// The kernel's description; may be empty.
    pub description: String,
    /// Counts by cpu; empty where the kernel keeps only a total.
    pub counts: Counts,
    /// The total over all cpus.
    pub total: u64,
}

/// Reads every interrupt of `table`, in order of number.
pub(super) fn read(tree: &Tree, table: &Table, devices: &[PciDevice]) -> Result<Vec<Interrupt>, Malformed> {
    let debugged: BTreeSet<u32> = tree.numbered(DEBUG, "").into_iter().collect();
    let owners = InterruptOwners::new(devices);
    let online: CpuSet = table.cpus.iter().copied().collect();
    let interrupt = |line: &Line| {
        let file = |name: &str| format!("proc/irq/{}/{name}", line.number);
        let used_by = owners.devices(line);
        let (interface, queue) = served(&used_by, &line.actions).unzip();
        let mut interrupt = Interrupt {
            id: InterruptId {
                source: source(line, &used_by),
                input: line.input.map(|input| if is_message(line) { input & VECTOR } else { input }),
                actions: line.actions.clone(),
            },
            number: line.number,
            chip: line.chip.clone(),
            trigger: line.trigger.clone(),
            counts: by_cpu(&table.cpus, &line.counts),
            allowed: tree.cpus(file("smp_affinity_list"))?,
            effective: tree.cpus(file("effective_affinity_list"))?,
            goes_to: CpuSet::default(),
            managed: match debugged.contains(&line.number) {
                true => managed_by_flags(tree, line.number),
                false => None,
            }
            .unwrap_or_else(|| managed_by_mode(tree, &file("smp_affinity_list"))),
            devices: used_by.iter().map(|device| device.address.clone()).collect(),
            shares_name: false,
            interface,
            queue: queue.flatten(),
        };
        interrupt.goes_to = interrupt.seen_since_boot(&online);
        Ok(interrupt)
    };
    let mut interrupts: Vec<Interrupt> = table.lines.iter().map(interrupt).collect::<Result<_, _>>()?;
    note_shared_names(&mut interrupts);
    Ok(interrupts)
}

/// Notes which interrupts have the same actions as another one of their device.
fn note_shared_names(interrupts: &mut [Interrupt]) {
    let mut counts: BTreeMap<(PciAddress, Vec<String>), usize> = BTreeMap::new();
    let names = |of: &Interrupt| {
        let actions = of.id.actions.clone();
        of.devices.clone().into_iter().map(move |device| (device, actions.clone()))
    };
    for name in interrupts.iter().flat_map(names) {
        *counts.entry(name).or_default() += 1;
    }
    for interrupt in interrupts {
        interrupt.shares_name = names(interrupt).any(|name| counts[&name] > 1);
    }
}

/// Returns the counts that the architecture keeps in addition.
pub(super) fn special(table: &Table) -> Vec<SpecialInterrupt> {
    let special = |line: &super::table::Special| SpecialInterrupt {
        label: line.label.clone(),
        description: line.description.clone(),
        counts: if line.counts.len() == table.cpus.len() && !line.description.is_empty() {
            by_cpu(&table.cpus, &line.counts)
        } else {
            Counts::new()
        },
        total: line.counts.iter().sum(),
    };
    table.special.iter().map(special).collect()
}

const DEBUG: &str = "sys/kernel/debug/irq/irqs";

/// The bits of a message's input number that hold the vector of the device. Older kernels put the
/// device in the bits above (`pci_msi_domain_calc_hwirq` in the kernel's `drivers/pci/msi/irqdomain.c`).
const VECTOR: u64 = 0x7ff;

/// Pairs counts with cpus, leaving out zero counts.
pub(super) fn by_cpu(cpus: &[CpuId], counts: &[u64]) -> Counts {
    cpus.iter().copied().zip(counts.iter().copied()).filter(|&(_, count)| count > 0).collect()
}

fn is_message(line: &Line) -> bool {
    line.chip.contains("MSI")
}

/// Reads from debugfs whether an interrupt is managed. The file lists its flags by name, one per line.
fn managed_by_flags(tree: &Tree, number: u32) -> Option<Managed> {
    const FLAG: &str = "IRQD_AFFINITY_MANAGED";
    let flags = |text: &str| {
        let flags = text.split_whitespace().filter(|word| word.starts_with("IRQD_"));
        flags.collect::<Vec<_>>().join("\n")
    };
    let flags = tree.filtered(format!("{DEBUG}/{number}"), flags)?;
    Some(if flags.lines().any(|flag| flag == FLAG) { Managed::Yes } else { Managed::No })
}

/// Reads from the mode of the mask's file whether an interrupt is managed: the kernel lets nobody write it then
/// (`register_irq_proc` in its `kernel/irq/proc.c`). That goes for a controller that cannot move interrupts too.
/// Older kernels let root write every mask, and refuse it later.
fn managed_by_mode(tree: &Tree, file: &str) -> Managed {
    match tree.is_writable(file) {
        Some(true) => Managed::No,
        Some(false) => Managed::Yes,
        None => Managed::Unknown,
    }
}

/// Finds the PCI devices that own an interrupt.
struct InterruptOwners<'a> {
    by_number: BTreeMap<u32, Vec<&'a PciDevice>>,
    by_address: BTreeMap<&'a PciAddress, &'a PciDevice>,
}

impl<'a> InterruptOwners<'a> {
    fn new(devices: &'a [PciDevice]) -> Self {
        let mut by_number: BTreeMap<u32, Vec<&PciDevice>> = BTreeMap::new();
        for device in devices {
            for &number in device.messages.iter().chain(&device.line) {
                by_number.entry(number).or_default().push(device);
            }
        }
        let by_address = devices.iter().map(|device| (&device.address, device)).collect();
        Self { by_number, by_address }
    }

    /// Returns the devices of an interrupt, found by its number, or else by the address that newer
    /// kernels put into the name of the chip.
    fn devices(&self, line: &Line) -> Vec<&'a PciDevice> {
        if let Some(devices) = self.by_number.get(&line.number) {
            return devices.clone();
        }
        let device = address_in(&line.chip).and_then(|address| self.by_address.get(&address).copied());
        device.into_iter().collect()
    }
}

/// Parses the address at the end of a chip name such as `PCI-MSIX-0000:00:03.0`.
fn address_in(chip: &str) -> Option<PciAddress> {
    chip.rsplit_once('-')?.1.parse().ok()
}

fn source(line: &Line, used_by: &[&PciDevice]) -> InterruptSource {
    let device = used_by.first().filter(|_| is_message(line)).map(|device| device.address.clone());
    match device.or_else(|| address_in(&line.chip)) {
        Some(address) => InterruptSource::Pci(address),
        None => InterruptSource::Chip(line.chip.clone()),
    }
}

/// Returns the interface of `devices` that `actions` serve, and its queue if an action names it. For a
/// device with several interfaces, the action contains the name of the interface.
fn served(devices: &[&PciDevice], actions: &[String]) -> Option<(String, Option<Queue>)> {
    let mut interfaces = devices.iter().flat_map(|device| &device.interfaces);
    let only = (devices.iter().map(|device| device.interfaces.len()).sum::<usize>() == 1).then_some(());
    let named = |interface: &&String| actions.iter().any(|action| names(action, interface));
    let interface = match only {
        Some(()) => interfaces.next(),
        None => interfaces.find(named),
    }?;
    Some((interface.clone(), actions.iter().find_map(|action| Queue::in_action(action, interface))))
}

/// Whether `action` contains `interface` as a whole word: `eth1` is not in `eth10-rx-0`.
fn names(action: &str, interface: &str) -> bool {
    let boundary = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
    action.match_indices(interface).any(|(at, found)| {
        boundary(action[..at].chars().next_back()) && boundary(action[at + found.len()..].chars().next())
    })
}
