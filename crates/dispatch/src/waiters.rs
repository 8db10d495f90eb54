//! Threads and tasks that wait until something becomes true: that there is room, or that nothing is left.
//!
//! A waiter says that it waits, looks, and waits. Whoever makes it true does so, and looks whether somebody waits. A
//! sequentially consistent fence stands in between on both sides, so one sees the other. A waiter that was told is not
//! told again before it has looked.

use crate::caught::{caught, drop_caught};
use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, fence};
use core::task::Waker;
use core::time::Duration;
use std::sync::PoisonError;

/// A thread looks again after so long, told or not.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct Waiters {
    /// Whether somebody waits who has not been told. Changed under the lock of `tasks`.
    awaited: AtomicBool,
    tasks: Mutex<Tasks>,
    told: Condvar,
}

#[derive(Default)]
struct Tasks {
    next: u64,
    wakers: Vec<(u64, Waker)>,
}

/// The place of a task among those that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaiterId(u64);

impl Waiters {
    /// Waits until `is_so`.
    #[cold]
    pub(crate) fn wait(&self, is_so: impl Fn() -> bool) {
        self.wait_for(|| None, is_so);
    }

    /// The same, but no longer than what is `left` of some time.
    #[cold]
    pub(crate) fn wait_for(&self, left: impl Fn() -> Option<Duration>, is_so: impl Fn() -> bool) {
        let mut guard = crate::lock(&self.tasks);
        while !is_so() && !self.register_and_check(&is_so) {
            let longest = left().map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN));
            if longest.is_zero() {
                return;
            }
            guard = self.told.wait_timeout(guard, longest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Leaves `waker`, to be woken when it may have become so, unless it `is_so` already; whether it is. A task has one
    /// `place`, in which it replaces its former waker.
    pub(crate) fn leave(
        &self,
        place: &mut Option<WaiterId>,
        waker: &Waker,
        is_so: impl Fn() -> bool,
    ) -> bool {
        // What belongs to the task runs without the lock.
        let waker = waker.clone();
        let mut tasks = crate::lock(&self.tasks);
        if self.register_and_check(is_so) {
            return true;
        }
        let former =
            place.and_then(|WaiterId(mine)| tasks.wakers.iter_mut().find(|(place, _)| *place == mine));
        let former = match former {
            Some((_, former)) => Some(core::mem::replace(former, waker)),
            None => {
                *place = Some(WaiterId(tasks.next));
                let mine = tasks.next;
                tasks.wakers.push((mine, waker));
                tasks.next += 1;
                None
            }
        };
        drop(tasks);
        drop(former);
        false
    }

    /// The task at `place` waits no longer.
    pub(crate) fn forget(&self, place: WaiterId) {
        let mut tasks = crate::lock(&self.tasks);
        let index = tasks.wakers.iter().position(|(other, _)| *other == place.0);
        let waker = index.map(|index| tasks.wakers.swap_remove(index));
        drop(tasks);
        drop(waker);
    }

    /// Says that somebody waits, and looks whether it `is_so` now. To be called under the lock.
    fn register_and_check(&self, is_so: impl Fn() -> bool) -> bool {
        self.awaited.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        is_so()
    }

    /// Whether anybody waits who was not told. To be followed by [`is_awaited`](Self::is_awaited) before long.
    #[inline]
    pub(crate) fn may_be_awaited(&self) -> bool {
        self.awaited.load(Ordering::Relaxed)
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
        let wakers = {
            let mut tasks = crate::lock(&self.tasks);
            self.awaited.store(false, Ordering::SeqCst);
            core::mem::take(&mut tasks.wakers)
        };
        self.told.notify_all();
        // A waker is a task's own, and may panic.
        wakers.into_iter().for_each(|(_, waker)| drop_caught(caught(|| waker.wake())));
    }
}
