//! A RISC-V machine that executes bare programs, instruction by instruction, so that every one can be seen.
//!
//! ```text
//!  file ── Image::read ──► Image ── Machine::new ──► Machine ── call, run ──► results
//!  ELF, riscv64            segments, symbols,         memory, registers,   └──► an Observer sees each instruction
//!                          relocations                decoded words             and what it touches: a Trace
//! ```
//!
//! An [`Image`] is an executable for riscv64, statically linked. A [`Machine`] executes it: RV64IM in words of 4 bytes,
//! without compressed instructions, atomics, floating point or an operating system. The host calls functions, reads and
//! writes memory, and answers `ecall`s: what they mean is between the program and its host.
//!
//! For programs in Rust, the target `riscv64imac-unknown-none-elf` with `-C target-feature=-c,-zca,-a`; for those whose
//! functions shall be cloned, with `-C link-arg=--emit-relocs -C link-arg=--no-relax`. The parts of `core` that came
//! compiled, and `memcpy` and its like of `compiler_builtins`, are compressed: they can be in the program, but not
//! executed. A program brings its own `memcpy`, or both are built anew (`-Z build-std=core`).

mod decode;
mod describe;
pub mod encode;
mod error;
mod image;
mod machine;
#[cfg(test)]
pub(crate) mod testing;

pub use decode::{Decoded, Op, is_compressed};
pub use describe::describe;
pub use error::{ImageError, MachineError};
pub use image::{Image, LONGEST_EXECUTABLE, MOST_MEMORY, Relocation, Segment};
pub use machine::{DEFAULT_LIMIT, Machine, Nobody, Observer, RETURN_ADDRESS, STACK_BYTES, STACK_TOP, Stop};
