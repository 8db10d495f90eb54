//! What there is without any queue: nothing that hands events over can be faster on as many threads.

use crate::WORKERS;
use crate::case::{Case, Event};
use std::sync::Arc;
use std::thread;

/// Whose an event is where workers have keys: as even a split as there is, whatever the keys are.
pub(crate) fn worker_of(event: Event) -> usize {
    (event.key.wrapping_mul(0x9e37_79b9) >> 16) as usize % WORKERS
}

/// No queue, no other thread.
pub(crate) fn inline(case: &Arc<Case>) {
    case.events().iter().for_each(|&event| case.handle(event));
}

/// Two threads that know their events from the beginning.
pub(crate) fn split(case: &Arc<Case>) {
    thread::scope(|scope| {
        for me in 0..WORKERS {
            scope.spawn(move || {
                case.events()
                    .iter()
                    .filter(|event| worker_of(**event) == me)
                    .for_each(|&event| case.handle(event));
            });
        }
    });
}
