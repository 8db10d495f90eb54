//! What an interface gets because its user asked for it: channels, and polling in threads.

use super::context::Context;
use super::gain::Gain;
use super::line::PlannedLine;
use super::performance::NoPrediction;
use super::{Unplaceable, channels};
use std::collections::BTreeSet;
use warmcore_linux::ethtool::Threaded;
use warmcore_linux::inventory::Interface;
use warmcore_linux::tuning::Setting;

/// Why nothing is known of polling in threads.
const UNPLACED: &str = "nothing foretells where the scheduler will put the polling";

/// The lines that were asked for, where they change something.
#[derive(Default)]
pub(super) struct Asked {
    /// Those of channels first, then those of the queues that come of them.
    lines: Vec<PlannedLine>,
    /// The interfaces whose channels change.
    changed: BTreeSet<String>,
    /// Their devices.
    devices: BTreeSet<String>,
}

impl Asked {
    /// # Errors
    /// If the channels of an interface are to change and cannot.
    pub(super) fn new(context: &Context<'_>) -> Result<Self, Unplaceable> {
        let request = context.request;
        let mut asked = Self::default();
        let mut later = Vec::new();
        let named = context.picture.interfaces.iter().filter(|of| request.interfaces.contains(&of.name));
        for interface in named {
            let mut lines =
                if request.channels { channels::lines(context, interface)? } else { Vec::new() }.into_iter();
            if let Some(first) = lines.next() {
                asked.lines.push(first);
                asked.changed.insert(interface.name.clone());
                let own = context.picture.interrupts_of(interface);
                asked.devices.extend(own.flat_map(|of| &of.devices).map(ToString::to_string));
            }
            later.extend(lines);
            if request.threaded_napi {
                later.extend(threaded(interface)?);
            }
        }
        asked.lines.extend(later);
        Ok(asked)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn changes_channels(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Why there is no forecast where only what was asked for changes.
    pub(super) fn no_forecast(&self) -> NoPrediction {
        match self.changes_channels() {
            true => channels::no_forecast(),
            false => NoPrediction::Impossible(UNPLACED.to_owned()),
        }
    }

    /// These lines, and those of `placed` that are not about queues which a change of channels replaces.
    pub(super) fn with(self, placed: Vec<PlannedLine>) -> Vec<PlannedLine> {
        let Self { mut lines, changed, devices } = self;
        let is_replaced = |line: &PlannedLine| match &line.set {
            Setting::Interrupt { device, .. } => devices.contains(device),
            set => set.interface().is_some_and(|name| changed.contains(name)),
        };
        lines.extend(placed.into_iter().filter(|line| !is_replaced(line)));
        lines
    }
}

/// Lets the kernel poll `interface` in threads, which the scheduler places; `None` where it does.
///
/// # Errors
/// If the kernel cannot.
fn threaded(interface: &Interface) -> Result<Option<PlannedLine>, Unplaceable> {
    let now = interface.threaded_napi.ok_or_else(|| Unplaceable::Unchangeable {
        what: "threaded NAPI",
        name: interface.name.clone(),
        why: "the kernel does not have it (before 5.12)".to_owned(),
    })?;
    if now != Threaded::Off {
        return Ok(None);
    }
    let set = Setting::ThreadedNapi { interface: interface.name.clone(), on: true };
    let reason = "the scheduler places its polling, instead of softirqs where interrupts come".to_owned();
    let gain = Gain::Unknown(UNPLACED.to_owned());
    Ok(Some(PlannedLine::new(set, ("0".to_owned(), true), "1".to_owned(), reason, gain)))
}
