//! A queue around a queue, with a fault.
//!
//! Frames that are not shown at once are kept as copies, in the order in which they are to be
//! shown. Never are more shown than were asked for, and times of arrival never go back.

use super::{Count, Fault};
use crate::driver::{Bytes, Due, Incoming, Prepared, Queue};
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
    within: Box<dyn Queue>,
    fault: Fault,
    state: State,
}

/// What a fault needs to know.
struct State {
    random: Xoshiro256PlusPlus,
    prepared: Arc<[Prepared]>,
    /// Frames to be shown later, the first one first.
    kept: VecDeque<Kept>,
    /// The latest arrival that has been shown.
    latest: Nanos,
    stalled: bool,
    /// When the present stall ends, or the next one begins.
    until: Nanos,
    dropped: u64,
    count: Arc<Count>,
}

/// A frame that is shown at `at` at the earliest.
struct Kept {
    at: Nanos,
    bytes: KeptBytes,
}

enum KeptBytes {
    Prepared(u32),
    Copy(Vec<u8>),
}

impl Kept {
    fn new(at: Nanos, bytes: Bytes<'_>) -> Self {
        let bytes = match bytes {
            Bytes::Prepared(index) => KeptBytes::Prepared(index),
            Bytes::Borrowed(bytes) => KeptBytes::Copy(bytes.to_vec()),
        };
        Self { at, bytes }
    }

    fn incoming(&self) -> Incoming<'_> {
        let bytes = match &self.bytes {
            KeptBytes::Prepared(index) => Bytes::Prepared(*index),
            KeptBytes::Copy(bytes) => Bytes::Borrowed(bytes),
        };
        Incoming { at: self.at, bytes }
    }
}

impl FaultyQueue {
    pub(super) fn new(
        within: Box<dyn Queue>,
        fault: Fault,
        seed: u64,
        prepared: Arc<[Prepared]>,
        count: Arc<Count>,
    ) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let state = State {
            random,
            prepared,
            kept: VecDeque::new(),
            latest: Nanos::ZERO,
            stalled: false,
            until: Nanos::ZERO,
            dropped: 0,
            count,
        };
        let mut queue = Self { within, fault, state };
        queue.plan_stall(Nanos::ZERO);
        queue
    }

    /// The next stall begins some time after `now`, as if stalls knew nothing of each other.
    fn plan_stall(&mut self, now: Nanos) {
        if let Fault::Stall { every, .. } = self.fault {
            let uniform: f64 = self.state.random.random();
            self.state.until = now - every * (1.0 - uniform).ln();
        }
    }

    /// Whether nothing comes at `now`.
    fn is_stalled(&mut self, now: Nanos) -> bool {
        let Fault::Stall { lasting, .. } = self.fault else { return false };
        if now < self.state.until {
            return self.state.stalled;
        }
        if self.state.stalled {
            self.state.stalled = false;
            self.plan_stall(now);
        } else {
            self.state.stalled = true;
            self.state.until = now + lasting;
            self.state.strike();
        }
        self.state.stalled
    }
}

impl State {
    /// Whether this frame is the one, with `probability`.
    fn strikes(&mut self, probability: f64) -> bool {
        let strikes = self.random.random::<f64>() < probability;
        if strikes {
            self.strike();
        }
        strikes
    }

    fn strike(&self) {
        self.count.injected.fetch_add(1, Ordering::Relaxed);
    }

    fn keep(&mut self, at: Nanos, bytes: Bytes<'_>) {
        self.kept.push_back(Kept::new(at, bytes));
        self.count.withheld.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows what has been kept for long enough, up to `limit` frames; how many.
    fn release(&mut self, now: Nanos, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let mut released = 0;
        while released < limit && self.kept.front().is_some_and(|kept| kept.at <= now) {
            let Some(kept) = self.kept.pop_front() else { break };
            self.count.withheld.fetch_sub(1, Ordering::Relaxed);
            self.show(kept.incoming(), take);
            released += 1;
        }
        released
    }

    /// Shows a frame. It arrives now if one that was sent later has been shown already.
    fn show(&mut self, incoming: Incoming<'_>, take: &mut dyn FnMut(Incoming<'_>)) {
        self.latest = self.latest.max(incoming.at);
        take(Incoming { at: self.latest, ..incoming });
    }

    /// A frame has come in: whether it is shown at once.
    fn pass(&mut self, fault: Fault, incoming: Incoming<'_>, take: &mut dyn FnMut(Incoming<'_>)) -> bool {
        let Incoming { at, bytes } = incoming;
        match fault {
            Fault::Drop(probability) if self.strikes(probability) => {
                self.dropped += 1;
                return false;
            }
            Fault::Delay { probability, by } if self.strikes(probability) => {
                self.keep(at + by, bytes);
                return false;
            }
            Fault::Reorder(probability) if self.kept.is_empty() && self.strikes(probability) => {
                self.keep(at + OVERTAKEN_WITHIN, bytes);
                return false;
            }
            Fault::Reorder(_) => {
                self.show(incoming, take);
                if let Some(overtaken) = self.kept.front_mut() {
                    overtaken.at = at;
                }
            }
            Fault::Duplicate(probability) if self.strikes(probability) => {
                self.show(incoming, take);
                self.keep(at, bytes);
            }
            Fault::Corrupt(probability) if self.strikes(probability) => {
                let copy = self.corrupted(bytes);
                self.show(Incoming { at, bytes: Bytes::Borrowed(&copy) }, take);
            }
            _ => self.show(incoming, take),
        }
        true
    }

    /// A copy with one bit flipped.
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
        self.within.begin(now);
        self.plan_stall(now);
    }

    fn receive(&mut self, now: Nanos, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize {
        if self.is_stalled(now) {
            return 0;
        }
        let Self { within, fault, state } = self;
        let mut shown = state.release(now, limit, take);
        if shown < limit {
            within.receive(now, limit - shown, &mut |incoming| {
                shown += usize::from(state.pass(*fault, incoming, take));
            });
        }
        shown
    }

    fn due(&self) -> Due {
        let within = self.within.due();
        let kept = self.state.kept.front().map(|kept| kept.at);
        let due = match (within, kept) {
            (Due::Unknown, _) => Due::Unknown,
            (within, None) => within,
            (Due::Never, Some(kept)) => Due::At(kept),
            (Due::At(at), Some(kept)) => Due::At(Nanos(at.0.min(kept.0))),
        };
        match due {
            Due::At(at) if self.state.stalled => Due::At(at.max(self.state.until)),
            Due::Unknown if self.state.stalled => Due::At(self.state.until),
            due => due,
        }
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.within.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.within.flush()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.within.descriptor()
    }

    fn lost(&mut self) -> u64 {
        self.within.lost() + self.state.dropped
    }
}
