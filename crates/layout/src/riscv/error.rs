//! What can be wrong with a program, and with its execution.

use thiserror::Error;

/// Why a file is no [`Image`](super::Image). Addresses and sizes are in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ImageError {
    /// The file cannot be read.
    #[error("{path}: {problem}")]
    File {
        /// Which file.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// It is no ELF file of 64 bits, or a broken one.
    #[error("it is no ELF file of 64 bits ({problem}): expected an executable for riscv64")]
    NotElf {
        /// What the reader says.
        problem: String,
    },
    /// It is for another machine.
    #[error("it is for the machine {machine} of the ELF specification: expected 243, RISC-V, little-endian")]
    WrongMachine {
        /// The number of the machine; 243 with a wrong byte order.
        machine: u16,
    },
    /// It is an object, a library or position-independent.
    #[error(
        "it is an ELF file of type {kind}: expected 2, an executable with fixed addresses, statically linked"
    )]
    NotStatic {
        /// The type.
        kind: u16,
    },
    /// It has been stripped.
    #[error("it has no symbols of functions: expected a file that was not stripped")]
    NoSymbols,
    /// A segment cannot be.
    #[error("the segment at {address:#x} of {size} bytes {problem}")]
    Segment {
        /// Its first byte.
        address: u64,
        /// How many bytes it has in memory.
        size: u64,
        /// What is wrong, and what would be right.
        problem: &'static str,
    },
    /// There is no such symbol.
    #[error(
        "there is no symbol `{name}`: expected the name that the linker knows, or a function's demangled one"
    )]
    MissingSymbol {
        /// What was looked for.
        name: String,
    },
}

/// Why a program could not be executed further. Addresses and sizes are in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MachineError {
    /// The next word is no instruction of RV64IM.
    #[error(
        "at {pc:#x}: the word {word:#010x} is no instruction of RV64IM; expected code compiled for it, without \
         compressed instructions or atomics"
    )]
    UnknownInstruction {
        /// Where it is.
        pc: u64,
        /// What is there.
        word: u32,
    },
    /// The next instruction has two bytes.
    #[error(
        "at {pc:#x}: the word {word:#010x} begins with a compressed instruction; expected code compiled without \
         them (`-C target-feature=-c,-zca`)"
    )]
    Compressed {
        /// Where it is.
        pc: u64,
        /// What is there.
        word: u32,
    },
    /// It goes where there is no code.
    #[error(
        "{pc:#x} is no address of an instruction; expected a multiple of 4 in an executable segment, and no code that \
         came compiled with compressed instructions"
    )]
    NotCode {
        /// Where it would go.
        pc: u64,
    },
    /// Data of several bytes is not at a multiple of its size.
    #[error("at {pc:#x}: {size} bytes at {address:#x} are not aligned; expected a multiple of {size}")]
    Misaligned {
        /// Which instruction.
        pc: u64,
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u16,
    },
    /// There is no memory.
    #[error("at {pc:#x}: {size} bytes at {address:#x} are not all in one region of memory")]
    OutOfBounds {
        /// Which instruction.
        pc: u64,
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u16,
    },
    /// It would write what may only be read.
    #[error("at {pc:#x}: {size} bytes at {address:#x} may not be written")]
    ReadOnly {
        /// Which instruction.
        pc: u64,
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u16,
    },
    /// It took too long.
    #[error("at {pc:#x}: it has executed {limit} instructions, the most that were allowed")]
    InstructionLimit {
        /// The next instruction.
        pc: u64,
        /// How many were allowed.
        limit: u64,
    },
    /// `ebreak`: the program gave up.
    #[error("at {pc:#x}: the program stopped itself by `ebreak`, as it does when it panics")]
    Breakpoint {
        /// Where it is.
        pc: u64,
    },
    /// `ecall` where nobody answers.
    #[error("at {pc:#x}: the program asks its host by `ecall`; expected it to return first")]
    UnexpectedCall {
        /// Where it is.
        pc: u64,
    },
    /// The host asks for memory that is not there, or that it may not change.
    #[error(
        "the host asks for {size} bytes at {address:#x}; expected them in one region of memory, and none of code to write"
    )]
    Host {
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u64,
    },
    /// A new region has bytes that another has.
    #[error("a region of {size} bytes at {address:#x} overlaps another, or the end of the address space")]
    Overlap {
        /// The first byte.
        address: u64,
        /// How many bytes.
        size: u64,
    },
    /// A new region is too large.
    #[error("a region of {size} bytes is too large; expected at most {limit}")]
    TooLarge {
        /// How many bytes.
        size: u64,
        /// The most.
        limit: u64,
    },
    /// A function gets too much.
    #[error("{given} arguments; expected at most 8, which is what registers can hold")]
    Arguments {
        /// How many were given.
        given: usize,
    },
}
