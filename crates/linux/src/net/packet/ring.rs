//! The receive ring that a packet socket shares with the kernel.
//!
//! Slot protocol: the status word is 0 while the kernel owns the slot. The kernel writes frame
//! and header, then sets `TP_STATUS_USER`, which we read with acquire; we read the frame, then
//! store 0 with release.

use crate::net::{DeviceError, ETHERNET_HEADER, Frame, VLAN_TAG, kernel};
use crate::shared_memory::SharedMemory;
use core::mem::{offset_of, size_of};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use libc::{SOL_PACKET, sockaddr_ll, tpacket2_hdr};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The layout of a ring: blocks of memory, each with as many whole slots as fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingLayout {
    block: usize,
    slot: usize,
    slots_per_block: usize,
    blocks: usize,
}

impl RingLayout {
    /// The least size of a block in bytes: a power of two pages, small enough that the kernel finds
    /// contiguous memory.
    const BLOCK: usize = 1 << 16;
    const ALIGNMENT: usize = 16;
    /// Bytes before a frame in its slot: header and address, padded so that the network header is
    /// aligned after a link header of up to 16 bytes.
    const BEFORE: usize =
        (size_of::<tpacket2_hdr>() + size_of::<sockaddr_ll>() + 16).next_multiple_of(Self::ALIGNMENT);
    const MOST_SLOTS: usize = 1 << 20;
    /// The longest frame of any interface: that of the loopback interface.
    const LONGEST: usize = 65_536 + ETHERNET_HEADER + VLAN_TAG;

    pub(super) fn new(slots: usize, longest_frame: usize) -> Result<Self, DeviceError> {
        let bad = |option, value, expected| DeviceError::BadOption { option, value: value as u64, expected };
        if !(1..=Self::MOST_SLOTS).contains(&slots) {
            return Err(bad("the number of ring slots", slots, "1 to 1,048,576"));
        }
        if !(60..=Self::LONGEST).contains(&longest_frame) {
            return Err(bad("the longest frame of the ring", longest_frame, "60 to 65,554 bytes"));
        }
        let slot = (Self::BEFORE + longest_frame).next_multiple_of(Self::ALIGNMENT);
        let block = slot.next_power_of_two().max(Self::BLOCK);
        let slots_per_block = block / slot;
        Ok(Self { block, slot, slots_per_block, blocks: slots.div_ceil(slots_per_block) })
    }

    fn slots(self) -> usize {
        self.slots_per_block * self.blocks
    }

    fn request(self) -> libc::tpacket_req {
        // All fit into 32 bits: at most 2^20 slots and blocks.
        libc::tpacket_req {
            tp_block_size: self.block as u32,
            tp_block_nr: self.blocks as u32,
            tp_frame_size: self.slot as u32,
            tp_frame_nr: self.slots() as u32,
        }
    }
}

/// The receive ring and the position of the next slot to read.
#[derive(Debug)]
pub(super) struct Ring {
    memory: SharedMemory,
    layout: RingLayout,
    block: usize,
    slot_in_block: usize,
}

impl Ring {
    pub(super) fn new(socket: &OwnedFd, layout: RingLayout) -> Result<Self, Errno> {
        kernel::set_option(socket, SOL_PACKET, libc::PACKET_RX_RING, &layout.request())?;
        let memory = SharedMemory::of_descriptor(socket, layout.blocks * layout.block, 0)?;
        Ok(Self { memory, layout, block: 0, slot_in_block: 0 })
    }

    /// Returns the oldest filled slot, if any.
    pub(super) fn filled(&mut self) -> Option<Slot<'_>> {
        let at = self.block * self.layout.block + self.slot_in_block * self.layout.slot;
        let status = self.memory.u32_at(at + offset_of!(tpacket2_hdr, tp_status)).load(Acquire);
        // Only create a `Slot` that we own: dropping it gives the slot to the kernel.
        (status & libc::TP_STATUS_USER != 0).then(|| Slot { ring: self, at, status })
    }

    fn advance(&mut self) {
        self.slot_in_block += 1;
        if self.slot_in_block == self.layout.slots_per_block {
            self.slot_in_block = 0;
            self.block = (self.block + 1) % self.layout.blocks;
        }
    }
}

/// A filled slot. Dropping it gives it back to the kernel.
pub(super) struct Slot<'a> {
    ring: &'a mut Ring,
    at: usize,
    status: u32,
}

impl Slot<'_> {
    fn u32_at(&self, offset: usize) -> u32 {
        self.ring.memory.u32_at(self.at + offset).load(Relaxed)
    }

    /// Reads the 16 bits at `offset`, as a half of the aligned 32 bits that contain it.
    fn u16_at(&self, offset: usize) -> u16 {
        let [a, b, c, d] = self.u32_at(offset & !3).to_ne_bytes();
        u16::from_ne_bytes(if offset & 2 == 0 { [a, b] } else { [c, d] })
    }

    /// Returns the frame, or `None` if it did not fit into the slot.
    pub(super) fn frame(&self) -> Option<Frame<'_>> {
        let length = self.u32_at(offset_of!(tpacket2_hdr, tp_snaplen));
        if length < self.u32_at(offset_of!(tpacket2_hdr, tp_len)) {
            return None;
        }
        let start = self.at + usize::from(self.u16_at(offset_of!(tpacket2_hdr, tp_mac)));
        // SAFETY: the status was read with acquire and shows that we own the slot. We own it until
        // `drop`, and the slice borrows `self`.
        let bytes = unsafe { self.ring.memory.bytes(start, length as usize) };
        let tagged = self.status & libc::TP_STATUS_VLAN_VALID != 0;
        Some(Frame {
            bytes,
            vlan: tagged.then(|| self.u16_at(offset_of!(tpacket2_hdr, tp_vlan_tci))),
            checksum_left_out: self.status & libc::TP_STATUS_CSUMNOTREADY != 0,
        })
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let status = self.ring.memory.u32_at(self.at + offset_of!(tpacket2_hdr, tp_status));
        status.store(libc::TP_STATUS_KERNEL, Release);
        self.ring.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_enough_slots_and_each_fits_its_frame() {
        for longest in [60, 1518, 1522, 2048, 9018, 9022, RingLayout::LONGEST] {
            for slots in [1, 7, 64, 4096] {
                let layout = RingLayout::new(slots, longest).unwrap();
                assert!(layout.slots() >= slots);
                assert!(
                    layout.slot >= longest + RingLayout::BEFORE
                        && layout.slot.is_multiple_of(RingLayout::ALIGNMENT)
                );
                // The kernel's own condition on a request.
                assert_eq!(layout.block / layout.slot, layout.slots_per_block);
                assert!(layout.slots_per_block > 0);
            }
        }
    }

    #[test]
    fn rings_out_of_range_are_refused_with_the_valid_range() {
        let none = RingLayout::new(0, 1514).unwrap_err().to_string();
        assert_eq!(none, "the number of ring slots is 0: expected 1 to 1,048,576");
        assert!(RingLayout::new(RingLayout::MOST_SLOTS + 1, 1514).is_err());
        let long = RingLayout::new(64, RingLayout::LONGEST + 1).unwrap_err().to_string();
        assert!(long.contains("expected 60 to 65,554 bytes"), "{long}");
        assert_eq!(RingLayout::LONGEST, 65_554);
    }
}
