//! What workers are told from outside: to run, to pause, to come to an end.
//!
//! Orders only ever become stricter but for the end of a pause: who was told to leave is not told
//! to pause or to drain any more, whoever says so first.

use crate::sync::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use crossbeam_utils::CachePadded;

#[cfg(all(test, loom))]
mod model;

/// What workers are to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Order {
    /// Take in and process.
    Run,
    /// Finish the packet in hand, let go of the stack and wait.
    Pause,
    /// Take in nothing more, process what is held, and end.
    Drain,
    /// Finish the packet in hand, and end.
    Leave,
}

impl Order {
    const fn from_bits(bits: u8) -> Self {
        match bits {
            0 => Self::Run,
            1 => Self::Pause,
            2 => Self::Drain,
            _ => Self::Leave,
        }
    }

    /// Whether `next` may be given after this.
    const fn admits(self, next: Self) -> bool {
        match (self, next) {
            (Self::Run | Self::Pause, _) | (_, Self::Leave) => true,
            (Self::Drain | Self::Leave, _) => false,
        }
    }
}

/// The order of the day, on a cache line that everybody reads and hardly anybody writes.
pub(crate) struct Control {
    order: CachePadded<AtomicU8>,
    paused: CachePadded<AtomicU32>,
    /// Workers that take in nothing more, because they were told to drain.
    closed: AtomicU32,
    /// Whether a handler has asked for the end of the run.
    failed: AtomicBool,
}

impl Control {
    /// Everybody waits.
    pub(crate) fn new() -> Self {
        Self {
            order: CachePadded::new(AtomicU8::new(Order::Pause as u8)),
            paused: CachePadded::new(AtomicU32::new(0)),
            closed: AtomicU32::new(0),
            failed: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn order(&self) -> Order {
        Order::from_bits(self.order.load(Ordering::Relaxed))
    }

    /// Gives `order`, unless a stricter one is in force.
    pub(crate) fn give(&self, order: Order) {
        let next = |bits| Order::from_bits(bits).admits(order).then_some(order as u8);
        let _ = self.order.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
    }

    /// Asks for the end of the run because of a failure.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.give(Order::Leave);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Calls `park` until the order is no longer to pause. Whoever counts this worker among
    /// the paused can rely on it until he gives another order: a worker that was about to go on
    /// when it was counted looks again before it does.
    pub(crate) fn pause(&self, park: impl Fn()) {
        loop {
            self.paused.fetch_add(1, Ordering::SeqCst);
            while self.order.load(Ordering::SeqCst) == Order::Pause as u8 {
                park();
            }
            self.paused.fetch_sub(1, Ordering::SeqCst);
            if self.order.load(Ordering::SeqCst) != Order::Pause as u8 {
                return;
            }
        }
    }

    /// How many workers wait because they were told to pause.
    pub(crate) fn paused(&self) -> u32 {
        self.paused.load(Ordering::SeqCst)
    }

    /// The calling worker takes in nothing more. It says so once.
    pub(crate) fn close(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    /// How many workers take in nothing more.
    pub(crate) fn closed(&self) -> u32 {
        self.closed.load(Ordering::SeqCst)
    }
}
