//! Who touches what: cpus, interrupts, queues, steering and threads in one inventory, and who else
//! changes them.
//!
//! This is the look that comes before any placement: in the terms of Foong, Fung & Newell (2004, §3),
//! which cpu each NIC interrupts and which cpu each process runs on.
//!
//! ```
//! use warmcore_linux::{Probe, fake};
//!
//! let inventory = Probe::fake(fake::hosts::two_socket_server()).inventory().expect("a sound tree");
//! let nic = inventory.interfaces.iter().find(|interface| interface.is_physical()).expect("a NIC");
//! assert_eq!((nic.node, nic.receive.len()), (Some(1), 64));
//! let of_nic = |interface: &Option<String>| interface.as_ref() == Some(&nic.name);
//! let queue = inventory.interrupts.iter().find(|interrupt| of_nic(&interrupt.interface)).expect("a queue");
//! assert_eq!(queue.id.to_string(), "0000:81:00.0/0 eth0-TxRx-0");
//! ```
//!
//! | module | reads |
//! |---|---|
//! | `table`, `interrupts`, `identity` | `/proc/interrupts`, `/proc/irq`, and what an interrupt is called |
//! | `pci` | which device has which interrupts and interfaces, and where it is plugged in |
//! | `interfaces`, `mask` | network interfaces, their queues, and RPS, RFS and XPS |
//! | `processors` | where each cpu's time went, softirqs, packets taken in |
//! | `threads` | busy threads with their masks, control groups and last cpus |
//! | `sockets` | how many there are |
//! | `rivals` | irqbalance, TuneD and others, and `.link` files |
//! | `container` | signs of a container, and what is mounted so that it cannot be changed |
//! | `activity` | softirqs and rescheduling interrupts alone, for who counts them around a run |
//! | `rates` | two inventories, and what happened in between |
//! | `on_cpu` | nothing: the inventory as one cpu sees it |
//! | `blind_spot` | what is not to be seen here, and what it would take |
//!
//! An inventory holds counts since the machine started. [`Rates`] are what two of them differ by.
//!
//! What must always hold: nothing is read that tells this machine from others to somebody else
//! (addresses, serial numbers, host names, arguments of programs); what vanishes between two files is
//! no error; and an inventory of a [recorded](crate::capture) tree is the inventory that was recorded.

mod activity;
mod blind_spot;
mod container;
mod identity;
mod interfaces;
mod interrupts;
mod mask;
mod on_cpu;
mod pci;
mod processors;
mod rates;
pub(crate) mod rivals;
mod sockets;
mod table;
mod threads;

pub use crate::proc_stat::CpuTimes;
pub use activity::Activity;
pub use blind_spot::BlindSpot;
pub use identity::{Direction, InterruptId, InterruptSource, Queue};
pub use interfaces::{Interface, ReceiveQueue, TransmitQueue};
pub use interrupts::{Counts, Interrupt, Managed, SpecialInterrupt};
pub use on_cpu::OnCpu;
pub use pci::{ParsePciAddressError, PciAddress};
pub use processors::{Processor, Softnet};
pub use rates::{CpuRates, InterruptRate, Rates, ThreadRate};
pub use rivals::{Evidence, LinkFile, Rival, Undoes};
pub use sockets::Sockets;
pub use threads::{Cpuset, Thread, ThreadKey};

use crate::probe::cpus::node_lists;
use crate::probe::{Malformed, ProbeError, Warning};
use crate::tree::Tree;
use crate::{HostConditions, Probe};
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::{CpuId, Nanos};

/// One look at a host. Durations are nanoseconds; counts began when the machine started.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Inventory {
    /// For how long the machine has run.
    pub uptime: Option<Nanos>,
    /// Cpus, caches and NUMA nodes, and what of them this process may use.
    pub machine: Machine,
    /// The kernel and the conditions.
    pub conditions: HostConditions,
    /// The cpus that are there, online or not; `None` where the kernel does not say.
    pub present: Option<CpuSet>,
    /// The cpus that each NUMA node has, of those that have any, in order of the nodes' numbers.
    pub nodes: Vec<CpuSet>,
    /// Cpus that are apart from the others.
    pub apart: SpecialCpus,
    /// What each online cpu did.
    pub processors: Vec<Processor>,
    /// Interrupts of devices.
    pub interrupts: Vec<Interrupt>,
    /// What the architecture counts besides.
    pub special_interrupts: Vec<SpecialInterrupt>,
    /// The cpus that new interrupts may go to (`default_smp_affinity`).
    pub default_affinity: Option<CpuSet>,
    /// Network interfaces, with their queues and steering.
    pub interfaces: Vec<Interface>,
    /// The flows that RFS remembers for the whole machine; 0 where it is off
    /// (`rps_sock_flow_entries`).
    pub rfs_flows: Option<u64>,
    /// Busy threads, the busiest first.
    pub threads: Vec<Thread>,
    /// The cpus that the control groups of those threads allow.
    pub cpusets: Vec<Cpuset>,
    /// How many sockets there are.
    pub sockets: Sockets,
    /// Programs that change placement on their own.
    pub rivals: Vec<Rival>,
    /// Files of systemd that set up queues.
    pub link_files: Vec<LinkFile>,
    /// Signs that this is a container, in words.
    pub container: Vec<String>,
    /// Directories of settings that are mounted so that nobody here can write to them.
    pub read_only: Vec<String>,
    /// What is not to be seen here.
    pub blind_spots: Vec<BlindSpot>,
    /// What could not be found out about the machine.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// For how long each process has run, by number and start, for the next look.
    #[serde(skip)]
    ran: BTreeMap<(u32, u64), Nanos>,
}

/// Cpus that are apart from the others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SpecialCpus {
    /// Not running.
    pub offline: CpuSet,
    /// Left alone by the scheduler: `isolcpus`, and the isolated partitions of cpusets.
    pub isolated: CpuSet,
    /// Without a timer tick while one program runs: `nohz_full`.
    pub nohz_full: CpuSet,
    /// Slower than others of the same machine.
    pub slow: CpuSet,
}

impl Probe {
    /// Who touches what.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there, or no usable cpu can be found.
    pub fn inventory(&self) -> Result<Inventory, ProbeError> {
        let probed = self.machine()?;
        self.look(probed.machine, probed.warnings, &BTreeMap::new())
    }

    /// The same some time after `earlier`. Every process that has run since then is looked into,
    /// even if it was idle for all its life; the machine itself is looked at anew only if cpus came
    /// or went.
    ///
    /// # Errors
    /// As of [`inventory`](Self::inventory).
    pub fn inventory_after(&self, earlier: &Inventory) -> Result<Inventory, ProbeError> {
        let online = self.tree().cpus(ONLINE)?;
        if online.is_some_and(|online| online != earlier.machine.online()) {
            let probed = self.machine()?;
            return self.look(probed.machine, probed.warnings, &earlier.ran);
        }
        self.look(earlier.machine.clone(), earlier.warnings.clone(), &earlier.ran)
    }

    fn look(
        &self,
        machine: Machine,
        warnings: Vec<Warning>,
        ran: &BTreeMap<(u32, u64), Nanos>,
    ) -> Result<Inventory, ProbeError> {
        let tree = self.tree();
        let uptime = uptime(tree)?;
        let online: Vec<CpuId> = machine.cpus.iter().map(|cpu| cpu.id).collect();
        let table = table::read(tree)?;
        let devices = pci::read(tree)?;
        let interrupts = interrupts::read(tree, &table, &devices)?;
        let processes = threads::read(tree, uptime, ran)?;
        Ok(Inventory {
            uptime,
            conditions: self.host(),
            present: tree.cpus(PRESENT)?,
            nodes: nodes(tree)?,
            apart: apart(tree, &online)?,
            processors: processors::read(tree, &online, &table)?,
            blind_spots: blind_spot::find(&table, &interrupts, uptime),
            interrupts,
            special_interrupts: interrupts::special(&table),
            default_affinity: mask::cpus(tree, "proc/irq/default_smp_affinity")?,
            interfaces: interfaces::read(tree, &devices)?,
            rfs_flows: tree.value("proc/sys/net/core/rps_sock_flow_entries", "a number of flows")?,
            rivals: rivals::read(tree, &processes.names),
            threads: processes.threads,
            cpusets: processes.cpusets,
            sockets: sockets::read(tree)?,
            link_files: rivals::link_files(tree),
            container: container::signs(tree),
            read_only: container::read_only(tree),
            machine,
            warnings,
            ran: processes.ran,
        })
    }
}

impl Inventory {
    /// When process `pid` began, in ticks of the kernel since the machine started; `None` if there is
    /// no such process.
    #[must_use]
    pub fn process_began(&self, pid: u32) -> Option<u64> {
        self.ran.range((pid, 0)..=(pid, u64::MAX)).next().map(|(&(_, started), _)| started)
    }
}

const ONLINE: &str = "sys/devices/system/cpu/online";
const PRESENT: &str = "sys/devices/system/cpu/present";

/// `350735.47 234388.90`: seconds since the start, and the idle ones of all cpus.
fn uptime(tree: &Tree) -> Result<Option<Nanos>, Malformed> {
    const UPTIME: &str = "proc/uptime";
    let Some(text) = tree.text(UPTIME) else { return Ok(None) };
    let seconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let seconds = seconds.ok_or_else(|| tree.malformed(UPTIME, &text, "a number of seconds"))?;
    Ok(Some(Nanos::from_secs(seconds)))
}

pub(crate) fn nodes(tree: &Tree) -> Result<Vec<CpuSet>, Malformed> {
    let lists = node_lists(tree)?.into_iter().map(|(_, cpus)| cpus);
    Ok(lists.filter(|cpus| !cpus.is_empty()).collect())
}

fn apart(tree: &Tree, online: &[CpuId]) -> Result<SpecialCpus, Malformed> {
    let cpus = |file: &str| Ok(tree.cpus(file)?.unwrap_or_default());
    let mut isolated: CpuSet = cpus("sys/devices/system/cpu/isolated")?;
    isolated.extend(cpus("sys/fs/cgroup/cpuset.cpus.isolated")?.iter());
    let offline = cpus("sys/devices/system/cpu/offline")?;
    Ok(SpecialCpus { offline, isolated, nohz_full: nohz_full(tree)?, slow: slow(tree, online)? })
}

/// Intel's kinds of core are two devices; elsewhere the kernel gives each cpu its capacity.
fn slow(tree: &Tree, online: &[CpuId]) -> Result<CpuSet, Malformed> {
    if let Some(slow) = tree.cpus("sys/devices/cpu_atom/cpus")? {
        let fast = tree.cpus("sys/devices/cpu_core/cpus")?.unwrap_or_default();
        return Ok(if fast.is_empty() { CpuSet::default() } else { slow });
    }
    let mut capacities = BTreeMap::new();
    for &cpu in online {
        let file = format!("sys/devices/system/cpu/cpu{}/cpu_capacity", cpu.0);
        let Some(capacity) = tree.value::<u32>(file, "a capacity of 1 to 1024")? else { break };
        capacities.insert(cpu, capacity);
    }
    let most = capacities.values().max().copied().unwrap_or(0);
    Ok(capacities.into_iter().filter(|&(_, capacity)| capacity < most).map(|(cpu, _)| cpu).collect())
}

/// Without such cpus the kernel writes `(null)`, or nothing.
fn nohz_full(tree: &Tree) -> Result<CpuSet, Malformed> {
    const FILE: &str = "sys/devices/system/cpu/nohz_full";
    if tree.text(FILE).is_none_or(|text| text == "(null)") {
        return Ok(CpuSet::default());
    }
    Ok(tree.cpus(FILE)?.unwrap_or_default())
}
