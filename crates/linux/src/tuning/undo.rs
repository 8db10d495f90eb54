//! Undoes the changes of a journal in reverse order: restores each value byte for byte.
//!
//! What stands in a setting decides, not what the journal says of the progress, whose end may be lost. The original
//! value needs nothing. The wanted value, or the one that was read back, is ours and is replaced by the original.
//! Any other value is somebody else's. A boot id that cannot be read does not mean that the machine was rebooted.
//!
//! State that the kernel derives from a value is not restored: the kernel may choose a different one of
//! several allowed cpus for an interrupt.
//!
//! An original value that the setting cannot have had is not written: somebody has edited the journal. It stays open.
//!
//! A value that somebody else has changed since is left alone, and the journal stays open. Undoing again,
//! for example after the process was killed, restores the remaining values.

use super::entries::Boot;
use super::heirs::{self, LeftProcess};
use super::interface::{Interfaces, Whereabouts};
use super::journal::Journal;
use super::journal_error::JournalError;
use super::location::{LocateError, Location};
use super::locator::Locator;
use super::original;
use super::parse::Damage;
use super::plan::Setting;
use super::refusal::Refusal;
use super::step::{Step, StepKind};
use super::system::{System, is_absent};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The result of undoing one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoOutcome {
    /// The original value was restored.
    Restored,
    /// It already had the original value, or was never changed.
    Untouched,
    /// Its file or thread no longer exists.
    Gone,
    /// Its interface is not here. It was removed, or moved to another network namespace with its values.
    Away,
    /// Somebody else has changed it to this value since; it was left alone.
    ChangedByOthers(String),
    /// It cannot be restored.
    Failed(String),
}

impl UndoOutcome {
    /// Whether a value that is not the original one may be in force.
    const fn is_open(&self) -> bool {
        matches!(self, Self::Away | Self::ChangedByOthers(_) | Self::Failed(_))
    }
}

/// The result of undoing a journal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndoReport {
    /// Each setting in words and its outcome, in the order of undoing.
    pub outcomes: Vec<(String, UndoOutcome)>,
    /// The interfaces that have another name since, by their earlier one. Their values were restored under the new one.
    pub renamed: BTreeMap<String, String>,
    /// Whether the machine was rebooted since, which reset all settings.
    pub restarted: bool,
    /// Whether it could not be told if the machine was rebooted since.
    pub boot_unknown: bool,
    /// The lines of the journal that could not be read. What they changed may be in force.
    pub damage: Vec<Damage>,
    /// The new path of a damaged journal, if it was moved out of the way.
    pub set_aside: Option<PathBuf>,
    /// Processes started since that have a mask of the plan, and cannot be told to have inherited it. They were left
    /// alone.
    pub left: Vec<LeftProcess>,
    /// Why the journal could not be updated, if so.
    pub journal_error: Option<String>,
}

impl UndoReport {
    /// Whether nothing is left to restore. Processes that were left alone do not count.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.damage.is_empty() && self.is_restored()
    }

    /// Whether no setting that could be read is left to restore.
    fn is_restored(&self) -> bool {
        !self.outcomes.iter().any(|(_, outcome)| outcome.is_open())
    }

    /// The number of restored values.
    #[must_use]
    pub fn restored(&self) -> usize {
        self.outcomes.iter().filter(|(_, outcome)| *outcome == UndoOutcome::Restored).count()
    }
}

/// Lists the settings that do not have their original value, and why.
impl fmt::Display for UndoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.outcomes.iter().filter_map(|(set, outcome)| match outcome {
            UndoOutcome::ChangedByOthers(now) => {
                Some(format!("{set}: somebody else has set it to {now} since"))
            }
            UndoOutcome::Failed(problem) => Some(format!("{set}: cannot be restored: {problem}")),
            UndoOutcome::Away => Some(format!(
                "{set}: its interface is no longer there: removed, or moved to another network namespace"
            )),
            UndoOutcome::Restored | UndoOutcome::Untouched | UndoOutcome::Gone => None,
        });
        let damage = self.damage.iter().map(|Damage { line, problem }| {
            format!(
                "line {line} of the journal cannot be read ({problem}), so what it changed may be in force"
            )
        });
        let left = left.chain(self.left.iter().map(|LeftProcess { pid, name, cpus }| {
            let name = name.escape_debug();
            format!("process {pid} ({name}) may have inherited its cpus {cpus} and was left alone")
        }));
        f.write_str(&left.chain(damage).collect::<Vec<_>>().join("; "))
    }
}

/// Undoes the changes of `journal`, and closes it if all are undone. With `force`, also restores values
/// that somebody else has changed since, and gives up the lines of a damaged journal that cannot be read.
///
/// # Errors
/// If the root has none of the settings, so that nothing was restored. If the journal cannot be closed; the values have
/// been restored by then.
pub fn undo(mut journal: Journal<'_>, force: bool) -> Result<UndoReport, JournalError> {
    let boot = journal.boot();
    if boot == Boot::Earlier {
        journal.close()?;
        return Ok(UndoReport { restarted: true, ..UndoReport::default() });
    }
    let damage = journal.content().damage.clone();
    let mut undone = UndoReport { boot_unknown: boot == Boot::Unknown, damage, ..UndoReport::default() };
    let at = Locator::new(journal.system());
    let interfaces = Interfaces::read(journal.system());
    if is_all_gone(&journal, &interfaces, &at) {
        return Err(journal.root_gone("has none of the settings of the plan"));
    }
    for index in (0..journal.steps().len()).rev() {
        let step = &journal.steps()[index].0;
        let outcome = match whereabouts(step, &interfaces) {
            Whereabouts::Here => restore(&journal, index, &step.set, force, &at),
            Whereabouts::Renamed(name) => {
                let outcome = restore(&journal, index, &step.set.of_interface(&name), force, &at);
                undone.renamed.extend(step.set.interface().map(|earlier| (earlier.to_owned(), name)));
                outcome
            }
            // With force, the user says that it was removed.
            Whereabouts::Away if force => UndoOutcome::Gone,
            Whereabouts::Away => UndoOutcome::Away,
        };
        let is_back = matches!(outcome, UndoOutcome::Restored | UndoOutcome::Gone);
        undone.outcomes.push((journal.steps()[index].0.set.to_string(), outcome));
        if is_back && let Err(error) = journal.note_restored(index) {
            // Continue, since the values matter more. The next undo will find this one unchanged.
            undone.journal_error = Some(error.to_string());
        }
    }
    let heirs = heirs::restore(&journal);
    undone.outcomes.extend(heirs.outcomes);
    undone.left = heirs.left.into_iter().collect();
    if undone.is_complete() {
        journal.close()?;
    } else if undone.is_restored() && force {
        undone.set_aside = Some(journal.set_aside()?);
    }
    Ok(undone)
}

/// Where the interface of `step` is now.
fn whereabouts(step: &Step, interfaces: &Interfaces) -> Whereabouts {
    let name = step.set.interface().zip(step.interface.as_ref());
    name.map_or(Whereabouts::Here, |(name, identity)| interfaces.find(name, identity))
}

/// Whether the root is a folder that has none of the settings: it is another folder, or a part of the one that was.
fn is_all_gone(journal: &Journal<'_>, interfaces: &Interfaces, at: &Locator<'_>) -> bool {
    let system = journal.system();
    let is_gone = |step: &Step| match (whereabouts(step, interfaces), step.set.locate(at)) {
        (Whereabouts::Renamed(_), _) => false,
        (_, Ok(place)) => place.read(system).is_err_and(|error| is_absent(&error)),
        (_, Err(error)) => matches!(error, LocateError::Absent(_)),
    };
    let mut steps = journal.steps().iter().map(|(step, _)| step);
    system.root() != Path::new("/") && steps.len() > 0 && steps.all(is_gone)
}

/// Restores the step at `index`, whose setting is `set` now.
fn restore(journal: &Journal<'_>, index: usize, set: &Setting, force: bool, at: &Locator<'_>) -> UndoOutcome {
    let (step, progress) = &journal.steps()[index];
    if step.kind == StepKind::Deferred {
        // The steps that took its place have what it was.
        return UndoOutcome::Untouched;
    }
    let system = journal.system();
    let place = match set.locate(at) {
        Ok(place) => place,
        Err(LocateError::Absent(_)) => return UndoOutcome::Gone,
        Err(error) => return UndoOutcome::Failed(error.to_string()),
    };
    let now = match place.read(system) {
        Ok(now) => now,
        Err(error) if is_absent(&error) => return UndoOutcome::Gone,
        Err(error) => return UndoOutcome::Failed(error.to_string()),
    };
    // Once restored, and as long as not begun, another value than the wanted one is none of ours.
    let is_open = progress.begun && !progress.restored;
    let is_wanted = place.value(&now).as_ref() == Some(&set.wanted());
    let is_reset = step.kind == StepKind::Restored;
    let is_ours = is_wanted || is_open && (progress.reading.as_ref() == Some(&now) || is_reset || force);
    if now == step.original {
        UndoOutcome::Untouched
    } else if is_ours {
        match original::check("original", set, &place, &step.original, system) {
            Ok(()) => {
                let outcome = put_back(set, &place, system, &step.original);
                if matches!(set, Setting::Channels { .. }) {
                    at.forget();
                }
                outcome
            }
            Err(fault) => {
                UndoOutcome::Failed(format!("`{}`: step {index}, from 0: {fault}", journal.path().display()))
            }
        }
    } else if is_open {
        UndoOutcome::ChangedByOthers(place.shown(&now))
    } else {
        UndoOutcome::Untouched
    }
}

/// Writes the `original` value of `set` and verifies it by reading it back.
pub(super) fn put_back(set: &Setting, place: &Location, system: &dyn System, original: &str) -> UndoOutcome {
    match place.write(system, original).and_then(|()| place.read(system)) {
        Ok(now) if now == original => UndoOutcome::Restored,
        Ok(now) => UndoOutcome::Failed(format!(
            "it was {}, but now reads {}",
            place.shown(original),
            place.shown(&now)
        )),
        Err(error) => match Refusal::from_error(&error, set) {
            Refusal::Vanished(_) => UndoOutcome::Gone,
            refusal => UndoOutcome::Failed(refusal.to_string()),
        },
    }
}
