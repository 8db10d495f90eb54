//! The four rings of an XDP socket: single producer, single consumer, one of which is the kernel (the
//! kernel's `Documentation/networking/af_xdp.rst`).
//!
//! Indices increase without bound and are masked on use. The producer writes an entry, then stores its
//! index with release. The consumer loads that index with acquire, reads the entry, then stores its own
//! index with release. The producer loads that index with acquire before it reuses the slot. This side
//! also keeps its own index in ordinary memory, and publishes it at the end of a batch.

use crate::shared_memory::SharedMemory;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rustix::io::Errno;
use rustix::net::xdp::XdpRingOffset;
use std::os::fd::AsFd;

/// The type of a ring's entries.
pub(super) trait RingEntry: Copy {
    /// Its size in the ring, in bytes.
    const SIZE: usize;

    /// Reads the entry at offset `at` of the ring's memory.
    fn load(memory: &SharedMemory, at: usize) -> Self;

    /// Writes the entry at offset `at` of the ring's memory.
    fn store(self, memory: &SharedMemory, at: usize);
}

/// A buffer, by its address in the shared frame memory.
impl RingEntry for u64 {
    const SIZE: usize = 8;

    fn load(memory: &SharedMemory, at: usize) -> Self {
        memory.u64_at(at).load(Relaxed)
    }

    fn store(self, memory: &SharedMemory, at: usize) {
        memory.u64_at(at).store(self, Relaxed);
    }
}

/// A piece of a frame: its address in the shared frame memory, its length, and whether another piece
/// follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Descriptor {
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) continued: bool,
}

/// `XDP_PKT_CONTD`.
const CONTINUED: u32 = 1;

impl RingEntry for Descriptor {
    const SIZE: usize = 16;

    fn load(memory: &SharedMemory, at: usize) -> Self {
        Self {
            address: memory.u64_at(at).load(Relaxed),
            length: memory.u32_at(at + 8).load(Relaxed),
            continued: memory.u32_at(at + 12).load(Relaxed) & CONTINUED != 0,
        }
    }

    fn store(self, memory: &SharedMemory, at: usize) {
        memory.u64_at(at).store(self.address, Relaxed);
        memory.u32_at(at + 8).store(self.length, Relaxed);
        memory.u32_at(at + 12).store(if self.continued { CONTINUED } else { 0 }, Relaxed);
    }
}

/// A mapped ring of `size` entries, a power of two.
#[derive(Debug)]
struct Ring<E> {
    memory: SharedMemory,
    producer: usize,
    consumer: usize,
    entries: usize,
    size: u32,
    entry: PhantomData<E>,
}

impl<E: RingEntry> Ring<E> {
    fn map(socket: impl AsFd, page_offset: u64, offsets: &XdpRingOffset, size: u32) -> Result<Self, Errno> {
        let at = |offset| usize::try_from(offset).map_err(|_| Errno::OVERFLOW);
        let (producer, consumer, entries) = (at(offsets.producer)?, at(offsets.consumer)?, at(offsets.desc)?);
        let memory = SharedMemory::of_descriptor(socket, entries + size as usize * E::SIZE, page_offset)?;
        Ok(Self { memory, producer, consumer, entries, size, entry: PhantomData })
    }

    /// The index of the producer.
    fn producer(&self) -> &AtomicU32 {
        self.memory.u32_at(self.producer)
    }

    /// The index of the consumer.
    fn consumer(&self) -> &AtomicU32 {
        self.memory.u32_at(self.consumer)
    }

    /// Returns the memory offset of the entry with this index.
    fn place(&self, index: u32) -> usize {
        self.entries + (index & (self.size - 1)) as usize * E::SIZE
    }
}

/// A ring that this process fills: buffers to receive into, or frames to send.
#[derive(Debug)]
pub(super) struct ProducerRing<E> {
    ring: Ring<E>,
    produced: u32,
}

impl<E: RingEntry> ProducerRing<E> {
    /// The ring of `size` entries that `socket` has at `page`.
    pub(super) fn map(
        socket: impl AsFd,
        page: u64,
        offsets: &XdpRingOffset,
        size: u32,
    ) -> Result<Self, Errno> {
        Ok(Self { ring: Ring::map(socket, page, offsets, size)?, produced: 0 })
    }

    /// The number of entries that the kernel has not consumed yet, including unpublished ones.
    pub(super) fn pending(&self) -> u32 {
        self.produced.wrapping_sub(self.ring.consumer().load(Acquire))
    }

    /// The number of entries that can be added.
    pub(super) fn free_slots(&self) -> u32 {
        self.ring.size - self.pending()
    }

    /// Adds an entry. There must be a free slot: either [`free_slots`](Self::free_slots) shows one, or the
    /// entry is a buffer that has left this ring and come back through another. The kernel reads it here
    /// before it shows it there, but may update its index here a moment later (`xsk_flush`).
    pub(super) fn push(&mut self, entry: E) {
        entry.store(&self.ring.memory, self.ring.place(self.produced));
        self.produced = self.produced.wrapping_add(1);
    }

    /// Publishes all added entries to the kernel.
    pub(super) fn publish(&mut self) {
        self.ring.producer().store(self.produced, Release);
    }
}

/// A ring that the kernel fills: received frames, or the buffers of sent frames.
#[derive(Debug)]
pub(super) struct ConsumerRing<E> {
    ring: Ring<E>,
    consumed: u32,
    /// The kernel's index when it was last read.
    produced: u32,
}

impl<E: RingEntry> ConsumerRing<E> {
    /// The ring of `size` entries that `socket` has at `page`.
    pub(super) fn map(
        socket: impl AsFd,
        page: u64,
        offsets: &XdpRingOffset,
        size: u32,
    ) -> Result<Self, Errno> {
        Ok(Self { ring: Ring::map(socket, page, offsets, size)?, consumed: 0, produced: 0 })
    }

    /// Takes the next entry. Reads the kernel's index only when no known entry is left.
    pub(super) fn pop(&mut self) -> Option<E> {
        if self.consumed == self.produced {
            self.produced = self.ring.producer().load(Acquire);
        }
        let index = self.consumed;
        (index != self.produced).then(|| {
            self.consumed = index.wrapping_add(1);
            E::load(&self.ring.memory, self.ring.place(index))
        })
    }

    /// Returns the slots of all consumed entries to the kernel.
    pub(super) fn publish(&mut self) {
        self.ring.consumer().store(self.consumed, Release);
    }
}
