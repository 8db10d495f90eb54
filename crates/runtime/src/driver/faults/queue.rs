//! A queue that injects a fault into another queue.
//!
//! Frames that are not passed on at once are copied and kept in the order in which they will be. Never
//! more than `limit` are passed on, and times of arrival never decrease.

use super::{Count, InjectedFault};
use crate::driver::{Bytes, Due, Incoming, Prepared, Queue, QueueError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use warmcore_units::Nanos;

/// How long a frame waits to be overtaken.
const OVERTAKEN_WITHIN: Nanos = Nanos(1e6);

pub(super) struct FaultyQueue {
    inner: Box<dyn Queue>,
    fault: InjectedFault,
    state: State,
}

/// The state of a fault.
struct State {
    random: Xoshiro256PlusPlus,
    prepared: Arc<[Prepared]>,
    /// Frames to be passed on later, first one first.
    pending: VecDeque<Pending>,
    /// The latest arrival time passed on so far.
    latest: Nanos,
    stalled: bool,
    /// When the current stall ends, or the next one begins.
    until: Nanos,
    dropped: u64,
    count: Arc<Count>,
}

/// A frame that is passed on at `at` or later.
struct Pending {
    at: Nanos,
    bytes: OwnedBytes,
}

enum OwnedBytes {
    Prepared(u32),
    Copy(Vec<u8>),
}

impl Pending {
    fn new(at: Nanos, bytes: Bytes<'_>) -> Self {
        let bytes = match bytes {
            Bytes::Prepared(index) => OwnedBytes::Prepared(index),
            Bytes::Borrowed(bytes) => OwnedBytes::Copy(bytes.to_vec()),
        };
        Self { at, bytes }
    }

    fn incoming(&self) -> Incoming<'_> {
        let bytes = match &self.bytes {
            OwnedBytes::Prepared(index) => Bytes::Prepared(*index),
            OwnedBytes::Copy(bytes) => Bytes::Borrowed(bytes),
        };
        Incoming { at: self.at, bytes }
    }
}

impl FaultyQueue {
    pub(super) fn new(
        inner: Box<dyn Queue>,
        fault: InjectedFault,
        seed: u64,
        prepared: Arc<[Prepared]>,
        count: Arc<Count>,
    ) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let state = State {
            random,
            prepared,
            pending: VecDeque::new(),
            latest: Nanos::ZERO,
            stalled: false,
            until: Nanos::ZERO,
            dropped: 0,
            count,
        };
        let mut queue = Self { inner, fault, state };
        queue.plan_stall(Nanos::ZERO);
        queue
    }

    /// Draws when the next stall begins: exponentially distributed, with mean `every` after `now`.
    fn plan_stall(&mut self, now: Nanos) {
        if let InjectedFault::Stall { every, .. } = self.fault {
            let uniform: f64 = self.state.random.random();
            self.state.until = now - every * (1.0 - uniform).ln();
        }
    }

    /// Whether the queue is stalled at `now`.
    fn is_stalled(&mut self, now: Nanos) -> bool {
        let InjectedFault::Stall { lasting, .. } = self.fault else { return false };
        if now < self.state.until {
            return self.state.stalled;
        }
        if self.state.stalled {
            self.state.stalled = false;
            self.plan_stall(now);
        } else {
            self.state.stalled = true;
            self.state.until = now + lasting;
            self.state.count_injected();
        }
        self.state.stalled
    }
}

impl State {
    /// Whether the fault hits this frame, with `probability`; if so, it is counted.
    fn draw(&mut self, probability: f64) -> bool {
        let hit = self.random.random::<f64>() < probability;
        if hit {
            self.count_injected();
        }
        hit
    }

    fn count_injected(&self) {
        self.count.injected.fetch_add(1, Ordering::Relaxed);
    }

    fn hold_back(&mut self, at: Nanos, bytes: Bytes<'_>) {
        self.pending.push_back(Pending::new(at, bytes));
        self.count.withheld.fetch_add(1, Ordering::Relaxed);
    }

    /// Passes on up to `limit` pending frames whose time has come. Returns their number.
    fn release(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let mut released = 0;
        while released < limit && self.pending.front().is_some_and(|pending| pending.at <= now) {
            let Some(pending) = self.pending.pop_front() else { break };
            self.count.withheld.fetch_sub(1, Ordering::Relaxed);
            self.show(pending.incoming(), sink);
            released += 1;
        }
        released
    }

    /// Passes on a frame. Its time of arrival is at least that of the frame before it.
    fn show(&mut self, incoming: Incoming<'_>, sink: &mut dyn FnMut(Incoming<'_>)) {
        self.latest = self.latest.max(incoming.at);
        sink(Incoming { at: self.latest, ..incoming });
    }

    /// Handles a received frame. Returns whether it was passed on at once.
    fn pass(
        &mut self,
        fault: InjectedFault,
        incoming: Incoming<'_>,
        sink: &mut dyn FnMut(Incoming<'_>),
    ) -> bool {
        let Incoming { at, bytes } = incoming;
        match fault {
            InjectedFault::Drop(probability) if self.draw(probability) => {
                self.dropped += 1;
                return false;
            }
            InjectedFault::Delay { probability, by } if self.draw(probability) => {
                self.hold_back(at + by, bytes);
                return false;
            }
            InjectedFault::Reorder(probability) if self.pending.is_empty() && self.draw(probability) => {
                self.hold_back(at + OVERTAKEN_WITHIN, bytes);
                return false;
            }
            InjectedFault::Reorder(_) => {
                self.show(incoming, sink);
                if let Some(overtaken) = self.pending.front_mut() {
                    overtaken.at = at;
                }
            }
            InjectedFault::Duplicate(probability) if self.draw(probability) => {
                self.show(incoming, sink);
                self.hold_back(at, bytes);
            }
            InjectedFault::Corrupt(probability) if self.draw(probability) => {
                let copy = self.corrupted(bytes);
                self.show(Incoming { at, bytes: Bytes::Borrowed(&copy) }, sink);
            }
            _ => self.show(incoming, sink),
        }
        true
    }

    /// A copy of the frame with one random bit flipped.
    fn corrupted(&mut self, bytes: Bytes<'_>) -> Vec<u8> {
        let mut copy = match bytes {
            Bytes::Prepared(index) => self.prepared[index as usize].bytes.clone(),
            Bytes::Borrowed(bytes) => bytes.to_vec(),
        };
        if !copy.is_empty() {
            let bit = self.random.random_range(0..copy.len() * 8);
            copy[bit / 8] ^= 1 << (bit % 8);
        }
        copy
    }
}

impl Queue for FaultyQueue {
    fn begin(&mut self, now: Nanos) {
        self.inner.begin(now);
        self.plan_stall(now);
    }

    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        if self.is_stalled(now) {
            return 0;
        }
        let Self { inner, fault, state } = self;
        let mut shown = state.release(now, limit, sink);
        if shown < limit {
            inner.receive(now, limit - shown, &mut |incoming| {
                shown += usize::from(state.pass(*fault, incoming, sink));
            });
        }
        shown
    }

    fn due(&self) -> Due {
        let inner = self.inner.due();
        let pending = self.state.pending.front().map(|pending| pending.at);
        let due = match (inner, pending) {
            (Due::Unknown, _) => Due::Unknown,
            (inner, None) => inner,
            (Due::Never, Some(pending)) => Due::At(pending),
            (Due::At(at), Some(pending)) => Due::At(Nanos(at.0.min(pending.0))),
        };
        match due {
            Due::At(at) if self.state.stalled => Due::At(at.max(self.state.until)),
            Due::Unknown if self.state.stalled => Due::At(self.state.until),
            due => due,
        }
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.inner.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }

    fn lost(&mut self) -> u64 {
        self.inner.lost() + self.state.dropped
    }

    fn check(&mut self) -> Result<(), QueueError> {
        self.inner.check()
    }
}
