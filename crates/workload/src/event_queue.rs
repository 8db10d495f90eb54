//! The next packets of many streams that each know their own, merged in order of time.

use crate::arrivals::Arrival;
use core::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use warmcore_units::{Nanos, StreamId};

/// What is due, and when: a heap, so that one packet costs the logarithm of their number.
///
/// At equal times the lower stream is due first.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue<S>(BinaryHeap<Due<S>>);

/// The next packet of a stream, and what its source needs to know to tell the one after.
#[derive(Clone, Debug)]
struct Due<S> {
    at: Nanos,
    stream: StreamId,
    state: S,
}

impl<S> EventQueue<S> {
    /// When the next packet is due; never, if there is none.
    pub(crate) fn next_time(&self) -> Nanos {
        self.0.peek().map_or(Nanos::INFINITY, |due| due.at)
    }

    /// Enters a packet of `stream`.
    pub(crate) fn enter(&mut self, at: Nanos, stream: StreamId, state: S) {
        self.0.push(Due { at, stream, state });
    }

    /// Takes the next packet, if there is any; its place is taken by the one that follows it, at
    /// the time that `following` tells, if any.
    pub(crate) fn take(&mut self, following: impl FnOnce(Nanos, &mut S) -> Option<Nanos>) -> Option<Arrival> {
        let mut due = self.0.peek_mut()?;
        let arrival = Arrival::single(due.at, due.stream);
        match following(arrival.at, &mut due.state) {
            Some(at) => due.at = at,
            None => drop(PeekMut::pop(due)),
        }
        Some(arrival)
    }

    /// Fills `block` with the next packets, each followed by another of its stream, and returns
    /// how many: none if no stream has any.
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
    /// The earliest is the greatest: it is the one that a heap yields.
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
