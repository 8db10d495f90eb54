//! What giving former channels back resets, and whose the values were.

use super::journal::Journal;
use super::locator::Locator;
use super::plan::Setting;
use std::collections::{BTreeMap, BTreeSet};

/// What the former channels of an interface, given back by this undo, have reset once more.
#[derive(Default)]
pub(super) struct Resets {
    /// The steps whose value is the driver's now.
    pub(super) ours: BTreeSet<usize>,
    /// The values that somebody else had set before, by step.
    pub(super) theirs: BTreeMap<usize, String>,
}

impl Resets {
    /// Looks at what a change of the channels of the step `channels` will reset. `channels_now` names their interface as
    /// it is called now.
    pub(super) fn look(
        journal: &Journal<'_>,
        channels: usize,
        channels_now: &Setting,
        at: &Locator<'_>,
    ) -> Self {
        let mut resets = Self::default();
        for index in journal.resets_of(journal.steps()[channels].0.line) {
            let (step, progress) = &journal.steps()[index];
            let set =
                channels_now.interface().map_or_else(|| step.set.clone(), |name| step.set.of_interface(name));
            let now = set.locate(at).ok().and_then(|place| place.read(at.system()).ok());
            match now.filter(|now| *now != step.original && progress.reading.as_ref() != Some(now)) {
                Some(theirs) => drop(resets.theirs.insert(index, theirs)),
                None => drop(resets.ours.insert(index)),
            }
        }
        resets
    }
}
