//! Undoes the changes of a journal in reverse order: restores each value byte for byte.
//!
//! What stands in a setting decides, not what the journal says of the progress, whose end may be lost. The original
//! value needs nothing. The wanted value, or the one that was read back, is ours and is replaced by the original.
//! Any other value is somebody else's, and so is every value of a step that the journal says was restored. A boot id that
//! cannot be read does not mean that the machine was rebooted.
//!
//! A value that a change of channels has reset is ours as long as it is the one that was read after the change, or that
//! the driver has just set because this undo gave the former channels back. A step that is restored, or found to have its
//! original value, is closed: what stands there later is somebody else's.
//!
//! State that the kernel derives from a value is not restored: the kernel may choose a different one of
//! several allowed cpus for an interrupt.
//!
//! An original value that the setting cannot have had is not written: somebody has edited the journal. It stays open.
//!
//! A value that somebody else has changed since is left alone, and the journal stays open. Undoing again,
//! for example after the process was killed, restores the remaining values.

use super::entries::Boot;
use super::heirs;
use super::interface::{InterfaceIdentity, Interfaces, Whereabouts};
use super::journal::Journal;
use super::journal_error::JournalError;
use super::location::{LocateError, Location};
use super::locator::Locator;
use super::original;
use super::plan::Setting;
use super::refusal::Refusal;
use super::resets::Resets;
use super::step::{Step, StepKind};
use super::system::{System, is_absent};
use super::undo_report::{UndoOutcome, UndoReport};
use std::path::Path;

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
    let mut undone = UndoReport {
        boot_unknown: boot == Boot::Unknown,
        namespace_gone: journal.is_namespace_gone(),
        damage,
        ..UndoReport::default()
    };
    let interfaces = Interfaces::read(journal.system());
    let at = Locator::new(journal.system());
    if is_all_gone(&journal, &interfaces, &at) {
        return Err(journal.root_gone("has none of the settings of the plan"));
    }
    let mut restorer = Restorer { at, force, resets: Resets::default() };
    for index in (0..journal.steps().len()).rev() {
        let (step, progress) = &journal.steps()[index];
        let (words, is_open) = (step.set.to_string(), progress.begun && !progress.restored);
        // Another interface may have the name and the number here.
        let is_lost = journal.is_namespace_gone()
            && step.set.interface().is_some()
            && !step.interface.as_ref().is_some_and(InterfaceIdentity::has_device);
        let outcome = match interfaces.of(step) {
            _ if is_lost => UndoOutcome::Gone,
            // With force, the user says that it was removed.
            Whereabouts::Away | Whereabouts::Replaced(_) if force => UndoOutcome::Gone,
            Whereabouts::Away => UndoOutcome::Away,
            Whereabouts::Replaced(by) => UndoOutcome::Replaced(by),
            Whereabouts::Here => restorer.restore(&journal, index, &step.set),
            Whereabouts::Renamed(name) => {
                let outcome = restorer.restore(&journal, index, &step.set.of_interface(&name));
                undone.note_renamed(step.set.interface().unwrap_or_default(), name, &outcome);
                outcome
            }
        };
        let is_back = matches!(outcome, UndoOutcome::Restored | UndoOutcome::Gone)
            || outcome == UndoOutcome::Untouched && is_open;
        undone.outcomes.push((words, outcome));
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
    } else if let Err(error) = journal.note_taken_back(undone.problems()) {
        undone.journal_error = Some(error.to_string());
    }
    Ok(undone)
}

/// Whether the root is a folder that has none of the settings: it is another folder, or a part of the one that was.
fn is_all_gone(journal: &Journal<'_>, interfaces: &Interfaces, at: &Locator<'_>) -> bool {
    let system = journal.system();
    let is_gone = |step: &Step| match (interfaces.of(step), step.set.locate(at)) {
        (Whereabouts::Renamed(_), _) => false,
        (_, Ok(place)) => place.is_gone(system),
        (_, Err(error)) => matches!(error, LocateError::Absent(_)),
    };
    let mut steps = journal.steps().iter().map(|(step, _)| step);
    system.root() != Path::new("/") && steps.len() > 0 && steps.all(is_gone)
}

/// Restores steps, with what it must know of those that it has restored.
struct Restorer<'a> {
    at: Locator<'a>,
    /// Whether to restore values that somebody else has changed.
    force: bool,
    resets: Resets,
}

impl Restorer<'_> {
    /// Restores the step at `index`, whose setting is `set` now. If that gives former channels back, keeps what it resets.
    fn restore(&mut self, journal: &Journal<'_>, index: usize, set: &Setting) -> UndoOutcome {
        if !matches!(set, Setting::Channels { .. }) {
            return self.restore_value(journal, index, set);
        }
        let resets = Resets::look(journal, index, set, &self.at);
        let outcome = self.restore_value(journal, index, set);
        if outcome == UndoOutcome::Restored {
            self.resets = resets;
        }
        outcome
    }

    fn restore_value(&self, journal: &Journal<'_>, index: usize, set: &Setting) -> UndoOutcome {
        let (step, progress) = &journal.steps()[index];
        if step.kind == StepKind::Deferred {
            // The steps that took its place have what it was.
            return UndoOutcome::Untouched;
        }
        let system = journal.system();
        let place = match set.locate(&self.at) {
            Ok(place) => place,
            Err(LocateError::Absent(_)) => return UndoOutcome::Gone,
            Err(error) => return UndoOutcome::Failed(error.to_string()),
        };
        place.remove_left(system);
        let now = match place.read(system) {
            Ok(now) => now,
            Err(error) if is_absent(&error) => return UndoOutcome::Gone,
            Err(error) => return UndoOutcome::Failed(error.to_string()),
        };
        // Once restored, and as long as not begun, another value than the wanted one is none of ours.
        let is_open = progress.begun && !progress.restored;
        let theirs = self.resets.theirs.get(&index);
        let is_seen = theirs.is_none() && progress.reading.as_ref() == Some(&now);
        let is_known = match step.kind {
            StepKind::Reset => self.resets.ours.contains(&index),
            // Once it is back, somebody else has set even this value.
            _ => !progress.restored && place.value(&now).as_ref() == Some(&set.wanted()),
        };
        let is_ours = is_known || is_open && (is_seen || self.force);
        if now == step.original {
            UndoOutcome::Untouched
        } else if is_ours {
            match original::check("original", set, &place, &step.original, system) {
                Ok(()) => {
                    let outcome = put_back(set, &place, system, &step.original);
                    if matches!(set, Setting::Channels { .. }) {
                        self.at.forget();
                    }
                    outcome
                }
                Err(fault) => UndoOutcome::Failed(format!(
                    "`{}`: step {index}, from 0: {fault}",
                    journal.path().display()
                )),
            }
        } else if is_open {
            UndoOutcome::ChangedByOthers(place.shown(theirs.unwrap_or(&now)))
        } else {
            UndoOutcome::Untouched
        }
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
            Refusal::Vanished(_) if place.is_gone(system) => UndoOutcome::Gone,
            Refusal::Vanished(_) => {
                UndoOutcome::Failed(format!("it is there, but writing it failed ({error}): undo again"))
            }
            refusal => UndoOutcome::Failed(refusal.to_string()),
        },
    }
}
