//! How shared state is protected. The forms of the stack differ in nothing else.
//!
//! The layers are generic over a [`Discipline`]. The state that a packet writes in a layer (session
//! reference counters, map histories) is kept in `Cell`s inside a [`Guarded`] place, so that one access
//! pattern serves both disciplines:
//!
//! * [`Unshared`]: no lock, not even a borrow flag, and nothing is written besides the state. The state
//!   is `!Sync`, so the compiler keeps it on one thread at a time.
//! * [`SpinLocked`]: one spin lock for each place, like the user-space locks of Salehi 1994, §2.2.
//!
//! Invariant: a guarded place has its own cache lines, so no two places share one. A value that is
//! itself aligned to cache lines, such as an active map, begins on another line than its lock.

use crossbeam_utils::CachePadded;

/// A way of protecting the state that packets write.
pub trait Discipline {
    /// A place for one value that is accessed under this discipline.
    type Guarded<T>: Guarded<T>;
}

/// A place for one value, accessed under a [`Discipline`].
pub trait Guarded<T> {
    /// A place that holds `value`.
    fn new(value: T) -> Self;

    /// Calls `access` with the value, under the place's lock if it has one.
    fn with<R>(&self, access: impl FnOnce(&T) -> R) -> R;

    /// The value, through an exclusive reference.
    fn exclusive(&mut self) -> &mut T;
}

/// No lock: the compiler allows one user at a time.
#[derive(Debug)]
pub struct Unshared;

impl Discipline for Unshared {
    type Guarded<T> = UnsharedPlace<T>;
}

/// A value on its own cache lines, without a lock.
#[derive(Debug)]
pub struct UnsharedPlace<T>(CachePadded<T>);

impl<T> Guarded<T> for UnsharedPlace<T> {
    fn new(value: T) -> Self {
        Self(CachePadded::new(value))
    }

    #[inline(always)]
    fn with<R>(&self, access: impl FnOnce(&T) -> R) -> R {
        access(&self.0)
    }

    fn exclusive(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A spin lock for every place.
#[derive(Debug)]
pub struct SpinLocked;

impl Discipline for SpinLocked {
    type Guarded<T> = SpinLockedPlace<T>;
}

/// A value and its spin lock on their own cache lines.
#[derive(Debug)]
pub struct SpinLockedPlace<T>(CachePadded<spin::Mutex<T>>);

impl<T> Guarded<T> for SpinLockedPlace<T> {
    fn new(value: T) -> Self {
        Self(CachePadded::new(spin::Mutex::new(value)))
    }

    #[inline(always)]
    fn with<R>(&self, access: impl FnOnce(&T) -> R) -> R {
        access(&self.0.lock())
    }

    fn exclusive(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<T>(value: &T) -> usize {
        core::ptr::from_ref(value).addr() / 64
    }

    #[test]
    fn a_small_value_shares_its_line_with_its_lock_and_with_nothing_else() {
        let places = [1_u32, 2].map(SpinLockedPlace::new);
        assert_eq!(line(&places[0]), places[0].with(line));
        assert_ne!(line(&places[0]), line(&places[1]));
    }

    #[test]
    fn an_aligned_value_begins_on_another_line_than_its_lock() {
        let place = SpinLockedPlace::new(CachePadded::new(1_u32));
        assert_ne!(line(&place), place.with(line));
    }
}
