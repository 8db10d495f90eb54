//! Memory that this process and the kernel, or another process, both read and write.
//!
//! Invariant of [`SharedMemory`]: `start` points to `len` mapped bytes, until `drop` unmaps them.
//! Indices, flags and descriptors in it are accessed as atomics, so that there are no data races. The
//! bytes of frames are borrowed as slices through `unsafe` functions, whose callers must follow the
//! ring's protocol: a frame has one owner at a time, and ownership is transferred by a release store
//! that the other side reads with acquire.

use core::ptr::NonNull;
use core::slice;
use core::sync::atomic::{AtomicU32, AtomicU64};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::os::fd::AsFd;

/// Mapped memory that the kernel accesses too. Unmapped when dropped.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: neither the mapping's address nor the kernel's accesses depend on the thread, and every
// safe access through a shared reference is atomic.
unsafe impl Send for SharedMemory {}
// SAFETY: as above; callers of `bytes` and `bytes_mut` guarantee that frames have one owner.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps `len` bytes at `offset` of a descriptor, resident at once.
    pub(crate) fn of_descriptor(descriptor: impl AsFd, len: usize, offset: u64) -> Result<Self, Errno> {
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a null hint lets the kernel choose unused addresses.
        let start = unsafe { mmap(core::ptr::null_mut(), len, Self::PROTECTION, flags, descriptor, offset) }?;
        Self::owning(start.cast(), len)
    }

    /// Maps `len` zeroed bytes of this process, resident at once, to be registered with the kernel.
    pub(crate) fn anonymous(len: usize) -> Result<Self, Errno> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a null hint lets the kernel choose unused addresses.
        let start = unsafe { mmap_anonymous(core::ptr::null_mut(), len, Self::PROTECTION, flags) }?;
        Self::owning(start.cast(), len)
    }

    const PROTECTION: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    fn owning(start: *mut u8, len: usize) -> Result<Self, Errno> {
        Ok(Self { start: NonNull::new(start).ok_or(Errno::NOMEM)?, len })
    }

    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns a pointer to `len` bytes at `offset`, after checking that they are within the mapping.
    fn range(&self, offset: usize, len: usize) -> *mut u8 {
        let end = offset.checked_add(len);
        assert!(end.is_some_and(|end| end <= self.len), "{len} bytes at {offset} of {}", self.len);
        // SAFETY: `offset` is at most `len`, as just checked, so this stays in one mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The aligned 32-bit word at `offset`.
    pub(crate) fn u32_at(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4), "{offset} is not aligned");
        // SAFETY: in range and aligned, since a mapping begins at a page; it is mapped for as long
        // as `self` lives, and only ever accessed atomically while it holds an index or a field.
        unsafe { AtomicU32::from_ptr(self.range(offset, 4).cast()) }
    }

    /// The aligned 64-bit word at `offset`.
    pub(crate) fn u64_at(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "{offset} is not aligned");
        // SAFETY: as for `u32_at`.
        unsafe { AtomicU64::from_ptr(self.range(offset, 8).cast()) }
    }

    /// Borrows `len` bytes at `offset`.
    ///
    /// # Safety
    /// Nobody, including the kernel, may write to these bytes while they are borrowed.
    pub(crate) unsafe fn bytes(&self, offset: usize, len: usize) -> &[u8] {
        // SAFETY: mapped and in range; the caller guarantees that there is no writer.
        unsafe { slice::from_raw_parts(self.range(offset, len), len) }
    }

    /// Borrows `len` bytes at `offset` mutably.
    ///
    /// # Safety
    /// Nobody, including the kernel, may read or write these bytes while they are borrowed.
    pub(crate) unsafe fn bytes_mut(&mut self, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: mapped and in range; the caller guarantees that there is no other access.
        unsafe { slice::from_raw_parts_mut(self.range(offset, len), len) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the range is ours and dropped once; references into it borrow `self`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}
