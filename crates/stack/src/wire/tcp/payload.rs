//! The data of a segment.

use core::hint::cold_path;

/// Data in one piece, or in two where it wraps around the end of a ring buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payload<'a> {
    first: &'a [u8],
    second: &'a [u8],
}

impl<'a> Payload<'a> {
    /// The bytes of `first`, followed by those of `second`.
    #[must_use]
    pub const fn new(first: &'a [u8], second: &'a [u8]) -> Self {
        Self { first, second }
    }

    /// Bytes of data.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.first.len() + self.second.len()
    }

    /// Whether there is no data.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pieces, in order.
    #[must_use]
    pub const fn pieces(&self) -> [&'a [u8]; 2] {
        [self.first, self.second]
    }

    /// At most `length` bytes, after the first `skip`.
    #[inline]
    #[must_use]
    pub fn part(&self, skip: usize, length: usize) -> Self {
        let end = skip.saturating_add(length);
        let middle = self.first.len();
        Self {
            first: clip(self.first, skip, end),
            second: { clip(self.second, skip.saturating_sub(middle), end.saturating_sub(middle)) },
        }
    }

    /// Copies the data to `bytes`, as far as both go.
    #[inline]
    pub fn copy_to(&self, bytes: &mut [u8]) {
        let (first, second) = bytes.split_at_mut(self.first.len().min(bytes.len()));
        first.copy_from_slice(&self.first[..first.len()]);
        let rest = second.len().min(self.second.len());
        if rest > 0 {
            cold_path();
            second[..rest].copy_from_slice(&self.second[..rest]);
        }
    }
}

/// The bytes from `start` to `end`, as far as there are such.
fn clip(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    let end = end.min(bytes.len());
    bytes.get(start..end).unwrap_or_default()
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { first: bytes, second: &[] }
    }
}

/// Equal if the bytes are, however they are cut.
impl PartialEq for Payload<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.pieces().into_iter().flatten().eq(other.pieces().into_iter().flatten())
    }
}

impl Eq for Payload<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_is_that_of_the_joined_pieces(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            cut in 0..40_usize,
            skip in 0..50_usize,
            length in 0..50_usize,
        ) {
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let part = Payload::new(first, second).part(skip, length);
            let expected: Vec<_> = bytes.iter().copied().skip(skip).take(length).collect();
            let mut copied = vec![0; part.len()];
            part.copy_to(&mut copied);
            prop_assert_eq!(&copied, &expected);
            prop_assert_eq!(part, Payload::from(&expected[..]));
        }
    }
}
