//! Applies the changes of a journal: all of them, or none.

use super::interrupt::Interrupt;
use super::journal::Journal;
use super::journal_error::JournalError;
use super::location::{LocateError, Location};
use super::locator::Locator;
use super::plan::Setting;
use super::refusal::Refusal;
use super::step::{Step, StepError, StepKind, propose, set_twice};
use super::system::System;
use super::thread;
use super::undo::undo;
use super::undo_report::UndoReport;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use warmcore_topology::CpuSet;

/// How often to look for new threads of a process. Threads started by a placed thread inherit its
/// placement, so only threads started by one that was not placed yet are missing.
const ROUNDS: usize = 16;

/// How long an interrupt may take to move once it has occurred again.
const MOVE: Duration = Duration::from_millis(2);

/// The result of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepOutcome {
    /// The value is set.
    Applied,
    /// The value is set, but the interrupt is still handled on these cpus. Its controller moves it at
    /// the next interrupt.
    Pending(CpuSet),
    /// The thread ended before it was placed.
    Ended,
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file or thread of the setting can no longer be found.
    #[error(transparent)]
    Located(#[from] LocateError),
    /// The value of a deferred setting cannot be read, or another line sets the same one.
    #[error(transparent)]
    Unreadable(#[from] StepError),
    /// The current value differs from the original value in the journal.
    #[error("somebody else has set it to {0} since the plan was read: apply it again")]
    Changed(String),
    /// The kernel refuses the value.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The kernel accepted the value, but a different one is in force.
    #[error(
        "the kernel accepted {wanted}, but {found} is in force: some of these cpus are isolated or not allowed for it"
    )]
    Wrong {
        /// The value that was written.
        wanted: String,
        /// The value that was read back.
        found: String,
    },
    /// An interrupt occurred again and was not handled on the wanted cpus.
    #[error(
        "the interrupt occurred again after it was moved to {wanted}, but it is still handled on {found}"
    )]
    Unmoved {
        /// The cpus that should handle it.
        wanted: String,
        /// The cpus that handle it.
        found: CpuSet,
    },
    /// A process starts threads faster than they can be placed.
    #[error("its process starts threads faster than they can be placed: place it before it starts them")]
    TooManyNewThreads,
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A plan could not be applied. Earlier changes were rolled back, as [`Self::rollback`] says.
#[derive(Debug, thiserror::Error)]
#[error("line {} ({set}): {problem}; {}", line + 1, rolled_back(rollback))]
pub struct ApplyError {
    /// The line of the plan, from 0.
    pub line: usize,
    /// The setting in words.
    pub set: String,
    /// Why the step failed.
    pub problem: Problem,
    /// The result of rolling back earlier changes.
    pub rollback: Result<UndoReport, JournalError>,
}

fn rolled_back(rollback: &Result<UndoReport, JournalError>) -> String {
    match rollback {
        Ok(undone) if undone.is_complete() => {
            "everything is as it was before; nothing of the plan is in force".to_owned()
        }
        Ok(undone) => format!("not everything is as it was before: {undone}: see `warmcore host undo`"),
        Err(error) => format!(
            "everything is as it was before, but the journal could not be closed ({error}): see `warmcore host undo`"
        ),
    }
}

/// Applies the changes of `journal`, and reads each one back to verify it. On the first failure, or when
/// `stop` is set, all changes are rolled back.
///
/// # Errors
/// The first step that failed, and the result of the rollback.
pub fn apply(
    mut journal: Journal<'_>,
    stop: &AtomicBool,
) -> Result<Vec<(Step, StepOutcome)>, Box<ApplyError>> {
    match apply_all(&mut journal, stop) {
        Ok(outcomes) => {
            let steps = journal.steps().iter().map(|(step, _)| step.clone());
            Ok(steps.zip(outcomes).filter(|(step, _)| step.kind == StepKind::Changed).collect())
        }
        Err((index, problem)) => {
            let step = &journal.steps()[index].0;
            let (line, set) = (step.line, step.set.to_string());
            let rollback = undo(journal, false);
            Err(Box::new(ApplyError { line, set, problem, rollback }))
        }
    }
}

/// The index of the step that failed, and why.
type Failed = (usize, Problem);

/// Applies every step. Returns the outcomes in the order of the journal.
fn apply_all(journal: &mut Journal<'_>, stop: &AtomicBool) -> Result<Vec<StepOutcome>, Failed> {
    let mut outcomes = Vec::new();
    let at = Locator::new(journal.system());
    for _ in 0..ROUNDS {
        apply_rest(journal, stop, &mut outcomes, &at)?;
        for (first, late) in late_threads(journal)? {
            journal.add(late).map_err(|error| (first, error.into()))?;
        }
        if journal.steps().len() == outcomes.len() {
            return Ok(outcomes);
        }
    }
    Err((outcomes.len(), Problem::TooManyNewThreads))
}

/// Applies the steps that have no outcome yet.
fn apply_rest(
    journal: &mut Journal<'_>,
    stop: &AtomicBool,
    outcomes: &mut Vec<StepOutcome>,
    at: &Locator<'_>,
) -> Result<(), Failed> {
    for index in outcomes.len()..journal.steps().len() {
        let applied = match stop.load(Ordering::SeqCst) {
            true => Err(Problem::Interrupted),
            false => apply_step(journal, index, at),
        };
        outcomes.push(applied.map_err(|problem| (index, problem))?);
    }
    Ok(())
}

fn apply_step(journal: &mut Journal<'_>, index: usize, at: &Locator<'_>) -> Result<StepOutcome, Problem> {
    let (system, step) = (journal.system(), journal.steps()[index].0.clone());
    match step.kind {
        StepKind::Changed => {}
        StepKind::Deferred => return add_deferred(journal, &step, at),
        // Done once the channels are changed and what that left is read.
        StepKind::Reset => {
            journal.note_begun(index)?;
            return Ok(StepOutcome::Applied);
        }
    }
    let place = match step.set.locate(at) {
        Err(LocateError::Absent(_)) if may_end(&step) => return Ok(StepOutcome::Ended),
        located => located?,
    };
    place.remove_left(system);
    let wanted = step.set.wanted();
    let read = || place.read(system).map_err(|error| Refusal::from_error(&error, &step.set));
    match read() {
        Err(Refusal::Vanished(_)) if may_end(&step) => return Ok(StepOutcome::Ended),
        now if now.as_ref() != Ok(&step.original) => return Err(Problem::Changed(place.shown(&now?))),
        _ => {}
    }
    journal.note_begun(index)?;
    let text = place.text(&wanted, &step.original);
    let written = text.and_then(|text| place.write(system, &text));
    let written = written.map_err(|error| Refusal::from_error(&error, &step.set));
    if matches!(step.set, Setting::Channels { .. }) {
        at.forget();
    }
    let reading = match written.and_then(|()| read()) {
        Err(Refusal::Vanished(_)) if may_end(&step) && place.is_gone(system) => {
            return Ok(StepOutcome::Ended);
        }
        reading => reading?,
    };
    // Noted even if it is not the wanted value, so that undoing knows it as ours.
    journal.note_done(index, reading.clone())?;
    if matches!(step.set, Setting::Channels { .. }) {
        note_resets(journal, step.line, at)?;
    }
    if place.value(&reading).as_ref() != Some(&wanted) {
        return Err(Problem::Wrong { wanted: wanted.shown(), found: place.shown(&reading) });
    }
    let outcome = match (&place, step.set.cpus()) {
        (Location::Interrupt(interrupt), Some(cpus)) => moved(interrupt, cpus, system)?,
        _ => StepOutcome::Applied,
    };
    Ok(outcome)
}

/// Notes the values that the driver has left where the line `line` changed the channels, so that undoing knows them from
/// those that others set later. What is gone has none.
fn note_resets(journal: &mut Journal<'_>, line: usize, at: &Locator<'_>) -> Result<(), JournalError> {
    for index in journal.resets_of(line) {
        let place = journal.steps()[index].0.set.locate(at);
        if let Ok(reading) = place.map_err(drop).and_then(|place| place.read(at.system()).map_err(drop)) {
            journal.note_done(index, reading)?;
        }
    }
    Ok(())
}

/// Adds the steps that take the place of a deferred one, now that its setting can be found. They are applied
/// after all that the journal has already.
fn add_deferred(journal: &mut Journal<'_>, step: &Step, at: &Locator<'_>) -> Result<StepOutcome, Problem> {
    let system = journal.system();
    for part in step.set.split(at)? {
        let place = part.locate(at)?;
        let is_other = |other: &Step| other.kind == StepKind::Changed && other.line != step.line;
        let mut others = journal.steps().iter().map(|(other, _)| other).filter(|other| is_other(other));
        if let Some(other) = others.find(|other| other.set.locate(at).is_ok_and(|found| found == place)) {
            return Err(set_twice(step.line, &part, other.line).into());
        }
        let proposal = propose(step.line, part, false, &place, system)?;
        if proposal.changes {
            journal.add(proposal.step)?;
        }
    }
    Ok(StepOutcome::Applied)
}

/// Whether the thread of this step may end without failing the plan: the step is for one of all threads
/// of a process, and not its first thread.
fn may_end(step: &Step) -> bool {
    matches!(step.set, Setting::Thread { pid, thread: Some(thread), .. } if step.whole && thread != pid)
}

/// Checks whether an interrupt is handled on the wanted cpus. Some controllers move it only at the next
/// interrupt, which is no error; but if it has occurred since and has not moved, that is an error.
fn moved(interrupt: &Interrupt, wanted: &CpuSet, system: &dyn System) -> Result<StepOutcome, Problem> {
    let elsewhere =
        || interrupt.effective(system).filter(|effective| !effective.difference(wanted).is_empty());
    let before = interrupt.count(system);
    if elsewhere().is_none() {
        return Ok(StepOutcome::Applied);
    }
    sleep(MOVE);
    let after = interrupt.count(system);
    if before.is_some() && after > before {
        // The interrupt is moved while it is being handled: let the handler finish.
        sleep(MOVE);
        return match elsewhere() {
            None => Ok(StepOutcome::Applied),
            Some(found) => Err(Problem::Unmoved { wanted: wanted.to_string(), found }),
        };
    }
    Ok(elsewhere().map_or(StepOutcome::Applied, StepOutcome::Pending))
}

/// Finds new threads of processes whose threads are all to be placed: threads that are not in the journal
/// and not placed yet. Returns each with the index of the step of its process's first thread.
fn late_threads(journal: &Journal<'_>) -> Result<Vec<(usize, Step)>, Failed> {
    let (system, mut late) = (journal.system(), Vec::new());
    for (index, (first, _)) in journal.steps().iter().enumerate() {
        let Setting::Thread { pid, .. } = first.set else { continue };
        if !first.whole || may_end(first) {
            continue;
        }
        for number in thread::threads(system, pid).map_err(|error| (index, error.into()))? {
            let set = first.set.of_thread(number);
            if journal.steps().iter().any(|(step, _)| step.set == set) {
                continue;
            }
            let place = Location::Thread { process: pid, thread: number };
            // A thread that cannot be read has ended.
            let proposed = propose(first.line, set, true, &place, system).ok();
            let wanted = proposed.filter(|proposal| proposal.changes);
            late.extend(wanted.map(|proposal| (index, proposal.step)));
        }
    }
    Ok(late)
}
