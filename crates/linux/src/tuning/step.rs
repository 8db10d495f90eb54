//! The steps of a plan: single changes, each with the current value.

use super::channels;
use super::interface::InterfaceIdentity;
use super::location::{LocateError, Location};
use super::locator::Locator;
use super::original;
use super::plan::{Plan, Setting};
use super::system::{System, is_absent};
use super::thread::Identity;
use crate::inventory::cpuset_group;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use warmcore_units::Fault;

/// The change of one setting at one location.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The line of the plan, from 0.
    pub line: usize,
    /// The setting, with an identity that refers to one location.
    pub set: Setting,
    /// The original text, byte for byte.
    #[serde(with = "in_lines")]
    pub original: String,
    /// Whether it belongs to a line for all threads of a process, of which some may end and new ones may
    /// start.
    #[serde(default)]
    pub whole: bool,
    /// Where its process comes from, by which processes that it starts later can be recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Which interface it is of, whatever its name is later. A journal of an earlier version lacks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceIdentity>,
    /// When its value is read and written.
    #[serde(default)]
    pub kind: StepKind,
}

/// What a process passes on to the processes that it starts, and does not share with the rest of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Its session; 0 for none.
    session: u32,
    /// Its control group; empty where it is that of the whole machine or container.
    group: String,
}

impl Origin {
    /// Reads the origin of the process `pid`.
    pub(super) fn new(identity: &Identity, system: &dyn System, pid: u32) -> Self {
        let text = system.read(&format!("proc/{pid}/cgroup")).unwrap_or_default();
        let group = cpuset_group(&text).filter(|group| group != "/").unwrap_or_default();
        Self { session: identity.session, group }
    }

    fn read(system: &dyn System, pid: u32) -> Option<Self> {
        let identity = Identity::parse(&system.read(&format!("proc/{pid}/stat")).ok()?)?;
        Some(Self::new(&identity, system, pid))
    }

    /// Whether both have the same session or control group.
    pub(super) fn is_shared_by(&self, other: &Self) -> bool {
        self.session != 0 && self.session == other.session
            || !self.group.is_empty() && self.group == other.group
    }
}

/// When the value of a step is read and written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Read before anything is changed, and changed in its turn.
    #[default]
    Changed,
    /// Not found before an earlier step has changed the channels of its interface. In its turn, steps that
    /// take its place are added to the journal.
    Deferred,
    /// Not changed, but what a later step changes may reset it; undo restores it. Of its setting only the place counts:
    /// its value is a placeholder.
    #[serde(rename = "restored")]
    Reset,
}

/// A step that has not been applied yet, with its values formatted for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The step.
    pub step: Step,
    /// The current value.
    pub now: String,
    /// The wanted value.
    pub wanted: String,
    /// Whether they differ.
    pub changes: bool,
    /// Steps that restore, on undo, what this one may reset.
    pub resets: Vec<Step>,
}

/// Why a line of a plan cannot be turned into steps.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The object of the setting does not exist. The field starts with that of the line.
    #[error(transparent)]
    Absent(Fault),
    /// The setting cannot be read.
    #[error("line {}: {set}: cannot read its value: {source}", line + 1)]
    Unreadable {
        /// The line, from 0.
        line: usize,
        /// The setting in words.
        set: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The setting has a value now that it could not be given back.
    #[error("line {}: {set}: its value now could not be restored: {fault}", line + 1)]
    Unrestorable {
        /// The line, from 0.
        line: usize,
        /// The setting in words.
        set: String,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// Returns the steps of `plan`, line by line: locates every setting and reads its value.
///
/// # Errors
/// The first line whose setting does not exist, or that another line sets too.
pub fn steps(plan: &Plan, system: &dyn System) -> Result<Vec<Proposal>, StepError> {
    let (mut proposals, mut places, mut changed_channels) = (Vec::new(), BTreeMap::new(), Vec::new());
    let at = Locator::new(system);
    for (line, set) in plan.lines.iter().map(|line| &line.set).enumerate() {
        if channels::defers(&changed_channels, set) {
            proposals.push(deferred(line, set.clone()));
            continue;
        }
        let failed = |error| step_error(error, line, set);
        let whole = matches!(set, Setting::Thread { thread: None, .. });
        for part in set.split(&at).map_err(failed)? {
            // Skip threads that have ended since they were listed, or end before they are read.
            let place = match part.locate(&at) {
                Err(LocateError::Absent(_)) if whole => continue,
                located => located.map_err(failed)?,
            };
            if let Some(first) = places.get(&place) {
                return Err(set_twice(line, &part, *first));
            }
            let mut proposal = match propose(line, part, whole, &place, system) {
                Err(StepError::Unreadable { source, .. }) if whole && is_absent(&source) => continue,
                proposal => proposal?,
            };
            if let (Setting::Channels { interface, .. }, true) = (set, proposal.changes) {
                proposal.resets = channels::reset_by(line, interface, &at);
                changed_channels.push(interface.clone());
            }
            proposals.push(proposal);
            places.insert(place, line);
        }
    }
    Ok(proposals)
}

/// Returns the steps to journal and apply: those that change something, and the steps of all other
/// threads of the same line, so that threads started meanwhile can be recognised as new.
#[must_use]
pub fn changes(proposals: Vec<Proposal>) -> Vec<Step> {
    let changing: BTreeSet<usize> =
        proposals.iter().filter(|proposal| proposal.changes).map(|proposal| proposal.step.line).collect();
    let is_needed = |proposal: &Proposal| {
        proposal.changes || proposal.step.whole && changing.contains(&proposal.step.line)
    };
    let steps = |proposal: Proposal| proposal.resets.into_iter().chain([proposal.step]);
    proposals.into_iter().filter(is_needed).flat_map(steps).collect()
}

/// Creates the step of a setting that is not found before channels are changed.
fn deferred(line: usize, set: Setting) -> Proposal {
    let (now, wanted) = ("known once the channels are changed".to_owned(), set.wanted().shown());
    let step = Step {
        line,
        set,
        original: String::new(),
        whole: false,
        origin: None,
        interface: None,
        kind: StepKind::Deferred,
    };
    Proposal { step, now, wanted, changes: true, resets: Vec::new() }
}

/// Creates the step that gives `set`, located at `place`, its wanted value.
pub(crate) fn propose(
    line: usize,
    set: Setting,
    whole: bool,
    place: &Location,
    system: &dyn System,
) -> Result<Proposal, StepError> {
    let unreadable = |source| StepError::Unreadable { line, set: set.to_string(), source };
    let original = place.read(system).map_err(unreadable)?;
    let wanted = set.wanted();
    let changes = place.value(&original).as_ref() != Some(&wanted);
    if changes {
        original::check("value", &set, place, &original, system)
            .map_err(|fault| StepError::Unrestorable { line, set: set.to_string(), fault })?;
    }
    let now = place.shown(&original);
    let origin = match set {
        // One thread speaks for all of its process.
        Setting::Thread { pid, thread, .. } if !whole || thread == Some(pid) => Origin::read(system, pid),
        _ => None,
    };
    let interface = InterfaceIdentity::new(&set, system);
    let step = Step { line, set, original, whole, origin, interface, kind: StepKind::Changed };
    Ok(Proposal { step, now, wanted: wanted.shown(), changes, resets: Vec::new() })
}

/// The error that the line `line` sets `set`, which the line `first` sets too.
pub(crate) fn set_twice(line: usize, set: &Setting, first: usize) -> StepError {
    let expected = format!("one line for each setting, but line {} sets the same one", first + 1);
    StepError::Absent(Fault::new(format!("lines.{line}.set"), set, expected))
}

fn step_error(error: LocateError, line: usize, set: &Setting) -> StepError {
    match error {
        LocateError::Absent(fault) => StepError::Absent(set.in_line(line, fault)),
        LocateError::Unreadable { source, .. } => {
            StepError::Unreadable { line, set: set.to_string(), source }
        }
    }
}

/// Serialises a text as a list of its lines, so that a journal entry stays on one line.
pub(crate) mod in_lines {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        text.split('\n').collect::<Vec<_>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Vec::<String>::deserialize(deserializer).map(|lines| lines.join("\n"))
    }
}
