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
//!   `capacity` beyond `head`; it writes the slot, and **publishes** it by storing the position, plus
//!   one, in the slot. A reserved position is its producer's alone until then.
//! * A published position belongs to whoever holds the lock of the queue. Its label stays in place
//!   until the position is freed, and may be read under the lock; its event is taken once.
//! * The holder of the lock **frees** all positions before a new `head`. The slots' next producers
//!   see that (acquire) before they write.
//!
//! Bit 63 of `tail` says that the ring is closed: a reservation and the closing cannot both succeed.

use crate::label::Label;
use crate::sync::{AtomicU64, Ordering, UnsafeCell};
use core::mem::MaybeUninit;
use crossbeam_utils::CachePadded;

const CLOSED: u64 = 1 << 63;

/// See the module's documentation.
pub(crate) struct Ring<K, E> {
    tail: CachePadded<AtomicU64>,
    head: CachePadded<AtomicU64>,
    slots: Box<[Slot<K, E>]>,
}

struct Slot<K, E> {
    /// The position that is published here, plus one.
    published: AtomicU64,
    label: UnsafeCell<MaybeUninit<Label<K, E>>>,
    /// Only with a plain label, and until it is taken.
    event: UnsafeCell<MaybeUninit<E>>,
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

/// A position that is reserved for whoever has this.
#[must_use = "what is reserved and not filled stays in everybody's way"]
pub(crate) struct Reserved<'a, K, E> {
    slot: &'a Slot<K, E>,
    position: u64,
}

/// Slots so far ahead of the one that is written are fetched meanwhile.
const AHEAD: u64 = 4;

impl<K, E> Ring<K, E> {
    /// With room for `capacity` events, a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity.is_power_of_two());
        let slot = |_| Slot {
            published: AtomicU64::new(0),
            label: UnsafeCell::new(MaybeUninit::uninit()),
            event: UnsafeCell::new(MaybeUninit::uninit()),
        };
        Self {
            tail: CachePadded::new(AtomicU64::new(0)),
            head: CachePadded::new(AtomicU64::new(0)),
            slots: (0..capacity).map(slot).collect(),
        }
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &Slot<K, E> {
        // The number of slots is a power of two.
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    /// Reserves the next position. It is to be [filled](Reserved::fill) at once.
    ///
    /// # Errors
    /// If the ring is full or closed.
    #[inline]
    pub(crate) fn reserve(&self) -> Result<Reserved<'_, K, E>, Refused> {
        let (position, _) = self.grab(1)?;
        Ok(Reserved { slot: self.slot(position), position })
    }

    /// Reserves the next positions: `most`, or as many as there are. All are to be filled at once.
    ///
    /// # Errors
    /// If the ring is full or closed.
    #[inline]
    pub(crate) fn reserve_run(
        &self,
        most: usize,
    ) -> Result<impl Iterator<Item = Reserved<'_, K, E>>, Refused> {
        let (start, count) = self.grab(most as u64)?;
        Ok((start..start + count).map(|position| {
            self.fetch(position + AHEAD);
            Reserved { slot: self.slot(position), position }
        }))
    }

    /// Moves the tail by `most`, or less if there is less room: from where, and by how much.
    #[inline(always)]
    fn grab(&self, most: u64) -> Result<(u64, u64), Refused> {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            if tail & CLOSED != 0 {
                return Err(Refused::Closed);
            }
            // `tail` may be out of date, and then `head` beyond it; the exchange fails then.
            let taken = tail.wrapping_sub(self.head.load(Ordering::Acquire)).cast_signed();
            let left = self.slots.len() as i64 - taken;
            if left <= 0 {
                return Err(Refused::Full);
            }
            if left > AHEAD as i64 {
                self.fetch(tail + AHEAD);
            }
            let count = most.min(left.cast_unsigned());
            // Sequentially consistent, as a sleeper looks at `tail` for the last time before it sleeps.
            match self.tail.compare_exchange_weak(tail, tail + count, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(start) => return Ok((start, count)),
                Err(now) => tail = now,
            }
        }
    }

    /// Asks for the cache line of a slot that will be written soon. The exchange that reserves the
    /// next position waits until the stores before it are done, and so for their cache lines.
    #[inline(always)]
    fn fetch(&self, position: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: a prefetch changes nothing but caches.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(core::ptr::from_ref(self.slot(position)).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = position;
    }

    /// Nothing more can be put in.
    pub(crate) fn close(&self) {
        self.tail.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// Where the next event will stand.
    #[inline]
    pub(crate) fn tail(&self) -> u64 {
        self.tail.load(Ordering::SeqCst) & !CLOSED
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

    /// Whether `position`, which is not freed, is published.
    #[inline(always)]
    pub(crate) fn is_published(&self, position: u64) -> bool {
        self.slot(position).published.load(Ordering::Acquire) == position + 1
    }

    /// The label at `position`.
    ///
    /// # Safety
    /// The position is published and not freed, and not freed as long as the reference lives.
    #[inline(always)]
    pub(crate) unsafe fn label(&self, position: u64) -> &Label<K, E> {
        // SAFETY: written before it was published, and only read since.
        self.slot(position).label.with(|place| unsafe { (*place).assume_init_ref() })
    }

    /// The event at `position`.
    ///
    /// # Safety
    /// The position is published and not freed, its label is plain, and nobody has taken its event
    /// or will.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, position: u64) -> E {
        // SAFETY: written before it was published, with a plain label; nobody else takes it.
        self.slot(position).event.with(|place| unsafe { (*place).assume_init_read() })
    }

    /// Drops the label at `position`, which is to be freed.
    ///
    /// # Safety
    /// The position is published and not freed, its event is taken if its label is plain, and nobody
    /// uses the label now or later.
    #[inline(always)]
    pub(crate) unsafe fn drop_label(&self, position: u64) {
        if core::mem::needs_drop::<Label<K, E>>() {
            // SAFETY: written before it was published; nobody uses it any more.
            self.slot(position).label.with_mut(|place| unsafe { (*place).assume_init_drop() });
        }
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

impl<K, E> Reserved<'_, K, E> {
    /// Where it is.
    #[inline]
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Puts in a `label`, and the `event` that goes with it if it is plain.
    #[inline]
    pub(crate) fn fill(self, label: Label<K, E>, event: Option<E>) {
        debug_assert_eq!(label.is_plain(), event.is_some());
        let slot = self.slot;
        // SAFETY: the position is reserved: nobody else touches the slot until it is published, and
        // what was in it before was taken and dropped before `head` passed it.
        slot.label.with_mut(|place| unsafe { (*place).write(label) });
        if let Some(event) = event {
            // SAFETY: as above.
            slot.event.with_mut(|place| unsafe { (*place).write(event) });
        }
        slot.published.store(self.position + 1, Ordering::Release);
    }
}
