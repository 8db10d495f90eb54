//! The plan document: settings, identified so that they survive a reboot or driver reload, with the wanted
//! values and the reasons.
//!
//! ```toml
//! schema = 1
//!
//! [machine]
//! cpus = "0-1"
//! nodes = ["0-1"]
//! interfaces = [{ name = "eth0", driver = "virtio_net", receive_queues = 2, transmit_queues = 2 }]
//!
//! [[lines]]
//! set = { interrupt = { device = "0000:00:03.0", queue = 0, cpus = "1" } }
//! reason = "the server's thread runs on cpu 1"
//! expected_gain = "8% fewer cycles per bit"
//!
//! [[lines]]
//! set = { thread = { pid = 4242, started = 8311, name = "server", cpus = "1" } }
//! ```

use super::fingerprint::{Fingerprint, check_interface_name};
use super::location::Value;
use super::queues::QueuesAfter;
pub use super::spread::SpreadQueues;
use super::{channels, cpuset};
use crate::inventory::PciAddress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

/// Settings that are applied together: all of them, or none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the document, [`Plan::SCHEMA`].
    pub schema: u32,
    /// The kind of machine for which it was made.
    pub machine: Fingerprint,
    /// What all of it promises, to be held against what is found; `None` where nothing was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// The settings, in the order in which they are applied.
    pub lines: Vec<Line>,
}

/// What a plan promises of each packet that arrives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Processor time that it takes less, in nanoseconds; below zero if it takes more.
    pub saved_ns: i64,
    /// The half-width of the 95% interval of that.
    pub half_width_ns: u64,
    /// What the time is of, and where that is known from, for readers.
    pub of: String,
}

/// One line of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The setting and its wanted value.
    pub set: Setting,
    /// The reason, for readers.
    #[serde(default)]
    pub reason: String,
    /// The expected gain, for readers.
    #[serde(default)]
    pub expected_gain: String,
}

/// The identity of a setting, and its wanted value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Setting {
    /// The cpus that handle a device interrupt.
    Interrupt {
        /// PCI address, such as `0000:3b:00.0`.
        device: String,
        /// Name of the interrupt's action, such as `eth0-TxRx-3`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<String>,
        /// Instead of `action`: the number at the end of the action's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<u32>,
        /// At least one.
        cpus: CpuSet,
    },
    /// The cpus that handle interrupts that drivers request later.
    DefaultInterrupt {
        /// At least one.
        cpus: CpuSet,
    },
    /// Receive packet steering: the cpus over which the packets of a receive queue are spread; none
    /// switches it off.
    RpsCpus {
        /// The interface.
        interface: String,
        /// Receive queue, from 0.
        queue: u32,
        /// Perhaps none.
        cpus: CpuSet,
    },
    /// Receive flow steering: how many flows of a receive queue are tracked.
    RpsFlows {
        /// The interface.
        interface: String,
        /// Receive queue, from 0.
        queue: u32,
        /// Zero or a power of two.
        flows: u32,
    },
    /// Receive flow steering: how many flows are tracked on the whole machine.
    GlobalFlows {
        /// Zero or a power of two.
        flows: u32,
    },
    /// Transmit packet steering: the cpus that send through a transmit queue; none switches it off.
    XpsCpus {
        /// The interface.
        interface: String,
        /// Transmit queue, from 0.
        queue: u32,
        /// Perhaps none.
        cpus: CpuSet,
    },
    /// Transmit packet steering: the receive queues whose flows are sent through a transmit queue.
    XpsQueues {
        /// The interface.
        interface: String,
        /// Transmit queue, from 0.
        queue: u32,
        /// Receive queues, from 0; may be empty.
        receive_queues: Vec<u32>,
    },
    /// The numbers of channels of an interface, by kind; those not named stay. The driver takes its link
    /// down for it, for up to some seconds, and makes new queues and interrupts. So these lines come first.
    Channels {
        /// The interface.
        interface: String,
        /// Channels that receive and transmit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        combined: Option<u32>,
        /// Channels that only receive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receive: Option<u32>,
        /// Channels that only transmit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transmit: Option<u32>,
    },
    /// The receive queues among which hashes choose (RSS), each for the same share of the table.
    Indirection {
        /// The interface.
        interface: String,
        /// The first so many, or a list.
        queues: SpreadQueues,
    },
    /// Ntuple filters, which accelerated RFS needs.
    Ntuple {
        /// The interface.
        interface: String,
        /// Whether they are on.
        on: bool,
    },
    /// Whether NAPI instances poll in kernel threads, all those of an interface alike.
    ThreadedNapi {
        /// The interface.
        interface: String,
        /// Whether they do.
        on: bool,
    },
    /// The cpus on which a thread, or every thread of a process, may run.
    Thread {
        /// The number of the process.
        pid: u32,
        /// When it started, in kernel ticks since boot: the 22nd field of `/proc/PID/stat`. Excludes a
        /// later process with the same number.
        started: u64,
        /// Its name, as in `/proc/PID/comm`.
        name: String,
        /// A single thread; all threads if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u32>,
        /// At least one.
        cpus: CpuSet,
    },
    /// The cpus of a control group: where its threads may run, those that start later included.
    Cpuset {
        /// Its path, such as `/system.slice/nginx.service`.
        group: String,
        /// At least one.
        cpus: CpuSet,
    },
}

impl Plan {
    /// The version of the document that this build reads and writes.
    pub const SCHEMA: u32 = 1;

    /// Checks everything that can be checked without a machine.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn check(&self) -> Result<(), Fault> {
        if self.schema != Self::SCHEMA {
            return Err(Fault::new("schema", self.schema, Self::SCHEMA));
        }
        self.machine.check()?;
        if self.lines.is_empty() {
            return Err(Fault::new("lines", "empty", "at least one line with `set`"));
        }
        let queues = QueuesAfter::new(self);
        let mut earlier = BTreeMap::new();
        for (index, line) in self.lines.iter().enumerate() {
            let checked = line.set.check().and_then(|()| queues.check(&line.set));
            checked.map_err(|fault| line.set.in_line(index, fault))?;
            if let Some(first) = earlier.insert(line.set.to_string(), index) {
                let expected = match line.set {
                    Setting::Interrupt { .. } => format!(
                        "one line for each name, but line {} has the same one: if several interrupts of the device have \
                         it, which is meant is unknown, so leave both lines out",
                        first + 1
                    ),
                    _ => format!("one line for each setting, but line {} has the same one", first + 1),
                };
                return Err(Fault::new(format!("lines.{index}.set"), &line.set, expected));
            }
        }
        channels::check_order(self)
    }
}

impl Setting {
    /// Whether it places interrupts or received packets.
    #[must_use]
    pub const fn places_packets(&self) -> bool {
        matches!(self, Self::Interrupt { .. } | Self::DefaultInterrupt { .. } | Self::RpsCpus { .. })
    }

    /// Whether it places threads.
    #[must_use]
    pub const fn places_threads(&self) -> bool {
        matches!(self, Self::Thread { .. } | Self::Cpuset { .. })
    }

    /// The wanted cpus, if the setting has cpus.
    #[must_use]
    pub const fn cpus(&self) -> Option<&CpuSet> {
        match self {
            Self::Interrupt { cpus, .. }
            | Self::DefaultInterrupt { cpus }
            | Self::RpsCpus { cpus, .. }
            | Self::XpsCpus { cpus, .. }
            | Self::Thread { cpus, .. }
            | Self::Cpuset { cpus, .. } => Some(cpus),
            _ => None,
        }
    }

    /// The interface, if the setting is of one or of its queues.
    #[must_use]
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::RpsCpus { interface, .. }
            | Self::RpsFlows { interface, .. }
            | Self::XpsCpus { interface, .. }
            | Self::XpsQueues { interface, .. }
            | Self::Channels { interface, .. }
            | Self::Indirection { interface, .. }
            | Self::Ntuple { interface, .. }
            | Self::ThreadedNapi { interface, .. } => Some(interface),
            _ => None,
        }
    }

    /// Returns the same setting of the interface `name`.
    pub(super) fn of_interface(&self, name: &str) -> Self {
        let mut one = self.clone();
        match &mut one {
            Self::RpsCpus { interface, .. }
            | Self::RpsFlows { interface, .. }
            | Self::XpsCpus { interface, .. }
            | Self::XpsQueues { interface, .. }
            | Self::Channels { interface, .. }
            | Self::Indirection { interface, .. }
            | Self::Ntuple { interface, .. }
            | Self::ThreadedNapi { interface, .. } => name.clone_into(interface),
            Self::Interrupt { .. }
            | Self::DefaultInterrupt { .. }
            | Self::GlobalFlows { .. }
            | Self::Thread { .. }
            | Self::Cpuset { .. } => {}
        }
        one
    }

    /// Prefixes the field of a fault in this setting with the line at `index`, from 0.
    pub(crate) fn in_line(&self, index: usize, fault: Fault) -> Fault {
        Fault { field: format!("lines.{index}.set.{}.{}", self.name(), fault.field), ..fault }
    }

    /// Its name in documents.
    const fn name(&self) -> &'static str {
        match self {
            Self::Interrupt { .. } => "interrupt",
            Self::DefaultInterrupt { .. } => "default_interrupt",
            Self::RpsCpus { .. } => "rps_cpus",
            Self::RpsFlows { .. } => "rps_flows",
            Self::GlobalFlows { .. } => "global_flows",
            Self::XpsCpus { .. } => "xps_cpus",
            Self::XpsQueues { .. } => "xps_queues",
            Self::Channels { .. } => "channels",
            Self::Indirection { .. } => "indirection",
            Self::Ntuple { .. } => "ntuple",
            Self::ThreadedNapi { .. } => "threaded_napi",
            Self::Thread { .. } => "thread",
            Self::Cpuset { .. } => "cpuset",
        }
    }

    /// Checks everything that can be checked of a setting by itself.
    pub(super) fn check(&self) -> Result<(), Fault> {
        if let Some(interface) = self.interface() {
            check_interface_name("interface", interface)?;
        }
        match self {
            Self::Interrupt { device, action, queue, cpus } => {
                check_address(device)?;
                if action.is_some() == queue.is_some() {
                    let found = if queue.is_some() { "beside `queue`" } else { "missing, as is `queue`" };
                    return Err(Fault::new("action", found, "either `action` or `queue`"));
                }
                check_some(cpus)
            }
            Self::DefaultInterrupt { cpus } | Self::Thread { cpus, .. } => check_some(cpus),
            Self::Cpuset { group, cpus } => cpuset::check(group).and_then(|()| check_some(cpus)),
            Self::RpsFlows { flows, .. } | Self::GlobalFlows { flows } => check_flows(*flows),
            Self::Indirection { queues, .. } => queues.check(),
            _ => match self.wanted() {
                Value::Channels(counts) => channels::check(counts),
                _ => Ok(()),
            },
        }
    }
}

/// Describes the setting in words, without its value.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupt { device, action: Some(action), .. } => {
                write!(f, "interrupt {} of {device}", action.escape_debug())
            }
            Self::Interrupt { device, queue, .. } => {
                write!(f, "interrupt of queue {} of {device}", queue.unwrap_or_default())
            }
            Self::DefaultInterrupt { .. } => f.write_str("interrupts requested later"),
            Self::RpsCpus { interface, queue, .. } => write!(f, "RPS cpus of {interface} rx-{queue}"),
            Self::RpsFlows { interface, queue, .. } => write!(f, "RFS flows of {interface} rx-{queue}"),
            Self::GlobalFlows { .. } => f.write_str("RFS flows of the machine"),
            Self::XpsCpus { interface, queue, .. } => write!(f, "XPS cpus of {interface} tx-{queue}"),
            Self::XpsQueues { interface, queue, .. } => {
                write!(f, "XPS receive queues of {interface} tx-{queue}")
            }
            Self::Channels { interface, .. } => write!(f, "channels of {interface}"),
            Self::Indirection { interface, .. } => write!(f, "RSS table of {interface}"),
            Self::Ntuple { interface, .. } => write!(f, "ntuple filters of {interface}"),
            Self::ThreadedNapi { interface, .. } => write!(f, "threaded NAPI of {interface}"),
            Self::Thread { pid, name, thread: Some(thread), .. } => {
                write!(f, "thread {thread} of {} ({pid})", name.escape_debug())
            }
            Self::Thread { pid, name, .. } => write!(f, "all threads of {} ({pid})", name.escape_debug()),
            Self::Cpuset { group, .. } => write!(f, "cpus of control group {}", group.escape_debug()),
        }
    }
}

fn check_some(cpus: &CpuSet) -> Result<(), Fault> {
    let expected = "at least one cpu";
    if cpus.is_empty() { Err(Fault::new("cpus", "empty", expected)) } else { Ok(()) }
}

/// Accepts only values that the kernel does not round up; otherwise reading a value back would look like a
/// change by somebody else.
pub(super) fn check_flows(flows: u32) -> Result<(), Fault> {
    // The most of the whole machine (`rps_sock_flow_sysctl` in the kernel's net/core/sysctl_net_core.c).
    const MOST: u32 = 1 << 29;
    if flows == 0 || flows.is_power_of_two() && flows <= MOST {
        return Ok(());
    }
    let expected = match flows.checked_next_power_of_two().filter(|&next| next <= MOST) {
        Some(next) => format!("zero or a power of two, such as {next}, to which the kernel would round up"),
        None => format!("zero or a power of two up to {MOST}, the most that the kernel takes"),
    };
    Err(Fault::new("flows", flows, expected))
}

/// Checks a PCI address such as `0000:3b:00.0`.
fn check_address(device: &str) -> Result<(), Fault> {
    let expected = "a PCI address such as `0000:3b:00.0`, as `lspci -D` prints it";
    let fault = |_| Fault::new("device", format!("`{}`", device.escape_debug()), expected);
    device.parse::<PciAddress>().map(drop).map_err(fault)
}
