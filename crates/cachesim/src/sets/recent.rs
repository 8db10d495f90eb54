//! LRU for sets of up to 16 ways: lines stay in place, and a word for each set holds the ways in order of last use, four
//! bits each, the latest lowest. Nothing here branches on where a line is found, which no processor can predict.

use super::{Access, EMPTY, HIT};

/// The ways that one word can order.
pub(crate) const MAX_WAYS: usize = 16;

/// Way `n` in place `n`. Places behind the last way keep ways that do not exist.
pub(crate) const START: u64 = 0xfedc_ba98_7654_3210;

const ONES: u64 = 0x1111_1111_1111_1111;

/// Where `way` stands in `order`: the lowest of its four bits.
#[inline(always)]
const fn place(order: u64, way: u64) -> u32 {
    // The four bits of `way`, and only they, become zero, and so the lowest that borrow.
    let different = order ^ (way * ONES);
    let zero = different.wrapping_sub(ONES) & !different & (ONES << 3);
    zero.trailing_zeros() & !3
}

/// `order` after `way` was used.
#[inline(always)]
pub(super) const fn used(order: u64, way: u64) -> u64 {
    let place = place(order, way);
    let later = (1 << place) - 1;
    order & !(later | 0xf << place) | (order & later) << 4 | way
}

/// `order` of `ways` after what was in `way` went: it is the next to be filled.
pub(super) const fn vacated(order: u64, way: u64, ways: usize) -> u64 {
    let place = place(order, way);
    let last = 4 * (ways as u32 - 1);
    let later = (1 << place) - 1;
    // What stands behind it, up to the last way, moves forward.
    let behind = order >> 4 & !later & ((1 << last) - 1);
    let beyond = if last == 60 { 0 } else { order >> (last + 4) << (last + 4) };
    order & later | behind | way << last | beyond
}

/// The way that was used least recently.
#[inline(always)]
const fn last(order: u64, ways: usize) -> u64 {
    order >> (4 * (ways - 1)) & 0xf
}

/// Looks for `line` in a set, and brings it in if it is not there.
#[inline(always)]
pub(super) fn access(set: &mut [u64], order: &mut u64, line: u64, changed: u64) -> Access {
    let ways = set.len();
    let wanted = line << 1;
    let latest = &mut set[(*order & 0xf) as usize % ways];
    if *latest >> 1 == line {
        *latest |= changed;
        return HIT;
    }
    let none = ways as u64;
    let mut found = none;
    for (way, &word) in set.iter().enumerate() {
        found = if word >> 1 == line { way as u64 } else { found };
    }
    let hit = found != none;
    let way = if hit { found } else { last(*order, ways) };
    *order = used(*order, way);
    let word = &mut set[way as usize];
    let old = *word;
    let new = wanted | changed | (old & u64::from(hit));
    // A word that was just written makes the next search of the whole set wait.
    if old != new {
        *word = new;
    }
    Access { hit, victim: if hit { EMPTY } else { old } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways in order of last use.
    fn ways(order: u64) -> Vec<u64> {
        (0..16).map(|place| order >> (4 * place) & 0xf).collect()
    }

    #[test]
    fn a_used_way_comes_first_and_a_vacated_one_last() {
        let order = used(used(START, 5), 15);
        assert_eq!(ways(order)[..8], [15, 5, 0, 1, 2, 3, 4, 6]);
        assert_eq!(ways(vacated(START, 1, 4)), [0, 2, 3, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(ways(vacated(START, 0, 16))[14..], [15, 0]);
        for way in 0..16 {
            assert_eq!(ways(used(START, way))[0], way);
            assert_eq!(ways(vacated(START, way, 16))[15], way);
            let mut all = ways(vacated(used(START, 3), way, 16));
            all.sort_unstable();
            assert_eq!(all, (0..16).collect::<Vec<_>>());
        }
    }
}
