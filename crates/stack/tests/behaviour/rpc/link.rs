//! The link between two endpoints: it loses, doubles, delays and reorders frames.

use rand::{Rng, RngExt};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use warmcore_stack::wire::rpc::blast::{BlastFrame, parse};

/// What the link does to frames. Corrupted ones are lost: a layer below has a checksum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Faults {
    pub(super) loss: f64,
    pub(super) duplication: f64,
    pub(super) delay: Duration,
    pub(super) jitter: Duration,
}

impl Faults {
    pub(super) fn draw(random: &mut impl Rng) -> Self {
        let mut up_to =
            |most: f64| if random.random_bool(0.5) { 0.0 } else { random.random_range(0.0..most) };
        Self {
            loss: up_to(0.2),
            duplication: up_to(0.2),
            delay: Duration::from_secs_f64(up_to(0.03)),
            jitter: Duration::from_secs_f64(up_to(0.03)),
        }
    }
}

/// A fragment of a message that one side has sent.
type SentFragment = (u32, u8);

pub(super) struct Link {
    faults: Faults,
    /// When a frame arrives, in which order it was sent, at which side.
    frames: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    pub(super) sent: u64,
    /// Fragments that each side has sent, and those that it was asked for since.
    fragments: [(HashSet<SentFragment>, HashSet<SentFragment>); 2],
    pub(super) resent: u64,
}

impl Link {
    pub(super) fn new(faults: Faults) -> Self {
        let fragments = Default::default();
        Self { faults, frames: BTreeMap::new(), sent: 0, fragments, resent: 0 }
    }

    /// Puts a frame on the link, with its faults.
    pub(super) fn send(&mut self, now: Duration, from: usize, frame: &[u8], random: &mut impl Rng) {
        let copies = 1 + u64::from(random.random_bool(self.faults.duplication));
        for _ in 0..copies {
            self.sent += 1;
            if !random.random_bool(self.faults.loss) {
                let jitter = self.faults.jitter.mul_f64(random.random_range(0.0..1.0));
                let arrival = now + self.faults.delay + jitter;
                self.frames.insert((arrival, self.sent), (1 - from, frame.to_vec()));
            }
        }
    }

    /// When the next frame arrives.
    pub(super) fn next_arrival(&self) -> Option<Duration> {
        self.frames.keys().next().map(|(at, _)| *at)
    }

    /// The next frame that arrives until `now`, and the side.
    pub(super) fn arrival(&mut self, now: Duration) -> Option<(usize, Vec<u8>)> {
        let entry = self.frames.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Checks that a fragment is sent a second time only if it was asked for.
    pub(super) fn check_sent(&mut self, from: usize, frame: &[u8]) -> Result<(), String> {
        let Ok(BlastFrame::Fragment(fragment)) = parse(frame) else { return Ok(()) };
        let it = (fragment.message, fragment.number);
        let (sent, asked) = &mut self.fragments[from];
        if fragment.count == 1 || sent.insert(it) {
            return Ok(());
        }
        self.resent += 1;
        let was_asked = asked.remove(&it);
        if was_asked { Ok(()) } else { Err(format!("{fragment:?} was sent again, but nobody missed it")) }
    }

    /// Notes what fragments a side is asked for.
    pub(super) fn note_arrival(&mut self, to: usize, frame: &[u8]) {
        let Ok(BlastFrame::Nack(nack)) = parse(frame) else { return };
        let numbers = (0..nack.count).filter(|number| nack.missing >> number & 1 != 0);
        self.fragments[to].1.extend(numbers.map(|number| (nack.message, number)));
    }
}
