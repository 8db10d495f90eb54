//! Positions that a producer has reserved, and fills.

use super::Ring;
use super::slot::Slot;
use crate::label::Label;
use core::ops::Range;

/// A position that is reserved for whoever has this.
#[must_use = "what is reserved and not filled stays in everybody's way"]
pub(crate) struct Reserved<'a, K, E> {
    slot: &'a Slot<K, E>,
    position: u64,
    lap: u32,
}

/// Positions one after the other that are.
#[must_use = "what is reserved and not filled stays in everybody's way"]
pub(crate) struct ReservedRun<'a, K, E> {
    ring: &'a Ring<K, E>,
    start: u64,
    length: usize,
}

impl<'a, K, E> Reserved<'a, K, E> {
    #[inline(always)]
    pub(super) fn new(ring: &'a Ring<K, E>, position: u64) -> Self {
        Self { slot: ring.slot(position), position, lap: ring.lap(position) }
    }

    /// Where it is.
    #[inline]
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Puts in a `label`, and the `event` that goes with it if it is plain.
    #[inline]
    pub(crate) fn fill(self, label: Label<K, E>, event: Option<E>) {
        // SAFETY: the position is reserved: nobody else touches the slot until it is published, and
        // what was in it before was taken and dropped before `head` passed it.
        unsafe { self.slot.publish(label, event, self.lap) };
    }
}

impl<'a, K, E> ReservedRun<'a, K, E> {
    #[inline(always)]
    pub(super) const fn new(ring: &'a Ring<K, E>, start: u64, length: usize) -> Self {
        Self { ring, start, length }
    }

    /// Where they are.
    #[inline]
    pub(crate) const fn positions(&self) -> Range<u64> {
        self.start..self.start + self.length as u64
    }

    /// Puts in the first of `events`, which are as many or more, with their plain labels.
    #[inline]
    pub(crate) fn fill(self, events: &mut impl Iterator<Item = (Label<K, E>, E)>) {
        for (slots, lap) in self.ring.stretch(self.start, self.length) {
            for slot in slots {
                let (label, event) = events.next().expect("no more was reserved than there is");
                // SAFETY: as for a single one.
                unsafe { slot.publish(label, Some(event), lap) };
            }
        }
    }
}
