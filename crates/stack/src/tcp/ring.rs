//! Bytes in a ring: the buffers of both directions.

use crate::wire::tcp::Payload;
use alloc::boxed::Box;
use alloc::vec;
use core::hint::cold_path;

/// A window of bytes that moves through a stream. Offsets count from the window's start.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: Box<[u8]>,
    start: usize,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity].into(), start: 0 }
    }

    pub(super) const fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Writes `data` at `offset`, as far as it fits the window.
    pub(super) fn write(&mut self, offset: usize, data: Payload<'_>) {
        let mut offset = offset;
        for piece in data.pieces() {
            if piece.is_empty() {
                continue;
            }
            let (first, second) = self.parts(offset, piece.len());
            let (head, tail) = piece.split_at(first.len());
            self.bytes[first].copy_from_slice(head);
            if !second.is_empty() {
                cold_path();
                let tail = &tail[..second.len()];
                self.bytes[second].copy_from_slice(tail);
            }
            offset += piece.len();
        }
    }

    /// At most `length` bytes at `offset`.
    pub(super) fn read(&self, offset: usize, length: usize) -> Payload<'_> {
        let (first, second) = self.parts(offset, length);
        Payload::new(&self.bytes[first], &self.bytes[second])
    }

    /// Moves the window on by `bytes`, at most its capacity.
    pub(super) fn advance(&mut self, bytes: usize) {
        let start = self.start + bytes.min(self.capacity());
        self.start = if start >= self.capacity() { start - self.capacity() } else { start };
    }

    /// Where `length` bytes at `offset` are, as far as they are in the window.
    fn parts(&self, offset: usize, length: usize) -> (core::ops::Range<usize>, core::ops::Range<usize>) {
        let capacity = self.capacity();
        let offset = offset.min(capacity);
        let length = length.min(capacity - offset);
        let start = self.start + offset;
        let start = if start < capacity {
            start
        } else {
            cold_path();
            start - capacity
        };
        let first = length.min(capacity - start);
        (start..start + first, 0..length - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The model: an endless stream, of which the window is a part.
        #[test]
        fn a_ring_is_a_window_of_a_stream(
            capacity in 1..20_usize,
            steps in prop::collection::vec((0..25_usize, 0..25_usize, 0..25_usize, any::<u8>()), 1..40),
        ) {
            let mut ring = Ring::new(capacity);
            let mut stream = vec![0_u8; capacity];
            for (offset, length, advance, value) in steps {
                let data: Vec<u8> = (0..length).map(|at| value.wrapping_add(at as u8)).collect();
                ring.write(offset, Payload::new(&data[..length / 3], &data[length / 3..]));
                for (place, byte) in stream.iter_mut().skip(offset).zip(&data) {
                    *place = *byte;
                }
                let expected: Vec<u8> = stream.iter().copied().skip(offset).take(length).collect();
                prop_assert_eq!(ring.read(offset, length), Payload::from(&expected[..]));
                ring.advance(advance);
                stream.rotate_left(advance.min(capacity) % capacity);
            }
        }
    }
}
