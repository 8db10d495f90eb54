//! How much a worker takes of a queue at once, and how long it stays there.

use super::Worker;
use crate::handler::Handler;
use crate::label::IS_TAG;
use crate::shared::Lane;
use crate::sync::{CHECKED, Ordering};
use core::hash::Hash;

/// A claim is to take about so long: what is claimed waits for nothing else any more, but nobody else
/// can take it either.
const SLICE_NS: u64 = 4_000;
/// It may take so many times as long where [`PLENTY`] times as much waits, so that enough is left for others
/// (guided self-scheduling: Polychronopoulos and Kuck 1987).
const LONG: u64 = 16;
const PLENTY: u64 = 4;
/// Events in a claim at most.
const MOST: u64 = 64;
/// After so long, a worker looks at other queues though its own has more: checkers see few events.
const STAY_NS: u64 = SLICE_NS * if CHECKED { 2 } else { 32 };
/// It stays so many times as long where room may soon be short: who waits for room in one queue brings nothing to
/// the others either.
const LONGER: u64 = if CHECKED { 2 } else { 16 };

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Events to claim at once from `queue`.
    #[inline]
    pub(super) fn limit(&self, queue: usize, lane: &Lane<K, E>) -> usize {
        let long = LONG * SLICE_NS / u64::from(lane.pace.load(Ordering::Relaxed).max(1));
        let many = long.clamp(1, MOST);
        let is_long = lane.queue.ring().has_more_than(PLENTY * many) && !self.could_share(queue, lane);
        let limit = if is_long { many } else { (long / LONG).clamp(1, MOST) };
        limit as usize
    }

    /// Whether somebody who has nothing to do could take some of what is in `queue`.
    fn could_share(&self, queue: usize, lane: &Lane<K, E>) -> bool {
        let shared = self.shared;
        shared.is_shared(queue) && lane.queue.touched() & IS_TAG == 0 && shared.seats.is_anyone_idle()
    }
}

/// How long a worker has been at a queue, or since it looked at others.
#[derive(Debug, Default)]
pub(super) struct Stay(u64);

impl Stay {
    /// Whether it is time to look at others, after so many more nanoseconds at `lane`.
    #[inline]
    pub(super) fn is_over<K: Eq, E>(&mut self, nanos: u64, lane: &Lane<K, E>) -> bool {
        // Each claim counts: checkers have no clock.
        self.0 += nanos.max(SLICE_NS);
        let is_over = self.0 >= STAY_NS && (self.0 >= LONGER * STAY_NS || !lane.is_filling());
        if is_over {
            self.0 = 0;
        }
        is_over
    }
}
