//! Taking the changes of a journal back, in reverse order: each value becomes, byte for byte, what
//! was read before it was changed.
//!
//! What the kernel derives from a value is its own affair: on which of several cpus an interrupt is
//! then handled, it chooses anew.
//!
//! A value that somebody else has changed since is theirs: it is left alone, and the journal stays
//! open. Undoing twice, or going on after being killed, restores what is left.

use super::journal::{Journal, JournalError};
use super::location::{LocateError, Location};
use super::plan::Setting;
use super::refusal::Refusal;
use super::system::{System, is_absent};
use super::thread;
use std::fmt;

/// What became of one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoOutcome {
    /// It is as it was before.
    Restored,
    /// It was as before already, or never changed.
    Untouched,
    /// What it was a setting of is not there any more.
    Gone,
    /// Somebody else has changed it to this since, and it was left alone.
    ChangedByOthers(String),
    /// It cannot be restored.
    Failed(String),
}

/// What became of each step, in the order in which they were taken back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndoReport {
    /// The setting in words, and its fate.
    pub outcomes: Vec<(String, UndoOutcome)>,
    /// Whether the machine was restarted since, which took all settings with it.
    pub restarted: bool,
    /// What could not be noted in the journal.
    pub journal_error: Option<String>,
}

impl UndoReport {
    /// Whether nothing is left to restore.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self
            .outcomes
            .iter()
            .any(|(_, fate)| matches!(fate, UndoOutcome::ChangedByOthers(_) | UndoOutcome::Failed(_)))
    }

    /// How many values were put back.
    #[must_use]
    pub fn restored(&self) -> usize {
        self.outcomes.iter().filter(|(_, fate)| *fate == UndoOutcome::Restored).count()
    }
}

/// What is not as it was before, and why.
impl fmt::Display for UndoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.outcomes.iter().filter_map(|(set, fate)| match fate {
            UndoOutcome::ChangedByOthers(now) => {
                Some(format!("{set}: somebody else has set it to {now} since"))
            }
            UndoOutcome::Failed(problem) => Some(format!("{set}: cannot be restored: {problem}")),
            UndoOutcome::Restored | UndoOutcome::Untouched | UndoOutcome::Gone => None,
        });
        f.write_str(&left.collect::<Vec<_>>().join("; "))
    }
}

/// Takes back what `journal` says was changed, and closes it if nothing is left. With `force`, what
/// somebody else has changed since is restored too.
///
/// # Errors
/// If the journal cannot be closed. Its values are restored by then.
pub fn undo(mut journal: Journal<'_>, force: bool) -> Result<UndoReport, JournalError> {
    if journal.is_from_earlier_boot() {
        journal.close()?;
        return Ok(UndoReport { restarted: true, ..UndoReport::default() });
    }
    let mut undone = UndoReport::default();
    for index in (0..journal.steps().len()).rev() {
        let fate = restore(&journal, index, force);
        let is_back = matches!(fate, UndoOutcome::Restored | UndoOutcome::Gone);
        undone.outcomes.push((journal.steps()[index].0.set.to_string(), fate));
        if is_back && let Err(error) = journal.note_restored(index) {
            // The values matter more: what is not noted is found to be as it was the next time.
            undone.journal_error = Some(error.to_string());
        }
    }
    undone.outcomes.extend(restore_heirs(&journal));
    if undone.is_complete() {
        journal.close()?;
    }
    Ok(undone)
}

/// Restores one step.
fn restore(journal: &Journal<'_>, index: usize, force: bool) -> UndoOutcome {
    let (step, progress) = &journal.steps()[index];
    if !progress.begun || progress.restored {
        return UndoOutcome::Untouched;
    }
    let system = journal.system();
    let place = match step.set.locate(system) {
        Ok(place) => place,
        Err(LocateError::Absent(_)) => return UndoOutcome::Gone,
        Err(error) => return UndoOutcome::Failed(error.to_string()),
    };
    let now = match place.read(system) {
        Ok(now) => now,
        Err(error) if is_absent(&error) => return UndoOutcome::Gone,
        Err(error) => return UndoOutcome::Failed(error.to_string()),
    };
    let is_ours = progress.reading.as_ref().is_none_or(|reading| *reading == now);
    if now == step.original {
        UndoOutcome::Untouched
    } else if is_ours || force {
        put_back(&place, system, &step.original)
    } else {
        UndoOutcome::ChangedByOthers(place.shown(&now))
    }
}

/// Writes `original` and makes sure that it reads as before.
fn put_back(place: &Location, system: &dyn System, original: &str) -> UndoOutcome {
    match place.write(system, original).and_then(|()| place.read(system)) {
        Ok(now) if now == original => UndoOutcome::Restored,
        Ok(now) => {
            UndoOutcome::Failed(format!("it was {}, and reads {}", place.shown(original), place.shown(&now)))
        }
        Err(error) => match Refusal::from_error(&error) {
            Refusal::Vanished(_) => UndoOutcome::Gone,
            refusal => UndoOutcome::Failed(refusal.to_string()),
        },
    }
}

/// Threads that were started after all threads of their process were placed have inherited that
/// placement. They get what their process's first thread had before.
fn restore_heirs(journal: &Journal<'_>) -> Vec<(String, UndoOutcome)> {
    let known = |pid: u32, number: u32| {
        journal.steps().iter().any(|(step, _)| {
            matches!(step.set, Setting::Thread { pid: of, thread: Some(thread), .. } if (of, thread) == (pid, number))
        })
    };
    let system = journal.system();
    let mut outcomes = Vec::new();
    for (step, progress) in journal.steps() {
        let Setting::Thread { pid, started, name, thread: Some(first), .. } = &step.set else { continue };
        if !step.whole || !progress.begun || first != pid {
            continue;
        }
        let present =
            thread::require(system, *pid, *started, name).and_then(|()| thread::threads(system, *pid));
        for heir in present.unwrap_or_default().into_iter().filter(|&thread| !known(*pid, thread)) {
            let place = Location::Thread { process: *pid, thread: heir };
            let has_inherited =
                place.read(system).is_ok_and(|now| place.value(&now).as_ref() == Some(&step.set.wanted()));
            if has_inherited {
                let set = step.set.of_thread(heir).to_string();
                outcomes.push((set, put_back(&place, system, &step.original)));
            }
        }
    }
    outcomes
}
