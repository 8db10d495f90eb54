//! Messages: packets, and who sent them.

use crate::switches::Switches;
use core::hint::cold_path;
use warmcore_stack::{LinkAddress, Packet};

/// Space for all headers of either stack.
pub const HEADERS: usize = 64;

/// A message on its way.
pub struct Message {
    packet: Packet,
    capacity: usize,
    /// The station that sent it, once that is known.
    pub peer: LinkAddress,
}

impl Message {
    /// An empty message that can have `capacity` bytes.
    #[inline(never)]
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { packet: Packet::with_capacity(HEADERS, capacity), capacity, peer: LinkAddress([0; 6]) }
    }

    /// Bytes in the message.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.packet.len()
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packet.is_empty()
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.packet.payload()
    }

    /// The packet, to be changed.
    #[inline]
    pub fn packet(&mut self) -> &mut Packet {
        &mut self.packet
    }

    /// Puts a header of `length` bytes in front, and returns it to be written; nothing if there is no space.
    #[inline(never)]
    pub fn push(&mut self, length: usize) -> Option<&mut [u8]> {
        self.packet().push_front(length)
    }

    /// Takes `length` bytes off the front. Returns whether there were so many.
    #[inline(never)]
    pub fn strip(&mut self, length: usize) -> bool {
        self.packet().strip(length).is_some()
    }

    /// Keeps no more than the first `length` bytes.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.packet().truncate(length);
    }

    /// Makes the message `length` bytes longer and returns these to be written; nothing if there is no space.
    #[inline(never)]
    pub fn lengthen(&mut self, length: usize) -> Option<&mut [u8]> {
        self.packet().extend(length)
    }

    /// Another with the same bytes, in as little memory; nothing if there is none.
    #[inline(never)]
    #[must_use]
    pub fn copy(&self) -> Option<Self> {
        let mut copy = Self::new(self.len());
        copy.packet.append(self.bytes()).ok()?;
        copy.peer = self.peer;
        Some(copy)
    }

    /// Makes the message empty again, for the next one to be received into it (§2.2.2): in place, or as the original did
    /// with new memory.
    #[inline(never)]
    pub fn refresh(&mut self, switches: Switches) {
        if switches.refresh_in_place {
            self.packet.clear();
        } else {
            cold_path();
            *self = Self::new(self.capacity);
        }
    }
}
