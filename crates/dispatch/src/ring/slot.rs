//! A place in a ring: for a mark, the key of a label, and the event or what stands in its place.
//!
//! The **mark** is one word, so that a slot is small: what goes from one processor to another is copied
//! from cache to cache, line by line.
//!
//! ```text
//!  31                         4 3    1  0
//!  ┌───────────────────────────┬──────┬───┐
//!  │ tag of the key            │ kind │lap│
//!  └───────────────────────────┴──────┴───┘
//! ```
//!
//! The **lap** tells whether the slot is published: it is one in every other round of positions, and zero
//! in between. A round begins in a slot when the position before it there was freed, and so published:
//! a mark is never two rounds old.

use crate::joint::{Barrier, KeySet};
use crate::label::{Label, MUCH, Seen, TAG_BITS, Tagged};
use crate::sync::{Arc, AtomicU32, Ordering, UnsafeCell};
use core::mem::{ManuallyDrop, MaybeUninit};

/// See the module's documentation.
pub(super) struct Slot<K, E> {
    mark: AtomicU32,
    /// Only of an event that has one key.
    key: UnsafeCell<MaybeUninit<K>>,
    body: UnsafeCell<MaybeUninit<Body<K, E>>>,
}

/// What is with a label.
union Body<K, E> {
    /// With a plain label, until it is taken.
    event: ManuallyDrop<E>,
    set: ManuallyDrop<Arc<KeySet<K, E>>>,
    barrier: ManuallyDrop<Arc<Barrier<E>>>,
}

/// What a slot says of itself.
#[derive(Clone, Copy)]
pub(super) struct Mark(u32);

/// What a slot holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind(u32);

impl Kind {
    const KEY: Self = Self(0);
    const FRESHEST: Self = Self(1);
    const UNORDERED: Self = Self(2);
    const KEYS: Self = Self(3);
    const SEQUENTIAL: Self = Self(4);
}

/// Bits of a kind.
const KIND_BITS: u32 = 3;
const _: () = assert!(TAG_BITS + KIND_BITS + 1 == u32::BITS);

impl Mark {
    #[inline(always)]
    const fn new(tag: u32, kind: Kind, lap: u32) -> Self {
        Self(tag << (KIND_BITS + 1) | kind.0 << 1 | lap)
    }

    #[inline(always)]
    pub(super) const fn is_of(self, lap: u32) -> bool {
        self.0 & 1 == lap
    }

    #[inline(always)]
    const fn kind(self) -> Kind {
        Kind(self.0 >> 1 & ((1 << KIND_BITS) - 1))
    }

    /// Whether the event stands in this queue alone.
    #[inline(always)]
    pub(super) const fn is_single(self) -> bool {
        self.kind().0 <= Kind::UNORDERED.0
    }

    /// Whether the event has a key, and stands in its place itself.
    #[inline(always)]
    pub(super) const fn is_keyed(self) -> bool {
        self.kind().0 == Kind::KEY.0
    }

    /// The tag of its key; [`MUCH`], if it has no key.
    #[inline(always)]
    pub(super) const fn tag(self) -> u32 {
        self.0 >> (KIND_BITS + 1)
    }
}

impl<K, E> Slot<K, E> {
    /// Free, before the first round, in which the lap is one.
    pub(super) fn new() -> Self {
        Self {
            mark: AtomicU32::new(0),
            key: UnsafeCell::new(MaybeUninit::uninit()),
            body: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline(always)]
    pub(super) fn mark(&self) -> Mark {
        Mark(self.mark.load(Ordering::Acquire))
    }

    /// Puts in a `label`, and the `event` that goes with it if it is plain, and publishes them.
    ///
    /// # Safety
    /// Nobody else touches the slot; it is free, and its lap was the other one.
    #[inline(always)]
    pub(super) unsafe fn publish(&self, label: Label<K, E>, event: Option<E>, lap: u32) {
        let has_event = event.is_some();
        let write = |body| {
            // SAFETY: nobody else touches the slot.
            self.body.with_mut(|place| unsafe { *place = MaybeUninit::new(body) });
        };
        if let Some(event) = event {
            write(Body { event: ManuallyDrop::new(event) });
        }
        let mark = match label {
            Label::Key(Tagged { tag, freshest, key }) => {
                // SAFETY: as above.
                self.key.with_mut(|place| unsafe { *place = MaybeUninit::new(key) });
                Mark::new(tag, if freshest { Kind::FRESHEST } else { Kind::KEY }, lap)
            }
            Label::Unordered => Mark::new(MUCH, Kind::UNORDERED, lap),
            Label::Keys(set) => {
                write(Body { set: ManuallyDrop::new(set) });
                Mark::new(MUCH, Kind::KEYS, lap)
            }
            Label::Sequential(barrier) => {
                write(Body { barrier: ManuallyDrop::new(barrier) });
                Mark::new(MUCH, Kind::SEQUENTIAL, lap)
            }
        };
        debug_assert_eq!(has_event, matches!(mark.kind(), Kind::KEY | Kind::UNORDERED));
        self.mark.store(mark.0, Ordering::Release);
    }

    /// The label.
    ///
    /// # Safety
    /// It is published, and not dropped as long as the reference lives.
    #[inline(always)]
    pub(super) unsafe fn label(&self) -> Seen<'_, K, E> {
        let mark = self.mark();
        match mark.kind() {
            kind @ (Kind::KEY | Kind::FRESHEST) => {
                // SAFETY: a slot of this kind has a key.
                let key = unsafe { self.key() };
                Seen::Key(Tagged { tag: mark.tag(), freshest: kind == Kind::FRESHEST, key })
            }
            Kind::UNORDERED => Seen::Unordered,
            // SAFETY: likewise.
            Kind::KEYS => Seen::Keys(self.body.with(|place| unsafe { &(*place).assume_init_ref().set })),
            // SAFETY: likewise.
            _ => Seen::Sequential(self.body.with(|place| unsafe { &(*place).assume_init_ref().barrier })),
        }
    }

    /// The key.
    ///
    /// # Safety
    /// It is published, has a key, and is not dropped as long as the reference lives.
    #[inline(always)]
    pub(super) unsafe fn key(&self) -> &K {
        // SAFETY: written before it was published, and only read since.
        self.key.with(|place| unsafe { (*place).assume_init_ref() })
    }

    /// The event.
    ///
    /// # Safety
    /// It is published and not freed, its label is plain, and nobody has taken its event or will.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> E {
        // SAFETY: written before it was published, with a plain label; nobody else takes it.
        self.body.with(|place| unsafe { ManuallyDrop::into_inner((*place).assume_init_read().event) })
    }

    /// A look at the event.
    ///
    /// # Safety
    /// It is published and not freed, its label is plain, and nobody takes its event as long as the reference lives.
    #[inline(always)]
    pub(super) unsafe fn event(&self) -> &E {
        // SAFETY: written before it was published, with a plain label, and still there.
        self.body.with(|place| unsafe { &(*place).assume_init_ref().event })
    }

    /// Drops the label.
    ///
    /// # Safety
    /// It is published and not freed, its event is taken if its label is plain, and nobody uses the label
    /// now or later.
    #[inline(always)]
    pub(super) unsafe fn drop_label(&self) {
        match self.mark().kind() {
            Kind::KEY | Kind::FRESHEST => {
                if core::mem::needs_drop::<K>() {
                    // SAFETY: a slot of this kind has a key, which nobody uses any more.
                    self.key.with_mut(|place| unsafe { (*place).assume_init_drop() });
                }
            }
            Kind::UNORDERED => {}
            // SAFETY: a slot of this kind has a set, which nobody uses any more.
            Kind::KEYS => self.body.with_mut(|place| unsafe {
                ManuallyDrop::drop(&mut (*place).assume_init_mut().set);
            }),
            // SAFETY: likewise.
            _ => self.body.with_mut(|place| unsafe {
                ManuallyDrop::drop(&mut (*place).assume_init_mut().barrier);
            }),
        }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn four_small_events_with_small_keys_share_a_cache_line() {
        assert_eq!(size_of::<Slot<u32, u64>>(), 16);
        assert_eq!(size_of::<Slot<u64, u64>>(), 24);
    }
}
