//! Orders to the workers of a run: run, pause, drain or leave.
//!
//! An order can only be replaced by a stricter one, except that a pause can end. A worker that was told
//! to leave cannot be told to pause or drain any more, whoever gives the order.

use crate::sync::{AtomicU8, AtomicU32, Ordering};
use crossbeam_utils::CachePadded;

#[cfg(all(test, loom))]
mod model;

/// What workers are to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Order {
    /// Receive packets and process them.
    Run,
    /// Finish the current packet, release the stack and wait.
    Pause,
    /// Receive nothing more, process the packets that are held, and end.
    Drain,
    /// Finish the current packet, and end.
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

/// The current order, on a cache line that all workers read and that is hardly ever written.
pub(crate) struct Control {
    order: CachePadded<AtomicU8>,
    paused: CachePadded<AtomicU32>,
    /// Workers that stopped receiving because they were told to drain.
    closed: AtomicU32,
}

impl Control {
    /// Starts with [`Order::Pause`]: every worker waits.
    pub(crate) fn new() -> Self {
        Self {
            order: CachePadded::new(AtomicU8::new(Order::Pause as u8)),
            paused: CachePadded::new(AtomicU32::new(0)),
            closed: AtomicU32::new(0),
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

    /// Calls `park` until the order is no longer to pause. A worker that is counted as paused stays
    /// paused until another order is given: if it was about to continue when it was counted, it checks
    /// the order again first.
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

    /// Number of workers that are paused.
    pub(crate) fn paused(&self) -> u32 {
        self.paused.load(Ordering::SeqCst)
    }

    /// The calling worker has stopped receiving. Each worker calls this once.
    pub(crate) fn close(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    /// Number of workers that have stopped receiving.
    pub(crate) fn closed(&self) -> u32 {
        self.closed.load(Ordering::SeqCst)
    }
}
