//! Loom's threads.
//!
//! Loom takes sequentially consistent operations to acquire and release only, and would let two
//! threads miss each other that cannot; but it knows fences. So here such a store or change is followed
//! by a fence, as compilers for x86 have it; a load is not, or it would order what is before it. That
//! still orders what is around a store a little more than the language promises: a model may miss a relaxed
//! access before a sequentially consistent one of another variable. Miri and ThreadSanitizer do not.
//!
//! Who parks is woken by another or never, so that a lost wake-up shows as a deadlock.

pub(crate) use super::still::Clock;
pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::{Ordering, fence};
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use loom::thread::{Thread, current, park, yield_now};

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

        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
                fence_if_total(order);
            }

            $(pub(crate) fn $change(&self, value: $value, order: Ordering) -> $value {
                let before = self.0.$change(value, order);
                fence_if_total(order);
                before
            })*
        }
    };
}

atomic!(AtomicBool, bool, [swap]);
atomic!(AtomicU32, u32, [fetch_add, fetch_sub, fetch_and, fetch_or]);
atomic!(AtomicU64, u64, [fetch_add, fetch_sub, fetch_and, fetch_or]);

impl AtomicU64 {
    pub(crate) fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let result = self.0.compare_exchange(current, new, success, failure);
        fence_if_total(if result.is_ok() { success } else { failure });
        result
    }
}
