//! `warmcore host apply`, `undo`, `confirm`, `persist` and `verify`.

mod apply;
mod plan;
mod verify;
mod watcher;

use crate::args::applied::JournalArguments;
use crate::args::tune::{PersistArguments, TuneCommand, UndoArguments};
use crate::messages;
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::counted;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fs;
use std::path::{Path, PathBuf, absolute};
use warmcore_linux::tuning::{Disk, Journal, JournalDirectory, UndoOutcome, UndoReport, persist, undo};

pub(crate) fn run(command: &TuneCommand) -> miette::Result<()> {
    match command {
        TuneCommand::Apply(arguments) => apply::run(arguments),
        TuneCommand::Undo(arguments) => take_back(arguments),
        TuneCommand::Confirm(arguments) => confirm(arguments),
        TuneCommand::Persist(arguments) => print_persistent(arguments),
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
    if let Some(path) = &arguments.journal {
        let what = || format!("--journal {}", path.display());
        let mut entries = fs::read_dir(path).or_misuse().wrap_err_with(what)?.flatten();
        if !entries.any(|entry| Path::new(&entry.file_name()).extension() == Some("journal".as_ref())) {
            return Err(misuse(format!(
                "{}: it holds no journal: name the folder that `host apply` was given",
                what()
            )));
        }
    }
    directory(arguments)
}

/// The root that stands for `/` in a journal's values.
fn root_of(directory: &JournalDirectory) -> miette::Result<Option<PathBuf>> {
    let active = directory.active().into_diagnostic()?;
    Ok(active.map(|content| content.head.root))
}

fn open<'a>(directory: &JournalDirectory, disk: &'a Disk) -> miette::Result<Option<Journal<'a>>> {
    directory.open(disk, false).into_diagnostic()
}

fn take_back(arguments: &UndoArguments) -> miette::Result<()> {
    let directory = used_directory(&arguments.journal)?;
    let disk = root_of(&directory)?.map(|root| Disk::below(&root));
    let journal = match &disk {
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
    if undone.is_complete() { Ok(()) } else { Err(incomplete(&undone, &path)) }
}

/// What was restored, in words.
fn undo_report(undone: &UndoReport) -> String {
    if undone.restarted {
        return "The machine was restarted since, which took all changes with it.\n".to_owned();
    }
    let gone = undone.outcomes.iter().filter(|(_, fate)| *fate == UndoOutcome::Gone).count();
    let mut text = format!("{} restored.\n", counted(undone.restored(), "value"));
    if gone > 0 {
        text += &format!("{} no longer there: nothing to restore.\n", counted(gone, "setting"));
    }
    text
}

fn incomplete(undone: &UndoReport, journal: &Path) -> miette::Report {
    let journal = journal.display();
    miette!(
        "not everything is as it was before: {undone}\nThe others' changes were left alone. To overwrite them give \
         --force; to keep them, and to forget what was there before, remove {journal}"
    )
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
    if !journal.content().head.awaits_confirmation {
        return crate::output::print(b"The plan that is applied stays anyway: it needs no confirmation.\n");
    }
    journal.confirm().into_diagnostic()?;
    crate::output::print(b"Confirmed: the changes stay until `warmcore host undo`.\n")
}

fn print_persistent(arguments: &PersistArguments) -> miette::Result<()> {
    let program = std::env::current_exe().into_diagnostic().wrap_err("cannot tell where this program is")?;
    let path = absolute(&arguments.plan).into_diagnostic()?;
    if let Some(path) = [&program, &path].into_iter().find(|path| path.to_str().is_none()) {
        return Err(misuse(format!("{}: expected a path in UTF-8, which a unit can name", path.display())));
    }
    let document = plan::read(&arguments.plan)?;
    persist::check(&document.plan).or_misuse()?;
    apply::tell_hands(&document, &Disk::default())?;
    let despite = arguments.admission.despite.iter();
    let flags: Vec<String> = despite.flat_map(|name| ["--despite".to_owned(), name.clone()]).collect();
    let (unit, rule) = (persist::unit(&program, &path, &flags), persist::rule(&document.plan));
    crate::output::print(format!("{unit}\n{rule}").as_bytes())
}
