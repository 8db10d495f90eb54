//! The timers of flows: one for each flow at most.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// No time.
pub(super) const NEVER: u64 = u64::MAX;

/// When flows, by their number, want to be called. A flow has one entry in the heap as a rule: postponing a timer leaves the
/// entry where it is, and it is entered anew when it comes out.
#[derive(Default, Debug)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// By flow: when it wants to be called, and the time of its entry in the heap.
    times: Vec<[u64; 2]>,
}

impl Timers {
    /// Calls flow `number` at `at`, and not before.
    pub(super) fn set(&mut self, number: u32, at: u64) {
        let index = number as usize;
        if self.times.len() <= index {
            self.times.resize(index + 1, [NEVER; 2]);
        }
        let [wanted, entered] = &mut self.times[index];
        *wanted = at;
        if at < *entered {
            *entered = at;
            self.heap.push(Reverse((at, number)));
        }
    }

    /// Forgets the timer of flow `number`.
    pub(super) fn clear(&mut self, number: u32) {
        if let Some([wanted, _]) = self.times.get_mut(number as usize) {
            *wanted = NEVER;
        }
    }

    /// The time at which to look again, not after the next timer.
    pub(super) fn next(&self) -> u64 {
        self.heap.peek().map_or(NEVER, |Reverse((at, _))| *at)
    }

    /// Takes out a flow whose time has come.
    pub(super) fn due(&mut self, now: u64) -> Option<u32> {
        while self.next() <= now {
            let Reverse((at, number)) = self.heap.pop()?;
            let [wanted, entered] = &mut self.times[number as usize];
            if *entered != at {
                continue; // replaced by an earlier one
            }
            *entered = NEVER;
            match *wanted {
                NEVER => {}
                wanted if wanted > now => self.set(number, wanted),
                _ => {
                    *wanted = NEVER;
                    return Some(number);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_in_their_order_and_not_early() {
        let mut timers = Timers::default();
        timers.set(3, 30);
        timers.set(1, 10);
        assert_eq!((timers.next(), timers.due(9)), (10, None));
        assert_eq!((timers.due(30), timers.due(30), timers.due(30)), (Some(1), Some(3), None));
        assert_eq!(timers.next(), NEVER);
    }

    #[test]
    fn a_timer_that_is_moved_comes_once_at_its_last_time() {
        let mut timers = Timers::default();
        timers.set(0, 10);
        timers.set(0, 20);
        assert_eq!((timers.due(19), timers.due(20), timers.due(90)), (None, Some(0), None));
        timers.set(0, 200);
        timers.set(0, 100);
        assert_eq!((timers.due(100), timers.due(300)), (Some(0), None));
        timers.set(0, 400);
        timers.clear(0);
        assert_eq!(timers.due(500), None);
    }

    #[test]
    fn postponing_for_ever_takes_no_memory() {
        let mut timers = Timers::default();
        for now in 0..10_000 {
            timers.set(7, now + 100);
            timers.set(7, now + 50);
            assert_eq!(timers.due(now), None);
            assert!(timers.heap.len() <= 3);
        }
    }
}
