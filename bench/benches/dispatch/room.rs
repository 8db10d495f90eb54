//! A bound for peers that have none of their own.

use std::cell::Cell;
use std::sync::{Condvar, Mutex};

/// Events that are counted at once, so that neither side takes the lock for each.
pub(crate) const STEP: usize = 64;

thread_local! {
    /// Events that this thread has handled and not told.
    static UNTOLD: Cell<usize> = const { Cell::new(0) };
}

/// Bounds the events that wait. Whoever finds it full goes on when half of it has left.
pub(crate) struct Room {
    capacity: usize,
    inside: Mutex<usize>,
    half_left: Condvar,
}

impl Room {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, inside: Mutex::new(0), half_left: Condvar::new() }
    }

    /// Called before [`STEP`] events are sent; waits if there is no room.
    pub(crate) fn enter(&self) {
        let mut inside = self.inside.lock().expect("nobody panics");
        if *inside + STEP > self.capacity {
            let full = |inside: &mut usize| *inside > self.capacity / 2;
            inside = self.half_left.wait_while(inside, full).expect("nobody panics");
        }
        *inside += STEP;
    }

    /// Called when so many events have been handled.
    pub(crate) fn leave(&self, count: usize) {
        let untold = UNTOLD.get() + count;
        if untold < STEP {
            UNTOLD.set(untold);
            return;
        }
        UNTOLD.set(0);
        let mut inside = self.inside.lock().expect("nobody panics");
        let before = *inside;
        *inside -= untold;
        let half = self.capacity / 2;
        if before > half && *inside <= half {
            drop(inside);
            self.half_left.notify_one();
        }
    }
}
