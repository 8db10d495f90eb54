//! The Internet checksum (RFC 1071), summed in wide words.
//!
//! The one's-complement sum does not depend on byte order, so words are summed as the machine
//! loads them: 32 bits at a time into 64-bit lanes, which cannot overflow for any frame and which
//! the compiler turns into vector additions. A sum over data that includes its own correct
//! checksum folds to `0xffff`.

use core::hint::cold_path;

/// Bytes summed in one step, in [`LANES`] independent sums.
const BLOCK: usize = 4 * LANES;
const LANES: usize = 8;

/// The sum of whole blocks, in independent lanes.
#[inline]
fn sum_of_blocks(blocks: &[[u8; BLOCK]]) -> u64 {
    let mut lanes = [0_u64; LANES];
    for block in blocks {
        let (words, _) = block.as_chunks::<4>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane += u64::from(u32::from_ne_bytes(*word));
        }
    }
    lanes.iter().sum()
}

/// A one's-complement sum in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum of no bytes.
    pub const ZERO: Self = Self(0);

    /// The sum with `bytes` added, padded with a zero byte to whole 16-bit words.
    ///
    /// Only the last part of what is summed may have an odd length.
    #[inline]
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut sum = self.0;
        if !blocks.is_empty() {
            // Short data, where latency counts, never comes here; long data pays for itself.
            cold_path();
            sum += sum_of_blocks(blocks);
        }
        let (words, tail) = rest.as_chunks::<4>();
        for word in words {
            sum += u64::from(u32::from_ne_bytes(*word));
        }
        sum += match *tail {
            [] => 0,
            [a] => u64::from(u32::from_ne_bytes([a, 0, 0, 0])),
            [a, b] => u64::from(u32::from_ne_bytes([a, b, 0, 0])),
            [a, b, c, ..] => u64::from(u32::from_ne_bytes([a, b, c, 0])),
        };
        Self(sum)
    }

    /// The sum with one 16-bit word added that is `word` in network byte order.
    #[inline]
    #[must_use]
    pub fn with_word(self, word: u16) -> Self {
        Self(self.0 + u64::from(word.to_be()))
    }

    /// Folds the sum to 16 bits, in the byte order in which it was loaded.
    #[inline]
    fn fold(self) -> u16 {
        let mut sum = self.0;
        sum = (sum & 0xffff_ffff) + (sum >> 32);
        sum = (sum & 0xffff_ffff) + (sum >> 32);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        sum as u16
    }

    /// Whether the sum is that of data with a correct checksum.
    #[inline]
    #[must_use]
    pub fn is_valid(self) -> bool {
        self.fold() == 0xffff
    }

    /// The checksum of the summed data, as the two bytes to store.
    #[inline]
    #[must_use]
    pub fn checksum(self) -> [u8; 2] {
        (!self.fold()).to_ne_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071, §4.1, word by word.
    fn reference(bytes: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for pair in bytes.chunks(2) {
            let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
            sum += u32::from(word);
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn the_worked_example_of_rfc_1071_holds() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(u16::from_be_bytes(Sum::ZERO.with(&bytes).checksum()), !0xddf2);
    }

    #[test]
    fn the_largest_sum_of_a_frame_folds_without_loss() {
        let bytes = vec![0xff; 65_535];
        assert_eq!(u16::from_be_bytes(Sum::ZERO.with(&bytes).checksum()), reference(&bytes));
    }

    proptest! {
        #[test]
        fn wide_sums_equal_the_word_by_word_sum(
            head in prop::collection::vec(any::<[u8; 2]>(), 0..40),
            tail in prop::collection::vec(any::<u8>(), 0..2000),
            word: u16,
        ) {
            let mut all = head.concat();
            let sum = Sum::ZERO.with(&all).with_word(word).with(&tail);
            all.extend(word.to_be_bytes());
            all.extend(&tail);
            prop_assert_eq!(u16::from_be_bytes(sum.checksum()), reference(&all));
        }

        #[test]
        fn data_with_its_checksum_is_valid_and_with_another_is_not(
            mut bytes in prop::collection::vec(any::<u8>(), 2..200),
            wrong in 1..0xffff_u16,
        ) {
            bytes[..2].fill(0);
            let checksum = Sum::ZERO.with(&bytes).checksum();
            bytes[..2].copy_from_slice(&checksum);
            prop_assert!(Sum::ZERO.with(&bytes).is_valid());
            prop_assert!(!Sum::ZERO.with(&bytes).with_word(wrong).is_valid());
        }
    }
}
