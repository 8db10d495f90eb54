//! The search for events that may run beside those that do (Falsafi 1998, §2.3.2).

use super::front::{Barren, Front, State};
use super::{Claim, Found, Joint, Queue};
use crate::joint::{Barrier, KeySet};
use crate::label::{IS_TAG, Seen, Tagged};
use crate::sync::Arc;

/// What lies before the position that is looked at and may not be touched: keys that others have
/// claimed, or that somebody passed over must have first.
struct Taboo<'a, K, E> {
    queue: &'a Queue<K, E>,
    /// A bit for each tag among them, modulo 64.
    bits: u64,
}

impl<K: Eq, E> Taboo<'_, K, E> {
    /// Nothing that touches what `label` does may run before it.
    fn add(&mut self, positions: &mut Vec<u64>, position: u64, label: Seen<'_, K, E>) {
        for key in label.keys() {
            self.bits |= bit(key);
        }
        positions.push(position);
    }

    /// Whether `key` is among the keys at `positions`; and if so, whether it is one of them itself.
    fn has(&self, positions: &[u64], key: Tagged<&K>) -> Option<Match> {
        if self.bits & bit(key) == 0 {
            return None;
        }
        let mut found = None;
        for &position in positions {
            // SAFETY: blocked and claimed positions are published and not freed under the lock.
            for other in unsafe { self.queue.ring.label(position) }.keys() {
                if other.is(&key) {
                    return Some(Match::Same);
                }
                if !self.queue.rule.exact && other.tag == key.tag {
                    found = Some(Match::Alike);
                }
            }
        }
        found
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    /// The same key.
    Same,
    /// Another one that is not told apart.
    Alike,
}

fn bit<K>(key: Tagged<&K>) -> u64 {
    1 << (key.tag >> 2 & 63)
}

/// A search under way.
struct Search<'a, K, E> {
    queue: &'a Queue<K, E>,
    front: &'a mut Front,
    claim: &'a mut Claim,
    taboo: Taboo<'a, K, E>,
    /// Keys of this claim: others of them may follow in it, but not in a set.
    own: Taboo<'a, K, E>,
    found: Found<K, E>,
    /// Whether anything but single keys was passed over.
    mixed: bool,
}

impl<K: Eq, E> Queue<K, E> {
    /// Claims what may run among the first events, with those that others have claimed or that must
    /// wait in between.
    #[cold]
    pub(super) fn search(&self, front: &mut Front, claim: &mut Claim, limit: usize) -> Found<K, E> {
        let tail = self.ring.tail();
        claim.blocked.clear();
        let nothing = || Taboo { queue: self, bits: 0 };
        let found = Found { joint: None, more: false, tail, conflicts: 0, false_conflicts: 0 };
        let mut search =
            Search { queue: self, front, claim, taboo: nothing(), own: nothing(), found, mixed: false };
        let mut position = search.front.head;
        let mut barren = search.barren();
        loop {
            if position >= search.front.head + self.rule.window {
                // What lies beyond comes into the window when something before is released, by whoever
                // does that.
                return search.end(position);
            }
            if position >= search.front.fresh && !search.reach(position) {
                // What is reserved and not published yet is looked for again.
                search.found.more = position < tail;
                return search.end(position);
            }
            if !search.look(position, limit) {
                return search.found;
            }
            // The head tells what is claimed.
            position = (position + 1).max(core::mem::take(&mut barren));
        }
    }
}

impl<K: Eq, E> Search<'_, K, E> {
    /// The position before which everything waits for the one key that is claimed.
    fn barren(&self) -> u64 {
        let Barren { tag, end } = self.front.barren;
        if tag == self.queue.touched() { end } else { 0 }
    }

    /// Ends before `position`, and remembers it if this was in vain and would be again, as long as the same
    /// key is claimed.
    fn end(self, position: u64) -> Found<K, E> {
        let tag = self.queue.touched();
        if self.claim.is_empty() && !self.mixed && tag & IS_TAG != 0 {
            self.front.barren = Barren { tag, end: position };
        }
        self.found
    }

    /// Comes to `position` as the first; false if nothing is there.
    fn reach(&mut self, position: u64) -> bool {
        if !self.queue.ring.is_published(position) {
            return false;
        }
        self.front.reach();
        true
    }

    /// Claims or passes over what is at `position`; whether to go on.
    fn look(&mut self, position: u64, limit: usize) -> bool {
        // SAFETY: it is published, and not freed as the lock is held.
        let label = unsafe { self.queue.ring.label(position) };
        match self.front.state(position) {
            State::Done => {}
            _ if label.is_withdrawn() => self.drop_withdrawn(position),
            State::Claimed => self.pass_over(position, label),
            State::Waiting if self.claim.length == limit => {
                self.found.more = true;
                return false;
            }
            State::Waiting => match label {
                Seen::Unordered => self.take(position),
                Seen::Key(key) => self.look_at_key(position, label, key),
                Seen::Keys(set) => return self.look_at_set(position, label, set),
                Seen::Sequential(barrier) => {
                    self.look_at_barrier(position, barrier);
                    return false;
                }
            },
        }
        true
    }

    fn take(&mut self, position: u64) {
        self.front.set(position, State::Claimed);
        self.claim.found.push(position);
        self.claim.length += 1;
    }

    /// Nothing that touches what `label` does may run before it.
    fn pass_over(&mut self, position: u64, label: Seen<'_, K, E>) {
        self.taboo.add(&mut self.claim.blocked, position, label);
        self.mixed |= !matches!(label, Seen::Key(_));
    }

    fn drop_withdrawn(&mut self, position: u64) {
        if position == self.front.head {
            self.front.at_barrier = false;
        }
        self.front.set(position, State::Done);
        self.queue.advance(self.front);
    }

    fn look_at_key(&mut self, position: u64, label: Seen<'_, K, E>, key: Tagged<&K>) {
        match self.taboo.has(&self.claim.blocked, key) {
            None => {
                self.take(position);
                self.own.bits |= bit(key);
            }
            Some(is) => {
                self.found.conflicts += 1;
                self.found.false_conflicts += u32::from(is == Match::Alike);
                // The same key is there already; one that is alike may not be.
                if is == Match::Alike {
                    self.pass_over(position, label);
                }
            }
        }
    }

    /// Whether to go on: not, if this was the last queue in which the event had to come to the front.
    fn look_at_set(&mut self, position: u64, label: Seen<'_, K, E>, set: &Arc<KeySet<K, E>>) -> bool {
        let Claim { found, blocked, .. } = &*self.claim;
        let meets = |key| self.taboo.has(blocked, key).is_some() || self.own.has(found, key).is_some();
        if set.touched.iter().any(meets) {
            self.found.conflicts += 1;
            self.pass_over(position, label);
            return true;
        }
        self.front.set(position, State::Claimed);
        self.pass_over(position, label);
        let arrived = set.arrive(self.queue.rule.index, position);
        if arrived {
            self.found.joint = Some(Joint::Keys(set.clone()));
            self.found.more = true;
        }
        !arrived
    }

    /// What comes behind it need not be announced, as what was finished is when it has finished.
    fn look_at_barrier(&mut self, position: u64, barrier: &Arc<Barrier<E>>) {
        if position != self.front.head {
            return;
        }
        self.found.more = true;
        if !self.front.at_barrier {
            self.front.at_barrier = true;
            if barrier.arrive() {
                self.found.joint = Some(Joint::Alone(barrier.clone()));
            }
        }
    }
}
