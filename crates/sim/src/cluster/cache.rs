//! A processor's data cache: one level, direct-mapped, write-back, kept coherent by MOESI on the bus (Falsafi 1998, §1.3.1
//! and §4).
//!
//! Only tags and states are here; the data are in the node's [memory](super::memory). Lines are known by their number in the
//! address space of the node, from 1.

use core::cell::Cell;
use std::rc::Rc;

/// What a cache may do with a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum LineState {
    Invalid,
    /// Clean or not: an owner elsewhere may have to write it back.
    Shared,
    /// Written, others have copies.
    Owned,
    /// The only copy, not written.
    Exclusive,
    /// The only copy, written.
    Modified,
}

impl LineState {
    const ALL: [Self; 8] = [
        Self::Invalid,
        Self::Shared,
        Self::Owned,
        Self::Exclusive,
        Self::Modified,
        Self::Invalid,
        Self::Invalid,
        Self::Invalid,
    ];

    /// Whether the cache must write the line back before it can go.
    pub(super) fn is_dirty(self) -> bool {
        matches!(self, Self::Owned | Self::Modified)
    }
}

/// The number of a line, from 1.
pub(super) type Line = u32;

/// A cache: for each set, the line's number and its state in the lower three bits; 0 is no line.
///
/// The caches of a node are interleaved set by set, so that a transaction which looks into all of them finds them together.
#[derive(Debug)]
pub(super) struct Cache {
    entries: Rc<[Cell<u32>]>,
    /// The number of sets less one.
    mask: Line,
    caches: u32,
    /// Which of the node's caches it is.
    place: u32,
}

impl Cache {
    /// Empty caches of a node, so many with `sets` lines each, a power of two.
    pub(super) fn of_node(caches: u32, sets: u32) -> Vec<Self> {
        let entries: Rc<[Cell<u32>]> = vec![Cell::new(0); caches as usize * sets as usize].into();
        (0..caches).map(|place| Self { entries: entries.clone(), mask: sets - 1, caches, place }).collect()
    }

    #[inline(always)]
    fn set(&self, line: Line) -> &Cell<u32> {
        &self.entries[(line & self.mask) as usize * self.caches as usize + self.place as usize]
    }

    /// Whether a load of `line` hits.
    #[inline(always)]
    pub(super) fn can_load(&self, line: Line) -> bool {
        self.set(line).get() >> 3 == line
    }

    /// Whether a store to `line` hits and changes nothing of its state.
    #[inline(always)]
    pub(super) fn can_store(&self, line: Line) -> bool {
        self.set(line).get() == line << 3 | LineState::Modified as u32
    }

    /// The state of `line`.
    pub(super) fn state(&self, line: Line) -> LineState {
        let entry = self.set(line).get();
        if entry >> 3 == line { LineState::ALL[entry as usize & 7] } else { LineState::Invalid }
    }

    /// Makes an exclusive line a modified one, which no other processor notices. Whether it was exclusive.
    pub(super) fn take_exclusive(&self, line: Line) -> bool {
        let is_exclusive = self.state(line) == LineState::Exclusive;
        if is_exclusive {
            self.fill(line, LineState::Modified);
        }
        is_exclusive
    }

    /// The line that has to make way for `line`, and its state.
    pub(super) fn victim(&self, line: Line) -> Option<(Line, LineState)> {
        let entry = self.set(line).get();
        (entry != 0 && entry >> 3 != line).then(|| (entry >> 3, LineState::ALL[entry as usize & 7]))
    }

    /// Gives `line` a state; what was in its place is gone.
    pub(super) fn fill(&self, line: Line, state: LineState) {
        debug_assert_ne!(state, LineState::Invalid);
        self.set(line).set(line << 3 | state as u32);
    }

    /// Changes the state of `line`, if it is here.
    pub(super) fn change(&self, line: Line, state: LineState) {
        let set = self.set(line);
        if set.get() >> 3 == line {
            set.set(if state == LineState::Invalid { 0 } else { line << 3 | state as u32 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_makes_way_for_one_of_its_set() {
        let caches = Cache::of_node(3, 4);
        let cache = &caches[1];
        cache.fill(1, LineState::Modified);
        assert!(cache.can_load(1) && cache.can_store(1));
        assert_eq!(cache.victim(5), Some((1, LineState::Modified)));
        cache.fill(5, LineState::Shared);
        assert_eq!((cache.state(1), cache.state(5)), (LineState::Invalid, LineState::Shared));
        assert!(cache.can_load(5) && !cache.can_store(5) && !cache.can_load(1));
        assert_eq!(cache.victim(5), None);
        assert!([0, 2].iter().all(|&other| !caches[other].can_load(5)));
    }

    #[test]
    fn only_a_line_that_is_here_changes() {
        let caches = Cache::of_node(1, 4);
        let cache = &caches[0];
        cache.fill(2, LineState::Exclusive);
        cache.change(6, LineState::Invalid);
        assert_eq!(cache.state(2), LineState::Exclusive);
        cache.change(2, LineState::Invalid);
        assert_eq!(cache.victim(6), None);
    }
}
