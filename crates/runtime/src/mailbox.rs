//! Where work is put before a worker that is not the one to have found it, and how the worker is
//! woken if it sleeps.
//!
//! A mailbox holds one assignment: a dispatcher gives work only to idle workers, and a worker that
//! was given some is not idle. So there is room whenever something is posted.
//!
//! **No lost wake-up.** The sleeper announces its sleep, then looks once more, then sleeps; the
//! waker posts, then looks for the announcement. Both have a full fence in between, so at least
//! one of them sees the other; and a thread that is unparked before it parks does not sleep.

use crate::board::Assignment;
use crate::packet::Packet;
use crate::sync::{ArrayQueue, AtomicBool, Mutex, Ordering, Thread, current, fence, park_timeout};
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;
use std::time::Duration;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

/// A worker's place.
pub(crate) struct Seat {
    mailbox: CachePadded<Mailbox>,
    /// Packets that belong here and were found by others, where workers have boards of their own.
    pub(crate) inbox: ArrayQueue<Packet>,
    sleep: CachePadded<Sleep>,
}

struct Mailbox {
    full: AtomicBool,
    slot: Mutex<Option<Assignment>>,
}

struct Sleep {
    announced: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Seat {
    /// An empty place, with room for so many packets found by others.
    pub(crate) fn new(inbox: usize) -> Self {
        let mailbox = Mailbox { full: AtomicBool::new(false), slot: Mutex::new(None) };
        let sleep = Sleep { announced: AtomicBool::new(false), thread: OnceLock::new() };
        Self {
            mailbox: CachePadded::new(mailbox),
            inbox: ArrayQueue::new(inbox.max(1)),
            sleep: CachePadded::new(sleep),
        }
    }

    /// The calling thread sits down here.
    pub(crate) fn sit(&self) {
        let _ = self.sleep.thread.set(current());
    }

    /// Puts `assignment` before the worker. [Wake](Self::wake) it afterwards.
    #[inline]
    pub(crate) fn post(&self, assignment: Assignment) {
        let mut slot = self.mailbox.slot.lock();
        debug_assert!(slot.is_none(), "only an idle worker is given work");
        *slot = Some(assignment);
        self.mailbox.full.store(true, Ordering::Release);
    }

    /// What was put before the worker.
    #[inline]
    pub(crate) fn collect(&self) -> Option<Assignment> {
        if !self.mailbox.full.load(Ordering::Acquire) {
            return None;
        }
        let mut slot = self.mailbox.slot.lock();
        self.mailbox.full.store(false, Ordering::Relaxed);
        slot.take()
    }

    /// Whether there is nothing to do here.
    pub(crate) fn is_empty(&self) -> bool {
        !self.mailbox.full.load(Ordering::Acquire) && self.inbox.is_empty()
    }

    /// Wakes the worker if it sleeps.
    #[inline]
    pub(crate) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleep.announced.load(Ordering::Relaxed)
            && let Some(thread) = self.sleep.thread.get()
        {
            thread.unpark();
        }
    }

    /// Sleeps, for `longest` at most, unless `awake` finds a reason not to.
    pub(crate) fn sleep(&self, longest: Duration, awake: impl FnOnce() -> bool) {
        self.sleep_by(awake, || park_timeout(longest));
    }

    /// The same, sleeping by `wait`.
    pub(crate) fn sleep_by(&self, awake: impl FnOnce() -> bool, wait: impl FnOnce()) {
        self.sleep.announced.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.is_empty() && !awake() {
            wait();
        }
        self.sleep.announced.store(false, Ordering::Relaxed);
    }
}
