//! A protocol thread: a stack of its own to process packets on.
//!
//! The stack is memory that we own, apart from the stack of the operating system's thread that
//! does the measuring. So another processor may zero it between two packets, and the next packet
//! finds it migrated (Salehi, Kurose & Towsley 1994, §5: "the producer zeros the consumer's
//! thread stack, migrating it to P0"). Each packet starts at the top of the stack and leaves
//! nothing on it, which is what makes the zeroing legitimate.

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use std::io;

/// A stack for packets, in memory of its own above a guard page.
pub struct ProtocolThread {
    memory: DefaultStack,
    /// How far below the end of the memory the stack begins.
    offset: usize,
}

impl ProtocolThread {
    /// Room for one packet's processing, in builds without optimisation too.
    const SIZE: usize = 256 << 10;
    /// How much the other processor zeroes: more than an optimised packet's frames take.
    const ZEROED: usize = 4 << 10;
    /// Stacks begin at one of this many positions, a cache line apart, so that runs differ in
    /// which cache sets their frames fall into.
    pub const POSITIONS: usize = 32;
    const LINE: usize = 64;

    /// A thread whose stack begins at the given position (modulo [`POSITIONS`](Self::POSITIONS)).
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

    /// Writes zeros over the frames that packets have left behind, from the calling processor,
    /// to which their cache lines migrate.
    pub fn zero(&mut self) {
        let base = Shifted { memory: &self.memory, offset: self.offset }.base().get();
        let start = core::ptr::with_exposed_provenance_mut::<u8>(base - Self::ZEROED);
        // SAFETY: the range is the topmost part of the stack's own writable memory, as SIZE
        // exceeds ZEROED and the largest offset together by far. `&mut self` proves that nothing
        // runs on the stack, and `run` leaves nothing on it that anyone reads again.
        unsafe { core::ptr::write_bytes(start, 0, Self::ZEROED) };
    }
}

/// The stack as seen from its shifted beginning.
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
    fn a_panic_on_the_stack_comes_back_to_the_caller() {
        let mut thread = ProtocolThread::new(0).unwrap();
        let outcome = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            thread.run(|| panic!("the packet fails"));
        }));
        assert!(outcome.is_err());
        assert_eq!(thread.run(|| 7), 7);
    }
}
