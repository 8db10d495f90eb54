//! What a plan is rich in. Few plans have everything, so that each thing meets every other often.

use super::{Plan, Size, Touches};
use rand::{Rng, RngExt};

/// See the module's documentation.
pub(super) struct Shape {
    /// How much there is of each kind of event: in the order of [`Touches`], with few keys and with many.
    kinds: [f64; 6],
    pub(super) batches: f64,
    pub(super) longest_batch: u64,
    pub(super) awaits: f64,
    pub(super) panics: f64,
    /// The part of events whose handlers dispatch.
    pub(super) follows: f64,
    /// Events that such a handler dispatches.
    pub(super) following: u64,
}

impl Shape {
    pub(super) fn draw(random: &mut impl Rng, size: &Size, plan: &Plan) -> Self {
        let mut part =
            |of: f64, most: f64| if random.random_bool(of) { random.random_range(0.0..most) } else { 0.0 };
        let panics = part(0.5, size.panics);
        Self {
            kinds: [
                0.2 + part(0.7, 1.0),
                part(0.5, 1.0),
                part(0.5, 0.5),
                part(0.4, 0.5),
                part(0.5, 0.3),
                part(0.3, 0.5),
            ],
            batches: part(0.3, 0.5),
            longest_batch: 3 * plan.capacity as u64,
            awaits: part(0.3, 1.0),
            panics,
            follows: part(0.3, 0.5),
            following: random.random_range(1..=3),
        }
    }

    pub(super) fn touches(&self, random: &mut impl Rng, keys: u64) -> Touches {
        let mut left = random.random_range(0.0..self.kinds.iter().sum());
        let kind = self.kinds.iter().position(|&part| {
            left -= part;
            left < 0.0
        });
        let mut key = || random.random_range(0..keys);
        match kind.unwrap_or(0) {
            0 => Touches::Key(key()),
            1 => Touches::Freshest(key()),
            2 => Touches::Keys(vec![key(), key()]),
            3 => Touches::Keys(vec![key(), key(), key(), key()]),
            4 => Touches::All,
            _ => Touches::Nothing,
        }
    }
}
