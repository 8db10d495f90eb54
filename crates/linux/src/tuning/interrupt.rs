//! Finds interrupts by device and action, because their numbers change whenever a driver is loaded.
//!
//! `/sys/bus/pci/devices/ADDRESS/msi_irqs` names the numbers of a device, `irq` the only one of a
//! device without message-signalled interrupts; `/sys/kernel/irq/N/actions` has the names of handlers.

use super::locate_error::LocateError;
use super::system::{System, is_absent};
use crate::inventory::Queue;
use std::collections::BTreeMap;
use std::io;
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

/// An interrupt of a device.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Interrupt {
    /// Its number, valid until the driver is loaded again.
    pub(crate) number: u32,
    /// The name of its handler; several names separated by commas if it is shared.
    pub(crate) action: String,
}

/// The interrupts of a device that have handlers, by name.
#[derive(Debug)]
pub(crate) struct DeviceInterrupts {
    all: Vec<Interrupt>,
    /// Places in `all`.
    by_action: BTreeMap<String, Vec<usize>>,
    by_queue: BTreeMap<u32, Vec<usize>>,
}

impl DeviceInterrupts {
    /// Reads those of `device`.
    pub(crate) fn read(system: &dyn System, device: &str) -> Result<Self, LocateError> {
        let all = of_device(system, device)?;
        let (mut by_action, mut by_queue) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        for (place, Interrupt { action, .. }) in all.iter().enumerate() {
            by_action.entry(action.clone()).or_default().push(place);
            if let Some(queue) = receive_queue(action) {
                by_queue.entry(queue).or_default().push(place);
            }
        }
        Ok(Self { all, by_action, by_queue })
    }

    pub(crate) fn into_all(self) -> Vec<Interrupt> {
        self.all
    }

    /// Finds the one with this action or, if none is given, with this queue.
    pub(crate) fn find(&self, action: Option<&str>, queue: Option<u32>) -> Result<Interrupt, LocateError> {
        let (field, found) = match (action, queue) {
            (Some(action), _) => ("action", self.by_action.get(action)),
            (None, Some(queue)) => ("queue", self.by_queue.get(&queue)),
            (None, None) => ("queue", None),
        };
        let all = |places: &[usize]| names(places.iter().map(|&place| &self.all[place]));
        match (found.map_or(&[][..], Vec::as_slice), action) {
            (&[place], _) => Ok(self.all[place].clone()),
            ([], _) => {
                let found = action.map_or_else(|| queue.unwrap_or_default().to_string(), quoted);
                Err(Fault::new(field, found, format!("one of {}", names(self.all.iter()))).into())
            }
            (several, None) => {
                let expected = "one interrupt: name it by `action`";
                Err(Fault::new(field, format!("that of {}", all(several)), expected).into())
            }
            (several, Some(action)) => {
                let expected = format!(
                    "a name of one interrupt, but {} of the device have this one, and which is meant is unknown: \
                     leave the line out",
                    several.len()
                );
                Err(Fault::new(field, quoted(action), expected).into())
            }
        }
    }
}

impl Interrupt {
    /// Whether its number still is that of an interrupt with its name.
    pub(crate) fn has_its_name(&self, system: &dyn System) -> bool {
        matches!(action(system, self.number), Ok(Some(action)) if action == self.action)
    }

    /// The file with the cpus that may handle it.
    pub(crate) fn wanted_file(&self) -> String {
        format!("proc/irq/{}/smp_affinity_list", self.number)
    }

    /// The cpus that handle it now; `None` if the kernel does not say.
    pub(crate) fn effective(&self, system: &dyn System) -> Option<CpuSet> {
        let text = system.read(&format!("proc/irq/{}/effective_affinity_list", self.number)).ok()?;
        text.parse().ok().filter(|cpus: &CpuSet| !cpus.is_empty())
    }

    /// How often it has occurred on all cpus; `None` if the kernel does not say.
    pub(crate) fn count(&self, system: &dyn System) -> Option<u64> {
        let text = system.read(&format!("sys/kernel/irq/{}/per_cpu_count", self.number)).ok()?;
        text.trim().split(',').map(|count| count.parse::<u64>().ok()).sum()
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.escape_debug())
}

/// The most names in a message.
const NAMES: usize = 64;

fn names<'a>(interrupts: impl ExactSizeIterator<Item = &'a Interrupt>) -> String {
    let more = match interrupts.len() {
        0 => return "the device's interrupts, but it has none in use".to_owned(),
        count => count.saturating_sub(NAMES),
    };
    let names: Vec<_> = interrupts.take(NAMES).map(|interrupt| quoted(&interrupt.action)).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// Returns the interrupts of a device that have handlers.
fn of_device(system: &dyn System, device: &str) -> Result<Vec<Interrupt>, LocateError> {
    let place = format!("sys/bus/pci/devices/{device}");
    let unreadable = |file: &str| {
        let file = file.to_owned();
        move |source| LocateError::Unreadable { file, source }
    };
    let numbers = match system.entries(&format!("{place}/msi_irqs")) {
        Ok(entries) => entries.iter().filter_map(|entry| entry.parse().ok()).collect(),
        Err(error) if is_absent(&error) => match system.read(&format!("{place}/irq")) {
            Ok(text) => text.trim().parse().into_iter().collect(),
            Err(error) if is_absent(&error) => {
                let expected = "the PCI address of a device of this machine with interrupts";
                return Err(Fault::new("device", quoted(device), expected).into());
            }
            Err(error) => return Err(unreadable(&place)(error)),
        },
        Err(error) => return Err(unreadable(&place)(error)),
    };
    let numbers: Vec<u32> = numbers;
    let interrupts = numbers.into_iter().map(|number| {
        let action = action(system, number).map_err(unreadable(&format!("sys/kernel/irq/{number}")))?;
        Ok(action.map(|action| Interrupt { number, action }))
    });
    let interrupts: Vec<_> = interrupts.collect::<Result<_, LocateError>>()?;
    Ok(interrupts.into_iter().flatten().collect())
}

/// Reads the name of an interrupt's handler; `None` if no driver has requested it.
fn action(system: &dyn System, number: u32) -> io::Result<Option<String>> {
    match system.read(&format!("sys/kernel/irq/{number}/actions")) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|action| !action.is_empty())),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the number of the receive queue that an action's name tells, by which a line may name its interrupt: 3 for
/// `eth0-TxRx-3`, `virtio2-input.3` and `mlx5_comp3@pci:0000:3b:00.0`; none for `virtio2-output.3` and `mlx5_async3@pci:…`.
#[must_use]
pub fn receive_queue(action: &str) -> Option<u32> {
    // Some drivers name their interrupts after the interface, with nothing but the number behind it.
    let interface = || action.rsplit_once('-').map_or("", |(stem, _)| stem);
    let queue = Queue::in_action(action, "").or_else(|| Queue::in_action(action, interface()))?;
    queue.direction.receives().then_some(queue.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_named_by_the_interrupt_that_receives_for_it() {
        for (action, queue) in [
            ("eth0-TxRx-3", Some(3)),
            ("eth0-5", Some(5)),
            ("eth0-tx-5", None),
            ("virtio2-input.12", Some(12)),
            ("virtio2-output.12", None),
            ("mlx5_comp7@pci:0000:3b:00.0", Some(7)),
            ("mlx5_async0@pci:0000:3b:00.0", None),
            ("nvme0q4", None),
            ("virtio2-config", None),
            ("", None),
        ] {
            assert_eq!(receive_queue(action), queue, "{action}");
        }
    }
}
