//! Sizes, shares and random numbers of the programs' inputs.
//!
//! Each program's largest sizes are such that an image has about two gigabytes at most.

use crate::programs::cost::Pace;
use crate::random::{Key, Purpose, Random};
use core::ops::Range;
use warmcore_units::Fault;

/// The random numbers of the input that has this `seed`.
pub(super) fn random(seed: u64) -> Random {
    Key { seed, point: 0, replication: 0 }.stream(Purpose::Input)
}

/// The part of `items` that `processor` of `processors` works on: equal shares, in order.
pub(super) fn share(items: u64, processor: u32, processors: u32) -> Range<u64> {
    let [items, processors] = [u128::from(items), u128::from(processors.max(1))];
    let begin = |processor: u128| (items * processor / processors) as u64;
    begin(u128::from(processor))..begin(u128::from(processor) + 1)
}

/// Which processor has `item` in its share.
pub(super) fn owner(items: u64, item: u64, processors: u32) -> u32 {
    let [items, item, processors] = [items, item, u64::from(processors.max(1))].map(u128::from);
    (((item + 1) * processors).div_ceil(items.max(1)) - 1) as u32
}

/// A fault of `field` unless `holds`.
pub(super) fn require(
    holds: bool,
    field: &str,
    found: impl core::fmt::Display,
    expected: &str,
) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::new(field, found, expected)) }
}

/// Checks what all programs have: processors, and a pace.
pub(super) fn check_common(pace: Pace, processors: u32) -> Result<(), Fault> {
    require((1..=MAX_PROCESSORS).contains(&processors), "processors", processors, "1 to 4096")?;
    require((0.0..=1000.0).contains(&pace.factor), "pace", pace.factor, "0 to 1000")
}

/// More processors than any machine of the sources; a bound on what is allocated for each.
const MAX_PROCESSORS: u32 = 4096;

/// Mixes `words` into a number that depends on every bit of each, in this order.
pub(super) fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0x9e37_79b9_7f4a_7c15, |mixed, word| {
        (mixed ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once_and_owners_agree() {
        for (items, processors) in [(10, 3), (3, 7), (64, 64), (1, 1), (1000, 7)] {
            let mut next = 0;
            for processor in 0..processors {
                let mine = share(items, processor, processors);
                assert_eq!(mine.start, next);
                next = mine.end;
                for item in mine {
                    assert_eq!(
                        owner(items, item, processors),
                        processor,
                        "{item} of {items} on {processors}"
                    );
                }
            }
            assert_eq!(next, items);
        }
    }

    #[test]
    fn a_digest_depends_on_every_word_and_their_order() {
        let of = |words: &[u64]| digest(words.iter().copied());
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[1, 2]), of(&[1, 3]));
        assert_ne!(of(&[0]), of(&[0, 0]));
    }
}
