//! The search for events that may run beside those that do (Falsafi 1998, §2.3.2).

use super::{Claim, Found, Front, Joint, Queue, State};
use crate::label::{Label, Tagged};

/// What lies before the position that is looked at and may not be touched: keys that others have
/// claimed, or that somebody passed over must have first.
struct Taboo<'a, K, E> {
    queue: &'a Queue<K, E>,
    /// A bit for each tag among them, modulo 64.
    bits: u64,
}

impl<K: Eq, E> Taboo<'_, K, E> {
    /// Nothing that touches what `label` does may run before it.
    fn add(&mut self, positions: &mut Vec<u64>, position: u64, label: &Label<K, E>) {
        for key in keys_of(label) {
            self.bits |= bit(key);
        }
        positions.push(position);
    }

    /// Whether `key` is among the keys at `positions`; and if so, whether it is one of them itself.
    fn has(&self, positions: &[u64], key: &Tagged<K>) -> Option<Match> {
        if self.bits & bit(key) == 0 {
            return None;
        }
        let mut found = None;
        for &position in positions {
            // SAFETY: blocked and claimed positions are published and not freed under the lock.
            for other in keys_of(unsafe { self.queue.ring.label(position) }) {
                if other.is(key) {
                    return Some(Match::Same);
                }
                if !key.exact && other.tag == key.tag {
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

fn bit<K>(key: &Tagged<K>) -> u64 {
    1 << (key.tag >> 2 & 63)
}

fn keys_of<K, E>(label: &Label<K, E>) -> &[Tagged<K>] {
    match label {
        Label::Key(key) => core::slice::from_ref(key),
        Label::Keys(set) => &set.keys,
        Label::Unordered | Label::Sequential(_) => &[],
    }
}

impl<K: Eq, E> Queue<K, E> {
    /// Claims what may run among the first events, with those that others have claimed or that must
    /// wait in between.
    #[cold]
    pub(super) fn search(&self, front: &mut Front, claim: &mut Claim, limit: usize) -> Found<K, E> {
        let tail = self.ring.tail();
        let mut found = Found { joint: None, more: false, tail, conflicts: 0, false_conflicts: 0 };
        let mut taboo = Taboo { queue: self, bits: 0 };
        // Keys of this claim: others of them may follow in it, but not in a set.
        let mut own = Taboo { queue: self, bits: 0 };
        let Claim { found: claimed, blocked, length, .. } = claim;
        blocked.clear();
        let mut position = front.head;
        while position < front.head + self.rule.window {
            if position >= front.fresh {
                if !self.ring.is_published(position) {
                    break;
                }
                front.set(position, State::Waiting);
                front.fresh = position + 1;
            }
            // SAFETY: it is published, and not freed as the lock is held.
            let label = unsafe { self.ring.label(position) };
            match front.state(position) {
                State::Done => {}
                State::Claimed if label.is_withdrawn() => {
                    front.set(position, State::Done);
                    self.advance(front);
                }
                State::Claimed => taboo.add(blocked, position, label),
                State::Waiting if claimed.len() == limit => {
                    found.more = true;
                    return found;
                }
                State::Waiting => match label {
                    Label::Unordered => {
                        front.set(position, State::Claimed);
                        claimed.push(position);
                        *length += 1;
                    }
                    Label::Key(key) => match taboo.has(blocked, key) {
                        None => {
                            front.set(position, State::Claimed);
                            claimed.push(position);
                            *length += 1;
                            own.bits |= bit(key);
                        }
                        Some(is) => {
                            found.conflicts += 1;
                            found.false_conflicts += u32::from(is == Match::Alike);
                            // The same key is there already; one that is alike may not be.
                            if is == Match::Alike {
                                taboo.add(blocked, position, label);
                            }
                        }
                    },
                    Label::Keys(set) if set.is_withdrawn() => {
                        front.set(position, State::Done);
                        self.advance(front);
                    }
                    Label::Keys(set) => {
                        let meets =
                            |key| taboo.has(blocked, key).is_some() || own.has(claimed, key).is_some();
                        if set.keys.iter().any(meets) {
                            found.conflicts += 1;
                            taboo.add(blocked, position, label);
                        } else {
                            front.set(position, State::Claimed);
                            taboo.add(blocked, position, label);
                            if set.arrive(self.rule.index, position) {
                                found.joint = Some(Joint::Keys(set.clone()));
                                found.more = true;
                                return found;
                            }
                        }
                    }
                    Label::Sequential(barrier) if barrier.is_withdrawn() => {
                        front.set(position, State::Done);
                        front.at_barrier = false;
                        self.advance(front);
                    }
                    Label::Sequential(barrier) => {
                        if position == front.head && !front.at_barrier {
                            front.at_barrier = true;
                            if barrier.arrive() {
                                found.joint = Some(Joint::Alone(barrier.clone()));
                            }
                        }
                        return found;
                    }
                },
            }
            position += 1;
        }
        // What is reserved and not published yet is looked for again. What lies beyond the window comes
        // into it when something before is released, by whoever does that.
        found.more = front.fresh < tail && position < front.head + self.rule.window;
        found
    }
}
