//! Memory mapped directly from the kernel: private, anonymous, zeroed.
//!
//! Invariant of [`Mapping`]: `pages` points to `len` mapped bytes (`len` a positive multiple of
//! the page size) that nothing else owns, until `drop` unmaps them. Every `unsafe` block of this
//! module relies on it.

use core::ptr::NonNull;
use core::slice;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};
use warmcore_units::Bytes;

/// Why memory could not be mapped.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MappingError {
    /// The requested size is zero.
    #[error("a mapping of no bytes was asked for: expected at least one")]
    Empty,
    /// The size does not fit the address space.
    #[error("a mapping of {0} does not fit the address space")]
    TooLarge(Bytes),
    /// The kernel refused.
    #[error("cannot map {size} of memory: {source}")]
    Refused {
        /// How much was asked for, in whole pages.
        size: Bytes,
        /// The error of the kernel.
        source: Errno,
    },
}

/// Whole pages that can be read and written until they are [made executable](Mapping::make_executable).
#[derive(Debug)]
pub(crate) struct Mapping {
    pages: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is owned memory like a `Box<[u8]>`; neither its address nor the kernel's
// calls upon it depend on the thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives reading access only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps at least `size` zeroed bytes, in whole pages.
    pub(crate) fn new(size: Bytes) -> Result<Self, MappingError> {
        if size.is_empty() {
            return Err(MappingError::Empty);
        }
        let len = usize::try_from(size.0)
            .ok()
            .and_then(|bytes| bytes.checked_next_multiple_of(rustix::param::page_size()))
            .filter(|&len| isize::try_from(len).is_ok())
            .ok_or(MappingError::TooLarge(size))?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a null hint lets the kernel choose unused addresses, so no memory in use is
        // mapped over.
        let pages = unsafe { mmap_anonymous(core::ptr::null_mut(), len, protection, MapFlags::PRIVATE) }
            .map_err(|source| MappingError::Refused { size: Bytes(len as u64), source })?;
        let pages = NonNull::new(pages.cast())
            .ok_or(MappingError::Refused { size: Bytes(len as u64), source: Errno::NOMEM })?;
        Ok(Self { pages, len })
    }

    /// Asks for huge pages. A kernel that has none refuses, and small ones remain.
    pub(crate) fn advise_huge_pages(&mut self) {
        // SAFETY: the range is ours, and this advice changes no contents.
        let _ = unsafe { madvise(self.pages.as_ptr().cast(), self.len, Advice::LinuxHugepage) };
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` bytes are mapped, zeroed or written since, and readable in every state of
        // protection; a writer needs `&mut self`.
        unsafe { slice::from_raw_parts(self.pages.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as for `as_slice`, and `&mut self` makes the borrow exclusive. The pages are
        // writable: `make_executable` consumes the mapping.
        unsafe { slice::from_raw_parts_mut(self.pages.as_ptr(), self.len) }
    }

    /// Makes the pages executable and no longer writable; no page is ever both.
    pub(crate) fn make_executable(self) -> Result<ExecutablePages, Errno> {
        let protection = MprotectFlags::READ | MprotectFlags::EXEC;
        // SAFETY: the range is ours and, as `self` is consumed, no reference into it is left.
        unsafe { mprotect(self.pages.as_ptr().cast(), self.len, protection) }?;
        Ok(ExecutablePages(self))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is ours and dropped once. Unmapping fails only for a range that was
        // not mapped, so there is nothing to report.
        let _ = unsafe { munmap(self.pages.as_ptr().cast(), self.len) };
    }
}

/// A mapping that can be read and executed but never written again.
#[derive(Debug)]
pub(crate) struct ExecutablePages(Mapping);

impl ExecutablePages {
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.0.as_slice()
    }
}
