//! What a change of channels brings with it.
//!
//! The driver takes its link down, gives up its interrupts and queues, and makes new ones. So queues and
//! interrupts of the interface are looked for, and their values read, only when the channels are changed
//! ([`StepKind::Deferred`](super::step::StepKind)). When undo gives the former channels back, the driver
//! makes new queues again, with its own values: undo then restores those that were there before
//! ([`Settings that a change resets`](reset_by)).

use super::interface::InterfaceIdentity;
use super::interrupt::{DeviceInterrupts, Interrupt};
use super::location::Value;
use super::locator::Locator;
use super::original;
use super::pci;
use super::plan::{Plan, Setting, SpreadQueues};
use super::step::{Step, StepKind};
use super::system::System;
use crate::ethtool::ChannelCounts;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Fault};

/// Checks numbers of channels: some are named, and they leave something that receives and something that
/// transmits.
pub(super) fn check(counts: ChannelCounts) -> Result<(), Fault> {
    let ChannelCounts { combined, receive, transmit } = counts;
    if counts == ChannelCounts::default() {
        return Err(Fault::new("combined", "missing", "`combined`, or `receive` and `transmit`"));
    }
    let none = |own: Option<u32>| combined.unwrap_or(0) == 0 && own == Some(0);
    if combined == Some(0) && (receive.is_none() || transmit.is_none()) || none(receive) || none(transmit) {
        return Err(Fault::new("combined", 0, "at least one channel that receives and one that transmits"));
    }
    Ok(())
}

/// Checks that the lines that change channels come first.
pub(super) fn check_order(plan: &Plan) -> Result<(), Fault> {
    let is_channels = |set: &Setting| matches!(set, Setting::Channels { .. });
    let mut later = plan.lines.iter().enumerate().skip_while(|(_, line)| is_channels(&line.set));
    match later.find(|(_, line)| is_channels(&line.set)) {
        Some((index, line)) => {
            let expected = "a place before all other lines: changed channels have new queues and interrupts";
            Err(Fault::new(format!("lines.{index}.set"), &line.set, expected))
        }
        None => Ok(()),
    }
}

/// Whether `set` can be read only after the channels of `interfaces` were changed. Interrupts always can:
/// their names do not tell reliably whose they are.
pub(super) fn defers(interfaces: &[String], set: &Setting) -> bool {
    match set {
        Setting::Interrupt { .. } => !interfaces.is_empty(),
        _ => set.interface().is_some_and(|name| interfaces.iter().any(|changed| changed == name)),
    }
}

/// The steps that restore, on undo, what a change of the channels of `interface` resets: the steering of its
/// queues, its RSS table and the cpus of its interrupts, as they are now.
pub(super) fn reset_by(line: usize, interface: &str, at: &Locator<'_>) -> Vec<Step> {
    let system = at.system();
    let mut settings = queue_settings(interface, system);
    settings.extend(interrupt_settings(interface, system));
    settings.push(Setting::Indirection { interface: interface.to_owned(), queues: SpreadQueues::First(1) });
    let step = |set: Setting| {
        // Names in a capture may be such as no journal holds.
        set.check().ok()?;
        // What cannot be read cannot be restored either: an interface with one queue has no XPS.
        let place = set.locate(at).ok()?;
        let original = place.read(system).ok()?;
        original::check("value", &set, &place, &original, system).ok()?;
        let interface = InterfaceIdentity::new(&set, system);
        Some(Step { line, set, original, whole: false, origin: None, interface, kind: StepKind::Reset })
    };
    settings.into_iter().filter_map(step).collect()
}

fn queue_settings(interface: &str, system: &dyn System) -> Vec<Setting> {
    let queues = system.entries(&format!("sys/class/net/{interface}/queues")).unwrap_or_default();
    let name = || interface.to_owned();
    let (cpus, receive_queues) = (CpuSet::default(), Vec::new());
    let settings = queues.iter().flat_map(|queue| {
        let number = |prefix| queue.strip_prefix(prefix).and_then(|number: &str| number.parse().ok());
        match (number("rx-"), number("tx-")) {
            (Some(queue), _) => vec![
                Setting::RpsCpus { interface: name(), queue, cpus: cpus.clone() },
                Setting::RpsFlows { interface: name(), queue, flows: 0 },
            ],
            (_, Some(queue)) => vec![
                Setting::XpsCpus { interface: name(), queue, cpus: cpus.clone() },
                Setting::XpsQueues { interface: name(), queue, receive_queues: receive_queues.clone() },
            ],
            _ => Vec::new(),
        }
    });
    settings.collect()
}

fn interrupt_settings(interface: &str, system: &dyn System) -> Vec<Setting> {
    let Some(device) = pci::device_of(interface, system) else { return Vec::new() };
    let interrupts =
        DeviceInterrupts::read(system, &device).map(DeviceInterrupts::into_all).unwrap_or_default();
    let setting = |interrupt: Interrupt| Setting::Interrupt {
        device: device.clone(),
        action: Some(interrupt.action),
        queue: None,
        cpus: [CpuId(0)].into_iter().collect(),
    };
    interrupts.into_iter().map(setting).collect()
}

/// How many receive and transmit queues an interface with these has after the channels were changed to `counts`, if
/// `combined` of its channels are combined ones now. Kinds that are not named stay as they are.
pub(super) fn queues_after(
    counts: ChannelCounts,
    (receive, transmit): (u32, u32),
    combined: u32,
) -> (u32, u32) {
    let after = |own: Option<u32>, now: u32| {
        let own = own.unwrap_or(now.saturating_sub(combined));
        counts.combined.unwrap_or(combined).saturating_add(own)
    };
    (after(counts.receive, receive), after(counts.transmit, transmit))
}

/// The most combined channels that an interface with these queues can have. Its queues do not tell how many it has, but
/// drivers have either as many as they can, or none.
pub(super) fn most_combined((receive, transmit): (u32, u32)) -> u32 {
    receive.min(transmit)
}

impl Plan {
    /// Returns the differences between the machine of this plan and `system`. The machine is described as
    /// it is before the plan: an interface whose channels the plan changes may also have as many queues as
    /// afterwards.
    pub(super) fn differences(&self, system: &dyn System) -> std::io::Result<Vec<Fault>> {
        let mut machine = self.machine.clone();
        let here = machine.read_interfaces(system)?;
        for line in &self.lines {
            let (Value::Channels(counts), Some(name)) = (line.set.wanted(), line.set.interface()) else {
                continue;
            };
            let found = here.iter().find(|kind| kind.name == name);
            let Some(described) = machine.interfaces.iter_mut().find(|kind| kind.name == name) else {
                continue;
            };
            let now = (described.receive_queues, described.transmit_queues);
            let found = found.map(|found| (found.receive_queues, found.transmit_queues));
            let after = [most_combined(now), 0].map(|combined| queues_after(counts, now, combined));
            if let Some(found) = found.filter(|found| after.contains(found)) {
                (described.receive_queues, described.transmit_queues) = found;
            }
        }
        machine.differences(system)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(combined: Option<u32>, receive: Option<u32>, transmit: Option<u32>) -> ChannelCounts {
        ChannelCounts { combined, receive, transmit }
    }

    #[test]
    fn channels_must_receive_and_transmit() {
        for sound in [
            counts(Some(4), None, None),
            counts(None, Some(2), None),
            counts(None, Some(2), Some(3)),
            counts(Some(0), Some(1), Some(1)),
            counts(Some(4), Some(0), Some(0)),
        ] {
            assert_eq!(check(sound), Ok(()), "{sound:?}");
        }
        for faulty in [
            counts(None, None, None),
            counts(Some(0), None, None),
            counts(None, Some(0), Some(1)),
            counts(None, Some(1), Some(0)),
            counts(Some(0), Some(1), None),
        ] {
            assert!(check(faulty).is_err(), "{faulty:?}");
        }
    }

    #[test]
    fn queues_follow_channels_and_kinds_that_are_not_named_stay() {
        let combined = |counts, now| queues_after(counts, now, most_combined(now));
        assert_eq!(combined(counts(Some(8), None, None), (4, 4)), (8, 8));
        assert_eq!(combined(counts(Some(4), None, None), (10, 8)), (6, 4), "two only receive");
        assert_eq!(combined(counts(Some(4), Some(0), Some(0)), (10, 8)), (4, 4));
        assert_eq!(combined(counts(Some(2), Some(1), None), (4, 4)), (3, 2));
        assert_eq!(combined(counts(None, Some(2), None), (4, 4)), (6, 4), "all four are combined");
        assert_eq!(combined(counts(None, None, None), (4, 3)), (4, 3));
        assert_eq!(queues_after(counts(None, Some(2), None), (4, 3), 0), (2, 3), "none is combined");
        assert_eq!(queues_after(counts(Some(2), None, None), (4, 3), 0), (6, 5));
    }
}
