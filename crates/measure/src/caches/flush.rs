//! Flushes single cache lines, on processors with an instruction for it.
//!
//! With only one processor, no other can write a packet into its buffer. Flushing the buffer's lines
//! afterwards makes reading them miss anyway, as after DMA.

/// Whether [`lines`] can flush on this architecture.
pub(crate) const IS_POSSIBLE: bool = cfg!(target_arch = "x86_64");

/// Writes the lines of `bytes` back to memory and drops them from every cache.
#[cfg(target_arch = "x86_64")]
pub(crate) fn lines(bytes: &[u8]) {
    use core::arch::x86_64::{_mm_clflush, _mm_mfence};
    /// No processor of this architecture has shorter lines.
    const STEP: usize = 64;
    for line in bytes.chunks(STEP) {
        // SAFETY: `clflush` is part of SSE2, which every x86_64 processor has; the address is
        // that of a byte we may read, and flushing changes no contents.
        unsafe { _mm_clflush(line.as_ptr()) };
    }
    // SAFETY: `mfence` is part of SSE2, and orders accesses without making any.
    unsafe { _mm_mfence() };
}

/// Does nothing: no flush instruction is known for this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn lines(_bytes: &[u8]) {}
