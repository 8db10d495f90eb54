//! Locates a setting: the file or thread that its identity currently refers to, and the notation of its
//! value.

pub use super::locate_error::LocateError;

use super::brief::brief;
use super::interrupt::Interrupt;
use super::locator::Locator;
use super::plan::Setting;
use super::system::{System, is_absent, status};
use super::{cpuset, spread, thread};
use crate::bitmap;
use crate::ethtool::{self, ChannelCounts, DriverSetting, parse_table, table_text};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Fault};

/// The current location of a setting.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Location {
    /// A file, and the notation of its value.
    File { file: String, notation: Notation },
    /// The list of cpus that may handle an interrupt.
    Interrupt(Interrupt),
    /// A setting of an interface's driver.
    Driver { interface: String, setting: DriverSetting },
    /// The affinity mask of a thread.
    Thread { process: u32, thread: u32 },
}

/// How a file writes its value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Notation {
    /// `0-3,8`.
    List,
    /// `f,00000000`.
    Bitmap,
    /// `4096`.
    Count,
    /// `combined 4`.
    Channels,
    /// `0 1 0 1`.
    Table,
}

/// A value, independent of its notation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A set of cpus or queues.
    Numbers(BTreeSet<u32>),
    /// A number.
    Count(u64),
    /// Numbers of channels.
    Channels(ChannelCounts),
    /// Queues that a table takes in turn.
    Spread(Vec<u32>),
    /// A table that weighs queues.
    Table(Vec<u32>),
}

impl Setting {
    /// The wanted value.
    pub(crate) fn wanted(&self) -> Value {
        match self {
            Self::RpsFlows { flows, .. } | Self::GlobalFlows { flows } => Value::Count((*flows).into()),
            Self::Ntuple { on, .. } | Self::ThreadedNapi { on, .. } => Value::Count((*on).into()),
            Self::Indirection { queues, .. } => Value::Spread(queues.listed()),
            &Self::Channels { combined, receive, transmit, .. } => {
                Value::Channels(ChannelCounts { combined, receive, transmit })
            }
            Self::XpsQueues { receive_queues, .. } => {
                Value::Numbers(receive_queues.iter().copied().collect())
            }
            Self::Interrupt { cpus, .. }
            | Self::DefaultInterrupt { cpus }
            | Self::RpsCpus { cpus, .. }
            | Self::XpsCpus { cpus, .. }
            | Self::Thread { cpus, .. }
            | Self::Cpuset { cpus, .. } => Value::new(cpus),
        }
    }

    /// Locates the setting. A line for all threads of a process must be [split](Self::split) first.
    pub(crate) fn locate(&self, at: &Locator<'_>) -> Result<Location, LocateError> {
        let system = at.system();
        let queue_file = |interface: &str, queue: String, name: &str, notation| {
            queue_file(system, interface, &queue, name)
                .map(|()| Location::File { file: queue_path(interface, &queue, name), notation })
        };
        let (rx, tx) = (|queue: &u32| format!("rx-{queue}"), |queue: &u32| format!("tx-{queue}"));
        match self {
            Self::Interrupt { device, action, queue, .. } => {
                at.interrupt(device, action.as_deref(), *queue).map(Location::Interrupt)
            }
            Self::DefaultInterrupt { .. } => {
                Ok(Location::file("proc/irq/default_smp_affinity", Notation::Bitmap))
            }
            Self::GlobalFlows { .. } => {
                Ok(Location::file("proc/sys/net/core/rps_sock_flow_entries", Notation::Count))
            }
            Self::RpsCpus { interface, queue, .. } => {
                queue_file(interface, rx(queue), "rps_cpus", Notation::Bitmap)
            }
            Self::RpsFlows { interface, queue, .. } => {
                queue_file(interface, rx(queue), "rps_flow_cnt", Notation::Count)
            }
            Self::XpsCpus { interface, queue, .. } => {
                queue_file(interface, tx(queue), "xps_cpus", Notation::Bitmap)
            }
            Self::XpsQueues { interface, queue, .. } => {
                queue_file(interface, tx(queue), "xps_rxqs", Notation::Bitmap)
            }
            Self::ThreadedNapi { interface, .. } => {
                let directory = interface_directory(interface);
                if entries_of_interface(system, interface, &directory)?.iter().any(|name| name == "threaded")
                {
                    return Ok(Location::File {
                        file: format!("{directory}/threaded"),
                        notation: Notation::Count,
                    });
                }
                let expected = "an interface with `threaded`, which this kernel does not have (before 5.12)";
                Err(Fault::new("interface", format!("`{interface}`"), expected).into())
            }
            &Self::Channels { ref interface, combined, receive, transmit } => {
                let counts = ChannelCounts { combined, receive, transmit };
                driver_setting(system, interface, DriverSetting::Channels(counts))
            }
            Self::Ntuple { interface, .. } => driver_setting(system, interface, DriverSetting::Ntuple),
            Self::Indirection { interface, queues } => {
                let place = driver_setting(system, interface, DriverSetting::Indirection)?;
                let (wanted, entries) = (queues.listed().len(), place.entries(system));
                if wanted > entries {
                    let expected = format!("at most {entries} queues, as many as its table has entries");
                    return Err(Fault::new("queues", wanted, expected).into());
                }
                Ok(place)
            }
            Self::Thread { pid, started, name, thread, .. } => {
                thread::require(system, *pid, *started, name)?;
                let thread = thread.unwrap_or(*pid);
                if !thread::threads(system, *pid)?.contains(&thread) {
                    let expected = format!("a thread of process {pid} that runs");
                    return Err(Fault::new("thread", thread, expected).into());
                }
                Ok(Location::Thread { process: *pid, thread })
            }
            Self::Cpuset { group, .. } => {
                cpuset::find(system, group).map(|file| Location::File { file, notation: Notation::List })
            }
        }
    }

    /// Splits a setting into settings with stable identities: one for each thread if it is for all threads,
    /// and by the interrupt's action if it is given by queue.
    pub(crate) fn split(&self, at: &Locator<'_>) -> Result<Vec<Self>, LocateError> {
        let mut one = self.clone();
        match &mut one {
            Self::Interrupt { device, action, queue, .. } => {
                let found = at.interrupt(device, action.as_deref(), queue.take())?;
                *action = Some(found.action);
                Ok(vec![one])
            }
            Self::Thread { pid, started, name, thread: None, .. } => {
                let system = at.system();
                thread::require(system, *pid, *started, name)?;
                let threads = thread::threads(system, *pid)?;
                Ok(threads.into_iter().map(|number| self.of_thread(number)).collect())
            }
            _ => Ok(vec![one]),
        }
    }

    /// Returns the same setting for one thread.
    pub(crate) fn of_thread(&self, number: u32) -> Self {
        let mut one = self.clone();
        if let Self::Thread { thread, .. } = &mut one {
            *thread = Some(number);
        }
        one
    }
}

fn queue_path(interface: &str, queue: &str, name: &str) -> String {
    format!("sys/class/net/{interface}/queues/{queue}/{name}")
}

/// Checks that a queue has the file `name`.
fn queue_file(system: &dyn System, interface: &str, queue: &str, name: &str) -> Result<(), LocateError> {
    let directory = format!("{}/queues", interface_directory(interface));
    let queues = entries_of_interface(system, interface, &directory)?;
    if !queues.iter().any(|found| found == queue) {
        let expected = format!("one of {} of {interface}", queues.join(", ").escape_debug());
        return Err(Fault::new("queue", queue, expected).into());
    }
    let file = format!("{directory}/{queue}");
    match system.entries(&file) {
        Ok(files) if files.iter().any(|found| found == name) => Ok(()),
        Ok(_) => {
            let expected = format!("a queue with `{name}`, which this kernel or interface does not have");
            Err(Fault::new("queue", queue, expected).into())
        }
        Err(source) => Err(LocateError::Unreadable { file, source }),
    }
}

fn interface_directory(interface: &str) -> String {
    format!("sys/class/net/{interface}")
}

/// Lists `directory`, which every interface has.
fn entries_of_interface(
    system: &dyn System,
    interface: &str,
    directory: &str,
) -> Result<Vec<String>, LocateError> {
    match system.entries(directory) {
        Ok(entries) => Ok(entries),
        Err(error) if is_absent(&error) => {
            let expected = "an interface of this machine, which has none of this name";
            Err(Fault::new("interface", format!("`{interface}`"), expected).into())
        }
        Err(source) => Err(LocateError::Unreadable { file: directory.to_owned(), source }),
    }
}

/// Checks that the driver of an interface has `setting`.
fn driver_setting(
    system: &dyn System,
    interface: &str,
    setting: DriverSetting,
) -> Result<Location, LocateError> {
    let directory = interface_directory(interface);
    entries_of_interface(system, interface, &directory)?;
    match system.driver_setting(interface, setting) {
        Ok(_) => Ok(Location::Driver { interface: interface.to_owned(), setting }),
        Err(error) if is_absent(&error) || error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error()) => {
            let expected = "an interface whose driver has this setting";
            Err(Fault::new("interface", format!("`{interface}`"), expected).into())
        }
        Err(source) => Err(LocateError::Unreadable { file: directory, source }),
    }
}

impl Location {
    fn file(file: &str, notation: Notation) -> Self {
        Self::File { file: file.to_owned(), notation }
    }

    /// How many entries the table at this location has.
    pub(super) fn entries(&self, system: &dyn System) -> usize {
        self.read(system).ok().and_then(|text| parse_table(&text)).map_or(0, |table| table.len())
    }

    pub(super) fn notation(&self) -> Notation {
        match self {
            Self::File { notation, .. } => *notation,
            Self::Driver { setting: DriverSetting::Channels(_), .. } => Notation::Channels,
            Self::Driver { setting: DriverSetting::Indirection, .. } => Notation::Table,
            Self::Driver { setting: DriverSetting::Ntuple, .. } => Notation::Count,
            Self::Interrupt(_) | Self::Thread { .. } => Notation::List,
        }
    }

    /// Reads the value as text.
    pub(crate) fn read(&self, system: &dyn System) -> io::Result<String> {
        match self {
            Self::File { file, .. } => system.read(file),
            Self::Interrupt(interrupt) => system.read(&interrupt.wanted_file()),
            Self::Driver { interface, setting } => system.driver_setting(interface, *setting),
            Self::Thread { process, thread } => Ok(system.mask(*process, *thread)?.to_string()),
        }
    }

    /// Whether there is nothing to read here any more.
    pub(super) fn is_gone(&self, system: &dyn System) -> bool {
        self.read(system).is_err_and(|error| is_absent(&error))
    }

    /// Removes what a process that was killed while it wrote here has left. What cannot be removed does no harm.
    pub(super) fn remove_left(&self, system: &dyn System) {
        let _ = match self {
            Self::File { file, .. } => system.remove_left(file),
            Self::Interrupt(interrupt) => system.remove_left(&interrupt.wanted_file()),
            Self::Driver { interface, .. } => system.remove_left(&ethtool::file(interface)),
            Self::Thread { process, thread } => system.remove_left(&status(*process, *thread)),
        };
    }

    /// Writes a text from [`Self::read`] or [`Self::text`].
    pub(crate) fn write(&self, system: &dyn System, text: &str) -> io::Result<()> {
        match self {
            Self::File { file, .. } => system.write(file, text),
            Self::Interrupt(interrupt) => system.write(&interrupt.wanted_file(), text),
            Self::Driver { interface, setting } => system.set_driver_setting(interface, *setting, text),
            Self::Thread { process, thread } => {
                let cpus = text.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                system.set_mask(*process, *thread, &cpus)
            }
        }
    }

    /// Writes `value` in the notation of this location. `now` is what was read from it.
    pub(crate) fn text(&self, value: &Value, now: &str) -> io::Result<String> {
        Ok(match value {
            Value::Channels(counts) => counts.text(),
            Value::Spread(queues) => {
                let entries = parse_table(now).map_or(0, |table| table.len());
                table_text(&spread::table(queues, entries))
            }
            Value::Table(table) => table_text(table),
            Value::Count(count) => count.to_string(),
            Value::Numbers(numbers) if self.notation() == Notation::Bitmap => {
                bitmap::to_text(numbers).ok_or(io::ErrorKind::InvalidInput)?
            }
            Value::Numbers(numbers) => shown_numbers(numbers.iter().copied()),
        })
    }

    /// Parses `text` that was read from this location; `None` if it is malformed.
    pub(crate) fn value(&self, text: &str) -> Option<Value> {
        match self.notation() {
            Notation::Count => text.trim().parse().ok().map(Value::Count),
            Notation::Bitmap => bitmap::from_text(text).map(Value::Numbers),
            Notation::Channels => ChannelCounts::parse(text).map(Value::Channels),
            Notation::Table => {
                let table = parse_table(text)?;
                Some(spread::queues_of(&table).map_or(Value::Table(table), Value::Spread))
            }
            Notation::List => text.parse().ok().as_ref().map(Value::new),
        }
    }

    /// Formats `text` that was read from this location for messages: cpus as a list, numbers unchanged.
    pub(crate) fn shown(&self, text: &str) -> String {
        self.value(text).map_or_else(|| brief(text), |value| value.shown())
    }
}

impl Value {
    fn new(cpus: &CpuSet) -> Self {
        Self::Numbers(cpus.iter().map(|cpu| cpu.0).collect())
    }

    /// Formats the value for messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Channels(counts) => counts.text(),
            Self::Spread(queues) => format!("evenly over {}", shown_numbers(queues.iter().copied())),
            Self::Table(table) => {
                format!("unevenly over {}", shown_numbers(table.iter().copied()))
            }
            Self::Numbers(numbers) if numbers.is_empty() => "none".to_owned(),
            Self::Numbers(numbers) => shown_numbers(numbers.iter().copied()),
        }
    }
}

/// Formats numbers as a list, such as `0-3,8`.
fn shown_numbers(numbers: impl Iterator<Item = u32>) -> String {
    numbers.map(CpuId).collect::<CpuSet>().to_string()
}
