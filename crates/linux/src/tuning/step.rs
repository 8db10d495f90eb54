//! One change that is to be made, with what stands there now.

use super::location::{LocateError, Location};
use super::plan::{Plan, Setting};
use super::system::System;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use warmcore_units::Fault;

/// One setting in one place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The line of the plan, from 0.
    pub line: usize,
    /// What is set, by an identity that means one place.
    pub set: Setting,
    /// What stood there before, byte for byte.
    #[serde(with = "in_lines")]
    pub original: String,
    /// Whether it is one of all threads of a process, of which any may end and new ones may start.
    #[serde(default)]
    pub whole: bool,
}

/// A step before it is made, with its values for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The step.
    pub step: Step,
    /// The value now.
    pub now: String,
    /// The value wanted.
    pub wanted: String,
    /// Whether they differ.
    pub changes: bool,
}

/// A line of a plan cannot be made into steps.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// What it is about is not there; the field begins with that of the line.
    #[error(transparent)]
    Absent(Fault),
    /// It cannot be told whether it is there, or what its value is.
    #[error("line {}: {set}: cannot read its value: {source}", line + 1)]
    Unreadable {
        /// The line, from 0.
        line: usize,
        /// What it sets.
        set: String,
        /// What the system says.
        source: io::Error,
    },
}

/// What `plan` would change, line by line: every identity resolved, every value read.
///
/// # Errors
/// The first line about something that is not there, or that another line is about too.
pub fn steps(plan: &Plan, system: &dyn System) -> Result<Vec<Proposal>, StepError> {
    let (mut proposals, mut places) = (Vec::new(), Vec::new());
    for (line, set) in plan.lines.iter().map(|line| &line.set).enumerate() {
        let located = |error| of_locate(error, line, set);
        let whole = matches!(set, Setting::Thread { thread: None, .. });
        for part in set.split(system).map_err(located)? {
            // A thread that ended since they were listed has nothing left to be placed.
            let place = match part.locate(system) {
                Err(LocateError::Absent(_)) if whole => continue,
                located_part => located_part.map_err(located)?,
            };
            if let Some((_, first)) = places.iter().find(|(other, _)| *other == place) {
                let expected = format!("one line for each setting: line {} sets it too", first + 1);
                return Err(StepError::Absent(Fault::new(format!("lines.{line}.set"), part, expected)));
            }
            proposals.push(propose(line, part, whole, &place, system)?);
            places.push((place, line));
        }
    }
    Ok(proposals)
}

/// The steps that are to be journalled and made: those that change something, and with them those of
/// all other threads of the same line, so that threads started meanwhile are told from known ones.
#[must_use]
pub fn changes(proposals: Vec<Proposal>) -> Vec<Step> {
    let changing: BTreeSet<usize> =
        proposals.iter().filter(|proposal| proposal.changes).map(|proposal| proposal.step.line).collect();
    let is_made = |proposal: &Proposal| {
        proposal.changes || proposal.step.whole && changing.contains(&proposal.step.line)
    };
    proposals.into_iter().filter(is_made).map(|proposal| proposal.step).collect()
}

/// The step that gives `set`, which stands at `place`, its value.
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
    let now = place.shown(&original);
    Ok(Proposal { step: Step { line, set, original, whole }, now, wanted: wanted.shown(), changes })
}

fn of_locate(error: LocateError, line: usize, set: &Setting) -> StepError {
    match error {
        LocateError::Absent(fault) => StepError::Absent(set.in_line(line, fault)),
        LocateError::Unreadable { source, .. } => {
            StepError::Unreadable { line, set: set.to_string(), source }
        }
    }
}

/// A text as the list of its lines, so that an entry of a journal stays on one line.
pub(crate) mod in_lines {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        text.split('\n').collect::<Vec<_>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Vec::<String>::deserialize(deserializer).map(|lines| lines.join("\n"))
    }
}
