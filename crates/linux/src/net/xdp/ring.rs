//! The four rings of an XDP socket: single producer, single consumer, one side being the kernel
//! (the kernel's `Documentation/networking/af_xdp.rst`).
//!
//! Indices run freely and are masked on use. The producer writes an entry, then stores its index
//! with release; the consumer loads that index with acquire, reads the entry, then stores its own
//! index with release, which the producer loads with acquire before it writes there again. Each
//! side's own index is kept here, too, and published when a batch is done.

use crate::net::shared::SharedMemory;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rustix::io::Errno;
use rustix::net::xdp::XdpRingOffset;
use std::os::fd::AsFd;

/// A piece of a frame: where in the shared frame memory, how long, whether another one follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Descriptor {
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) continued: bool,
}

/// `XDP_PKT_CONTD`.
const CONTINUED: u32 = 1;
/// Size of a descriptor, and of a bare address.
const DESCRIPTOR: usize = 16;
const ADDRESS: usize = 8;

/// A mapped ring of `size` entries, a power of two.
#[derive(Debug)]
struct Ring {
    memory: SharedMemory,
    producer: usize,
    consumer: usize,
    entries: usize,
    size: u32,
}

impl Ring {
    fn map(
        socket: impl AsFd,
        page_offset: u64,
        offsets: &XdpRingOffset,
        size: u32,
        entry: usize,
    ) -> Result<Self, Errno> {
        let at = |offset| usize::try_from(offset).map_err(|_| Errno::OVERFLOW);
        let (producer, consumer, entries) = (at(offsets.producer)?, at(offsets.consumer)?, at(offsets.desc)?);
        let memory = SharedMemory::of_descriptor(socket, entries + size as usize * entry, page_offset)?;
        Ok(Self { memory, producer, consumer, entries, size })
    }

    /// Where the entry of this index begins.
    fn entry(&self, index: u32, size: usize) -> usize {
        self.entries + (index & (self.size - 1)) as usize * size
    }

    fn address(&self, index: u32) -> u64 {
        self.memory.word(self.entry(index, ADDRESS)).load(Relaxed)
    }

    fn set_address(&self, index: u32, address: u64) {
        self.memory.word(self.entry(index, ADDRESS)).store(address, Relaxed);
    }

    fn descriptor(&self, index: u32) -> Descriptor {
        let at = self.entry(index, DESCRIPTOR);
        Descriptor {
            address: self.memory.word(at).load(Relaxed),
            length: self.memory.half(at + 8).load(Relaxed),
            continued: self.memory.half(at + 12).load(Relaxed) & CONTINUED != 0,
        }
    }

    fn set_descriptor(&self, index: u32, descriptor: Descriptor) {
        let at = self.entry(index, DESCRIPTOR);
        self.memory.word(at).store(descriptor.address, Relaxed);
        self.memory.half(at + 8).store(descriptor.length, Relaxed);
        self.memory.half(at + 12).store(if descriptor.continued { CONTINUED } else { 0 }, Relaxed);
    }
}

/// A ring that this process fills: buffers to receive into, or frames to send.
#[derive(Debug)]
pub(super) struct Filled {
    ring: Ring,
    produced: u32,
}

impl Filled {
    /// The ring of buffers to receive into.
    pub(super) fn of_addresses(
        socket: impl AsFd,
        page: u64,
        offsets: &XdpRingOffset,
        size: u32,
    ) -> Result<Self, Errno> {
        Ok(Self { ring: Ring::map(socket, page, offsets, size, ADDRESS)?, produced: 0 })
    }

    /// The ring of frames to send.
    pub(super) fn of_descriptors(
        socket: impl AsFd,
        page: u64,
        offsets: &XdpRingOffset,
        size: u32,
    ) -> Result<Self, Errno> {
        Ok(Self { ring: Ring::map(socket, page, offsets, size, DESCRIPTOR)?, produced: 0 })
    }

    /// How many entries the kernel has not consumed yet, unpublished ones among them.
    pub(super) fn pending(&self) -> u32 {
        self.produced.wrapping_sub(self.ring.memory.half(self.ring.consumer).load(Acquire))
    }

    /// How many entries there is room for.
    pub(super) fn room(&self) -> u32 {
        self.ring.size - self.pending()
    }

    /// Adds a buffer. There must be room.
    pub(super) fn push_address(&mut self, address: u64) {
        debug_assert!(self.room() > 0);
        self.ring.set_address(self.produced, address);
        self.produced = self.produced.wrapping_add(1);
    }

    /// Adds a piece of a frame. There must be room.
    pub(super) fn push(&mut self, descriptor: Descriptor) {
        debug_assert!(self.room() > 0);
        self.ring.set_descriptor(self.produced, descriptor);
        self.produced = self.produced.wrapping_add(1);
    }

    /// Shows the kernel all that was added.
    pub(super) fn publish(&mut self) {
        self.ring.memory.half(self.ring.producer).store(self.produced, Release);
    }
}

/// A ring that the kernel fills: received frames, or buffers of frames that were sent.
#[derive(Debug)]
pub(super) struct Drained {
    ring: Ring,
    consumed: u32,
    /// The kernel's index when it was last looked at.
    produced: u32,
}

impl Drained {
    /// The ring of buffers whose frames were sent.
    pub(super) fn of_addresses(
        socket: impl AsFd,
        page: u64,
        offsets: &XdpRingOffset,
        size: u32,
    ) -> Result<Self, Errno> {
        Ok(Self { ring: Ring::map(socket, page, offsets, size, ADDRESS)?, consumed: 0, produced: 0 })
    }

    /// The ring of received frames.
    pub(super) fn of_descriptors(
        socket: impl AsFd,
        page: u64,
        offsets: &XdpRingOffset,
        size: u32,
    ) -> Result<Self, Errno> {
        Ok(Self { ring: Ring::map(socket, page, offsets, size, DESCRIPTOR)?, consumed: 0, produced: 0 })
    }

    /// The next entry's index. The kernel's index is looked at only when nothing known is left.
    fn next(&mut self) -> Option<u32> {
        if self.consumed == self.produced {
            self.produced = self.ring.memory.half(self.ring.producer).load(Acquire);
        }
        let index = self.consumed;
        (index != self.produced).then(|| {
            self.consumed = index.wrapping_add(1);
            index
        })
    }

    pub(super) fn pop_address(&mut self) -> Option<u64> {
        self.next().map(|index| self.ring.address(index))
    }

    pub(super) fn pop(&mut self) -> Option<Descriptor> {
        self.next().map(|index| self.ring.descriptor(index))
    }

    /// Gives the kernel the room of all that was consumed.
    pub(super) fn publish(&mut self) {
        self.ring.memory.half(self.ring.consumer).store(self.consumed, Release);
    }
}
