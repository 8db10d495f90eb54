//! A message in a buffer of its own, with room for headers before it.

use alloc::boxed::Box;
use alloc::vec;
use core::hint::cold_path;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An owned message that layers prepend headers to on the way down, and strip them from on the way up.
///
/// ```text
///  ┌──────────┬──────────────────────┬───────────┐
///  │ headroom │ headers and contents │ free      │
///  └──────────┴──────────────────────┴───────────┘
///   ◄── push_front                    append ──►
///              strip ──►      ◄── truncate
/// ```
///
/// The buffer is allocated when the packet is made, and never again. What does not fit is refused.
///
/// ```
/// use warmcore_stack::Packet;
///
/// let mut packet = Packet::with_capacity(8, 100);
/// packet.append(b"hello")?;
/// packet.push_front(2).ok_or("no headroom")?.copy_from_slice(b"> ");
/// assert_eq!(packet.payload(), b"> hello");
/// assert_eq!(packet.strip(2), Some(&b"> "[..]));
/// assert_eq!(packet.payload(), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Packet {
    // start <= end <= bytes.len(), and headroom <= bytes.len().
    bytes: Box<[u8]>,
    headroom: usize,
    start: usize,
    end: usize,
}

/// A packet has no room for what should be added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("the packet has no room for that")]
pub struct PacketFull;

impl Packet {
    /// An empty packet: `headroom` bytes for headers, then `capacity` bytes for contents.
    #[must_use]
    pub fn with_capacity(headroom: usize, capacity: usize) -> Self {
        let bytes = vec![0; headroom.saturating_add(capacity)].into_boxed_slice();
        Self { bytes, headroom, start: headroom, end: headroom }
    }

    /// Forgets headers and contents, so that the headroom is what it was in the beginning.
    #[inline]
    pub fn clear(&mut self) {
        (self.start, self.end) = (self.headroom, self.headroom);
    }

    /// Takes `length` bytes more before what is there, for a header, and returns them to be written.
    /// They hold anything. Returns `None` if there is not so much headroom.
    #[inline]
    #[must_use]
    pub fn push_front(&mut self, length: usize) -> Option<&mut [u8]> {
        let start = self.start.checked_sub(length)?;
        let header = self.bytes.get_mut(start..self.start)?;
        self.start = start;
        Some(header)
    }

    /// Removes the first `length` bytes and returns them. Returns `None`, and removes nothing, if there
    /// are not so many.
    #[inline]
    pub fn strip(&mut self, length: usize) -> Option<&[u8]> {
        let start = self.start.checked_add(length).filter(|start| *start <= self.end)?;
        let header = self.bytes.get(self.start..start)?;
        self.start = start;
        Some(header)
    }

    /// Headers that were not stripped, and contents.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Bytes of [`payload`](Self::payload).
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there are neither headers nor contents.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Bytes that can be appended.
    #[inline]
    #[must_use]
    pub fn room(&self) -> usize {
        self.bytes.len() - self.end
    }

    /// Adds `bytes` after what is there.
    ///
    /// # Errors
    /// There is not so much room. Nothing is added.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), PacketFull> {
        let end = self.end.checked_add(bytes.len()).ok_or(PacketFull)?;
        self.bytes.get_mut(self.end..end).ok_or(PacketFull)?.copy_from_slice(bytes);
        self.end = end;
        Ok(())
    }

    /// Takes `length` bytes more after what is there, and returns them to be written. They hold anything.
    /// Returns `None` if there is not so much room.
    #[inline]
    #[must_use]
    pub fn extend(&mut self, length: usize) -> Option<&mut [u8]> {
        let end = self.end.checked_add(length)?;
        let added = self.bytes.get_mut(self.end..end)?;
        self.end = end;
        Some(added)
    }

    /// Holds `bytes` in place of what was there.
    ///
    /// # Errors
    /// There is not so much room. The packet is empty.
    #[inline]
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), PacketFull> {
        self.clear();
        self.append(bytes)
    }

    /// Keeps only the first `length` bytes. Longer ones change nothing.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.end = self.start + length.min(self.len());
    }

    /// Prepends a header in wire format.
    #[inline]
    pub(crate) fn push_header(&mut self, header: &(impl IntoBytes + Immutable)) -> Result<(), PacketFull> {
        let bytes = header.as_bytes();
        let Some(target) = self.push_front(bytes.len()) else {
            cold_path();
            return Err(PacketFull);
        };
        target.copy_from_slice(bytes);
        Ok(())
    }

    /// Strips a header in wire format, if the packet is long enough.
    #[inline]
    pub(crate) fn strip_header<H>(&mut self) -> Option<H>
    where
        H: FromBytes + KnownLayout + Immutable + Unaligned + Copy,
    {
        H::ref_from_bytes(self.strip(size_of::<H>())?).ok().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_off_in_the_opposite_order() {
        let mut packet = Packet::with_capacity(3, 2);
        packet.append(b"ab").unwrap();
        packet.push_front(1).unwrap().copy_from_slice(b"2");
        packet.push_front(2).unwrap().copy_from_slice(b"11");
        assert_eq!(packet.payload(), b"112ab");
        assert_eq!(packet.strip(2), Some(&b"11"[..]));
        assert_eq!(packet.strip(1), Some(&b"2"[..]));
        assert_eq!(packet.payload(), b"ab");
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let mut packet = Packet::with_capacity(1, 2);
        packet.append(b"ab").unwrap();
        assert_eq!(packet.append(b"c"), Err(PacketFull));
        assert!(packet.push_front(2).is_none());
        assert!(packet.push_front(usize::MAX).is_none());
        assert!(packet.strip(3).is_none());
        assert!(packet.strip(usize::MAX).is_none());
        assert_eq!((packet.payload(), packet.room()), (&b"ab"[..], 0));
    }

    #[test]
    fn a_cleared_packet_has_its_headroom_again() {
        let mut packet = Packet::with_capacity(2, 2);
        packet.append(b"ab").unwrap();
        packet.strip(2).unwrap();
        assert!(packet.is_empty());
        packet.clear();
        assert_eq!(packet.room(), 2);
        assert_eq!(packet.push_front(2).map(|header| header.len()), Some(2));
    }

    #[test]
    fn truncating_keeps_the_beginning() {
        let mut packet = Packet::with_capacity(0, 4);
        packet.append(b"abcd").unwrap();
        packet.truncate(9);
        assert_eq!(packet.len(), 4);
        packet.strip(1).unwrap();
        packet.truncate(2);
        assert_eq!(packet.payload(), b"bc");
        assert_eq!(packet.replace(b"12345"), Err(PacketFull));
        assert!(packet.is_empty());
    }
}
