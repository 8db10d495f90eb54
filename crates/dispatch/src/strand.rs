//! An ordered queue of the events of some keys.
//!
//! Keys hash to strands. A strand has two ends with a lock each: producers push at the **back**, and workers claim at
//! the **front**; when the front is empty, a worker swaps the two, so both sides meet once for many events.
//!
//! ```text
//!  producers ─► back ═══ swapped when the front is empty ═══► front ─► claimed, one at a time
//!                                                                └──► behind: its key runs already
//! ```
//!
//! **Order and exclusion.** A claimed entry's hash is **held** until it is released. An entry whose hash is held goes
//! `behind` it, in order, and comes next when it is released. Nothing else waits: entries with other hashes
//! are claimed past it, by whichever worker comes. So a long event delays its own key alone, if another worker is free.
//! Keys whose hashes agree in all 64 bits count as one.
//!
//! **Scheduling.** A strand is **scheduled** while its ready bit is set or a worker attends it. Whoever pushes into a strand
//! that is not scheduled schedules it, and the last worker that leaves it ends that, under the lock of the back:
//! nothing comes in unseen in between.

use crate::entry::Entry;
use crate::keyed::Keyed;
use crate::sync::{Guard, Lock};
use std::collections::VecDeque;

/// Room that an idle strand keeps, in entries. More is given back.
const KEPT: usize = 64;

/// Entries that are searched for more events of a key.
const SEARCHED: usize = 256;

// Each end has cache lines of its own.
pub(crate) struct Strand<K, E> {
    back: Line<Lock<Back<K, E>>>,
    front: Line<Lock<Front<K, E>>>,
}

#[repr(align(64))]
struct Line<T>(T);

/// The end of the producers.
pub(crate) struct Back<K, E> {
    entries: VecDeque<Entry<K, E>>,
    /// Entries at the front when it was last filled: at least as many as are there now.
    ahead: usize,
    scheduled: bool,
    /// Of keys that are counted.
    pub(crate) keyed: Box<Keyed<K, E>>,
}

/// The end of the workers.
pub(crate) struct Front<K, E> {
    entries: VecDeque<Entry<K, E>>,
    held: Hold<K, E>,
    /// Workers that are here.
    attendants: u32,
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

/// An entry that a worker runs.
pub(crate) struct Claimed<K, E> {
    pub(crate) entry: Entry<K, E>,
    /// Whether the front was empty before.
    pub(crate) refilled: bool,
}

/// What became of a push.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pushed {
    /// The strand is scheduled from now on: it is to be announced.
    Scheduled,
    /// It was scheduled before.
    Already,
}

impl<K, E> Default for Strand<K, E> {
    fn default() -> Self {
        let back = Back { entries: VecDeque::new(), ahead: 0, scheduled: false, keyed: Box::default() };
        let front = Front { entries: VecDeque::new(), held: Hold::None, attendants: 0 };
        Self { back: Line(Lock::new(back)), front: Line(Lock::new(front)) }
    }
}

impl<K, E> Strand<K, E> {
    /// Puts `entry` behind all others.
    #[inline]
    pub(crate) fn push(&self, entry: Entry<K, E>) -> Pushed {
        self.back.0.lock().push(entry)
    }

    /// The same, unless as many as its `share` of the dispatcher's capacity are here.
    ///
    /// # Errors
    /// With `entry`, if so.
    #[inline]
    pub(crate) fn push_within(&self, share: usize, entry: Entry<K, E>) -> Result<Pushed, Entry<K, E>> {
        let mut back = self.back.0.lock();
        if back.len() < share {
            return Ok(back.push(entry));
        }
        drop(back);
        // There may be less at the front than there was when it was filled.
        let mut back = self.counted_back();
        if back.len() < share { Ok(back.push(entry)) } else { Err(entry) }
    }

    /// The back, which knows how much is at the front now.
    pub(crate) fn counted_back(&self) -> Guard<'_, Back<K, E>> {
        let front = self.front.0.lock();
        let mut back = self.back.0.lock();
        back.ahead = front.len();
        back
    }

    /// Comes to the front as one of its workers.
    #[inline]
    pub(crate) fn enter(&self) -> Guard<'_, Front<K, E>> {
        let mut front = self.front.0.lock();
        front.attendants += 1;
        front
    }

    /// The same, if nobody else uses the front at this moment, and there is something to claim or to look at.
    pub(crate) fn try_enter_to_help(&self) -> Option<Guard<'_, Front<K, E>>> {
        let mut front = self.front.0.try_lock()?;
        if !front.has_more() && self.back.0.lock().entries.is_empty() {
            return None;
        }
        front.attendants += 1;
        Some(front)
    }

    /// Comes back to the front after an event of `hash` has ended.
    #[inline]
    pub(crate) fn release(&self, hash: u64) -> Guard<'_, Front<K, E>> {
        let mut front = self.front.0.lock();
        front.release(hash);
        front
    }

    /// Comes back to the front after an event has begun that holds its key.
    pub(crate) fn come_back(&self) -> Guard<'_, Front<K, E>> {
        self.front.0.lock()
    }

    /// Releases `hash`, by one who does not attend the strand; whether it is to be announced.
    pub(crate) fn release_from_outside(&self, hash: u64) -> bool {
        let front = self.release(hash);
        let mut back = self.back.0.lock();
        back.ahead = front.len();
        front.has_free() && !core::mem::replace(&mut back.scheduled, true)
    }

    /// The next entry that may run; its hash is held from now on. `None` if there is none now.
    #[inline]
    pub(crate) fn claim(&self, front: &mut Front<K, E>) -> Option<Claimed<K, E>> {
        let mut refilled = false;
        loop {
            if let Some(entry) = front.claim() {
                return Some(Claimed { entry, refilled });
            }
            refilled = true;
            let mut back = self.back.0.lock();
            if back.entries.is_empty() {
                back.ahead = front.len();
                return None;
            }
            core::mem::swap(&mut back.entries, &mut front.entries);
            back.ahead = front.len();
        }
    }

    /// Counts what is at the front, of which the back knows how much there was when it was filled; how much is here now.
    pub(crate) fn count(&self, front: &Front<K, E>) -> usize {
        let mut back = self.back.0.lock();
        back.ahead = front.len();
        back.len()
    }

    /// Leaves the strand, which has nothing to claim, unless something came meanwhile: then the front is given back.
    pub(crate) fn leave<'a>(&self, mut front: Guard<'a, Front<K, E>>) -> Result<(), Guard<'a, Front<K, E>>> {
        if front.attendants > 1 {
            front.attendants -= 1;
            return Ok(());
        }
        let mut back = self.back.0.lock();
        if !back.entries.is_empty() {
            drop(back);
            return Err(front);
        }
        front.attendants = 0;
        back.scheduled = false;
        back.ahead = front.len();
        if front.entries.capacity() > KEPT {
            front.entries = VecDeque::new();
        }
        if back.entries.capacity() > KEPT {
            back.entries = VecDeque::new();
        }
        Ok(())
    }

    /// Leaves the strand though there may be more to claim; whether it is to be announced.
    pub(crate) fn leave_early(&self, mut front: Guard<'_, Front<K, E>>) -> bool {
        front.attendants -= 1;
        self.back.0.lock().ahead = front.len();
        front.attendants == 0
    }

    /// Takes out everything, in order by key.
    pub(crate) fn clear(&self) -> Vec<Entry<K, E>> {
        let mut front = self.front.0.lock();
        let mut entries = Vec::new();
        if let Hold::Several(several) = core::mem::replace(&mut front.held, Hold::None) {
            entries.extend(several.held.into_iter().flat_map(|held| held.behind));
        }
        entries.extend(front.entries.drain(..));
        entries.extend(self.back.0.lock().entries.drain(..));
        entries
    }
}

impl<K, E> Back<K, E> {
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry<K, E>) -> Pushed {
        self.entries.push_back(entry);
        if core::mem::replace(&mut self.scheduled, true) { Pushed::Already } else { Pushed::Scheduled }
    }

    /// Entries in the strand: at least as many as there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.ahead
    }
}

impl<K, E> Front<K, E> {
    #[inline]
    fn claim(&mut self) -> Option<Entry<K, E>> {
        if let Hold::None = self.held {
            let entry = self.entries.pop_front()?;
            self.held = Hold::One(entry.hash);
            return Some(entry);
        }
        self.claim_past_held()
    }

    #[cold]
    fn claim_past_held(&mut self) -> Option<Entry<K, E>> {
        if let Hold::One(hash) = self.held {
            self.held = Hold::Several(Box::new(Several { held: vec![Held::new(hash)], free: 0 }));
        }
        let Hold::Several(several) = &mut self.held else { unreachable!("it was just put there") };
        several.claim(&mut self.entries)
    }

    #[inline]
    fn release(&mut self, hash: u64) {
        match &mut self.held {
            Hold::None => {}
            Hold::One(_) => self.held = Hold::None,
            Hold::Several(several) => {
                if several.release(hash) {
                    self.held = Hold::None;
                }
            }
        }
    }

    /// Takes entries with the same `hash` that wait, among the next [`SEARCHED`], as long as they are `alike`.
    pub(crate) fn take_run(
        &mut self,
        hash: u64,
        alike: impl Fn(&Entry<K, E>) -> bool,
        mut take: impl FnMut(Entry<K, E>),
    ) {
        let behind = match &mut self.held {
            Hold::Several(several) => several.held.iter_mut().find(|held| held.hash == hash),
            _ => None,
        };
        let from = match behind {
            Some(held) if !held.behind.is_empty() => &mut held.behind,
            _ => &mut self.entries,
        };
        let mut index = 0;
        for _ in 0..from.len().min(SEARCHED) {
            match &from[index] {
                other if other.hash != hash => index += 1,
                next if alike(next) => from.remove(index).into_iter().for_each(&mut take),
                _ => break,
            }
        }
    }

    /// Whether entries wait here.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        !self.entries.is_empty() || self.has_free()
    }

    /// Whether the next entry of a held key may be claimed.
    fn has_free(&self) -> bool {
        matches!(&self.held, Hold::Several(several) if several.free > 0)
    }

    fn len(&self) -> usize {
        let held = match &self.held {
            Hold::None => 0,
            Hold::One(_) => 1,
            Hold::Several(several) => {
                several.held.iter().map(|held| held.behind.len() + usize::from(held.runs)).sum()
            }
        };
        self.entries.len() + held
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
