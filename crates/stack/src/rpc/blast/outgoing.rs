//! Messages of several fragments that were sent, kept for a peer that misses some.

use crate::packet::{Packet, PacketFull};
use crate::wire::rpc::blast::{Fragment, Nack, all};
use alloc::boxed::Box;
use core::time::Duration;

#[derive(Debug)]
pub(super) struct Outgoing {
    slots: Box<[Kept]>,
    keep: Duration,
}

/// A message, or a free slot.
#[derive(Debug)]
struct Kept {
    bytes: Packet,
    message: u32,
    /// Bytes of each fragment but the last.
    size: usize,
    /// 0 if the slot is free.
    count: u8,
    /// A bit for each fragment to send.
    unsent: u32,
    /// When the slot is free, once all is sent.
    until: Duration,
}

impl Outgoing {
    pub(super) fn new(slots: usize, max_message: usize, keep: Duration) -> Self {
        let free = || Kept {
            bytes: Packet::with_capacity(0, max_message),
            message: 0,
            size: 0,
            count: 0,
            unsent: 0,
            until: Duration::ZERO,
        };
        Self { slots: (0..slots).map(|_| free()).collect(), keep }
    }

    /// Keeps a message, whose fragments are then all to be sent, in a free slot or in place of the one
    /// that was kept longest. Returns `false` if all have fragments to send.
    pub(super) fn keep(&mut self, message: u32, size: usize, count: u8, bytes: &[u8]) -> bool {
        let sent = self.slots.iter_mut().filter(|slot| slot.unsent == 0);
        let Some(slot) = sent.min_by_key(|slot| (slot.count > 0, slot.until)) else { return false };
        if slot.bytes.replace(bytes).is_err() {
            return false;
        }
        (slot.message, slot.size, slot.count, slot.unsent) = (message, size, count, all(count));
        true
    }

    /// The peer misses fragments. Returns `false` if their message is not kept.
    pub(super) fn resend(&mut self, nack: &Nack) -> bool {
        let is_it = |slot: &&mut Kept| slot.count == nack.count && slot.message == nack.message;
        let Some(slot) = self.slots.iter_mut().find(is_it) else { return false };
        slot.unsent |= nack.missing;
        true
    }

    /// Writes the next fragment to send, with its header. Returns `false` if there is none.
    pub(super) fn next(&mut self, now: Duration, frame: &mut Packet) -> Result<bool, PacketFull> {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.unsent != 0) else { return Ok(false) };
        let number = slot.unsent.trailing_zeros() as u8;
        slot.unsent &= slot.unsent - 1;
        slot.until = now.saturating_add(self.keep);
        slot.write(number, frame)?;
        Ok(true)
    }

    /// When the next slot becomes free.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.slots.iter().filter(|slot| slot.is_waiting()).map(|slot| slot.until).min()
    }

    /// Frees the slots whose time has come.
    pub(super) fn time_passes(&mut self, now: Duration) {
        for slot in self.slots.iter_mut().filter(|slot| slot.is_waiting() && slot.until <= now) {
            slot.count = 0;
        }
    }
}

impl Kept {
    /// Whether all was sent, and the peer may still ask for it.
    fn is_waiting(&self) -> bool {
        self.count > 0 && self.unsent == 0
    }

    fn write(&self, number: u8, frame: &mut Packet) -> Result<(), PacketFull> {
        let bytes = self.bytes.payload();
        let start = (usize::from(number) * self.size).min(bytes.len());
        let data = &bytes[start..bytes.len().min(start + self.size)];
        let fragment = Fragment {
            message: self.message,
            number,
            count: self.count,
            total: bytes.len() as u16,
            length: data.len() as u16,
        };
        frame.replace(data)?;
        frame.push_header(&fragment.header())
    }
}
