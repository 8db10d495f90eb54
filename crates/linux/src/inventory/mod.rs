//! An inventory of a host: cpus, interrupts, queues, packet steering and threads, and the programs
//! that change them.
//!
//! It is what placement needs to know first: in the terms of Foong, Fung & Newell (2004, §3), which
//! cpu each NIC interrupts and which cpu each process runs on.
//!
//! ```
//! use warmcore_linux::{Probe, fake};
//!
//! let inventory = Probe::fake(fake::hosts::two_socket_server()).inventory().expect("a valid tree");
//! let nic = inventory.interfaces.iter().find(|interface| interface.is_physical()).expect("a NIC");
//! assert_eq!((nic.node, nic.receive.len()), (Some(1), 64));
//! let of_nic = |interface: &Option<String>| interface.as_ref() == Some(&nic.name);
//! let queue = inventory.interrupts.iter().find(|interrupt| of_nic(&interrupt.interface)).expect("a queue");
//! assert_eq!(queue.id.to_string(), "0000:81:00.0/0 eth0-TxRx-0");
//! ```
//!
//! | module | reads |
//! |---|---|
//! | `table`, `interrupts`, `identity` | `/proc/interrupts`, `/proc/irq`, and the identity of each interrupt |
//! | `handling` | nothing: it tells which cpus an interrupt goes to |
//! | `position` | nothing: it tells queues by the place of their interrupts, where names do not |
//! | `pci` | PCI devices with their addresses, interrupts and interfaces |
//! | `interfaces`, `mask` | network interfaces, their queues, RPS, RFS and XPS, and what drivers say |
//! | `processors` | how each cpu spent its time, its softirqs and received packets |
//! | `threads` | busy threads with their masks, control groups and last cpus |
//! | `sockets` | the number of sockets |
//! | `rivals` | irqbalance, TuneD and other programs that change placement, and `.link` files |
//! | `container` | signs of a container, and read-only mounts |
//! | `activity` | only softirqs and rescheduling interrupts, to count them around a run |
//! | `rates` | nothing: it computes rates from two inventories |
//! | `observation` | nothing: it holds an inventory and the rates since an earlier one |
//! | `receivers` | what TCP sockets have received, and whose they are |
//! | `on_cpu` | nothing: it selects what concerns one cpu |
//! | `blind_spot` | nothing: it lists what cannot be seen here, and what would be needed |
//!
//! An inventory holds counts since boot. [`Rates`] are computed from two inventories.
//!
//! Invariants: nothing is read that identifies this machine (addresses, serial numbers, host names,
//! arguments of programs), but the id of the boot, which is drawn anew at each start; a file that vanishes while the inventory is taken is no error; and the
//! inventory of a [recorded](crate::capture) tree equals the one taken during the recording.

mod activity;
mod blind_spot;
mod container;
mod handling;
mod identity;
mod interfaces;
mod interrupts;
mod mask;
mod observation;
mod on_cpu;
mod pci;
mod position;
mod processors;
mod rates;
mod receivers;
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
pub use observation::{EARLIER, Observation};
pub use on_cpu::OnCpu;
pub use pci::{ParsePciAddressError, PciAddress};
pub use processors::{Processor, Softnet};
pub use rates::{CpuRates, InterfaceRate, InterruptRate, Rates, ThreadRate};
pub use receivers::{Holder, Receiver};
pub use rivals::{Evidence, IrqbalanceArguments, LinkFile, OverwrittenSettings, Rival};
pub use sockets::Sockets;
pub use threads::{Cpuset, Thread, ThreadKey};
pub(crate) use threads::{cpuset_files, cpuset_group};

use crate::probe::cpus::node_lists;
use crate::probe::{Malformed, ProbeError, Warning};
use crate::tree::Tree;
use crate::{HostConditions, Probe};
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::{CpuId, Nanos};

/// The inventory of a host at one moment. Durations are in nanoseconds; counts are since boot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Inventory {
    /// The uptime of the machine.
    pub uptime: Option<Nanos>,
    /// Cpus, caches and NUMA nodes, and the part that this process may use.
    pub machine: Machine,
    /// The kernel and other conditions of the run.
    pub conditions: HostConditions,
    /// The cpus that are present, online or not; `None` where the kernel does not say.
    pub present: Option<CpuSet>,
    /// The cpus that may be plugged in while it runs, which masks may have as well.
    pub possible: Option<CpuSet>,
    /// The cpus of each NUMA node that has any, in order of node number.
    pub nodes: Vec<CpuSet>,
    /// Cpus that need special treatment: offline, isolated, tickless or slow.
    #[serde(rename = "apart")]
    pub special_cpus: SpecialCpus,
    /// What each online cpu has done.
    pub processors: Vec<Processor>,
    /// Device interrupts.
    pub interrupts: Vec<Interrupt>,
    /// Interrupt counts that the architecture keeps in addition.
    pub special_interrupts: Vec<SpecialInterrupt>,
    /// The cpus that new interrupts may go to (`default_smp_affinity`).
    pub default_affinity: Option<CpuSet>,
    /// Network interfaces, with their queues and steering.
    pub interfaces: Vec<Interface>,
    /// The number of flows that RFS tracks on the whole machine; 0 where it is off
    /// (`rps_sock_flow_entries`).
    pub rfs_flows: Option<u64>,
    /// How long sockets poll their queue, unless they say themselves.
    pub busy_polling: BusyPolling,
    /// Busy threads, the busiest first.
    pub threads: Vec<Thread>,
    /// The cpus that the control groups of those threads allow.
    pub cpusets: Vec<Cpuset>,
    /// The number of sockets.
    pub sockets: Sockets,
    /// Programs that change placement on their own.
    pub rivals: Vec<Rival>,
    /// systemd `.link` files that set up queues.
    pub link_files: Vec<LinkFile>,
    /// Signs that this is a container, in words.
    pub container: Vec<String>,
    /// Directories of settings that are mounted read-only.
    pub read_only: Vec<String>,
    /// Information that cannot be seen here.
    pub blind_spots: Vec<BlindSpot>,
    /// What the probe could not find out about the machine.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The id of the boot, which the kernel draws at each start; `None` where it is hidden.
    #[serde(skip)]
    boot: Option<String>,
    /// The processor time of each process, by number and start, for the next inventory.
    #[serde(skip)]
    ran: BTreeMap<(u32, u64), Nanos>,
}

/// Cpus that need special treatment.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SpecialCpus {
    /// Offline cpus.
    pub offline: CpuSet,
    /// Cpus isolated from the scheduler: `isolcpus`, and isolated cpuset partitions.
    pub isolated: CpuSet,
    /// Cpus without timer ticks while one task runs: `nohz_full`.
    pub nohz_full: CpuSet,
    /// Cpus that are slower than others of the same machine.
    pub slow: CpuSet,
}

/// How long sockets poll the queue of their device before they sleep, in microseconds; 0 where they do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct BusyPolling {
    /// In `poll` and `select` (`net.core.busy_poll`).
    pub poll: Option<u64>,
    /// In reads (`net.core.busy_read`).
    pub read: Option<u64>,
}

impl BusyPolling {
    fn read(tree: &Tree) -> Result<Self, Malformed> {
        let setting =
            |name: &str| tree.value(format!("proc/sys/net/core/{name}"), "a number of microseconds");
        Ok(Self { poll: setting("busy_poll")?, read: setting("busy_read")? })
    }
}

impl Probe {
    /// Takes an inventory of the host.
    ///
    /// # Errors
    /// If a file is malformed, or no usable cpu can be found.
    pub fn inventory(&self) -> Result<Inventory, ProbeError> {
        let probed = self.machine()?;
        self.take_inventory(probed.machine, probed.warnings, &BTreeMap::new())
    }

    /// Takes another inventory some time after `earlier`. Includes the threads of every process that
    /// has run since then, even of one that was idle before. The machine is probed again only if the
    /// online cpus have changed.
    ///
    /// # Errors
    /// As for [`inventory`](Self::inventory).
    pub fn inventory_after(&self, earlier: &Inventory) -> Result<Inventory, ProbeError> {
        let online = self.tree().cpus(ONLINE)?;
        if online.is_some_and(|online| online != earlier.machine.online()) {
            let probed = self.machine()?;
            return self.take_inventory(probed.machine, probed.warnings, &earlier.ran);
        }
        self.take_inventory(earlier.machine.clone(), earlier.warnings.clone(), &earlier.ran)
    }

    fn take_inventory(
        &self,
        machine: Machine,
        warnings: Vec<Warning>,
        ran: &BTreeMap<(u32, u64), Nanos>,
    ) -> Result<Inventory, ProbeError> {
        self.require_finished()?;
        let tree = self.tree();
        let uptime = uptime(tree)?;
        let online: Vec<CpuId> = machine.cpus.iter().map(|cpu| cpu.id).collect();
        let table = table::read(tree)?;
        let devices = pci::read(tree)?;
        let interfaces = interfaces::read(tree, &devices)?;
        let mut interrupts = interrupts::read(tree, &table, &devices)?;
        interfaces::name_queues(&mut interrupts, &interfaces);
        position::number_queues(&mut interrupts, &interfaces);
        let processes = threads::read(tree, uptime, ran)?;
        Ok(Inventory {
            uptime,
            conditions: self.host(),
            present: tree.cpus(PRESENT)?,
            possible: tree.cpus(POSSIBLE)?,
            nodes: nodes(tree)?,
            special_cpus: special_cpus(tree, &online)?,
            processors: processors::read(tree, &online, &table)?,
            blind_spots: blind_spot::find(tree, &table, &interrupts, uptime),
            interrupts,
            special_interrupts: interrupts::special(&table),
            default_affinity: mask::cpus(tree, "proc/irq/default_smp_affinity")?,
            interfaces,
            busy_polling: BusyPolling::read(tree)?,
            rfs_flows: tree.value("proc/sys/net/core/rps_sock_flow_entries", "a number of flows")?,
            rivals: rivals::read(tree, &processes.names),
            threads: processes.threads,
            cpusets: processes.cpusets,
            sockets: sockets::read(tree)?,
            link_files: rivals::link_files::read(tree),
            container: container::signs(tree),
            read_only: container::read_only(tree),
            machine,
            warnings,
            boot: tree.text("proc/sys/kernel/random/boot_id"),
            ran: processes.ran,
        })
    }
}

impl Inventory {
    /// How `later` differs in what does not change while a host runs: what it is, and its values here and there. `None` for
    /// two looks at one host, the later one second.
    fn difference(&self, later: &Self) -> Option<(&'static str, String, String)> {
        let known = |text: &Option<String>| text.clone().unwrap_or_default();
        let cpus = |of: &Self| of.present.as_ref().map(ToString::to_string);
        let nodes = |of: &Self| {
            let nodes: Vec<String> = of.nodes.iter().map(|node| format!("\"{node}\"")).collect();
            (!nodes.is_empty()).then(|| nodes.join(", "))
        };
        let uptime = |of: &Self| of.uptime.map(|uptime| format!("{:.2} s", uptime.secs()));
        let is_backwards = self.uptime.zip(later.uptime).is_some_and(|(first, second)| second < first);
        let kernel = |of: &Self| of.conditions.kernel.clone();
        let both = [
            ("id of the boot", self.boot.clone(), later.boot.clone()),
            ("kernel", kernel(self), kernel(later)),
            ("list of present cpus", cpus(self), cpus(later)),
            ("list of NUMA nodes", nodes(self), nodes(later)),
        ];
        // What one of them hides tells nothing.
        let differs =
            |of: &(_, Option<String>, Option<String>)| of.1.is_some() && of.2.is_some() && of.1 != of.2;
        let backwards = is_backwards.then(|| ("uptime", uptime(self), uptime(later)));
        let (what, here, there) = both.into_iter().find(differs).or(backwards)?;
        Some((what, known(&here), known(&there)))
    }

    /// Why not the whole host can be seen and changed from here, in words; `None` if it can. That takes no watching.
    #[must_use]
    pub fn restriction(&self) -> Option<String> {
        let (online, allowed) = (self.machine.online(), &self.machine.limits.allowed);
        // A process started by the system may not run on isolated cpus, but still sees the whole host.
        let missing = online.difference(allowed).difference(&self.special_cpus.isolated);
        if let Some(sign) = self.container.first() {
            return Some(format!("this is a container ({sign})"));
        }
        if !missing.is_empty() {
            return Some(format!("this process may use cpus {allowed} of {online} only"));
        }
        let places = self.read_only.join(", ");
        (!places.is_empty()).then(|| format!("{places} cannot be written to"))
    }

    /// When process `pid` started, in kernel ticks since boot; `None` if there is no such process.
    #[must_use]
    pub fn process_began(&self, pid: u32) -> Option<u64> {
        self.ran.range((pid, 0)..=(pid, u64::MAX)).next().map(|(&(_, started), _)| started)
    }
}

const ONLINE: &str = "sys/devices/system/cpu/online";
const POSSIBLE: &str = "sys/devices/system/cpu/possible";
const PRESENT: &str = "sys/devices/system/cpu/present";

/// The file with the uptime.
pub(crate) const UPTIME: &str = "proc/uptime";

/// What it holds.
pub(crate) const UPTIME_EXPECTED: &str = "a number of seconds since the start of the machine";

/// Parses `350735.47 234388.90`: seconds since boot, and idle seconds of all cpus. `None` for what is no time, or longer
/// than any machine runs.
pub(crate) fn uptime_seconds(text: &str) -> Option<f64> {
    /// More than three centuries. Times are counted in nanoseconds, and in ticks.
    const LONGEST: f64 = 1e10;
    let seconds = text.split_whitespace().next()?.parse::<f64>().ok()?;
    (0.0..=LONGEST).contains(&seconds).then_some(seconds)
}

fn uptime(tree: &Tree) -> Result<Option<Nanos>, Malformed> {
    let Some(text) = tree.text(UPTIME) else { return Ok(None) };
    let seconds = uptime_seconds(&text).ok_or_else(|| tree.malformed(UPTIME, &text, UPTIME_EXPECTED))?;
    Ok(Some(Nanos::from_secs(seconds)))
}

pub(crate) fn nodes(tree: &Tree) -> Result<Vec<CpuSet>, Malformed> {
    let lists = node_lists(tree)?.into_iter().map(|(_, cpus)| cpus);
    Ok(lists.filter(|cpus| !cpus.is_empty()).collect())
}

fn special_cpus(tree: &Tree, online: &[CpuId]) -> Result<SpecialCpus, Malformed> {
    let cpus = |file: &str| Ok(tree.cpus(file)?.unwrap_or_default());
    let mut isolated: CpuSet = cpus("sys/devices/system/cpu/isolated")?;
    isolated.extend(cpus("sys/fs/cgroup/cpuset.cpus.isolated")?.iter());
    let offline = cpus("sys/devices/system/cpu/offline")?;
    Ok(SpecialCpus { offline, isolated, nohz_full: nohz_full(tree)?, slow: slow(tree, online)? })
}

/// Finds the slow cpus. Intel's two kinds of cores are two devices; elsewhere the kernel gives each cpu
/// a capacity.
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

/// Reads the tickless cpus. If there are none, the kernel writes `(null)` or nothing.
fn nohz_full(tree: &Tree) -> Result<CpuSet, Malformed> {
    const FILE: &str = "sys/devices/system/cpu/nohz_full";
    if tree.text(FILE).is_none_or(|text| text == "(null)") {
        return Ok(CpuSet::default());
    }
    Ok(tree.cpus(FILE)?.unwrap_or_default())
}
