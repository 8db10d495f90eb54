//! The end of a strand where workers claim.

use crate::entry::Entry;
use crate::sync::BiasedGuard;
use std::collections::VecDeque;

pub(crate) type FrontGuard<'a, K, E> = BiasedGuard<'a, Front<K, E>>;

pub(crate) struct Front<K, E> {
    pub(super) entries: VecDeque<Entry<K, E>>,
    held: Hold<K, E>,
    /// Workers that are here.
    pub(super) attendants: u32,
}

/// The hashes that are held.
enum Hold<K, E> {
    None,
    /// As long as one worker is here, and no event holds its key longer.
    One(u64),
    Several(Box<Several<K, E>>),
}

struct Several<K, E> {
    held: Vec<Held<K, E>>,
    /// Those whose next entry may be claimed.
    free: usize,
}

/// A hash whose entry runs, or whose next one may.
struct Held<K, E> {
    hash: u64,
    behind: VecDeque<Entry<K, E>>,
    runs: bool,
}

impl<K, E> Default for Front<K, E> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), held: Hold::None, attendants: 0 }
    }
}

impl<K, E> Front<K, E> {
    /// The next entry, if nothing is held; its hash is from now on.
    #[inline(always)]
    pub(crate) fn claim(&mut self) -> Option<Entry<K, E>> {
        let Hold::None = self.held else { return None };
        let entry = self.entries.pop_front()?;
        self.held = Hold::One(entry.hash);
        Some(entry)
    }

    /// The next entry whose hash is not held; it is from now on.
    #[cold]
    pub(crate) fn claim_past_held(&mut self) -> Option<Entry<K, E>> {
        if let Hold::One(hash) = self.held {
            self.held = Hold::Several(Box::new(Several { held: vec![Held::new(hash)], free: 0 }));
        }
        let Hold::Several(several) = &mut self.held else { return None };
        several.claim(&mut self.entries)
    }

    #[inline]
    pub(super) fn release(&mut self, hash: u64) {
        if let Hold::One(_) = self.held {
            self.held = Hold::None;
        } else {
            self.release_one_of_several(hash);
        }
    }

    #[cold]
    fn release_one_of_several(&mut self, hash: u64) {
        if let Hold::Several(several) = &mut self.held
            && several.release(hash)
        {
            self.held = Hold::None;
        }
    }

    /// Whether entries wait here that may be claimed, or looked at.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        let has_free = || matches!(&self.held, Hold::Several(several) if several.free > 0);
        !self.entries.is_empty() || has_free()
    }

    /// Whether two workers could find something here.
    #[inline]
    pub(crate) fn has_several(&self) -> bool {
        let free = if let Hold::Several(several) = &self.held { several.free } else { 0 };
        self.entries.len() + free > 1
    }

    /// Takes out everything, in order by key.
    pub(super) fn clear(&mut self) -> Vec<Entry<K, E>> {
        let mut entries = Vec::new();
        if let Hold::Several(several) = core::mem::replace(&mut self.held, Hold::None) {
            entries.extend(several.held.into_iter().flat_map(|held| held.behind));
        }
        entries.extend(self.entries.drain(..));
        entries
    }
}

impl<K, E> Several<K, E> {
    fn claim(&mut self, entries: &mut VecDeque<Entry<K, E>>) -> Option<Entry<K, E>> {
        if self.free > 0 {
            let held = self.held.iter_mut().find(|held| !held.runs)?;
            held.runs = true;
            self.free -= 1;
            return held.behind.pop_front();
        }
        while let Some(entry) = entries.pop_front() {
            match self.held.iter_mut().find(|held| held.hash == entry.hash) {
                Some(held) => held.behind.push_back(entry),
                None => {
                    self.held.push(Held::new(entry.hash));
                    return Some(entry);
                }
            }
        }
        None
    }

    /// Whether none is held any more.
    fn release(&mut self, hash: u64) -> bool {
        if let Some(index) = self.held.iter().position(|held| held.hash == hash && held.runs) {
            if self.held[index].behind.is_empty() {
                self.held.swap_remove(index);
            } else {
                self.held[index].runs = false;
                self.free += 1;
            }
        }
        self.held.is_empty()
    }
}

impl<K, E> Held<K, E> {
    fn new(hash: u64) -> Self {
        Self { hash, behind: VecDeque::new(), runs: true }
    }
}
