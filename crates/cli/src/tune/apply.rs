//! `warmcore host apply`.

use super::{directory, plan, watcher};
use crate::args::tune::ApplyArguments;
use crate::misuse::OrMisuse;
use crate::terminal::counted;
use crate::terminal::table;
use crate::{interrupt, messages};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::path::Path;
use warmcore_linux::tuning::{
    Disk, JournalDirectory, PlanDocument, Proposal, Step, StepOutcome, apply, changes, undo,
};

pub(super) fn run(arguments: &ApplyArguments) -> miette::Result<()> {
    let document = plan::read(&arguments.plan)?;
    let disk = disk(arguments.root.as_deref())?;
    let (proposals, interferences) = plan::proposals(&document, &disk, &arguments.admission)?;
    interferences.iter().for_each(messages::note);
    let printed = crate::output::print(difference(&document, &proposals).as_bytes());
    if !arguments.yes {
        printed?;
    } else if printed.is_err() {
        // What is to be done does not depend on who reads along.
        messages::note("standard output cannot be written to: the plan is applied without");
    }
    let steps = changes(proposals);
    if steps.is_empty() {
        return crate::output::print(b"Everything is as the plan has it: nothing to change.\n");
    }
    if !arguments.yes {
        return crate::output::print(b"Nothing was changed. Give --yes to change it.\n");
    }
    make(arguments, &directory(&arguments.journal)?, &disk, steps)
}

/// The files in the folder `root`, or of this machine.
pub(super) fn disk(root: Option<&Path>) -> miette::Result<Disk> {
    let Some(root) = root else { return Ok(Disk::default()) };
    let found = root.canonicalize().or_misuse();
    Ok(Disk::below(&found.wrap_err_with(|| format!("cannot find the folder {}", root.display()))?))
}

/// Makes the changes.
fn make(
    arguments: &ApplyArguments,
    directory: &JournalDirectory,
    disk: &Disk,
    steps: Vec<Step>,
) -> miette::Result<()> {
    let stop = interrupt::catch()?;
    let journal = directory.begin(disk, steps, arguments.confirm_within.is_some()).into_diagnostic()?;
    if let Some(limit) = arguments.confirm_within
        && let Err(error) = watcher::start(directory, &journal.content().head.token, limit)
    {
        undo(journal, false).into_diagnostic()?;
        return Err(error);
    }
    let outcomes = apply(journal, stop).map_err(|error| {
        let report = miette!("{}: {error}", arguments.plan.display());
        if interrupt::requested() {
            messages::print(&report);
        }
        report
    })?;
    crate::output::print(report(&outcomes, arguments, directory.path()).as_bytes())
}

/// The table of present and planned values.
pub(super) fn difference(document: &PlanDocument, proposals: &[Proposal]) -> String {
    let mut table = table(["line", "setting", "now", "wanted", "reason", "expected gain"]);
    for proposal in proposals {
        let line = &document.plan.lines[proposal.step.line];
        let wanted = match proposal.changes {
            true => proposal.wanted.clone(),
            false => "as it is".to_owned(),
        };
        table.add_row([
            (proposal.step.line + 1).to_string(),
            proposal.step.set.to_string(),
            proposal.now.clone(),
            wanted,
            line.reason.clone(),
            line.expected_gain.clone(),
        ]);
    }
    format!("{table}\n\n")
}

/// What was changed, and how to proceed.
fn report(outcomes: &[(Step, StepOutcome)], arguments: &ApplyArguments, journal: &Path) -> String {
    let made = outcomes.iter().filter(|(_, outcome)| *outcome != StepOutcome::Ended).count();
    let mut text = format!("{} changed, each read back.\n", counted(made, "value"));
    for (step, outcome) in outcomes {
        match outcome {
            StepOutcome::Applied => {}
            StepOutcome::Pending(cpus) => {
                text += &format!("{}: still handled on {cpus}; it moves when it comes next.\n", step.set);
            }
            StepOutcome::Ended => text += &format!("{}: ended before it was placed.\n", step.set),
        }
    }
    let place = match &arguments.journal.journal {
        Some(_) => format!(" --journal {}", journal.display()),
        None => String::new(),
    };
    if let Some(limit) = arguments.confirm_within {
        text += &format!("All is taken back in {limit:?} unless `warmcore host confirm{place}` is called.\n");
    }
    text + &format!("`warmcore host undo{place}` takes it back.\n")
}
