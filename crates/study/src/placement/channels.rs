//! As many channels as there are cores near the device: with fewer, cores take in nothing; with more than they have
//! hardware threads, queues share cpus.
//!
//! A driver takes its link down for it and makes new queues and interrupts. So the lines that follow are about queues
//! that are not there yet: they name interrupts by the number of their queue, and nothing foretells their load.

use super::context::Context;
use super::gain::Gain;
use super::line::{self, PlannedLine};
use super::performance::NoPrediction;
use super::{Unplaceable, sending, spread};
use std::collections::BTreeMap;
use warmcore_linux::ethtool::Channels;
use warmcore_linux::inventory::{Interface, Interrupt};
use warmcore_linux::tuning::plan::SpreadQueues;
use warmcore_linux::tuning::{Setting, receive_queue};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Why a line has no gain.
const UNKNOWN: &str = "the load of queues that are not there yet is not known";

/// What stands in the place of a present value that only the change of channels brings about.
const LATER: &str = "known once the channels are changed";

/// The lines that give `interface` as many channels as suit it, the channels first; none where it has them.
///
/// # Errors
/// If its channels cannot be changed, or its new queues not be named.
pub(super) fn lines(context: &Context<'_>, interface: &Interface) -> Result<Vec<PlannedLine>, Unplaceable> {
    let unknown =
        |why: String| Unplaceable::Unchangeable { what: "channels", name: interface.name.clone(), why };
    let channels = interface.driver_settings.as_ref().and_then(|settings| settings.channels);
    let Some(Channels { combined: Some(now), combined_max: Some(most @ 1..), .. }) = channels else {
        return Err(unknown("its driver tells of none that receive and transmit".to_owned()));
    };
    let wanted = wanted(now, most, spread::near(context, interface.node));
    if wanted == now {
        return Ok(Vec::new());
    }
    check_names(context, interface).map_err(|action| {
        let action = action.escape_debug();
        unknown(format!("its interrupt `{action}` is not named by the number of its queue"))
    })?;
    let mut lines = vec![of_channels(interface, now, wanted)];
    lines.extend(of_queues(context, interface, wanted));
    Ok(lines)
}

/// Why there is no forecast.
pub(super) fn no_forecast() -> NoPrediction {
    NoPrediction::Impossible(UNKNOWN.to_owned())
}

/// For each named interface with fewer channels than cores near it, where nobody asked for more: what --channels would do.
pub(super) fn hints(context: &Context<'_>) -> Vec<String> {
    let request = context.request;
    let named = context.picture.interfaces.iter().filter(|of| request.interfaces.contains(&of.name));
    let hint = |interface: &Interface| {
        let channels = interface.driver_settings.as_ref()?.channels?;
        let (now, most) = (channels.combined?, channels.combined_max?);
        let near = spread::near(context, interface.node);
        let wanted = wanted(now, most.max(1), near);
        (wanted > now).then(|| {
            format!(
                "{} has {now} channels and {} cores near it: with --channels it gets {wanted}, and its link goes down for \
                 up to some seconds.",
                interface.name, near.0
            )
        })
    };
    if request.channels { Vec::new() } else { named.filter_map(hint).collect() }
}

/// `why` there is no plan, with the [`hints`] of what would gain.
pub(super) fn with_hints(context: &Context<'_>, why: Unplaceable) -> Unplaceable {
    match (why, hints(context).join(" ")) {
        (Unplaceable::NothingToGain(why), hints) if !hints.is_empty() => {
            Unplaceable::NothingToGain(format!("{why}. {}", hints.trim_end_matches('.')))
        }
        (why, _) => why,
    }
}

/// How many channels suit `cores` cores with `cpus` hardware threads.
fn wanted(now: u32, most: u32, (cores, cpus): (usize, usize)) -> u32 {
    let is_between = (cores..=cpus).contains(&(now as usize));
    if is_between { now } else { u32::try_from(cores).unwrap_or(most).clamp(1, most) }
}

/// Checks that the interrupts of receive queues can be told by number, so that those of new queues can be.
///
/// # Errors
/// The name of one that cannot.
fn check_names(context: &Context<'_>, interface: &Interface) -> Result<(), String> {
    let own: Vec<&Interrupt> = context.picture.interrupts_of(interface).collect();
    let name = |interrupt: &Interrupt| interrupt.id.actions.join(",");
    for interrupt in &own {
        let Some(queue) = interrupt.queue.filter(|queue| queue.direction.receives()) else { continue };
        let with_number =
            own.iter().filter(|other| receive_queue(&name(other)) == Some(queue.number)).count();
        if with_number != 1 || receive_queue(&name(interrupt)) != Some(queue.number) {
            return Err(name(interrupt));
        }
    }
    Ok(())
}

fn of_channels(interface: &Interface, now: u32, wanted: u32) -> PlannedLine {
    let set = Setting::Channels {
        interface: interface.name.clone(),
        combined: Some(wanted),
        receive: None,
        transmit: None,
    };
    let reason =
        "a queue for each core near the device; its link goes down for up to some seconds".to_owned();
    let text = |count: u32| format!("combined {count}");
    PlannedLine::new(set, (text(now), true), text(wanted), reason, unknown())
}

/// The lines of `count` queues that `interface` does not have yet.
fn of_queues(context: &Context<'_>, interface: &Interface, count: u32) -> Vec<PlannedLine> {
    let cpus = spread::instead(context, &interface.name, interface.node, count);
    let device = context.picture.interrupts_of(interface).find_map(|interrupt| interrupt.devices.first());
    let later = |set: Setting, to: String, reason: String| {
        PlannedLine::new(set, (LATER.to_owned(), true), to, reason, unknown())
    };
    let mut lines = Vec::new();
    if interface.driver_settings.as_ref().is_some_and(|settings| settings.indirection.is_some()) {
        let set =
            Setting::Indirection { interface: interface.name.clone(), queues: SpreadQueues::First(count) };
        let to = format!("evenly over {}", (0..count).map(CpuId).collect::<CpuSet>());
        lines.push(later(set, to, "hashes spread flows over all queues".to_owned()));
    }
    for (queue, &cpu) in (0..).zip(&cpus) {
        let Some(device) = device else { break };
        let only = CpuSet::from_iter([cpu]);
        let set = Setting::Interrupt {
            device: device.to_string(),
            action: None,
            queue: Some(queue),
            cpus: only.clone(),
        };
        let reason = format!("to cpu {}, a core of its own near the device", cpu.0);
        lines.push(later(set, line::named(&only), reason));
    }
    let own: Vec<(u32, CpuId)> = (0..).zip(cpus).collect();
    for (queue, cpus) in sending::cpus(context, &own, &BTreeMap::new()) {
        let to = line::named(&cpus);
        let set = Setting::XpsCpus { interface: interface.name.clone(), queue, cpus };
        lines.push(later(set, to, sending::REASON.to_owned()));
    }
    lines
}

fn unknown() -> Gain {
    Gain::Unknown(UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_channels_as_cores_unless_hardware_threads_are_used_as_well() {
        for (now, most, near, expected) in [
            (4, 64, (16, 32), 16),
            (64, 64, (16, 32), 16),
            (16, 64, (16, 32), 16),
            (32, 64, (16, 32), 32),
            (4, 8, (16, 32), 8),
            (1, 1, (16, 32), 1),
            (1, 4, (0, 0), 1),
        ] {
            assert_eq!(wanted(now, most, near), expected, "{now} of {most}, {near:?}");
        }
    }
}
