//! The one switch between real threads and loom's: what is shared between threads is written against
//! these names, and checked by `RUSTFLAGS="--cfg loom" cargo test -p warmcore-dispatch --lib --release model`.

#[cfg(loom)]
pub(crate) use loom::cell::UnsafeCell;
#[cfg(loom)]
pub(crate) use loom::hint::spin_loop;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::thread::{Thread, current, park};
#[cfg(loom)]
pub(crate) use under_loom::{AtomicBool, AtomicU32, AtomicU64, park_timeout};

#[cfg(not(loom))]
pub(crate) use core::hint::spin_loop;
#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use real::UnsafeCell;
#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread::{Thread, current, park, park_timeout};

/// Loom takes sequentially consistent operations to acquire and release only, and would let two
/// threads miss each other that cannot; but it knows fences. So here such a store is followed by a
/// fence, and such a load comes after one, as compilers for x86 have it. That orders what is around
/// them a little more than the language promises: a model may miss a relaxed access that relies on
/// a sequentially consistent one of another variable.
///
/// Who parks is woken by another or never, so that a lost wake-up shows as a deadlock.
#[cfg(loom)]
mod under_loom {
    use super::{Ordering, fence};
    use loom::sync::atomic;

    fn fence_if_total(order: Ordering) {
        if order == Ordering::SeqCst {
            fence(Ordering::SeqCst);
        }
    }

    /// Parks until it is woken.
    pub(crate) fn park_timeout(_longest: core::time::Duration) {
        loom::thread::park();
    }

    macro_rules! atomic {
        ($name:ident, $value:ty, [$($change:ident),*]) => {
            #[derive(Debug, Default)]
            pub(crate) struct $name(atomic::$name);

            #[allow(dead_code, reason = "not every one of them is changed in every way")]
            impl $name {
                pub(crate) fn new(value: $value) -> Self {
                    Self(atomic::$name::new(value))
                }

                pub(crate) fn load(&self, order: Ordering) -> $value {
                    fence_if_total(order);
                    self.0.load(order)
                }

                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    self.0.store(value, order);
                    fence_if_total(order);
                }

                pub(crate) fn compare_exchange_weak(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    let result = self.0.compare_exchange(current, new, success, failure);
                    fence_if_total(if result.is_ok() { success } else { failure });
                    result
                }

                $(pub(crate) fn $change(&self, value: $value, order: Ordering) -> $value {
                    let before = self.0.$change(value, order);
                    fence_if_total(order);
                    before
                })*
            }
        };
    }

    atomic!(AtomicBool, bool, []);
    atomic!(AtomicU32, u32, [fetch_add, fetch_sub]);
    atomic!(AtomicU64, u64, [fetch_add, fetch_sub, fetch_and, fetch_or]);
}

#[cfg(not(any(loom, miri)))]
pub(crate) use quanta::Clock;
#[cfg(any(loom, miri))]
pub(crate) use still::Clock;

/// Loom needs the same in every run, and Miri cannot ask the processor for its clock.
#[cfg(any(loom, miri))]
mod still {
    /// A clock that stands still.
    #[derive(Clone, Debug)]
    pub(crate) struct Clock;

    impl Clock {
        pub(crate) const fn new() -> Self {
            Self
        }

        #[allow(clippy::unused_self)]
        pub(crate) const fn raw(&self) -> u64 {
            0
        }

        #[allow(clippy::unused_self)]
        pub(crate) const fn delta_as_nanos(&self, began: u64, ended: u64) -> u64 {
            ended - began
        }
    }
}

#[cfg(not(loom))]
mod real {
    /// The standard library's cell with loom's interface.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}
