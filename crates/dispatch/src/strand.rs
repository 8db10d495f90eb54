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
//! nothing comes in unseen in between. The worker that takes the ready bit owns the front; another may help it.

mod front;

pub(crate) use front::{Front, FrontGuard};

use crate::entry::Entry;
use crate::keyed::Keyed;
use crate::sync::{Access, AtomicU32, Biased, Guard, Lock, Ordering};
use std::collections::VecDeque;

/// Room that an idle strand keeps at each end, in bytes. More is given back.
const KEPT: usize = 4_096;

// Each end has cache lines of its own.
pub(crate) struct Strand<K, E> {
    back: Line<Lock<Back<K, E>>>,
    front: Line<Biased<Front<K, E>>>,
    /// Entries at the front, and those that were claimed and are held. Written by whoever has the front.
    ahead: AtomicU32,
}

#[repr(align(64))]
struct Line<T>(T);

/// The end of the producers.
pub(crate) struct Back<K, E> {
    entries: Vec<Entry<K, E>>,
    /// Hashes whose holder is another than a worker at the front.
    released: Vec<u64>,
    /// Entries ahead at the last look: at least as many as there are now.
    ahead: u32,
    scheduled: bool,
    /// Events for which room is lent. There are none where the strand is not scheduled.
    pub(crate) lent: u32,
    /// Events that came so far.
    pub(crate) pushed: u64,
    /// Of keys that are counted.
    pub(crate) keyed: Box<Keyed<K, E>>,
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
        let back = Back {
            entries: Vec::new(),
            released: Vec::new(),
            ahead: 0,
            scheduled: false,
            lent: 0,
            pushed: 0,
            keyed: Box::default(),
        };
        Self {
            back: Line(Lock::new(back)),
            front: Line(Biased::new(Front::default())),
            ahead: AtomicU32::new(0),
        }
    }
}

impl<K, E> Strand<K, E> {
    /// The same in entries.
    const KEPT: usize = KEPT / size_of::<Entry<K, E>>();

    /// Puts `entry` behind all others.
    #[inline]
    pub(crate) fn push(&self, entry: Entry<K, E>) -> Pushed {
        self.back().push(entry)
    }

    #[inline]
    pub(crate) fn back(&self) -> Guard<'_, Back<K, E>> {
        self.back.0.lock()
    }

    /// Whether as many entries as a `share` of the dispatcher's capacity are here.
    #[inline]
    pub(crate) fn is_full(&self, back: &mut Back<K, E>, share: usize) -> bool {
        back.len() >= share && self.count(back) >= share
    }

    /// How many entries are here; those that run among them.
    pub(crate) fn count(&self, back: &mut Back<K, E>) -> usize {
        back.ahead = self.ahead.load(Ordering::Relaxed);
        back.len()
    }

    /// Whether at most half a `share` is here. For one who has the front.
    pub(crate) fn has_much_room(&self, share: usize) -> bool {
        let is_short = self.ahead.load(Ordering::Relaxed) as usize <= share / 4;
        is_short && self.count(&mut self.back()) <= share / 2
    }

    /// The way to the front for the worker that has taken the ready bit.
    #[inline]
    pub(crate) fn own(&self) -> Access<'_, Front<K, E>> {
        let access = self.front.0.own();
        access.lock().attendants += 1;
        access
    }

    /// The same for one that helps, if nobody else does, and there is something to claim or to look at.
    pub(crate) fn help(&self) -> Option<Access<'_, Front<K, E>>> {
        let access = self.front.0.share();
        let mut front = access.try_lock()?;
        if !front.has_more() && !self.back().has_more() {
            return None;
        }
        front.attendants += 1;
        drop(front);
        Some(access)
    }

    /// An event of `hash` has ended.
    #[inline]
    pub(crate) fn release(&self, front: &mut Front<K, E>, hash: u64) {
        front.release(hash);
        self.ahead.store(self.ahead.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// The same for one who does not attend the strand: its next worker does it.
    pub(crate) fn release_from_outside(&self, hash: u64) -> Pushed {
        let mut back = self.back();
        back.released.push(hash);
        back.schedule()
    }

    /// Brings what came meanwhile to the front, where nothing can be claimed.
    ///
    /// # Errors
    /// If nothing came, the worker leaves the strand. The last that does gives `back` room that was lent in vain.
    pub(crate) fn refill_or_leave<'a>(
        &self,
        mut front: FrontGuard<'a, K, E>,
        give_back: impl FnOnce(u32),
    ) -> Result<FrontGuard<'a, K, E>, ()> {
        let mut back = self.back();
        let ahead = self.ahead.load(Ordering::Relaxed);
        if back.has_more() {
            let released = core::mem::take(&mut back.released);
            // Neither is copied.
            let emptied = Vec::from(core::mem::take(&mut front.entries));
            front.entries = VecDeque::from(core::mem::replace(&mut back.entries, emptied));
            back.ahead = ahead + front.entries.len() as u32;
            self.ahead.store(back.ahead, Ordering::Relaxed);
            drop(back);
            released.into_iter().for_each(|hash| self.release(&mut front, hash));
            return Ok(front);
        }
        back.ahead = ahead;
        front.attendants -= 1;
        let is_last = front.attendants == 0;
        if is_last && front.entries.capacity() > Self::KEPT {
            front.entries = VecDeque::new();
        }
        if is_last && back.entries.capacity() > Self::KEPT {
            back.entries = Vec::new();
        }
        // Whoever comes next is to own the front.
        front.end();
        back.scheduled &= !is_last;
        if is_last {
            give_back(core::mem::take(&mut back.lent));
        }
        Err(())
    }

    /// Leaves the strand though there may be more to claim; whether it is to be announced.
    pub(crate) fn leave_early(&self, mut front: FrontGuard<'_, K, E>) -> bool {
        front.attendants -= 1;
        let is_last = front.attendants == 0;
        self.count(&mut self.back());
        front.end();
        is_last
    }

    /// Takes out everything, in order by key.
    pub(crate) fn clear(&self) -> Vec<Entry<K, E>> {
        let access = self.front.0.share();
        let mut front = access.lock();
        let mut entries = front.clear();
        entries.append(&mut self.back().entries);
        self.ahead.store(0, Ordering::Relaxed);
        entries
    }
}

impl<K, E> Back<K, E> {
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry<K, E>) -> Pushed {
        self.entries.push(entry);
        self.pushed += 1;
        self.schedule()
    }

    #[inline]
    fn schedule(&mut self) -> Pushed {
        if core::mem::replace(&mut self.scheduled, true) { Pushed::Already } else { Pushed::Scheduled }
    }

    /// Whether there is something for the front.
    fn has_more(&self) -> bool {
        !self.entries.is_empty() || !self.released.is_empty()
    }

    /// Entries in the strand: at least as many as there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.ahead as usize
    }
}
