//! A bounded ring of labelled events: many put in, and those who hold the queue's lock take out, in
//! any order.
//!
//! **Positions** count up and never come again; position `p` lies in slot `p % capacity`. Three of
//! them cut the ring up:
//!
//! ```text
//!        free            │ labels in place, events taken or not │ reserved, soon published │ free
//!  ──────────────────────┼──────────────────────────────────────┼──────────────────────────┼─────
//!                      head                                 unpublished                  tail
//! ```
//!
//! * A producer **reserves** the position at `tail` by a compare-and-swap, if it is less than
//!   `capacity` beyond `head`; it writes the slot, and **publishes** it by a [mark](slot) in it. A reserved
//!   position is its producer's alone until then.
//! * A published position belongs to whoever holds the lock of the queue. Its label stays in place
//!   until the position is freed, and may be read under the lock; its event is taken once.
//! * The holder of the lock **frees** all positions before a new `head`. The slots' next producers
//!   see that (acquire) before they write.
//!
//! Bit 63 of `tail` says that the ring is closed: a reservation and the closing cannot both succeed.

use crate::label::{MUCH, NOTHING, Seen};
use crate::sync::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use lines::Lines;
pub use lines::prefetch;
pub(crate) use reserved::{Reserved, ReservedRun};
use slot::Slot;

mod lines;
mod reserved;
mod slot;

const CLOSED: u64 = 1 << 63;

/// See the module's documentation.
///
/// What producers write, what the holder of the lock writes, and what nobody writes lie in different
/// cache lines.
pub(crate) struct Ring<K, E> {
    entry: CachePadded<Entry>,
    head: CachePadded<AtomicU64>,
    slots: CachePadded<Slots<K, E>>,
}

/// What nobody writes.
struct Slots<K, E> {
    all: Box<[Slot<K, E>]>,
    lines: Lines,
}

/// Where producers come in.
struct Entry {
    tail: AtomicU64,
    /// `tail` may go so far: `head` was no further back than `capacity` before it when somebody looked
    /// last. Whoever holds the lock moves `head` with every claim, and to look at it costs a cache miss.
    limit: AtomicU64,
}

// SAFETY: labels and events move from thread to thread, and labels are read by several threads, by
// the rules of the module's documentation.
unsafe impl<K: Send + Sync, E: Send> Send for Ring<K, E> {}
// SAFETY: as above.
unsafe impl<K: Send + Sync, E: Send> Sync for Ring<K, E> {}

/// Why something was not put in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Full,
    Closed,
}

/// Events one after the other that stand in one queue alone.
pub(crate) struct Run {
    pub(crate) length: usize,
    /// What they touch: [`NOTHING`], [`MUCH`], or one tag.
    pub(crate) touched: u32,
    /// Whether each has a key, and stands in its place itself.
    pub(crate) keyed: bool,
}

/// Slots so far ahead of the one that is written are fetched meanwhile.
const AHEAD: u64 = 4;
/// Bytes of a cache line.
const LINE: usize = 64;

impl<K, E> Ring<K, E> {
    /// With room for `capacity` events, a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity.is_power_of_two());
        Self {
            entry: CachePadded::new(Entry {
                tail: AtomicU64::new(0),
                limit: AtomicU64::new(capacity as u64),
            }),
            head: CachePadded::new(AtomicU64::new(0)),
            slots: CachePadded::new(Slots {
                all: (0..capacity).map(|_| Slot::new()).collect(),
                lines: Lines::of_this_processor(),
            }),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.slots.all.len()
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &Slot<K, E> {
        let slot = position as usize & (self.slots.all.len() - 1);
        // SAFETY: the number of slots is a power of two, and so this is less.
        unsafe { self.slots.all.get_unchecked(slot) }
    }

    /// The lap of what is published at `position`: it changes when positions come to the first slot again.
    #[inline(always)]
    fn lap(&self, position: u64) -> u32 {
        u32::from(position & self.slots.all.len() as u64 == 0)
    }

    /// The slots of `length` positions from `start` on, and their lap: as far as the end of the ring, and from its
    /// first slot on.
    #[inline]
    fn stretch(&self, start: u64, length: usize) -> [(&[Slot<K, E>], u32); 2] {
        let (first, lap) = (start as usize & (self.slots.all.len() - 1), self.lap(start));
        let before_end = length.min(self.slots.all.len() - first);
        [(&self.slots.all[first..first + before_end], lap), (&self.slots.all[..length - before_end], 1 - lap)]
    }

    /// Reserves the next position. It is to be [filled](Reserved::fill) at once.
    ///
    /// # Errors
    /// If the ring is full or closed.
    #[inline]
    pub(crate) fn reserve(&self) -> Result<Reserved<'_, K, E>, Refused> {
        let (position, _) = self.grab(1)?;
        Ok(Reserved::new(self, position))
    }

    /// Reserves the next positions: `most`, or as many as there are. All are to be filled at once.
    ///
    /// # Errors
    /// If the ring is full or closed.
    #[inline]
    pub(crate) fn reserve_run(&self, most: usize) -> Result<ReservedRun<'_, K, E>, Refused> {
        let (start, count) = self.grab(most as u64)?;
        let in_line = (LINE / size_of::<Slot<K, E>>()).max(1);
        (start..start + count).step_by(in_line).for_each(|position| self.fetch(position));
        Ok(ReservedRun::new(self, start, count as usize))
    }

    /// Moves the tail by `most`, or less if there is less room: from where, and by how much.
    #[inline(always)]
    fn grab(&self, most: u64) -> Result<(u64, u64), Refused> {
        let Entry { tail: place, limit } = &*self.entry;
        let mut tail = place.load(Ordering::Relaxed);
        loop {
            // What was freed before the limit was set happened before what is written there now.
            let mut left = left(tail, limit.load(Ordering::Acquire));
            if left < most {
                if tail & CLOSED != 0 {
                    return Err(Refused::Closed);
                }
                left = self.look_for_room(tail);
                if left == 0 {
                    return Err(Refused::Full);
                }
            }
            self.fetch(tail + AHEAD);
            let count = most.min(left);
            // Sequentially consistent, as a sleeper looks at `tail` for the last time before it sleeps.
            match place.compare_exchange_weak(tail, tail + count, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(start) => return Ok((start, count)),
                Err(now) => tail = now,
            }
        }
    }

    /// Moves the limit; how many positions are left from `tail` on.
    #[cold]
    fn look_for_room(&self, tail: u64) -> u64 {
        let limit = self.head.load(Ordering::Acquire) + self.slots.all.len() as u64;
        // Another producer may have set one that is further on: this one is not wrong, only nearer.
        self.entry.limit.store(limit, Ordering::Release);
        left(tail, limit)
    }

    /// Asks for the cache line of a slot that will be written soon. The exchange that reserves the next position
    /// waits until the stores before it are done, and so for their cache lines.
    #[inline(always)]
    fn fetch(&self, position: u64) {
        self.slots.lines.want(self.slot(position));
    }

    /// Nothing more can be put in.
    pub(crate) fn close(&self) {
        self.entry.tail.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// Where the next event will stand.
    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.entry.tail.load(Ordering::SeqCst) & !CLOSED
    }

    /// Everything before it has finished.
    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Events that are in, those that run among them.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        let head = self.head();
        self.tail().saturating_sub(head)
    }

    /// Whether more than `count` events are in, those that run among them. Soon out of date.
    #[inline]
    pub(crate) fn has_more_than(&self, count: u64) -> bool {
        count < self.slots.all.len() as u64 && self.is_published(self.head() + count)
    }

    /// Whether `position`, which is not freed, is published.
    #[inline(always)]
    pub(crate) fn is_published(&self, position: u64) -> bool {
        self.slot(position).mark().is_of(self.lap(position))
    }

    /// The events from `start` on, up to `most`, that are published and stand in this queue alone.
    #[inline]
    pub(crate) fn single(&self, start: u64, most: usize) -> Run {
        let (mut length, mut first, mut differ, mut keyed) = (0, None, 0, true);
        'run: for (slots, lap) in self.stretch(start, most.min(self.slots.all.len())) {
            for mark in slots.iter().map(Slot::mark) {
                if !mark.is_of(lap) || !mark.is_single() {
                    break 'run;
                }
                length += 1;
                differ |= mark.tag() ^ *first.get_or_insert(mark.tag());
                keyed &= mark.is_keyed();
            }
        }
        let touched = if differ == 0 { first.unwrap_or(NOTHING) } else { MUCH };
        Run { length, touched, keyed }
    }

    /// Takes `length` events from `start` on, one after the other, and hands over `each` with its position and
    /// key.
    ///
    /// # Safety
    /// The positions are published and not freed, nor are they before this returns; each has a key and
    /// stands in its place itself, and nobody has taken it or will. Not all need be taken: `each` may panic.
    #[inline]
    pub(crate) unsafe fn take_keyed(&self, start: u64, length: usize, mut each: impl FnMut(u64, &K, E)) {
        let mut position = start;
        for (slots, _) in self.stretch(start, length) {
            for slot in slots {
                // SAFETY: the same.
                let (key, event) = unsafe { (slot.key(), slot.take()) };
                each(position, key, event);
                position += 1;
            }
        }
    }

    /// The label at `position`.
    ///
    /// # Safety
    /// The position is published and not freed, and not freed as long as the reference lives.
    #[inline(always)]
    pub(crate) unsafe fn label(&self, position: u64) -> Seen<'_, K, E> {
        // SAFETY: it is dropped only before it is freed.
        unsafe { self.slot(position).label() }
    }

    /// The event at `position`.
    ///
    /// # Safety
    /// The position is published and not freed, its label is plain, and nobody has taken its event
    /// or will.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, position: u64) -> E {
        // SAFETY: the same.
        unsafe { self.slot(position).take() }
    }

    /// A look at the event at `position`.
    ///
    /// # Safety
    /// The position is published and not freed, its label is plain, and nobody takes its event as long as the
    /// reference lives.
    #[inline(always)]
    pub(crate) unsafe fn event(&self, position: u64) -> &E {
        // SAFETY: the same.
        unsafe { self.slot(position).event() }
    }

    /// Drops the label at `position`, which is to be freed.
    ///
    /// # Safety
    /// The position is published and not freed, its event is taken if its label is plain, and nobody
    /// uses the label now or later.
    #[inline(always)]
    pub(crate) unsafe fn drop_label(&self, position: u64) {
        // SAFETY: the same.
        unsafe { self.slot(position).drop_label() };
    }

    /// Frees all positions before `head`.
    ///
    /// # Safety
    /// Their labels are dropped and their events taken.
    #[inline]
    pub(crate) unsafe fn free_to(&self, head: u64) {
        self.head.store(head, Ordering::Release);
    }
}

/// Positions from `tail` to `limit`; none if `tail` is closed, or the limit out of date.
#[inline(always)]
fn left(tail: u64, limit: u64) -> u64 {
    limit.saturating_sub(tail)
}
