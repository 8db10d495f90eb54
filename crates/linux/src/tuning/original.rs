//! Checks an original value before it is written back.
//!
//! A journal is a file that somebody may edit. What it holds as the original value must be one that the setting can
//! have had on this machine, as a plan's value must be one that it can have. The same holds for a value that stands in
//! a copied file: what could not be restored is not changed.

use super::brief::brief;
use super::location::{Location, Notation, Value};
use super::plan::{Setting, check_flows};
use super::system::System;
use crate::ethtool::{self, ChannelCounts, DriverSettings};
use std::collections::BTreeSet;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Fault};

/// Why the value of a setting cannot be restored. The field names the place of the value.
pub(super) fn check(
    field: &str,
    set: &Setting,
    place: &Location,
    original: &str,
    system: &dyn System,
) -> Result<(), Fault> {
    let fault = |expected: String| {
        let found = format!("`{}`", brief(original));
        Err(Fault::new(field, found, expected))
    };
    if original.strip_suffix('\n').unwrap_or(original).contains('\n') {
        return fault("one line".to_owned());
    }
    let Some(value) = place.value(original) else { return fault(described(place.notation()).to_owned()) };
    match (expected(set, &value, system), place.notation()) {
        (None, Notation::Table) => match lengths(place, original, system) {
            (found, there) if found == there => Ok(()),
            (_, there) => fault(format!("{there} queues, as many as the table has entries")),
        },
        (None, _) => Ok(()),
        (Some(expected), _) => fault(expected),
    }
}

const fn described(notation: Notation) -> &'static str {
    match notation {
        Notation::List => "a list of cpus such as `0-3,8`",
        Notation::Bitmap => "a bitmap such as `f` or `1,00000003`",
        Notation::Count => "a number",
        Notation::Channels => "numbers of channels such as `combined 4`",
        Notation::Table => "the queues of a table such as `0 1 0 1`",
    }
}

/// What `value` should be instead, if `set` cannot have it on this machine.
fn expected(set: &Setting, value: &Value, system: &dyn System) -> Option<String> {
    match (set, value) {
        (Setting::XpsQueues { interface, .. }, Value::Numbers(queues)) => {
            beyond_queues(interface, queues.iter(), system)
        }
        (Setting::Indirection { interface, .. }, Value::Spread(queues) | Value::Table(queues)) => {
            beyond_queues(interface, queues.iter(), system)
        }
        (_, Value::Numbers(cpus)) if cpus.is_empty() => {
            let needs_some = matches!(
                set,
                Setting::Interrupt { .. } | Setting::DefaultInterrupt { .. } | Setting::Thread { .. }
            );
            needs_some.then(|| "at least one cpu".to_owned())
        }
        (_, Value::Numbers(cpus)) => beyond_machine(cpus, system),
        (Setting::RpsFlows { .. } | Setting::GlobalFlows { .. }, Value::Count(flows)) => {
            let flows = u32::try_from(*flows).unwrap_or(u32::MAX);
            check_flows(flows).err().map(|fault| fault.expected)
        }
        (Setting::Ntuple { .. }, Value::Count(2..)) => Some("0 or 1".to_owned()),
        // In softirqs, in threads, or in threads that poll without pause.
        (Setting::ThreadedNapi { .. }, Value::Count(3..)) => Some("0, 1 or 2".to_owned()),
        (Setting::Channels { interface, .. }, Value::Channels(counts)) => {
            let Value::Channels(wanted) = set.wanted() else { return None };
            let kinds = |of: ChannelCounts| [of.combined, of.receive, of.transmit].map(|of| of.is_some());
            if kinds(*counts) != kinds(wanted) {
                return Some(format!("numbers of the same kinds as in `{}`", wanted.text()));
            }
            beyond_driver(interface, *counts, system)
        }
        _ => None,
    }
}

/// Which cpus the machine has, if some of `cpus` are beyond them.
fn beyond_machine(cpus: &BTreeSet<u32>, system: &dyn System) -> Option<String> {
    let read = |name: &str| {
        let text = system.read(&format!("sys/devices/system/cpu/{name}")).ok()?;
        text.parse().ok().filter(|cpus: &CpuSet| !cpus.is_empty())
    };
    // Cpus that may be plugged in later are in masks as well.
    let machine = ["possible", "present", "online"].into_iter().find_map(read)?;
    let outside: CpuSet = cpus.iter().map(|&cpu| CpuId(cpu)).filter(|&cpu| !machine.contains(cpu)).collect();
    let is_beyond = !outside.is_empty() && !is_full(cpus, &machine);
    is_beyond.then(|| format!("cpus among {machine} ({outside} not on this machine)"))
}

/// Whether `cpus` is a mask with all bits set, in whole words: some kernels write "all cpus" so.
fn is_full(cpus: &BTreeSet<u32>, machine: &CpuSet) -> bool {
    let count = cpus.len() as u32;
    count.is_multiple_of(32)
        && cpus.last() == count.checked_sub(1).as_ref()
        && machine.iter().all(|cpu| cpus.contains(&cpu.0))
}

/// Which receive queues `interface` has, if some of `queues` are beyond them.
fn beyond_queues<'a>(
    interface: &str,
    mut queues: impl Iterator<Item = &'a u32>,
    system: &dyn System,
) -> Option<String> {
    let entries = system.entries(&format!("sys/class/net/{interface}/queues")).ok()?;
    let number = |entry: &String| entry.strip_prefix("rx-")?.parse::<u32>().ok();
    let last = entries.iter().filter_map(number).max()?;
    queues.any(|&queue| queue > last).then(|| format!("receive queues of {interface}, which are 0 to {last}"))
}

/// Which channels the driver of `interface` can have, if these are more. Only a copy may have more than it can: there the
/// numbers stand in a document that somebody may edit.
fn beyond_driver(interface: &str, counts: ChannelCounts, system: &dyn System) -> Option<String> {
    let settings: DriverSettings = toml::from_str(&system.read(&ethtool::file(interface)).ok()?).ok()?;
    let most = counts.exceeded(&settings.channels?)?;
    Some(format!("at most `{}`, as the driver says", most.text()))
}

/// How many entries the table `original` has, and how many the one at `place`.
fn lengths(place: &Location, original: &str, system: &dyn System) -> (usize, usize) {
    (original.split_whitespace().count(), place.entries(system))
}
