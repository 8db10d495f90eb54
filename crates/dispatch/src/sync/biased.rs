//! A lock that its owner takes without an atomic change.
//!
//! The front of a strand is used by the worker that has taken the strand, twice for each event, and very seldom by
//! another that helps. So the lock is **biased**: one thread at a time [owns](Biased::own) it, and only says that it is
//! **inside**. Whoever else comes takes the bias away first: then all take an ordinary lock, until there is a new owner.
//!
//! ```text
//!  owner                          another
//!  inside = true                  take the ordinary lock
//!  (light fence)                  shared = true
//!  shared? then it waits          (heavy fence)
//!  ... uses the value ...         wait while inside
//! ```
//!
//! Between its store and its load each has a [fence](super::asymmetric), so one of both sees the other.

use super::asymmetric::{heavy_fence, light_fence};
use super::{AtomicBool, CHECKED, Guard as Ordinary, Lock, Ordering, spin_loop, yield_now};
use core::cell::{Cell, UnsafeCell};
use core::ops::{Deref, DerefMut};

/// Looks at an owner that is inside, before the processor is yielded.
const SPINS: u32 = 100;

/// A value that one thread at a time uses, mostly its owner.
pub(crate) struct Biased<T> {
    /// Whether there is an owner.
    owned: AtomicBool,
    /// Whether the owner uses the value, without the ordinary lock.
    inside: AtomicBool,
    /// Whether all take the ordinary lock, the owner too.
    shared: AtomicBool,
    ordinary: Lock<()>,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the value is had by one thread at a time only, as through a mutex.
unsafe impl<T: Send> Sync for Biased<T> {}

/// The right to take a biased lock, as its owner or as another.
pub(crate) struct Access<'a, T> {
    biased: &'a Biased<T>,
    owns: Cell<bool>,
}

/// The right to use the value, until this is dropped.
pub(crate) struct Guard<'a, T> {
    access: &'a Access<'a, T>,
    /// `None` if its owner is inside.
    ordinary: Option<Ordinary<'a, ()>>,
}

impl<T> Biased<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            owned: AtomicBool::new(false),
            inside: AtomicBool::new(false),
            shared: AtomicBool::new(false),
            ordinary: Lock::new(()),
            value: UnsafeCell::new(value),
        }
    }

    /// Access as the owner if there is none, or else as another.
    #[inline]
    pub(crate) fn own(&self) -> Access<'_, T> {
        let owns = !self.owned.swap(true, Ordering::Acquire);
        if owns && self.shared.load(Ordering::Relaxed) {
            let _nobody_is_in = self.ordinary.lock();
            self.shared.store(false, Ordering::Relaxed);
        }
        Access { biased: self, owns: Cell::new(owns) }
    }

    /// Access as another.
    pub(crate) fn share(&self) -> Access<'_, T> {
        Access { biased: self, owns: Cell::new(false) }
    }
}

impl<T> Access<'_, T> {
    /// Waits until nobody else uses the value.
    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let Biased { inside, shared, ordinary, .. } = self.biased;
        if self.owns.get() {
            debug_assert!(!inside.load(Ordering::Relaxed), "its owner has the value already");
            inside.store(true, Ordering::Relaxed);
            light_fence();
            if !shared.load(Ordering::Relaxed) {
                return Guard { access: self, ordinary: None };
            }
            inside.store(false, Ordering::Release);
        }
        self.lock_as_another(ordinary.lock())
    }

    /// The same, unless another uses the value at this moment by the ordinary lock.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.biased.ordinary.try_lock().map(|ordinary| self.lock_as_another(ordinary))
    }

    /// Takes the bias away, and waits until the owner is not inside.
    #[cold]
    fn lock_as_another<'a>(&'a self, ordinary: Ordinary<'a, ()>) -> Guard<'a, T> {
        let Biased { inside, shared, .. } = self.biased;
        if !shared.load(Ordering::Relaxed) {
            shared.store(true, Ordering::Relaxed);
            heavy_fence();
        }
        let mut looks = 0;
        while inside.load(Ordering::Acquire) {
            looks += 1;
            if looks < SPINS && !CHECKED { spin_loop() } else { yield_now() }
        }
        Guard { access: self, ordinary: Some(ordinary) }
    }

    /// Is no owner any more.
    fn disown(&self) {
        if self.owns.replace(false) {
            self.biased.owned.store(false, Ordering::Release);
        }
    }
}

impl<T> Drop for Access<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.disown();
    }
}

impl<T> Guard<'_, T> {
    /// Gives back the value, and access as its owner with it.
    #[inline]
    pub(crate) fn end(self) {
        let access = self.access;
        drop(self);
        access.disown();
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the owner is inside, or the ordinary lock is taken and the owner is not: there is one guard at a time.
        unsafe { &*self.access.biased.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; and this guard is borrowed by nobody else.
        unsafe { &mut *self.access.biased.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.ordinary.is_none() {
            self.access.biased.inside.store(false, Ordering::Release);
        }
    }
}
