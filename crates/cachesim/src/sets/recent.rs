//! LRU for sets of up to 16 ways: lines stay in place, and a word for each set holds the ways in order of last use, four
//! bits each, the latest lowest. The latest is looked at first, which a processor predicts well of programs; otherwise
//! nothing branches on where a line is found.

use super::{Access, HIT, miss};

/// The ways that one word can order.
pub(crate) const MAX_WAYS: usize = 16;

/// Way `n` in place `n`. Places behind the last way keep ways that do not exist.
const START: u64 = 0xfedc_ba98_7654_3210;

/// The lowest bit of each byte.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// The lowest bit of each four.
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

/// What is known of a set beside its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recency {
    pub(super) order: u64,
    /// Eight bits of each line, by way: a search looks at no word but those that may be it.
    tags: [u64; MAX_WAYS / 8],
}

impl Recency {
    pub(super) const START: Self = Self { order: START, tags: [0; MAX_WAYS / 8] };
}

/// Looks for `line` in a set, and brings it in if it is not there.
#[inline(always)]
pub(super) fn access(set: &mut [u64], recency: &mut Recency, line: u64, changed: u64) -> Access {
    let ways = set.len();
    let latest = &mut set[(recency.order & 0xf) as usize % ways];
    if *latest >> 1 == line {
        *latest |= changed;
        return HIT;
    }
    // The highest bits of a product depend on all bits (Knuth, The Art of Computer Programming 3, §6.4).
    let tag = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    for half in 0..ways.div_ceil(8) {
        let different = recency.tags[half] ^ (tag * BYTES);
        let mut candidates = different.wrapping_sub(BYTES) & !different & (BYTES << 7);
        while candidates != 0 {
            let way = half * 8 + candidates.trailing_zeros() as usize / 8;
            if set.get(way).is_some_and(|word| word >> 1 == line) {
                set[way] |= changed;
                recency.order = used(recency.order, way as u64);
                return HIT;
            }
            candidates &= candidates - 1;
        }
    }
    let way = last(recency.order, ways);
    recency.order = used(recency.order, way);
    let (half, shift) = (way as usize / 8, way % 8 * 8);
    recency.tags[half] = recency.tags[half] & !(0xff << shift) | tag << shift;
    miss(std::mem::replace(&mut set[way as usize], line << 1 | changed))
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
