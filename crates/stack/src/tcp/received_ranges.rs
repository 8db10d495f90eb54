//! Which bytes arrived before those that precede them.
//!
//! The bytes themselves lie at their places in the receive buffer. A peer decides how many gaps there
//! are, so only a fixed number of ranges is remembered: what would need one more is dropped, and the
//! peer sends it again.

use crate::wire::SequenceNumber;
use alloc::vec::Vec;

/// Most ranges remembered.
pub(super) const MAX_RANGES: usize = 16;

/// Bytes from the first position to before the second.
type Range = (SequenceNumber, SequenceNumber);

/// Ranges in order, that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedRanges {
    ranges: Vec<Range>,
}

impl ReceivedRanges {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds the bytes from `start` to before `end`, and returns whether there was room.
    pub(super) fn insert(&mut self, start: SequenceNumber, end: SequenceNumber) -> bool {
        let first = self.ranges.partition_point(|range| range.1.is_before(start));
        let last = self.ranges.partition_point(|range| range.0.is_at_or_before(end));
        let Some(joined) = self.ranges.get(first..last).filter(|joined| !joined.is_empty()) else {
            let has_room = self.ranges.len() < MAX_RANGES;
            if has_room {
                self.ranges.insert(first, (start, end));
            }
            return has_room;
        };
        let start = joined.first().map_or(start, |range| range.0.earlier(start));
        let end = joined.last().map_or(end, |range| range.1.later(end));
        self.ranges.splice(first..last, [(start, end)]);
        true
    }

    /// All bytes before `next` arrived. Removes the ranges that this reaches, and returns the position
    /// after them.
    pub(super) fn reach(&mut self, next: SequenceNumber) -> SequenceNumber {
        let reached = self.ranges.partition_point(|range| range.0.is_at_or_before(next));
        self.ranges.drain(..reached).fold(next, |next, range| next.later(range.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The model: a set of bytes.
        #[test]
        fn ranges_are_the_bytes_that_were_inserted(
            start: u32,
            pieces in prop::collection::vec((1..60_u32, 1..12_u32), 1..30),
        ) {
            let at = |offset| SequenceNumber(start) + offset;
            let (mut ranges, mut model) = (ReceivedRanges::default(), [false; 80]);
            for (from, length) in pieces {
                if ranges.insert(at(from), at(from + length)) {
                    model[from as usize..(from + length) as usize].fill(true);
                }
                prop_assert!(ranges.ranges.len() <= MAX_RANGES);
                let mut held = [false; 80];
                for (from, to) in &ranges.ranges {
                    let (from, to) = (from.since(at(0)) as usize, to.since(at(0)) as usize);
                    prop_assert!(from < to && !held[from - 1], "ranges touch or overlap");
                    held[from..to].fill(true);
                }
                prop_assert_eq!(held, model);
            }
            let reached = ranges.reach(at(1)).since(at(0));
            let expected = 1 + model[1..].iter().take_while(|held| **held).count() as u32;
            prop_assert_eq!(reached, expected);
        }
    }

    #[test]
    fn the_ranges_are_bounded_and_a_range_that_joins_others_still_has_room() {
        let mut ranges = ReceivedRanges::default();
        let at = SequenceNumber;
        for index in 0..MAX_RANGES as u32 {
            assert!(ranges.insert(at(10 * index), at(10 * index + 5)));
        }
        assert!(!ranges.insert(at(1000), at(1001)));
        assert!(ranges.insert(at(5), at(10)));
        assert!(ranges.insert(at(1000), at(1001)));
    }
}
