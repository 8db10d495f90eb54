//! A lock for a few instructions at a time, as both ends of a strand need.
//!
//! The standard library's takes two atomic changes, this one takes one: nobody sleeps at it, so whoever unlocks need
//! not look for sleepers. Who finds it taken spins, and soon yields the processor: its holder may have lost it.

use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};
use std::thread::yield_now;

/// Looks at a lock that is taken, before the processor is yielded.
const SPINS: u32 = 100;

/// A value that one thread at a time uses.
#[derive(Debug, Default)]
pub(crate) struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the value is had by one thread at a time only, as through a mutex.
unsafe impl<T: Send> Sync for Lock<T> {}

/// The right to use the value of a lock, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Guard<'a, T>(&'a Lock<T>);

// SAFETY: sharing a guard shares references to the value only.
unsafe impl<T: Sync> Sync for Guard<'_, T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until the lock is free, and takes it.
    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => self.wait(),
        }
    }

    /// Takes the lock if it is free.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let was = self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        was.is_ok().then(|| Guard(self))
    }

    #[cold]
    fn wait(&self) -> Guard<'_, T> {
        let mut looks = 0;
        loop {
            if !self.taken.load(Ordering::Relaxed)
                && let Some(guard) = self.try_lock()
            {
                return guard;
            }
            looks += 1;
            if looks < SPINS { spin_loop() } else { yield_now() }
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is taken as long as there is a guard, and there is one guard at a time.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; and this guard is borrowed by nobody else.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}
