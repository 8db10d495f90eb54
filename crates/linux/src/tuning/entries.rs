//! The entries of a journal, and the state that they add up to.

use super::journal_error::JournalError;
use super::namespaces::is_gone as is_gone_namespace;
use super::one_line::one_line;
use super::parse::Damage;
use super::step::{Step, StepKind, in_lines};
use super::system::System;
use super::thread::uptime;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The first entry: identifies the machine, the boot and the namespaces of the changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    schema: u32,
    /// A unique name of the journal.
    pub token: String,
    /// The root directory of the changed files.
    pub root: PathBuf,
    scope: Scope,
    /// Whether the changes are undone unless confirmed in time.
    pub awaits_confirmation: bool,
    /// How many steps follow before any value is changed. Later ones may follow.
    #[serde(default)]
    steps: usize,
    /// The time, in kernel ticks since boot. What has started earlier has inherited nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    applied: Option<u64>,
}

/// Whether the machine was rebooted since a journal was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Boot {
    /// It was not.
    Same,
    /// It was, which reset all settings.
    Earlier,
    /// The boot id could not be read then, or cannot be read now.
    Unknown,
}

/// The boot and the namespaces in which the values were changed. A field is empty where the kernel does
/// not say.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scope {
    /// The boot id. It changes at every boot, and a reboot resets all settings.
    boot: String,
    /// The network namespace. Each has its own interfaces.
    network: String,
    /// The process namespace. Each has its own process numbers.
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

/// An entry of the journal, written as one line.
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
    /// An undo has left these open, in words.
    TakenBack(Vec<String>),
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalLine {
    pub(super) entry: JournalEntry,
}

/// The progress of a step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct StepProgress {
    /// Whether its value may have been written.
    pub(crate) begun: bool,
    /// The value that was read back afterwards.
    pub(crate) reading: Option<String>,
    /// Whether the original value was restored.
    pub(crate) restored: bool,
}

/// The contents of a journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// The first entry.
    pub head: Head,
    /// Whether the changes were confirmed.
    pub confirmed: bool,
    /// What the last undo left open, in words; `None` if none has ended.
    pub taken_back: Option<Vec<String>>,
    /// The lines that cannot be read.
    pub damage: Vec<Damage>,
    pub(crate) steps: Vec<(Step, StepProgress)>,
}

impl Head {
    /// The version of the file that this build reads and writes.
    const SCHEMA: u32 = 1;

    /// Creates the head of a new journal.
    pub(crate) fn new(
        system: &dyn System,
        steps: usize,
        awaits_confirmation: bool,
    ) -> Result<Self, JournalError> {
        let (root, scope, applied) = (system.root().to_owned(), Scope::new(system), uptime(system)?);
        Ok(Self { schema: Self::SCHEMA, token: token(), root, scope, awaits_confirmation, steps, applied })
    }

    /// Returns the head if this build can read the rest of the journal.
    pub(super) fn require_known(self) -> Result<Self, String> {
        if self.schema == Self::SCHEMA {
            return Ok(self);
        }
        Err(format!("its version is {}, expected {}", self.schema, Self::SCHEMA))
    }

    /// When the plan was applied, in kernel ticks since boot.
    pub(super) const fn applied(&self) -> Option<u64> {
        self.applied
    }

    pub(super) const fn step_count(&self) -> usize {
        self.steps
    }

    /// Whether the machine has been rebooted since.
    pub(crate) fn boot(&self, system: &dyn System) -> Boot {
        let (then, now) = (&self.scope.boot, Scope::new(system).boot);
        match (then.is_empty(), now.is_empty()) {
            (false, false) if *then == now => Boot::Same,
            (false, false) => Boot::Earlier,
            // A folder that never had the file is not booted.
            (true, true) if self.root != Path::new("/") => Boot::Same,
            _ => Boot::Unknown,
        }
    }

    pub(crate) fn is_from_earlier_boot(&self, system: &dyn System) -> bool {
        self.boot(system) == Boot::Earlier
    }

    /// Checks whether the changed values of the journal at `path` can be reached from this process. With `force`, those in a
    /// network namespace that is gone need not. Returns whether it is.
    pub(super) fn require_here(
        &self,
        system: &dyn System,
        path: &Path,
        force: bool,
    ) -> Result<bool, JournalError> {
        let here = Scope::new(system);
        let root = |path: &Path| path.display().to_string();
        let mut pairs = vec![("tree", root(&self.root), root(system.root()))];
        // Namespaces do not survive a reboot, and neither do the changes.
        let mut is_gone = false;
        if !self.is_from_earlier_boot(system) {
            let network = self.scope.network.clone();
            is_gone =
                network != here.network && system.root() == Path::new("/") && is_gone_namespace(&network);
            match is_gone {
                true if force => {}
                true => {
                    return Err(JournalError::NamespaceGone { path: path.to_owned(), namespace: network });
                }
                false => pairs.push(("network namespace", network, here.network)),
            }
            pairs.push(("process namespace", self.scope.processes.clone(), here.processes));
        }
        match pairs.into_iter().find(|(_, there, here)| there != here) {
            Some((what, there, here)) => Err(JournalError::Elsewhere { what, there, here }),
            None => Ok(is_gone),
        }
    }
}

/// Writes `entry` as a line, for the journal in the directory `path`.
pub(crate) fn line(entry: JournalEntry, path: &Path) -> Result<String, JournalError> {
    let refused = |error: Box<dyn std::error::Error + Send + Sync>| JournalError::File {
        step: "write an entry of the journal in",
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    };
    let text = one_line(&entry).map_err(|error| refused(error.into()))?;
    if text.contains('\n') {
        return Err(refused("it would take several lines, expected one".into()));
    }
    Ok(format!("entry = {text}\n"))
}

impl Content {
    /// Creates the contents of a new journal.
    pub(crate) fn new(head: Head, steps: Vec<Step>) -> Self {
        let steps = steps.into_iter().map(|step| (step, StepProgress::default())).collect();
        Self { head, confirmed: false, taken_back: None, damage: Vec::new(), steps }
    }

    /// Applies an entry, which must be consistent with the earlier ones.
    pub(super) fn take(&mut self, entry: JournalEntry) -> Result<(), String> {
        let mut note = |step: usize, note: &dyn Fn(&mut StepProgress)| {
            let (of, progress) = self
                .steps
                .get_mut(step)
                .ok_or_else(|| format!("it is about setting {step}, which is not there"))?;
            if of.kind == StepKind::Deferred {
                return Err(format!(
                    "it is the progress of setting {step}, which other settings took the place of"
                ));
            }
            note(progress);
            Ok(())
        };
        match entry {
            JournalEntry::Head(_) => Err("it is a second head".to_owned()),
            JournalEntry::Step(step) => {
                // Only what a plan may set is restored: names become parts of paths, and numbers sizes of tables.
                step.set.check().map_err(|fault| fault.to_string())?;
                self.steps.push((step, StepProgress::default()));
                Ok(())
            }
            JournalEntry::Begun(step) => note(step, &|progress| progress.begun = true),
            JournalEntry::Done { step, reading } => {
                note(step, &|progress| progress.reading = Some(reading.clone()))
            }
            JournalEntry::Restored(step) => note(step, &|progress| progress.restored = true),
            JournalEntry::Confirmed(confirmed) => {
                self.confirmed = confirmed;
                Ok(())
            }
            JournalEntry::TakenBack(left) => {
                self.taken_back = Some(left);
                Ok(())
            }
        }
    }
}

/// Creates a unique name from the process number and the time.
pub(super) fn token() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_nanos())
}
