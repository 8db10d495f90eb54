//! The checkpoint of an interrupted command: a journal of finished points, from which `--resume` continues.

use crate::args::ResumableArguments;
use crate::folder::Folder;
use crate::misuse::misuse;
use crate::provenance::PROGRAM;
use crate::remedies::OrRemedies;
use crate::{interrupt, messages};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fs;
use warmcore_costs::Profile;
use warmcore_record::{Existing, Journal};
use warmcore_scenario::{PacketScenario, Process, Traffic};
use warmcore_sim::packet::PointResult;

/// The journal's name in the folder.
const JOURNAL: &str = "points.journal";

/// The finished points of a folder. A point is known by its whole scenario, so that one journal
/// serves any request made of such points.
pub(crate) struct Checkpoint {
    journal: Journal<PointResult>,
}

impl Checkpoint {
    /// Opens the folder for `files`, and the journal in it for points with the costs of `profile`
    /// and packets like those of `traffic`, as `request` asks for them.
    pub(crate) fn open(
        arguments: &ResumableArguments,
        files: &[&str],
        profile: &Profile,
        traffic: &Traffic,
        request: &str,
    ) -> miette::Result<(Folder, Self)> {
        let subject = subject(profile, traffic)? + request;
        let (folder, journal) = open(arguments, files, &subject)?;
        Ok((folder, Self { journal }))
    }

    /// The result of `point` in an earlier run.
    pub(crate) fn known(&self, point: &PacketScenario) -> Option<PointResult> {
        self.journal.known(&toml::to_string(point).ok()?).copied()
    }

    /// The end of an interrupted command that writes into `folder`, and how to go on.
    pub(crate) fn interrupted(&self, folder: &Folder) -> miette::Report {
        interrupted(folder, &self.journal)
    }

    /// Keeps the result of `point`.
    pub(crate) fn keep(
        &self,
        point: &PacketScenario,
        result: &PointResult,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.journal.append(&toml::to_string(point)?, result)?)
    }
}

/// The end of an interrupted command whose finished points are in `journal`, and how to go on.
pub(crate) fn interrupted<V>(folder: &Folder, journal: &Journal<V>) -> miette::Report {
    match journal.count() {
        0 => {
            messages::print("no point was finished: nothing is kept");
            folder.taken_back(miette!("interrupted"))
        }
        1 => interrupt::resumable("1 finished point is"),
        points => interrupt::resumable(format_args!("{points} finished points are")),
    }
}

/// Opens the folder for `files`, and the journal in it for results that depend on `subject`.
pub(crate) fn open<V: Serialize + DeserializeOwned>(
    arguments: &ResumableArguments,
    files: &[&str],
    subject: &str,
) -> miette::Result<(Folder, Journal<V>)> {
    let begins = !arguments.force && !arguments.resume;
    let existing = if begins { Existing::Refuse } else { Existing::Replace };
    // Nobody else makes or changes a journal there from now on.
    let folder = Folder::take(&arguments.out, existing)?;
    let journal = folder.file(JOURNAL);
    if begins && journal.exists() {
        return Err(misuse(format!(
            "`{}` exists already: give --resume to go on with it, --force to begin anew, or another place with --out",
            journal.display()
        )));
    }
    // The journal itself says what is wrong with one that exists.
    let new: &[&str] = if journal.symlink_metadata().is_ok() { &[] } else { &[JOURNAL] };
    let folder = folder.checked(&[files, new].concat())?;
    let journal = folder.writing(JOURNAL, |journal| match arguments.resume {
        true => Journal::resume(journal, subject),
        false => Journal::create(journal, subject, existing),
    });
    let journal = journal.or_remedies().map_err(|error| folder.taken_back(error))?;
    if arguments.resume {
        messages::status(format_args!("continuing after {} finished points", journal.known_count()));
    }
    Ok((folder, journal))
}

/// What results depend on besides their scenario: the program, and the contents of the files that a scenario
/// names.
fn subject(profile: &Profile, traffic: &Traffic) -> miette::Result<String> {
    let mut subject =
        format!("{PROGRAM} {}\n{}", env!("CARGO_PKG_VERSION"), toml::to_string(profile).into_diagnostic()?);
    if let Process::Trace(trace) = &traffic.process {
        let bytes = fs::metadata(&trace.file).into_diagnostic()?.len();
        subject += &format!("trace {}: {bytes} bytes\n", trace.file.display());
    }
    Ok(subject)
}
