//! Sequence numbers of TCP (RFC 9293, §3.4): positions in a stream of bytes, modulo 2^32.

use core::ops::{Add, Sub};

/// A position in a stream, modulo 2^32.
///
/// Positions compare as if neither were more than 2^31 - 1 from the other. That is no order of all
/// positions (it is not transitive), so there is no `Ord`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SequenceNumber(pub u32);

impl SequenceNumber {
    /// Bytes from `earlier` to this position.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Whether this position comes before `other`.
    #[inline]
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// Whether this position is `other` or comes before it.
    #[inline]
    #[must_use]
    pub const fn is_at_or_before(self, other: Self) -> bool {
        !other.is_before(self)
    }

    /// Whether this position is among the `length` that begin at `start`.
    #[inline]
    #[must_use]
    pub const fn is_within(self, start: Self, length: u32) -> bool {
        self.since(start) < length
    }

    /// The later of two positions.
    #[inline]
    #[must_use]
    pub const fn later(self, other: Self) -> Self {
        if self.is_before(other) { other } else { self }
    }

    /// The earlier of two positions.
    #[inline]
    #[must_use]
    pub const fn earlier(self, other: Self) -> Self {
        if other.is_before(self) { other } else { self }
    }
}

impl Add<u32> for SequenceNumber {
    type Output = Self;

    #[inline]
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl Sub<u32> for SequenceNumber {
    type Output = Self;

    #[inline]
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HALF: u32 = 1 << 31;

    #[test]
    fn zero_comes_after_the_last_number() {
        let last = SequenceNumber(u32::MAX);
        assert!(last.is_before(SequenceNumber(0)));
        assert_eq!(last + 1, SequenceNumber(0));
        assert_eq!(SequenceNumber(0) - 1, last);
        assert_eq!(SequenceNumber(9).since(last), 10);
        assert!(SequenceNumber(3).is_within(last, 5) && !SequenceNumber(4).is_within(last, 5));
        assert_eq!(last.later(SequenceNumber(2)), SequenceNumber(2));
        assert_eq!(SequenceNumber(2).earlier(last), last);
    }

    #[test]
    fn nothing_is_within_no_bytes() {
        assert!(!SequenceNumber(5).is_within(SequenceNumber(5), 0));
    }

    proptest! {
        #[test]
        fn positions_compare_as_in_an_endless_stream(start: u32, a in 0..HALF, b in 0..HALF) {
            let at = |offset| SequenceNumber(start) + offset;
            prop_assert_eq!(at(a).is_before(at(b)), a < b);
            prop_assert_eq!(at(a).is_at_or_before(at(b)), a <= b);
            prop_assert_eq!(at(a).later(at(b)), at(a.max(b)));
            prop_assert_eq!(at(a).earlier(at(b)), at(a.min(b)));
            prop_assert_eq!(at(a).is_within(at(0), b), a < b);
            prop_assert_eq!((at(a) - a).since(at(0)), 0);
        }
    }
}
