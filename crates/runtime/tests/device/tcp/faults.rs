//! What a bad network does to frames, between the device and the connections.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a frame that is overtaken waits at most.
const LONGEST_DELAY: Duration = Duration::from_millis(4);

/// The direction of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    In,
    Out,
}

/// How many of all frames, in each direction, suffer what.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    pub(crate) corruption: f64,
    /// Frames that wait, so that later ones overtake them.
    pub(crate) reordering: f64,
}

/// Frames on their way, by when they come out and in which order they went in.
type Wire = BTreeMap<(Duration, u64), Vec<u8>>;

/// A network with faults, the same for the same seed and the same frames.
pub(crate) struct Faults {
    random: Xoshiro256PlusPlus,
    rates: Rates,
    wires: [Wire; 2],
    frames: u64,
    /// Frames that suffered something.
    pub(crate) suffered: u64,
}

impl Faults {
    pub(crate) fn new(seed: u64, rates: Rates) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, rates, wires: Default::default(), frames: 0, suffered: 0 }
    }

    fn suffers(&mut self, rate: f64) -> bool {
        let suffers = self.random.random_bool(rate);
        self.suffered += u64::from(suffers);
        suffers
    }

    /// Takes `frame`, whose first `header` bytes are not on the wire.
    pub(crate) fn take(&mut self, direction: Direction, now: Duration, frame: &[u8], header: usize) {
        let copies = 1 + u64::from(self.suffers(self.rates.duplication));
        for _ in 0..copies {
            self.frames += 1;
            if self.suffers(self.rates.loss) {
                continue;
            }
            let mut frame = frame.to_vec();
            if self.suffers(self.rates.corruption) {
                let bit = self.random.random_range(header * 8..frame.len() * 8);
                frame[bit / 8] ^= 1 << (bit % 8);
            }
            let mut out = now;
            if self.suffers(self.rates.reordering) {
                out += LONGEST_DELAY.mul_f64(self.random.random_range(0.0..1.0));
            }
            self.wires[direction as usize].insert((out, self.frames), frame);
        }
    }

    /// The next frame that has come out by `now`.
    pub(crate) fn next(&mut self, direction: Direction, now: Duration) -> Option<Vec<u8>> {
        let entry = self.wires[direction as usize].first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }

    /// When the next frame comes out.
    pub(crate) fn next_time(&self) -> Option<Duration> {
        self.wires.iter().filter_map(|wire| wire.keys().next()).map(|(at, _)| *at).min()
    }
}
