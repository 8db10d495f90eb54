//! What workers are told from outside: to run, to pause, to come to an end.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use crossbeam_utils::CachePadded;

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

/// The order of the day, on a cache line that everybody reads and hardly anybody writes.
pub(crate) struct Control {
    order: CachePadded<AtomicU8>,
    paused: CachePadded<AtomicU32>,
    /// Whether a handler has asked for the end of the run.
    failed: AtomicBool,
}

impl Control {
    /// Everybody waits.
    pub(crate) fn new() -> Self {
        Self {
            order: CachePadded::new(AtomicU8::new(Order::Pause as u8)),
            paused: CachePadded::new(AtomicU32::new(0)),
            failed: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn order(&self) -> Order {
        match self.order.load(Ordering::Relaxed) {
            0 => Order::Run,
            1 => Order::Pause,
            2 => Order::Drain,
            _ => Order::Leave,
        }
    }

    pub(crate) fn give(&self, order: Order) {
        self.order.store(order as u8, Ordering::SeqCst);
    }

    /// Asks for the end of the run because of a failure.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.give(Order::Leave);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Waits while the order is to pause.
    pub(crate) fn pause(&self) {
        self.paused.fetch_add(1, Ordering::SeqCst);
        while self.order() == Order::Pause {
            std::thread::park_timeout(core::time::Duration::from_millis(1));
        }
        self.paused.fetch_sub(1, Ordering::SeqCst);
    }

    /// How many workers wait because they were told to pause.
    pub(crate) fn paused(&self) -> u32 {
        self.paused.load(Ordering::SeqCst)
    }
}
