//! The binary format of a trace, version 1. What must always hold: whoever reads it needs no more memory than the part
//! read so far deserves, and a file that was cut or changed anywhere is refused.
//!
//! ```text
//!  trace       = magic version functions record… end
//!  magic       = "WARMTRC\n"                               8 bytes
//!  version     = 1                                         1 byte
//!  functions   = count { name symbol address size }        name, symbol: length, UTF-8
//!  record      = definition | step
//!  definition  = 1 address length class [target] reads writes count access…
//!  step        = 2 + 4 · index + min(count, 3)  [count - 3]  access…
//!  access      = 4 · size + kind  address
//!  end         = 0 steps crc
//! ```
//!
//! All numbers are LEB128 varints of at most 64 bits, but `version`, `length` and `class`, one byte each, and `crc`, four
//! bytes, the least significant first.
//!
//! - An instruction is defined where it is executed first, and a definition is a step too. Instructions count from 0 in
//!   that order. Each address is defined once.
//! - Differences are wrapped to 64 bits and *zigzag*: 0, -1, 1, -2, … become 0, 1, 2, 3, …
//! - `index` is the difference to the instruction after the last step's. Straight code is thus a byte a step.
//! - `address` of a definition is the difference to the end of the last step's instruction, or to 0; that of an access
//!   to the last access, or to 0.
//! - `class` is the place in the order of [`Class`], and has bit 7 set if `target`, the difference to the
//!   instruction's address, follows.
//! - `kind` is 0, 1 or 2 for a fetch, load or store.
//! - `steps` is how many there were. `crc` is the CRC-32 (IEEE 802.3) of everything before it. Nothing follows.

use super::Class;
use thiserror::Error;

pub(super) const MAGIC: [u8; 8] = *b"WARMTRC\n";
pub(super) const VERSION: u8 = 1;
/// The record that ends a trace.
pub(super) const END: u64 = 0;
/// The record that defines an instruction.
pub(super) const DEFINITION: u64 = 1;
/// The first number of a record that is a step.
pub(super) const STEP: u64 = 2;
/// As many accesses do not fit beside the index.
pub(super) const MANY: u64 = 3;
/// The bit of a class that says that a target follows.
pub(super) const HAS_TARGET: u8 = 0x80;

/// The longest name, in bytes.
pub const LONGEST_NAME: u64 = 1 << 16;
/// The most functions of a program.
pub const MOST_FUNCTIONS: u64 = 1 << 24;
/// The most data that one instruction touches, in accesses.
pub const MOST_ACCESSES: u64 = 1 << 16;

pub(super) const CLASSES: [Class; 11] = [
    Class::Integer,
    Class::Multiply,
    Class::Divide,
    Class::Load,
    Class::Store,
    Class::Branch,
    Class::Jump,
    Class::Call,
    Class::Return,
    Class::Float,
    Class::Other,
];

/// The difference `to - from` as a number that is small if it is near.
pub(super) const fn difference(from: u64, to: u64) -> u64 {
    let signed = to.wrapping_sub(from) as i64;
    (signed << 1 ^ signed >> 63) as u64
}

/// What [`difference`] was made of, from `from`.
pub(super) const fn moved(from: u64, difference: u64) -> u64 {
    from.wrapping_add(difference >> 1 ^ (difference & 1).wrapping_neg())
}

/// Why a trace cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The system refuses.
    #[error("the trace cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The format has no place for so much.
    #[error("{found} {what} are too many; expected at most {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: u64,
        /// The most.
        limit: u64,
    },
}

/// Why a trace cannot be read. Offsets are in bytes from its beginning.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system refuses.
    #[error("the trace cannot be read at offset {offset}: {source}")]
    Io {
        /// Where.
        offset: u64,
        /// What the system says.
        source: std::io::Error,
    },
    /// It begins otherwise.
    #[error("it is no trace; expected one to begin with `WARMTRC`")]
    NoTrace,
    /// It is of another time.
    #[error("the trace has version {found}; expected {VERSION}")]
    Version {
        /// Which.
        found: u8,
    },
    /// It has been cut.
    #[error("the trace ends at offset {offset}, within a record; expected it to have been finished")]
    Truncated {
        /// Where.
        offset: u64,
    },
    /// Something stands there that cannot.
    #[error("at offset {offset} of the trace: {problem}")]
    Malformed {
        /// Where.
        offset: u64,
        /// What is wrong, and what would be right.
        problem: &'static str,
    },
    /// There is more than there can be.
    #[error("at offset {offset} of the trace: {found} {what} are too many; expected at most {limit}")]
    TooMany {
        /// Where.
        offset: u64,
        /// Of what.
        what: &'static str,
        /// How many.
        found: u64,
        /// The most.
        limit: u64,
    },
    /// An instruction was executed that is none.
    #[error(
        "at offset {offset} of the trace: instruction {index} is executed, but only {defined} are defined"
    )]
    Undefined {
        /// Where.
        offset: u64,
        /// Which one.
        index: u64,
        /// How many there are.
        defined: u64,
    },
    /// Steps are missing.
    #[error("at offset {offset} of the trace: it says that it has {stated} steps, and has {found}")]
    Steps {
        /// Where.
        offset: u64,
        /// How many it says.
        stated: u64,
        /// How many there are.
        found: u64,
    },
    /// It has been changed.
    #[error(
        "at offset {offset} of the trace: the checksum is {stated:#010x}, expected {found:#010x}: it was changed"
    )]
    Checksum {
        /// Where.
        offset: u64,
        /// The checksum in it.
        stated: u32,
        /// The checksum of it.
        found: u32,
    },
}
