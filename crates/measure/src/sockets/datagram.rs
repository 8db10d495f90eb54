//! What a datagram holds: its number, and bytes that follow from it, so that every one received can be checked.

use crate::sockets::error::SocketError;

/// Bytes of the number, which every datagram holds.
pub(crate) const LEAST_BYTES: usize = size_of::<u64>();

/// The bytes of one datagram, to be sent or to be received.
pub(crate) struct Datagram {
    /// What is sent, or was received.
    pub(crate) bytes: Vec<u8>,
}

impl Datagram {
    /// A datagram of so many bytes, at least [`LEAST_BYTES`].
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes.max(LEAST_BYTES)] }
    }

    /// Makes this datagram `number`.
    pub(crate) fn write(&mut self, number: u64) {
        let (head, rest) = self.bytes.split_at_mut(LEAST_BYTES);
        head.copy_from_slice(&number.to_le_bytes());
        for (place, byte) in rest.iter_mut().enumerate() {
            *byte = filler(number, place);
        }
    }

    /// Checks that `received` bytes of this buffer are datagram `number`.
    pub(crate) fn check(&self, received: usize, number: u64) -> Result<(), SocketError> {
        check(self.bytes.get(..received).unwrap_or_default(), self.bytes.len(), number)
    }
}

/// Checks that `bytes` are datagram `number` of `length` bytes.
pub(crate) fn check(bytes: &[u8], length: usize, number: u64) -> Result<(), SocketError> {
    let found = bytes.first_chunk().map(|head| u64::from_le_bytes(*head));
    let rest = bytes.iter().skip(LEAST_BYTES).enumerate();
    let is_right = bytes.len() == length
        && found == Some(number)
        && rest.into_iter().all(|(place, byte)| *byte == filler(number, place));
    if is_right { Ok(()) } else { Err(SocketError::Wrong { number, bytes: bytes.len(), found }) }
}

const fn filler(number: u64, place: usize) -> u8 {
    (number as u8).wrapping_mul(31).wrapping_add(place as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_told_from_another_and_from_a_damaged_one() {
        let mut datagram = Datagram::new(100);
        datagram.write(7);
        datagram.check(100, 7).unwrap();
        assert!(matches!(datagram.check(100, 8), Err(SocketError::Wrong { found: Some(7), .. })));
        assert!(datagram.check(99, 7).is_err(), "cut short");
        assert!(matches!(datagram.check(3, 7), Err(SocketError::Wrong { found: None, bytes: 3, .. })));
        datagram.bytes[99] ^= 1;
        assert!(datagram.check(100, 7).is_err(), "one bit is another");
    }
}
