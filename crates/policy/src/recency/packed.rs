//! Recency of at most fifteen members, packed into one word: four bits for each member, the most recent
//! in the lowest bits. All operations work in registers.

/// A subset of `0..15`, ordered from the least to the most recently added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packed(u64);

const BITS: u32 = 4;
/// An empty place; all places above it are empty too.
const NOBODY: u64 = (1 << BITS) - 1;
/// How many members there can be.
pub(super) const CAPACITY: u32 = NOBODY as u32;
/// The lowest bit of every place.
const ONES: u64 = u64::MAX / NOBODY;
/// The highest bit of every place.
const HIGHS: u64 = ONES << (BITS - 1);

impl Packed {
    pub(super) const EMPTY: Self = Self(u64::MAX);

    #[inline]
    pub(super) const fn contains(self, member: u32) -> bool {
        self.places_of(member) != 0
    }

    #[inline]
    pub(super) const fn push(&mut self, member: u32) {
        self.0 = self.0 << BITS | member as u64;
    }

    /// Removes `member`, which must be in the set.
    #[inline]
    pub(super) const fn remove(&mut self, member: u32) {
        let places = self.places_of(member);
        // All bits below its place.
        let newer = ((places & places.wrapping_neg()) >> (BITS - 1)).wrapping_sub(1);
        let older = self.0 >> BITS | NOBODY << (u64::BITS - BITS);
        self.0 = self.0 & newer | older & !newer;
    }

    #[inline]
    pub(super) const fn newest(self) -> Option<u32> {
        let newest = self.0 & NOBODY;
        if newest == NOBODY { None } else { Some(newest as u32) }
    }

    #[inline]
    pub(super) const fn oldest(self) -> Option<u32> {
        if self.0 == u64::MAX {
            return None;
        }
        let place = (u64::BITS - 1 - (!self.0).leading_zeros()) / BITS;
        Some((self.0 >> (place * BITS) & NOBODY) as u32)
    }

    /// The highest bits of the places that hold `member`. Zero only if no place holds it; bits above the
    /// lowest set bit may belong to other places.
    #[inline]
    const fn places_of(self, member: u32) -> u64 {
        // A place is zero if it holds `member`. The subtraction sets the highest bit only in a place that
        // is zero, or that a zero place below has borrowed from.
        let differing = self.0 ^ (member as u64 * ONES);
        differing.wrapping_sub(ONES) & !differing & HIGHS
    }
}
