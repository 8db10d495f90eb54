//! How one worker gives work to another, and wakes it if it sleeps.
//!
//! A handoff holds one assignment. The dispatcher assigns only to idle workers, and a worker with an
//! assignment is not idle, so there is always room.
//!
//! **No lost wake-up.** The sleeper announces its sleep, checks once more, then sleeps. The waker posts,
//! then checks for the announcement. Each has a full fence in between, so at least one sees the other;
//! and a thread that is unparked before it parks does not sleep.

use crate::packet::Packet;
use crate::scheduler::Assignment;
use crate::sync::{ArrayQueue, AtomicBool, Mutex, Ordering, Thread, current, fence, park_timeout};
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;
use std::time::Duration;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

/// A worker's mailbox.
pub(crate) struct Mailbox {
    handoff: CachePadded<Handoff>,
    /// Packets of this worker's streams that others received, where each worker has its own scheduler.
    pub(crate) forwarded: ArrayQueue<Packet>,
    sleep: CachePadded<Sleep>,
}

struct Handoff {
    full: AtomicBool,
    slot: Mutex<Option<Assignment>>,
}

struct Sleep {
    announced: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Mailbox {
    /// An empty mailbox with room for `forwarded` packets that others received.
    pub(crate) fn new(forwarded: usize) -> Self {
        let handoff = Handoff { full: AtomicBool::new(false), slot: Mutex::new(None) };
        let sleep = Sleep { announced: AtomicBool::new(false), thread: OnceLock::new() };
        Self {
            handoff: CachePadded::new(handoff),
            forwarded: ArrayQueue::new(forwarded.max(1)),
            sleep: CachePadded::new(sleep),
        }
    }

    /// Makes the calling thread the one to wake.
    pub(crate) fn register(&self) {
        let _ = self.sleep.thread.set(current());
    }

    /// Gives the worker `assignment`. [Wake](Self::wake) it afterwards.
    #[inline]
    pub(crate) fn post(&self, assignment: Assignment) {
        let mut slot = self.handoff.slot.lock();
        debug_assert!(slot.is_none(), "only an idle worker is given work");
        *slot = Some(assignment);
        self.handoff.full.store(true, Ordering::Release);
    }

    /// Takes the assignment, if there is one.
    #[inline]
    pub(crate) fn collect(&self) -> Option<Assignment> {
        if !self.handoff.full.load(Ordering::Acquire) {
            return None;
        }
        let mut slot = self.handoff.slot.lock();
        self.handoff.full.store(false, Ordering::Relaxed);
        slot.take()
    }

    /// Whether there is neither an assignment nor a forwarded packet.
    pub(crate) fn is_empty(&self) -> bool {
        !self.handoff.full.load(Ordering::Acquire) && self.forwarded.is_empty()
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

    /// Parks for at most `longest`, unless the mailbox has work or `awake` returns true.
    pub(crate) fn sleep(&self, longest: Duration, awake: impl FnOnce() -> bool) {
        self.sleep_by(awake, || park_timeout(longest));
    }

    /// Like [`sleep`](Self::sleep), but calls `wait` to sleep.
    pub(crate) fn sleep_by(&self, awake: impl FnOnce() -> bool, wait: impl FnOnce()) {
        self.sleep.announced.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.is_empty() && !awake() {
            wait();
        }
        self.sleep.announced.store(false, Ordering::Relaxed);
    }
}
