//! Finds interrupts by device and action, because their numbers change whenever a driver is loaded.
//!
//! `/sys/bus/pci/devices/ADDRESS/msi_irqs` names the numbers of a device, `irq` the only one of a
//! device without message-signalled interrupts; `/sys/kernel/irq/N/actions` has the names of handlers.

use super::locate_error::LocateError;
use super::system::{System, is_absent};
use std::io;
use warmcore_topology::CpuSet;
use warmcore_units::Fault;

/// An interrupt of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Interrupt {
    /// Its number, valid until the driver is loaded again.
    pub(crate) number: u32,
    /// The name of its handler; several names separated by commas if it is shared.
    pub(crate) action: String,
}

impl Interrupt {
    /// Finds the interrupt of `device` with this action or, if none is given, with this queue.
    pub(crate) fn find(
        system: &dyn System,
        device: &str,
        action: Option<&str>,
        queue: Option<u32>,
    ) -> Result<Self, LocateError> {
        let all = of_device(system, device)?;
        let is_match = |interrupt: &&Self| match action {
            Some(action) => interrupt.action == action,
            None => queue.is_some() && queue_of(&interrupt.action) == queue,
        };
        let matches: Vec<&Self> = all.iter().filter(is_match).collect();
        match matches[..] {
            [interrupt] => Ok(interrupt.clone()),
            [] => {
                let field = if action.is_some() { "action" } else { "queue" };
                let found = action.map_or_else(|| queue.unwrap_or_default().to_string(), quoted);
                Err(Fault::new(field, found, format!("one of {}", names(&all))).into())
            }
            _ => {
                let field = if action.is_some() { "action" } else { "queue" };
                let several: Vec<Self> = matches.into_iter().cloned().collect();
                let found = format!("that of {}", names(&several));
                Err(Fault::new(field, found, "one interrupt: name it by `action`").into())
            }
        }
    }

    /// The interrupts of `device` that have handlers.
    pub(crate) fn of_device(system: &dyn System, device: &str) -> Result<Vec<Self>, LocateError> {
        of_device(system, device)
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

fn names(interrupts: &[Interrupt]) -> String {
    if interrupts.is_empty() {
        return "the device's interrupts, but it has none in use".to_owned();
    }
    let names: Vec<_> = interrupts.iter().map(|interrupt| quoted(&interrupt.action)).collect();
    names.join(", ")
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

/// Returns the number at the end of an action's name, by which a line may name it: 3 for `eth0-TxRx-3`, `virtio2-input.3` and
/// `mlx5_comp3@pci:0000:3b:00.0`.
#[must_use]
pub fn queue_of(action: &str) -> Option<u32> {
    let name = action.split('@').next()?;
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name[name.len() - digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_the_number_at_the_end_of_the_name() {
        for (action, queue) in [
            ("eth0-TxRx-3", Some(3)),
            ("virtio2-input.12", Some(12)),
            ("mlx5_comp7@pci:0000:3b:00.0", Some(7)),
            ("nvme0q4", Some(4)),
            ("virtio2-config", None),
            ("", None),
        ] {
            assert_eq!(queue_of(action), queue, "{action}");
        }
    }
}
