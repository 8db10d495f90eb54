//! Where those wait who need something to become true of queues: that there is room, or that nothing is
//! left. Threads wait, and tasks leave a waker.
//!
//! Whoever waits says so, looks, and waits; whoever makes it true does so, and looks whether somebody waits:
//! both with a sequentially consistent fence in between, so that one sees the other. Who is told is not told
//! again before it has looked: until it runs, much may be done that makes it true once more.

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, fence};
use core::task::Waker;
use core::time::Duration;
use std::sync::PoisonError;

#[derive(Default)]
pub(crate) struct Room {
    /// Whether somebody waits who has not been told. Changed under the lock of `tasks`.
    awaited: AtomicBool,
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
        // It is looked for before it is said too: who was told need not say so again to find it.
        while !is_so() && !self.comes_while_awaited(&is_so) {
            guard = match left() {
                None => self.came.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return,
                Some(left) => self.came.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    /// Leaves `waker`, to be woken when it may have become so; not if it `is_so` already. Whether it
    /// is.
    pub(crate) fn leave(&self, waker: &Waker, is_so: impl Fn() -> bool) -> bool {
        let mut tasks = crate::lock(&self.tasks);
        let is_so = self.comes_while_awaited(is_so);
        if !is_so {
            tasks.push(waker.clone());
        }
        is_so
    }

    /// Says that somebody waits, and looks whether it `is_so` now. To be called under the lock.
    fn comes_while_awaited(&self, is_so: impl Fn() -> bool) -> bool {
        self.awaited.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        is_so()
    }

    /// Whether anybody waits, for somebody who may have made it true.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        fence(Ordering::SeqCst);
        self.awaited.load(Ordering::SeqCst)
    }

    /// It may be so now.
    #[cold]
    pub(crate) fn tell(&self) {
        let tasks = {
            let mut tasks = crate::lock(&self.tasks);
            self.awaited.store(false, Ordering::SeqCst);
            core::mem::take(&mut *tasks)
        };
        self.came.notify_all();
        tasks.into_iter().for_each(Waker::wake);
    }
}
