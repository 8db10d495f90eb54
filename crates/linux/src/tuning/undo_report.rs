//! What undoing a journal has done: the outcome of each step, and what is left.

use super::heirs::LeftProcess;
use super::interface::ReplacedInterface;
use super::parse::Damage;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

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
    /// Its interface is not here, as with [`Self::Away`], and another one has its name. That was left alone.
    Replaced(ReplacedInterface),
    /// Somebody else has changed it to this value since; it was left alone.
    ChangedByOthers(String),
    /// It cannot be restored.
    Failed(String),
}

impl UndoOutcome {
    /// Whether its interface is not here.
    #[must_use]
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Away | Self::Replaced(_))
    }

    /// Whether a value that is not the original one may be in force.
    const fn is_open(&self) -> bool {
        matches!(self, Self::Away | Self::Replaced(_) | Self::ChangedByOthers(_) | Self::Failed(_))
    }
}

/// An interface that has another name since.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RenamedInterface {
    /// Its name now.
    pub name: String,
    /// How many of its values were restored under it.
    pub restored: usize,
}

/// The result of undoing a journal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndoReport {
    /// Each setting in words and its outcome, in the order of undoing.
    pub outcomes: Vec<(String, UndoOutcome)>,
    /// The interfaces that have another name since, by their earlier one.
    pub renamed: BTreeMap<String, RenamedInterface>,
    /// Whether the machine was rebooted since, which reset all settings.
    pub restarted: bool,
    /// Whether the network namespace of the changes is gone, and the settings of its interfaces with it.
    pub namespace_gone: bool,
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
    pub(super) fn is_restored(&self) -> bool {
        !self.outcomes.iter().any(|(_, outcome)| outcome.is_open())
    }

    /// Notes that the interface `earlier` is called `name` now, and the outcome of one of its settings there.
    pub(super) fn note_renamed(&mut self, earlier: &str, name: String, outcome: &UndoOutcome) {
        let renamed = self.renamed.entry(earlier.to_owned()).or_default();
        renamed.name = name;
        renamed.restored += usize::from(*outcome == UndoOutcome::Restored);
    }

    /// Each setting that may not have its original value, and why, in words.
    #[must_use]
    pub fn open_settings(&self) -> Vec<String> {
        let open = self.outcomes.iter().filter_map(|(set, outcome)| {
            let why = match outcome {
                UndoOutcome::ChangedByOthers(now) => format!("somebody else has set it to {now} since"),
                UndoOutcome::Failed(problem) => format!("cannot be restored: {problem}"),
                UndoOutcome::Away => {
                    "its interface is no longer there: removed, or moved to another network namespace"
                        .to_owned()
                }
                UndoOutcome::Replaced(by) => format!("{by}: that one was left alone"),
                UndoOutcome::Restored | UndoOutcome::Untouched | UndoOutcome::Gone => return None,
            };
            Some(format!("{set}: {why}"))
        });
        open.collect()
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
        f.write_str(&self.problems().join("; "))
    }
}

impl UndoReport {
    /// What may not be as it was before, and why, in words.
    pub(super) fn problems(&self) -> Vec<String> {
        let damage = self.damage.iter().map(|Damage { line, problem }| {
            format!(
                "line {line} of the journal cannot be read ({problem}), so what it changed may be in force"
            )
        });
        let left = self.open_settings().into_iter().chain(self.left.iter().map(
            |LeftProcess { pid, name, cpus }| {
                let name = name.escape_debug();
                format!("process {pid} ({name}) may have inherited its cpus {cpus} and was left alone")
            },
        ));
        left.chain(damage).collect()
    }
}
