//! Where those wait who need something to become true of queues: that there is room, or that nothing is
//! left. Threads wait, and tasks leave a waker.
//!
//! Whoever waits counts itself, looks, and waits; whoever makes it true does so, and looks for the
//! count: both with a sequentially consistent fence in between, so that one sees the other.

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering, fence};
use core::task::Waker;
use core::time::Duration;
use std::sync::PoisonError;

#[derive(Default)]
pub(crate) struct Room {
    waiting: AtomicU32,
    /// Tasks that wait.
    tasks: Mutex<Vec<Waker>>,
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
        let mut guard = crate::lock(&self.tasks);
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

    /// Leaves `waker`, to be woken when it may have become so; not if it `is_so` already. Whether it
    /// is.
    pub(crate) fn leave(&self, waker: &Waker, is_so: impl Fn() -> bool) -> bool {
        let mut tasks = crate::lock(&self.tasks);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if is_so() {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return true;
        }
        tasks.push(waker.clone());
        false
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
        let tasks = core::mem::take(&mut *crate::lock(&self.tasks));
        self.waiting.fetch_sub(tasks.len() as u32, Ordering::SeqCst);
        self.came.notify_all();
        tasks.into_iter().for_each(Waker::wake);
    }
}
