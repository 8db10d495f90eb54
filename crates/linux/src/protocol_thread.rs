//! A protocol thread: a separate stack on which packets are processed.
//!
//! The stack is memory that we own, separate from the stack of the operating system's thread that
//! measures. So another processor may zero it between two packets, and for the next packet its cache
//! lines have migrated (Salehi, Kurose & Towsley 1994, §5: "the producer zeros the consumer's
//! thread stack, migrating it to P0"). Each packet starts at the top of the stack and leaves
//! nothing on it that is still needed, so zeroing is safe.

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use std::io;

/// A stack for packet processing, in its own memory above a guard page.
pub struct ProtocolThread {
    memory: DefaultStack,
    /// How far below the end of the memory the stack begins, in bytes.
    offset: usize,
}

impl ProtocolThread {
    /// The stack size in bytes: enough for one packet, even in builds without optimisation.
    const SIZE: usize = 256 << 10;
    /// How many bytes the other processor zeroes: more than the stack frames of a packet in an optimised
    /// build.
    const ZEROED: usize = 4 << 10;
    /// The number of starting positions of a stack, a cache line apart. Different positions put the stack
    /// frames into different cache sets, so that runs differ in them.
    pub const POSITIONS: usize = 32;
    const LINE: usize = 64;

    /// Creates a thread whose stack begins at the given position (modulo [`POSITIONS`](Self::POSITIONS)).
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new(position: usize) -> io::Result<Self> {
        let offset = position % Self::POSITIONS * Self::LINE;
        Ok(Self { memory: DefaultStack::new(Self::SIZE)?, offset })
    }

    /// Calls `packet` on this thread's stack.
    #[inline(always)]
    pub fn run<R>(&mut self, packet: impl FnOnce() -> R) -> R {
        corosensei::on_stack(Shifted { memory: &self.memory, offset: self.offset }, packet)
    }

    /// Overwrites the stack frames of earlier packets with zeros. Their cache lines migrate to the calling
    /// processor.
    pub fn zero(&mut self) {
        let base = Shifted { memory: &self.memory, offset: self.offset }.base().get();
        let start = core::ptr::with_exposed_provenance_mut::<u8>(base - Self::ZEROED);
        // SAFETY: the range is the topmost part of the stack's own writable memory, as SIZE
        // exceeds ZEROED and the largest offset together by far. `&mut self` proves that nothing
        // runs on the stack, and `run` leaves nothing on it that anyone reads again.
        unsafe { core::ptr::write_bytes(start, 0, Self::ZEROED) };
    }
}

/// The stack with its beginning moved down by `offset`.
struct Shifted<'a> {
    memory: &'a DefaultStack,
    offset: usize,
}

// SAFETY: the memory is `DefaultStack`'s, which has the guard page; the beginning is moved down
// by less than the memory's size less the least allowed one, by a multiple of the alignment.
unsafe impl Stack for Shifted<'_> {
    fn base(&self) -> StackPointer {
        let base = self.memory.base();
        StackPointer::new(base.get() - self.offset).unwrap_or(base)
    }

    fn limit(&self) -> StackPointer {
        self.memory.limit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_run_on_the_threads_own_stack_and_survive_its_zeroing() {
        for position in [0, 1, ProtocolThread::POSITIONS - 1, ProtocolThread::POSITIONS] {
            let mut thread = ProtocolThread::new(position).unwrap();
            let within = thread.memory.limit().get()..thread.memory.base().get();
            for packet in 0..3_u64 {
                let (result, address) = thread.run(|| {
                    let local = core::hint::black_box([packet; 8]);
                    (local.iter().sum::<u64>(), local.as_ptr().addr())
                });
                assert_eq!(result, packet * 8);
                assert!(within.contains(&address));
                thread.zero();
            }
        }
    }

    #[test]
    fn a_panic_on_the_stack_reaches_the_caller() {
        let mut thread = ProtocolThread::new(0).unwrap();
        let outcome = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            thread.run(|| panic!("the packet fails"));
        }));
        assert!(outcome.is_err());
        assert_eq!(thread.run(|| 7), 7);
    }
}
