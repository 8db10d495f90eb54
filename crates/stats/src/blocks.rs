//! Comparing alternatives in blocks. Each alternative is tried once in every block, so that what changes
//! from block to block affects all of them alike. The control is tried twice in each block. How much it may
//! differ from itself (A/A) is the noise floor: only what is beyond it is a difference.
//!
//! An A/A difference that is significant does not make an experiment worthless: its interval excludes zero
//! in 5% of faultless ones, and a bias that it shows is no larger than the floor.

use crate::paired::Change;

/// The order in which `count` alternatives are tried in block number `block`, both numbered from 0.
///
/// Over `count` blocks (twice as many if `count` is odd) each alternative is at every position and directly
/// after every other equally often, so that the after-effects of one do not always hit the same other
/// (Williams 1949).
#[must_use]
pub fn order(count: usize, block: usize) -> Vec<usize> {
    let zigzag =
        (0..count).map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (count - place / 2) % count });
    let shifted = zigzag.map(|alternative| (alternative + block) % count);
    let mirrored = count % 2 == 1 && (block / count.max(1)) % 2 == 1;
    let mut order: Vec<usize> = shifted.collect();
    if mirrored {
        order.reverse();
    }
    order
}

/// A change, judged against the noise floor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeVerdict {
    /// An increase, its whole interval beyond the noise floor.
    More,
    /// A decrease, its whole interval beyond the noise floor.
    Less,
    /// Its interval is not wholly beyond the noise floor: there may be no change, or one that cannot be seen.
    NotVisible,
}

impl ChangeVerdict {
    /// The name for other programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::NotVisible => "not-visible",
        }
    }
}

/// Judges `change` if the control differed from itself by `control`: it is real if all of its interval is
/// further from no change than anything in the interval of the control. Distances are of logarithms, so that
/// doubling and halving are equally far.
///
/// Without a change this is wrong in fewer than 5% of experiments, as often as the interval of `change`
/// excludes zero at most; the floor takes most of them.
#[must_use]
pub fn verdict(change: &Change, control: &Change) -> ChangeVerdict {
    let floor = noise_floor(control);
    if change.low.ln_1p() > floor {
        ChangeVerdict::More
    } else if change.high.ln_1p() < -floor {
        ChangeVerdict::Less
    } else {
        ChangeVerdict::NotVisible
    }
}

/// The smallest increase that would have been seen with intervals as wide as these: a fraction, 0.3 is 30%
/// more. A decrease had to be as far from no change: `x / (1 + x)` of it.
#[must_use]
pub fn smallest_visible(change: &Change, control: &Change) -> f64 {
    let half_width = (change.high.ln_1p() - change.low.ln_1p()) / 2.0;
    (noise_floor(control) + half_width).exp_m1()
}

/// The largest distance from no change in the interval of the A/A difference.
fn noise_floor(control: &Change) -> f64 {
    control.low.ln_1p().abs().max(control.high.ln_1p().abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_alternative_is_at_every_position_and_after_every_other_equally_often() {
        for count in 1..=7 {
            let blocks = if count % 2 == 0 { count } else { 2 * count };
            let (mut places, mut followers) = (BTreeMap::new(), BTreeMap::new());
            for block in 0..blocks {
                let order = order(count, block);
                for (place, &alternative) in order.iter().enumerate() {
                    *places.entry((place, alternative)).or_insert(0) += 1;
                }
                for pair in order.windows(2) {
                    *followers.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
            assert_eq!(places.len(), count * count);
            assert!(places.values().all(|&times| times == blocks / count), "{count}: {places:?}");
            assert_eq!(followers.len(), count * (count - 1));
            assert!(followers.values().all(|&times| times == blocks / count), "{count}: {followers:?}");
        }
    }

    #[test]
    fn a_change_counts_only_beyond_the_noise_floor() {
        let change = |low: f64, high: f64| Change { mean: (low + high) / 2.0, low, high };
        let control = change(-0.03, 0.02);
        assert_eq!(verdict(&change(0.2, 0.4), &control), ChangeVerdict::More);
        assert_eq!(verdict(&change(-0.4, -0.2), &control), ChangeVerdict::Less);
        assert_eq!(verdict(&change(-0.1, 0.4), &control), ChangeVerdict::NotVisible);
        assert_eq!(
            verdict(&change(0.01, 0.09), &control),
            ChangeVerdict::NotVisible,
            "its lower end is not beyond"
        );
        // Whatever the control shows of itself is less than this change, and more than that one.
        let biased = change(0.002, 0.044);
        assert_eq!(verdict(&change(-0.252, -0.21), &biased), ChangeVerdict::Less);
        assert_eq!(verdict(&change(0.03, 0.06), &biased), ChangeVerdict::NotVisible);
        assert_eq!(
            verdict(&change(0.6, 0.7), &change(-0.5, 0.1)),
            ChangeVerdict::NotVisible,
            "doubling is as far as halving"
        );
    }

    #[test]
    fn what_is_a_little_larger_than_the_smallest_visible_change_is_seen() {
        let log = |middle: f64, half: f64| Change {
            mean: middle.exp_m1(),
            low: (middle - half).exp_m1(),
            high: (middle + half).exp_m1(),
        };
        let control = log(0.01, 0.03);
        let least = smallest_visible(&log(0.0, 0.02), &control);
        assert!((least.ln_1p() - 0.06).abs() < 1e-12);
        for (middle, seen) in
            [(0.061, ChangeVerdict::More), (-0.061, ChangeVerdict::Less), (0.059, ChangeVerdict::NotVisible)]
        {
            assert_eq!(verdict(&log(middle, 0.02), &control), seen, "{middle}");
        }
    }
}
