//! Dynamic demultiplexing (Falsafi 1998, §2.3.3): one queue, searched for an event when a thread polls.
//!
//! A search skips an entry only if an event with the same compared bits runs, and so all later entries of its
//! partition too. That keeps a partition's events in order without a look at earlier entries.

use super::rules::compared_bits;
use super::{Counts, Label};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The protocol event queue, and the ids in the protocol dispatch registers.
#[derive(Clone, Debug)]
pub(super) struct EventQueue<E> {
    entries: VecDeque<Entry<E>>,
    /// How many entries a search compares at most.
    window: usize,
    /// How many entries at the head no thread can run before a register is cleared: a search may begin after them.
    blocked: usize,
    /// The bits of an id that are compared.
    mask: u64,
    /// The partitions that run, in the order of their compared bits, in which no two agree.
    running: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    label: Label,
    event: E,
    /// Whether it has been counted as a false conflict.
    counted: bool,
}

impl<E> EventQueue<E> {
    pub(super) fn new(window: Option<u32>, id_bits: Option<u32>) -> Self {
        Self {
            entries: VecDeque::new(),
            window: window.map_or(usize::MAX, |window| window as usize),
            blocked: 0,
            mask: compared_bits(id_bits),
            running: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, label: Label, event: E) {
        debug_assert_ne!(label, Label::Sequential);
        self.entries.push_back(Entry { label, event, counted: false });
    }

    /// The first event within the window that may run.
    pub(super) fn take(&mut self, counts: &mut Counts) -> Option<(Label, E)> {
        counts.searched += self.blocked as u64;
        while let Some(entry) = self.entries.get_mut(self.blocked).filter(|_| self.blocked < self.window) {
            counts.searched += 1;
            let Label::Partition(id) = entry.label else { break };
            match self.running.binary_search_by_key(&(id & self.mask), |running| running & self.mask) {
                Err(place) => {
                    self.running.insert(place, id);
                    break;
                }
                Ok(same) if self.running[same] != id && !entry.counted => {
                    entry.counted = true;
                    counts.false_conflicts += 1;
                }
                Ok(_) => {}
            }
            self.blocked += 1;
        }
        if self.blocked == self.window {
            return None;
        }
        let Entry { label, event, .. } = self.entries.remove(self.blocked)?;
        Some((label, event))
    }

    /// Clears the register that holds partition `id`.
    pub(super) fn finish(&mut self, id: u64) {
        let mask = self.mask;
        let place = self.running.binary_search_by_key(&(id & mask), |running| running & mask);
        self.running.remove(place.expect("a partition runs until its event ends"));
        self.blocked = 0;
    }
}
