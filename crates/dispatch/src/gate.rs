//! Sequential events: each runs alone, after all that was dispatched before and before all that is dispatched after.
//!
//! Such an event **shuts** the gate. From then on, what is dispatched waits at the gate, in order. When the strands are
//! empty, a worker runs the event, and lets in what waits, up to the next sequential event. Whoever dispatches admits its
//! event first and looks at the gate after; whoever shuts it does so before looking at what is admitted. So one of both
//! sees the other.

use crate::admit::Admission;
use crate::arrival::{Arrival, Why};
use crate::caught::{caught, drop_caught};
use crate::shared::{ALONE, CLOSED, SHUT, Shared, is_worker};
use crate::sync::{Mutex, MutexGuard, Ordering};
use core::hash::Hash;
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

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    /// Dispatches what comes while the gate is shut, or the dispatcher closed.
    #[cold]
    pub(crate) fn dispatch_at_gate(
        &self,
        admission: Admission<'_, K, E>,
        arrival: Arrival<K, E>,
    ) -> Result<(), (Why, Arrival<K, E>)> {
        if self.has(CLOSED) {
            return Err((Why::Closed, arrival));
        }
        let mut gate = self.gate.lock();
        if !gate.is_shut() {
            // It opened meanwhile, and what waited there has gone before.
            drop(gate);
            return self.place(admission, arrival, false);
        }
        self.bound.defer();
        if self.has(CLOSED) {
            self.bound.end_deferred(1);
            return Err((Why::Closed, arrival));
        }
        gate.behind.push_back(arrival);
        Ok(())
    }

    /// Dispatches an event that runs alone.
    #[cold]
    pub(crate) fn dispatch_sequential(&self, event: E) -> Result<(), (Why, E)> {
        let has_room = match is_worker() {
            true => self.bound.has_room_for_follow_up(),
            false => self.bound.has_room(),
        };
        if !has_room {
            return self.sequential_without_room(event);
        }
        {
            let mut gate = self.gate.lock();
            self.bound.defer();
            // Others may have come in since the look.
            let is_full = !is_worker() && self.bound.is_overfull();
            if is_full || self.has(CLOSED) {
                drop(gate);
                self.bound.end_deferred(1);
                self.tell_of_room();
                self.tell_if_quiet();
                return self.sequential_without_room(event);
            }
            if gate.is_shut() {
                gate.behind.push_back(Arrival::Sequential { event });
            } else {
                gate.next = Some(event);
                self.flags.fetch_or(SHUT, Ordering::SeqCst);
            }
        }
        self.see_to_gate();
        Ok(())
    }

    fn sequential_without_room(&self, event: E) -> Result<(), (Why, E)> {
        if self.has(CLOSED) {
            return Err((Why::Closed, event));
        }
        if self.take_back_lent() { self.dispatch_sequential(event) } else { Err((Why::Full, event)) }
    }

    /// Lets in what waits at the gate, up to the next sequential event. On the thread of `worker`, if it is one.
    pub(crate) fn open_gate(&self, worker: Option<usize>) {
        self.flags.fetch_and(!ALONE, Ordering::SeqCst);
        // It is shut until all have come in. Nothing of the users' runs under the lock.
        while let Some(arrival) = self.next_at_gate() {
            let admission = Admission { shared: self, number: self.bound.admit_deferred(worker) };
            // The comparison of keys may panic: the event is lost then, and nothing else.
            let placed = caught(|| self.place(admission, arrival, true).is_ok()).unwrap_or_else(|panic| {
                drop_caught(panic);
                false
            });
            if !placed {
                self.shed();
            }
        }
    }

    /// What is next at the gate, unless it is a sequential event or nothing: then the former one has ended.
    fn next_at_gate(&self) -> Option<Arrival<K, E>> {
        let mut gate = self.gate.lock();
        match gate.behind.pop_front() {
            Some(Arrival::Sequential { event }) => gate.next = Some(event),
            None => drop(self.flags.fetch_and(!SHUT, Ordering::SeqCst)),
            arrival => return arrival,
        }
        gate.runs = false;
        None
    }
}
