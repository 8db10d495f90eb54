//! Threads that take turns: the one that has waited longest is next.

use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

/// A turn that one thread has at a time.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    taken: bool,
    /// Who waits, the longest first, and whether it is its turn.
    threads: VecDeque<(Thread, Arc<AtomicBool>)>,
}

/// The turn. It passes to the next thread when this is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for this thread's turn.
    pub(super) fn wait(&self) -> Turn<'_> {
        let mut waiting = self.lock();
        if !waiting.taken {
            waiting.taken = true;
            return Turn(self);
        }
        let next = Arc::new(AtomicBool::new(false));
        waiting.threads.push_back((thread::current(), Arc::clone(&next)));
        drop(waiting);
        while !next.load(Ordering::Acquire) {
            thread::park();
        }
        Turn(self)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        let Some((thread, next)) = waiting.threads.pop_front() else {
            waiting.taken = false;
            return;
        };
        drop(waiting);
        next.store(true, Ordering::Release);
        thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn turns_go_round_in_the_order_of_waiting() {
        let (turns, order) = (Turns::default(), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            let first = turns.wait();
            for number in 0..5 {
                scope.spawn({
                    let (turns, order) = (&turns, &order);
                    move || {
                        let _turn = turns.wait();
                        order.lock().unwrap().push(number);
                    }
                });
                // Until it waits.
                while turns.lock().threads.len() <= number {
                    thread::sleep(Duration::from_micros(100));
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4]);
        assert!(!turns.lock().taken);
    }
}
