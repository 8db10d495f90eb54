//! Comparing alternatives in blocks. Each alternative is tried once in every block, so that what changes
//! from block to block affects all of them alike. The control is tried twice in each block; that A/A
//! difference is the noise floor, and if it is significant, no other difference can be trusted.

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

/// A change, judged against the A/A difference of the control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeVerdict {
    /// An increase larger than the A/A difference can be.
    More,
    /// A decrease larger than the A/A difference can be.
    Less,
    /// No larger than chance or than the A/A difference explains.
    NotVisible,
    /// The A/A difference is significant: nothing can be concluded.
    Unsound,
}

impl ChangeVerdict {
    /// The name for other programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::NotVisible => "not-visible",
            Self::Unsound => "unsound",
        }
    }
}

/// Judges `change` if the control differed from itself by `control`.
#[must_use]
pub fn verdict(change: &Change, control: &Change) -> ChangeVerdict {
    if !control.may_be_none() {
        ChangeVerdict::Unsound
    } else if change.may_be_none() || change.mean.abs() <= control.at_most() {
        ChangeVerdict::NotVisible
    } else if change.mean > 0.0 {
        ChangeVerdict::More
    } else {
        ChangeVerdict::Less
    }
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
        assert_eq!(verdict(&change(0.01, 0.03), &control), ChangeVerdict::NotVisible);
        assert_eq!(verdict(&change(0.2, 0.4), &change(0.01, 0.05)), ChangeVerdict::Unsound);
    }
}
