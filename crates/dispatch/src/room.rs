//! Where those wait who need something to become true of queues: that there is room, or that nothing is
//! left.
//!
//! Whoever waits counts itself, looks, and waits; whoever makes it true does so, and looks for the
//! count: both with a sequentially consistent fence in between, so that one sees the other.

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering, fence};
use core::time::Duration;
use std::sync::PoisonError;

#[derive(Default)]
pub(crate) struct Room {
    waiting: AtomicU32,
    lock: Mutex<()>,
    came: Condvar,
}

impl Room {
    /// Waits until `is_so`.
    #[cold]
    pub(crate) fn wait(&self, is_so: impl Fn() -> bool) {
        self.wait_for(|| None, is_so);
    }

    /// The same, but no longer than what is `left` of some time.
    #[cold]
    pub(crate) fn wait_for(&self, left: impl Fn() -> Option<Duration>, is_so: impl Fn() -> bool) {
        let mut guard = crate::lock(&self.lock);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        while !is_so() {
            guard = match left() {
                None => self.came.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(left) => self.came.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether anybody waits, for somebody who may have made it true.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        fence(Ordering::SeqCst);
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// It may be so now.
    #[cold]
    pub(crate) fn tell(&self) {
        drop(crate::lock(&self.lock));
        self.came.notify_all();
    }
}
