//! Merges the packets of many streams in order of time.

use crate::arrivals::Arrival;
use core::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use warmcore_units::{Nanos, StreamId};

/// The next packet of each stream, in a heap: each packet takes time logarithmic in the number of streams.
///
/// At equal times the stream with the lower number comes first.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue<S>(BinaryHeap<Due<S>>);

/// The next packet of a stream, and the state from which its source computes the one after.
#[derive(Clone, Debug)]
struct Due<S> {
    at: Nanos,
    stream: StreamId,
    state: S,
}

impl<S> EventQueue<S> {
    /// The time of the next packet; infinite if there is none.
    pub(crate) fn next_time(&self) -> Nanos {
        self.0.peek().map_or(Nanos::INFINITY, |due| due.at)
    }

    /// Adds a packet of `stream`.
    pub(crate) fn enter(&mut self, at: Nanos, stream: StreamId, state: S) {
        self.0.push(Due { at, stream, state });
    }

    /// Takes the next packet, if there is one. `following` returns the time of the stream's next packet, if
    /// any, which replaces it.
    pub(crate) fn take(&mut self, following: impl FnOnce(Nanos, &mut S) -> Option<Nanos>) -> Option<Arrival> {
        let mut due = self.0.peek_mut()?;
        let arrival = Arrival::single(due.at, due.stream);
        match following(arrival.at, &mut due.state) {
            Some(at) => due.at = at,
            None => drop(PeekMut::pop(due)),
        }
        Some(arrival)
    }

    /// Fills `block` with the next packets; `following` returns the time of the next packet of the same
    /// stream. Returns how many were filled in: none if there are no streams.
    pub(crate) fn fill(
        &mut self,
        block: &mut [Arrival],
        mut following: impl FnMut(Nanos, &mut S) -> Nanos,
    ) -> usize {
        let mut filled = 0;
        for place in block {
            let Some(arrival) = self.take(|at, state| Some(following(at, state))) else { break };
            *place = arrival;
            filled += 1;
        }
        filled
    }
}

impl<S> Default for EventQueue<S> {
    fn default() -> Self {
        Self(BinaryHeap::new())
    }
}

impl<S> FromIterator<(Nanos, StreamId, S)> for EventQueue<S> {
    fn from_iter<I: IntoIterator<Item = (Nanos, StreamId, S)>>(packets: I) -> Self {
        Self(packets.into_iter().map(|(at, stream, state)| Due { at, stream, state }).collect())
    }
}

impl<S> Ord for Due<S> {
    /// The earliest is the greatest, since the heap yields the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.stream.cmp(&self.stream))
    }
}

impl<S> PartialOrd for Due<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S> PartialEq for Due<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S> Eq for Due<S> {}
