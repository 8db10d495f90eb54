//! The entries of a journal, and what they say together.

use super::journal::JournalError;
use super::step::{Step, in_lines};
use super::system::System;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use toml::ser::ValueSerializer;

/// The first entry: when and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    schema: u32,
    /// What no other journal has.
    pub token: String,
    /// What stood for `/`.
    pub root: PathBuf,
    scope: Scope,
    /// Whether the changes are taken back unless they are confirmed in time.
    pub awaits_confirmation: bool,
}

/// In which part of which life of the machine the values are. Empty where the kernel does not say.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scope {
    /// Another one after every restart, which takes all settings with it.
    boot: String,
    /// The network namespace, which has interfaces of its own.
    network: String,
    /// The process namespace, which has process numbers of its own.
    processes: String,
}

impl Scope {
    fn new(system: &dyn System) -> Self {
        let link = |file: &str| {
            system.link(file).map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
        };
        Self {
            boot: system.read("proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned(),
            network: link("proc/thread-self/ns/net"),
            processes: link("proc/self/ns/pid"),
        }
    }
}

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JournalEntry {
    Head(Head),
    Step(Step),
    Begun(usize),
    Done {
        step: usize,
        #[serde(with = "in_lines")]
        reading: String,
    },
    Restored(usize),
    Confirmed(bool),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalLine {
    entry: JournalEntry,
}

/// How far a step has got.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    /// Its value may have been written.
    pub(crate) begun: bool,
    /// What was read after that.
    pub(crate) reading: Option<String>,
    /// It is as it was before.
    pub(crate) restored: bool,
}

/// What a journal holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// When and where.
    pub head: Head,
    /// Whether somebody confirmed the changes.
    pub confirmed: bool,
    pub(crate) steps: Vec<(Step, Progress)>,
}

impl Head {
    /// The version of the file that this build reads and writes.
    const SCHEMA: u32 = 1;

    /// That of a journal that begins now.
    pub(crate) fn new(system: &dyn System, awaits_confirmation: bool) -> Self {
        let (root, scope) = (system.root().to_owned(), Scope::new(system));
        Self { schema: Self::SCHEMA, token: token(), root, scope, awaits_confirmation }
    }

    /// Whether the machine has been restarted since.
    pub(crate) fn is_from_earlier_boot(&self, system: &dyn System) -> bool {
        self.scope.boot != Scope::new(system).boot
    }

    /// Finds out whether the values can be reached from here.
    pub(crate) fn require_here(&self, system: &dyn System) -> Result<(), JournalError> {
        let here = Scope::new(system);
        let root = |path: &Path| path.display().to_string();
        let mut pairs = vec![("tree", root(&self.root), root(system.root()))];
        // Namespaces end with the life of the machine, as the changes do.
        if self.scope.boot == here.boot {
            pairs.push(("network namespace", self.scope.network.clone(), here.network));
            pairs.push(("process namespace", self.scope.processes.clone(), here.processes));
        }
        match pairs.into_iter().find(|(_, there, here)| there != here) {
            Some((what, there, here)) => Err(JournalError::Elsewhere { what, there, here }),
            None => Ok(()),
        }
    }
}

/// The line of `entry`, for the journal in the directory `path`.
pub(crate) fn line(entry: JournalEntry, path: &Path) -> Result<String, JournalError> {
    let mut text = String::new();
    let written = entry.serialize(ValueSerializer::new(&mut text));
    written.map_err(|error| JournalError::File {
        step: "write an entry of the journal in",
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    })?;
    Ok(format!("entry = {text}\n"))
}

/// What whole lines say, of the journal at `path`.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Content, JournalError> {
    let malformed = |index: usize, problem: String| JournalError::Malformed {
        path: path.to_owned(),
        line: index + 1,
        problem: problem.trim().replace('\n', "; "),
    };
    let mut content: Option<Content> = None;
    for (index, line) in text.lines().enumerate() {
        let line: JournalLine =
            toml::from_str(line).map_err(|error| malformed(index, error.message().to_owned()))?;
        let fits = match (content.as_mut(), line.entry) {
            (None, JournalEntry::Head(head)) if head.schema == Head::SCHEMA => {
                content = Some(Content::new(head, Vec::new()));
                true
            }
            (None, JournalEntry::Head(head)) => {
                return Err(malformed(
                    index,
                    format!("its version is {}, expected {}", head.schema, Head::SCHEMA),
                ));
            }
            (Some(content), entry) => content.take(entry),
            (None, _) => false,
        };
        if !fits {
            return Err(malformed(index, "an entry that does not fit those before".to_owned()));
        }
    }
    content.ok_or_else(|| malformed(0, "the file is empty".to_owned()))
}

impl Content {
    /// What a journal that begins with these holds.
    pub(crate) fn new(head: Head, steps: Vec<Step>) -> Self {
        let steps = steps.into_iter().map(|step| (step, Progress::default())).collect();
        Self { head, confirmed: false, steps }
    }

    /// Adds an entry; whether it fits those before.
    fn take(&mut self, entry: JournalEntry) -> bool {
        let mut note = |step: usize, note: &dyn Fn(&mut Progress)| {
            self.steps.get_mut(step).map(|(_, progress)| note(progress)).is_some()
        };
        match entry {
            JournalEntry::Head(_) => false,
            JournalEntry::Step(step) => {
                self.steps.push((step, Progress::default()));
                true
            }
            JournalEntry::Begun(step) => note(step, &|progress| progress.begun = true),
            JournalEntry::Done { step, reading } => {
                note(step, &|progress| progress.reading = Some(reading.clone()))
            }
            JournalEntry::Restored(step) => note(step, &|progress| progress.restored = true),
            JournalEntry::Confirmed(confirmed) => {
                self.confirmed = confirmed;
                true
            }
        }
    }
}

/// No two processes have the same number at the same time.
fn token() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_nanos())
}
