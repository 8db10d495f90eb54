//! Sequential events: each runs alone, after all that was dispatched before and before all that is dispatched after.
//!
//! Such an event **shuts** the gate. From then on, what is dispatched waits at the gate, in order. When the strands are
//! empty, a worker runs the event, and lets in what waits, up to the next sequential event. Whoever dispatches admits its
//! event first and looks at the gate after; whoever shuts it does so before looking at what is admitted. So one of both
//! sees the other.

use crate::admit::Arrival;
use crate::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;

pub(crate) struct Gate<K, E>(Mutex<Waiting<K, E>>);

/// What waits at the gate.
pub(crate) struct Waiting<K, E> {
    /// The sequential event that has shut it, until that runs.
    pub(crate) next: Option<E>,
    /// Whether it runs.
    pub(crate) runs: bool,
    pub(crate) behind: VecDeque<Arrival<K, E>>,
}

impl<K, E> Gate<K, E> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Waiting { next: None, runs: false, behind: VecDeque::new() }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Waiting<K, E>> {
        crate::lock(&self.0)
    }
}

impl<K, E> Waiting<K, E> {
    pub(crate) fn is_shut(&self) -> bool {
        self.runs || self.next.is_some()
    }
}
