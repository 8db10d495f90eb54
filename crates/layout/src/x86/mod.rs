//! Instructions of x86-64: what one is to a pipeline, and which data it touches with given registers.
//!
//! The decoder is that of the crate `iced-x86`, whose tables are made from Intel's and AMD's manuals. Bytes go in, values
//! come out; nothing of a process is read.
//!
//! - An instruction that reads memory and computes is a [`Load`](crate::trace::Class::Load), one that writes memory a
//!   [`Store`](crate::trace::Class::Store); branches, multiplications and divisions stay what they are.
//! - One that reads and writes a place loads it first. Pushes, calls and returns touch the stack.
//! - A repeated string instruction touches each of its elements.
//! - Gathers and scatters, whose addresses lie in vectors, are said to touch nothing.

mod accesses;
mod class;
mod registers;
#[cfg(test)]
mod tests;

use crate::trace::{Access, Instruction};
use iced_x86::{Decoder as Bytes, DecoderOptions, InstructionInfoFactory};

/// The registers on which addresses depend, before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Values {
    /// The general registers in the processor's numbering: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub general: [u64; 16],
    /// The flags; string instructions go backwards if bit 10 is set.
    pub flags: u64,
    /// Where segment `fs` begins.
    pub fs_base: u64,
    /// Where segment `gs` begins.
    pub gs_base: u64,
    /// How often a repeated string instruction did its work; `None` for as often as rcx says.
    pub iterations: Option<u64>,
}

/// Bytes that are no instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the bytes at {address:#x} are no x86-64 instruction:{}", hexadecimal(bytes))]
pub struct Undecodable {
    /// Where.
    pub address: u64,
    /// What was there.
    pub bytes: Vec<u8>,
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!(" {byte:02x}")).collect()
}

/// The longest instruction, in bytes.
pub(crate) const LONGEST: u64 = 15;

/// Whether an instruction of `code` begins at `offset`, when one does at 0.
///
/// # Errors
/// If none does: where the last one before it begins, and where the next one does if that is known.
pub(crate) fn beginning_at(code: &[u8], offset: u64) -> Result<(), (u64, Option<u64>)> {
    let mut decoder = Bytes::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut before = 0;
    while decoder.ip() < offset {
        before = decoder.ip();
        if decoder.decode().is_invalid() {
            return Err((before, None));
        }
    }
    if decoder.ip() == offset { Ok(()) } else { Err((before, Some(decoder.ip()))) }
}

/// Decodes instructions one after another.
#[derive(Debug)]
pub struct Decoder {
    information: InstructionInfoFactory,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { information: InstructionInfoFactory::new() }
    }
}

impl Decoder {
    /// Decodes the instruction that `bytes` begin with, which lies at `ip`. What it touches with `values` is appended to
    /// `accesses`.
    ///
    /// # Errors
    /// If the bytes are no instruction, or it is not whole.
    ///
    /// ```
    /// use warmcore_cachesim::Kind;
    /// use warmcore_layout::trace::Class;
    /// use warmcore_layout::x86::{Decoder, Values};
    /// let mut values = Values::default();
    /// values.general[4] = 0x8000; // rsp
    /// let mut accesses = Vec::new();
    /// let push = Decoder::default().decode(&[0x55], 0x1000, &values, &mut accesses)?;
    /// assert_eq!((push.class, push.length), (Class::Store, 1));
    /// assert_eq!((accesses[0].kind, accesses[0].address, accesses[0].size), (Kind::Store, 0x7ff8, 8));
    /// # Ok::<(), warmcore_layout::x86::Undecodable>(())
    /// ```
    pub fn decode(
        &mut self,
        bytes: &[u8],
        ip: u64,
        values: &Values,
        accesses: &mut Vec<Access>,
    ) -> Result<Instruction, Undecodable> {
        let decoded = Bytes::with_ip(64, bytes, ip, DecoderOptions::NONE).decode();
        if decoded.is_invalid() {
            return Err(Undecodable { address: ip, bytes: bytes.to_vec() });
        }
        let information = self.information.info(&decoded);
        accesses::append(&decoded, information, values, accesses);
        let (reads, writes) = registers::sets(&decoded, information);
        Ok(Instruction {
            address: ip,
            length: decoded.len() as u8,
            class: class::classify(&decoded, information),
            reads,
            writes,
            target: class::target(&decoded),
        })
    }
}
