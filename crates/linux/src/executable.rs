//! Long blocks of code that do nothing. Running one displaces other code from the instruction cache.
//!
//! The block is a chain of jumps, each over a few bytes to the next, and a return at the end.
//! Straight-line no-ops do not work: current caches distinguish a stream that passes once from code
//! in use. On a virtual Zen 4 processor with 32 KiB of instruction cache, 8 KiB of arithmetic that had
//! run twice took 364 cycles after 256 KiB of no-ops, as if nothing had run in between. After
//! 32 KiB of jumps it took 572 cycles, however often it had run before.
//!
//! A longer block also displaces entries of the branch target buffer, which costs more than the
//! first-level cache does: on that processor 64 KiB did not, 128 KiB did. The example
//! `displacement` times the effect of each size on the current machine.
//!
//! Pages are written first and then made executable; they are never writable and executable at
//! once. The
//! `unsafe` here is the jump into the block, and on ARM the cache maintenance before it.

use crate::mapping::{ExecutablePages, Mapping, MappingError};
use rustix::io::Errno;
use warmcore_units::Bytes;

/// Why a code block could not be created.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeBlockError {
    /// We have no machine code for this architecture.
    #[error("cannot write code for {}: expected x86_64 or aarch64", std::env::consts::ARCH)]
    Unsupported,
    /// The size is too small even for the return instruction.
    #[error("a code block of {size} was asked for: expected at least {least}")]
    TooSmall {
        /// The requested size.
        size: Bytes,
        /// The size of a block that only returns.
        least: Bytes,
    },
    /// The memory cannot be mapped.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// A security policy forbids executing memory that was written.
    #[error(
        "cannot make memory executable: {0}; a security policy such as SELinux's `execmem` may forbid it"
    )]
    Forbidden(Errno),
}

/// Executable memory filled with a chain of jumps and a return at the end.
#[derive(Debug)]
pub struct CodeBlock {
    pages: ExecutablePages,
    len: usize,
}

impl CodeBlock {
    /// Creates a block of `size` bytes of code, rounded down to whole instructions.
    ///
    /// # Errors
    /// If we have no code for the architecture, `size` is below one return instruction, or the
    /// kernel gives no memory or does not allow it to be executed.
    ///
    /// ```
    /// # if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
    /// use warmcore_units::Bytes;
    /// let block = warmcore_linux::CodeBlock::new(Bytes::kib(32))?;
    /// block.run(); // every line of 32 KiB of code has been fetched
    /// # }
    /// # Ok::<(), warmcore_linux::CodeBlockError>(())
    /// ```
    pub fn new(size: Bytes) -> Result<Self, CodeBlockError> {
        let Some(code) = machine_code() else { return Err(CodeBlockError::Unsupported) };
        let least = Bytes(code.ret.len() as u64);
        if size < least {
            return Err(CodeBlockError::TooSmall { size, least });
        }
        let mut mapping = Mapping::new(size)?;
        let len = size.len() / code.unit * code.unit;
        code.fill(&mut mapping.as_mut_slice()[..len]);
        make_visible_to_fetch(&mapping.as_slice()[..len]);
        let pages = mapping.make_executable().map_err(CodeBlockError::Forbidden)?;
        Ok(Self { pages, len })
    }

    /// Executes every jump of the block once, in order, so that every cache line of it is fetched.
    pub fn run(&self) {
        let start = self.pages.as_slice().as_ptr();
        // SAFETY: `start` is the address of `len` bytes of whole instructions of this processor
        // (`new` made them, and nothing can write them since): each jump leads to a later one or
        // to the return. So the call returns, and changes neither registers nor memory.
        unsafe {
            let block: extern "C" fn() = core::mem::transmute(start);
            block();
        }
    }

    /// The number of bytes of code, including the return.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        Bytes(self.len as u64)
    }
}

/// The machine instructions that a block consists of.
struct MachineCode {
    /// A jump and the bytes it skips. The length divides a cache line.
    jump: &'static [u8],
    /// A no-op of one unit, used where a jump does not fit.
    no_op: &'static [u8],
    /// Return to the caller.
    ret: &'static [u8],
    /// The instruction length of the architecture: every instruction is a multiple of it.
    unit: usize,
}

impl MachineCode {
    /// Fills `block`, whose length is a multiple of the unit and at least a return's.
    fn fill(&self, block: &mut [u8]) {
        let (body, end) = block.split_at_mut(block.len() - self.ret.len());
        end.copy_from_slice(self.ret);
        let mut jumps = body.chunks_exact_mut(self.jump.len());
        jumps.by_ref().for_each(|place| place.copy_from_slice(self.jump));
        let rest = jumps.into_remainder().chunks_exact_mut(self.no_op.len());
        rest.for_each(|place| place.copy_from_slice(self.no_op));
    }
}

/// `jmp .+8` and six bytes of `nop`; `nop`; `ret`.
#[cfg(target_arch = "x86_64")]
const fn machine_code() -> Option<MachineCode> {
    Some(MachineCode {
        jump: &[0xeb, 0x06, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90],
        no_op: &[0x90],
        ret: &[0xc3],
        unit: 1,
    })
}

/// `b .+8` and a `nop`; `nop`; `ret`.
#[cfg(target_arch = "aarch64")]
const fn machine_code() -> Option<MachineCode> {
    Some(MachineCode {
        jump: &[0x02, 0x00, 0x00, 0x14, 0x1f, 0x20, 0x03, 0xd5],
        no_op: &[0x1f, 0x20, 0x03, 0xd5],
        ret: &[0xc0, 0x03, 0x5f, 0xd6],
        unit: 4,
    })
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const fn machine_code() -> Option<MachineCode> {
    None
}

/// Makes instruction fetch see what was just written to `code`. On x86 the hardware does.
#[cfg(not(target_arch = "aarch64"))]
const fn make_visible_to_fetch(_code: &[u8]) {}

/// Makes instruction fetch see what was just written to `code`: cleans each line of it to the
/// point where both first-level caches meet, drops stale instructions, and refetches.
#[cfg(target_arch = "aarch64")]
fn make_visible_to_fetch(code: &[u8]) {
    use core::arch::asm;
    /// No line of a first-level cache is shorter.
    const LINE: usize = 16;
    let lines = || code.iter().step_by(LINE).map(core::ptr::from_ref);
    // SAFETY: these instructions are allowed to programs by Linux, take addresses inside `code`,
    // and change no memory contents.
    unsafe {
        for line in lines() {
            asm!("dc cvau, {0}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for line in lines() {
            asm!("ic ivau, {0}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_size_return() {
        for size in (4..=80).chain([4096, 4097, 65_536, 1 << 20]) {
            let block = CodeBlock::new(Bytes(size)).unwrap();
            block.run();
            block.run();
            assert!(block.size().0 <= size && block.size().0 > size - 4, "{size}");
        }
    }

    #[test]
    fn a_block_is_filled_with_jumps_and_ends_in_a_return() {
        let code = machine_code().unwrap();
        let mut block = vec![0xff; 8 * 5 + 4 + code.ret.len()];
        code.fill(&mut block);
        let body = block.strip_suffix(code.ret).unwrap();
        let (jumps, rest) = body.split_at(8 * 5);
        assert_eq!(jumps, code.jump.repeat(5));
        assert_eq!(rest, code.no_op.repeat(4 / code.unit));
        assert_eq!(64 % code.jump.len(), 0, "no jump crosses into another cache line");
    }

    #[test]
    fn pages_of_code_are_executable_and_not_writable() {
        let block = CodeBlock::new(Bytes::kib(4)).unwrap();
        let start = format!("{:x}-", block.pages.as_slice().as_ptr() as usize);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let ours = maps.lines().find(|line| line.trim_start_matches('0').starts_with(&start)).unwrap();
        assert_eq!(ours.split_whitespace().nth(1), Some("r-xp"), "{ours}");
    }

    #[test]
    fn a_block_too_small_for_a_return_is_refused() {
        assert!(matches!(CodeBlock::new(Bytes(0)), Err(CodeBlockError::TooSmall { .. })));
    }
}
