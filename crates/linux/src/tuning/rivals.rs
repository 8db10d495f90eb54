//! Programs and files that interfere with a plan: programs that would silently undo it, programs that
//! place their own children, and files by which systemd sets up queues.

use super::locator::Locator;
use super::pci;
use super::plan::{Plan, Setting};
use super::system::{System, is_absent};
use crate::inventory::{Inventory, LinkFile, OverwrittenSettings, Rival, rivals};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

/// A program or file that also changes placement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interference {
    /// A program that would undo lines of the plan, and the numbers of the plan's interrupts.
    Undoes(Rival, BTreeSet<u32>),
    /// A program that changes settings that are not in the plan.
    Unrelated(Rival),
    /// A file that sets up queues whenever an interface appears.
    LinkFile(LinkFile),
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undoes(rival, interrupts) => {
                let Rival { name, changes, .. } = rival;
                write!(
                    f,
                    "{name} runs and {changes}, so it would undo the plan: stop it, or give `warmcore host apply \
                     --despite {name}` and apply again whenever it has."
                )?;
                rival.ban(interrupts).map_or(Ok(()), |ban| write!(f, " {ban}"))
            }
            Self::Unrelated(Rival { name, changes, .. }) => write!(f, "{name} runs and {changes}."),
            Self::LinkFile(LinkFile { file, settings }) => {
                write!(f, "{file} sets {} when an interface appears.", settings.join(", "))
            }
        }
    }
}

/// Returns the interferences with `plan` that an inventory shows.
#[must_use]
pub fn in_inventory(plan: &Plan, inventory: &Inventory) -> Vec<Interference> {
    let device_of = |name: &str| {
        let interface = inventory.interfaces.iter().find(|interface| interface.name == name)?;
        interface.device.as_ref().map(ToString::to_string)
    };
    let numbers = lasting(plan, device_of).filter_map(|set| number_in_inventory(set, inventory)).collect();
    interferences(plan, &numbers, inventory.rivals.clone(), inventory.link_files.clone())
}

/// Finds the interferences with `plan` on the running system.
///
/// # Errors
/// If processes cannot be listed.
pub fn on_system(plan: &Plan, system: &dyn System) -> io::Result<Vec<Interference>> {
    let tree = Tree::directory(system.root());
    let files = rivals::link_files::read(&tree);
    let at = Locator::new(system);
    let device_of = |name: &str| pci::device_of(name, system);
    let numbers = lasting(plan, device_of).filter_map(|set| number_on_system(set, &at)).collect();
    Ok(interferences(plan, &numbers, rivals::read(&tree, &names(system)?), files))
}

/// The settings of interrupts that keep their numbers: a card whose channels the plan changes gets new ones. `device_of`
/// tells the PCI address of an interface.
fn lasting(plan: &Plan, device_of: impl Fn(&str) -> Option<String>) -> impl Iterator<Item = &Setting> {
    let settings = || plan.lines.iter().map(|line| &line.set);
    let changed = settings().filter(|set| matches!(set, Setting::Channels { .. }));
    let changed: BTreeSet<String> = changed.filter_map(Setting::interface).filter_map(device_of).collect();
    settings()
        .filter(move |set| !matches!(set, Setting::Interrupt { device, .. } if changed.contains(device)))
}

/// Returns the names of all daemons known to undo lines of `plan`, whether they run or not. Each is also that of its
/// systemd unit.
pub(super) fn known_to_undo(plan: &Plan) -> impl Iterator<Item = &'static str> {
    let concerns = |undoes| plan.lines.iter().any(|line| concerns(undoes, &line.set));
    rivals::known_daemons().filter(move |&(_, undoes)| concerns(undoes)).map(|(name, _)| name)
}

fn interferences(
    plan: &Plan,
    interrupts: &BTreeSet<u32>,
    rivals: Vec<Rival>,
    files: Vec<LinkFile>,
) -> Vec<Interference> {
    let undoes = |rival: &Rival| plan.lines.iter().any(|line| concerns(rival.undoes, &line.set));
    let running = rivals.into_iter().filter(Rival::runs);
    let programs = running.map(|rival| match undoes(&rival) {
        true => Interference::Undoes(rival, interrupts.clone()),
        false => Interference::Unrelated(rival),
    });
    programs.chain(files.into_iter().map(Interference::LinkFile)).collect()
}

fn concerns(undoes: OverwrittenSettings, set: &Setting) -> bool {
    match set {
        Setting::Interrupt { .. } | Setting::DefaultInterrupt { .. } => undoes.interrupts,
        Setting::Thread { .. } => undoes.threads,
        _ => false,
    }
}

/// The number of the interrupt that `set` is about, in an inventory.
fn number_in_inventory(set: &Setting, inventory: &Inventory) -> Option<u32> {
    let Setting::Interrupt { device, action, queue, .. } = set else { return None };
    let is_same = |of: &&crate::inventory::Interrupt| {
        let same_queue = || queue.is_some() && of.queue.map(|of| of.number) == *queue;
        of.devices.iter().any(|of| of.to_string() == *device)
            && action.as_ref().map_or_else(same_queue, |action| of.id.actions.join(",") == *action)
    };
    inventory.interrupts.iter().find(is_same).map(|of| of.number)
}

/// The same on the running system.
fn number_on_system(set: &Setting, at: &Locator<'_>) -> Option<u32> {
    let Setting::Interrupt { device, action, queue, .. } = set else { return None };
    Some(at.interrupt(device, action.as_deref(), *queue).ok()?.number)
}

/// Reads the name of every process, by number. Processes that end meanwhile are left out.
fn names(system: &dyn System) -> io::Result<BTreeMap<u32, String>> {
    let entries = match system.entries("proc") {
        Err(error) if is_absent(&error) => Vec::new(),
        entries => entries?,
    };
    let name = |number: u32| {
        let name = system.read(&format!("proc/{number}/comm")).ok()?;
        Some((number, name.trim().to_owned()))
    };
    Ok(entries.iter().filter_map(|entry| entry.parse().ok()).filter_map(name).collect())
}
