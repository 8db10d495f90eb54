//! `warmcore host apply`, `undo`, `confirm`, `persist` and `verify`.

mod apply;
mod persist;
mod plan;
mod verify;
mod watcher;

use crate::args::applied::JournalArguments;
use crate::args::tune::{TuneCommand, UndoArguments};
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::counted;
use crate::visible::visible;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::path::{Path, PathBuf, absolute};
use warmcore_linux::tuning::{
    Damage, Disk, Journal, JournalDirectory, JournalError, LeftProcess, UndoOutcome, UndoReport, undo,
};

pub(crate) fn run(command: &TuneCommand) -> miette::Result<()> {
    match command {
        TuneCommand::Apply(arguments) => apply::run(arguments),
        TuneCommand::Undo(arguments) => take_back(arguments),
        TuneCommand::Confirm(arguments) => confirm(arguments),
        TuneCommand::Persist(arguments) => persist::run(arguments),
        TuneCommand::Verify(arguments) => verify::run(arguments),
        TuneCommand::Watch(arguments) => watcher::run(arguments),
    }
}

fn directory(arguments: &JournalArguments) -> miette::Result<JournalDirectory> {
    match &arguments.journal {
        Some(path) => absolute(path).map(JournalDirectory::at).into_diagnostic(),
        None => JournalDirectory::standard().ok_or_else(|| {
            misuse("the environment names no home to keep a journal in: say where, with --journal")
        }),
    }
}

/// The directory of a plan that was applied earlier. One that is given holds a journal: a mistyped one must not pass
/// for a host without changes.
fn used_directory(arguments: &JournalArguments) -> miette::Result<JournalDirectory> {
    let directory = directory(arguments)?;
    if let Some(path) = &arguments.journal {
        let what = || format!("--journal {}", path.display());
        if !directory.is_used().or_misuse().wrap_err_with(what)? {
            return Err(misuse(format!(
                "{}: it holds no journal: name the folder that `host apply` was given",
                what()
            )));
        }
    }
    Ok(directory)
}

/// The root that stands for `/` in a journal's values.
fn root_of(directory: &JournalDirectory) -> miette::Result<Option<PathBuf>> {
    Ok(directory.head().into_diagnostic()?.map(|head| head.root))
}

fn open<'a>(directory: &JournalDirectory, disk: &'a Disk) -> miette::Result<Option<Journal<'a>>> {
    directory.open(disk, false).into_diagnostic()
}

fn take_back(arguments: &UndoArguments) -> miette::Result<()> {
    let directory = used_directory(&arguments.journal)?;
    if arguments.force
        && let Err(error @ JournalError::Headless { .. }) = directory.head()
    {
        return Err(given_up(&error, &directory)?);
    }
    let disk = root_of(&directory)?.map(|root| Disk::below(&root));
    let journal = match &disk {
        Some(disk) if arguments.force => directory.open_by_force(disk).into_diagnostic()?,
        Some(disk) => open(&directory, disk)?,
        None => None,
    };
    let Some(journal) = journal else {
        let text = format!("Nothing to undo: {} records no applied plan.\n", directory.path().display());
        return crate::output::print(text.as_bytes());
    };
    let path = journal.path();
    let undone = undo(journal, arguments.force).into_diagnostic()?;
    crate::output::print(undo_report(&undone).as_bytes())?;
    if let Some(problem) = &undone.journal_error {
        messages::note(format_args!("{problem}; what is restored stays restored"));
    }
    match undone.is_complete() {
        false => Err(incomplete(&undone, &path)),
        true if !undone.left.is_empty() => Err(miette!("{}", left(&undone.left))),
        true => Ok(()),
    }
}

/// Sets a journal aside of which nothing can be read, and says what that leaves.
fn given_up(error: &JournalError, directory: &JournalDirectory) -> miette::Result<miette::Report> {
    let moved = directory.set_aside(&Disk::default()).into_diagnostic()?;
    let path = moved.unwrap_or_else(|| directory.path().to_owned());
    let JournalError::Headless { problem, .. } = error else { return Ok(miette!("{error}")) };
    Ok(miette!(
        "nothing was restored: the head of the journal cannot be read ({problem}). What the plan changed may be in force \
         until the machine is restarted. The journal is now {}",
        path.display()
    ))
}

/// What was restored, in words.
fn undo_report(undone: &UndoReport) -> String {
    if undone.restarted {
        return "The machine was restarted since, which took all changes with it.\n".to_owned();
    }
    let mut text = String::new();
    if undone.boot_unknown {
        text += "Whether the machine was restarted since is unknown: the boot id cannot be read. Every value was compared \
                 instead.\n";
    }
    if undone.namespace_gone {
        text += "The network namespace of the plan is gone, and the settings of its interfaces with it.\n";
    }
    let gone = undone.outcomes.iter().filter(|(_, fate)| *fate == UndoOutcome::Gone).count();
    text += &match undone.restored() {
        0 if undone.is_complete() => {
            "Nothing had to be restored: no value of the plan is in force.\n".to_owned()
        }
        restored => format!("{} restored.\n", counted(restored, "value")),
    };
    for (earlier, now) in &undone.renamed {
        let restored = match now.restored {
            0 => "nothing was restored there".to_owned(),
            restored => format!("{} restored there", counted(restored, "value")),
        };
        text += &format!("{} is called {} now: {restored}.\n", visible(earlier), visible(&now.name));
    }
    if gone > 0 {
        text += &format!("{} no longer there: nothing to restore.\n", counted(gone, "setting"));
    }
    text
}

/// What may still be in force, and what to do about it.
fn incomplete(undone: &UndoReport, journal: &Path) -> miette::Report {
    let path = journal.display();
    let mut text = String::from("not everything is as it was before:");
    for open in undone.open_settings() {
        text += &format!("\n{open}");
    }
    for Damage { line, problem } in &undone.damage {
        text += &format!("\n{path}:{line}: cannot be read, so what it changed may be in force: {problem}");
    }
    let is_foreign =
        |(_, outcome): &(String, UndoOutcome)| matches!(outcome, UndoOutcome::ChangedByOthers(_));
    if undone.outcomes.iter().any(is_foreign) {
        text += &format!(
            "\nThe others' changes were left alone. To overwrite them give --force; to keep them, and to forget what \
             was there before, remove {path}"
        );
    }
    if undone.outcomes.iter().any(|(_, outcome)| outcome.is_away()) {
        text += &format!(
            "\nAn interface that was moved has the values of the plan: move it back, and undo again. If it was removed, \
             they are gone with it: `warmcore host undo --force --journal {}` closes the journal",
            journal.parent().unwrap_or(journal).display()
        );
    }
    if !undone.left.is_empty() {
        text += &format!("\n{}", left(&undone.left));
    }
    match &undone.set_aside {
        Some(to) => text += &format!("\nThe damaged journal is now {}", to.display()),
        None if !undone.damage.is_empty() => {
            text += &format!(
                "\nA restart of the machine resets what is left. To set the damaged journal aside, so that another plan \
                 can be applied: `warmcore host undo --force --journal {}`",
                journal.parent().unwrap_or(journal).display()
            );
        }
        None => {}
    }
    miette!("{text}")
}

/// Which processes may still be placed as the plan had it, and how to release them.
fn left(processes: &[LeftProcess]) -> String {
    let mut text = "these processes started since then and have cpus of the plan. Whether they inherited them cannot be \
                    told, so they were left alone; `taskset -apc CPUS PID` gives one other cpus:"
        .to_owned();
    for LeftProcess { pid, name, cpus } in processes {
        text += &format!("\nprocess {pid} ({}) on {cpus}", visible(name));
    }
    text
}

fn confirm(arguments: &JournalArguments) -> miette::Result<()> {
    let directory = used_directory(arguments)?;
    let nothing = || {
        miette!(
            "nothing awaits confirmation in {}: if a plan was applied, it has been taken back",
            directory.path().display()
        )
    };
    let disk = Disk::below(&root_of(&directory)?.ok_or_else(nothing)?);
    let mut journal = open(&directory, &disk)?.ok_or_else(nothing)?;
    journal.require_in_force().into_diagnostic()?;
    if !journal.content().head.awaits_confirmation {
        return crate::output::print(b"The plan that is applied stays anyway: it needs no confirmation.\n");
    }
    journal.confirm().into_diagnostic()?;
    crate::output::print(b"Confirmed: the changes stay until `warmcore host undo`.\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::tuning::RenamedInterface;

    #[test]
    fn a_renamed_interface_is_said_to_have_what_was_restored_there() {
        for (restored, said) in
            [(0, "a0 is called fresh now: nothing was restored there."), (2, "now: 2 values restored there.")]
        {
            let renamed = RenamedInterface { name: "fresh".to_owned(), restored };
            let undone = UndoReport { renamed: [("a0".to_owned(), renamed)].into(), ..UndoReport::default() };
            let text = undo_report(&undone);
            assert!(text.contains(said), "{text}");
        }
    }
}
