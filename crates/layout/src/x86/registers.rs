//! Which registers an instruction reads and writes, as sets.
//!
//! Bits 0 to 15 are the general registers, 16 the flags. Vectors 0 to 15 are bits 32 to 47; the others of AVX-512 share
//! bits 48 to 55 in pairs, its masks bits 56 to 59; the x87 stack with MMX is bit 60. Segments and the instruction pointer
//! are left out: programs do not compute them.

use crate::trace::Registers;
use iced_x86::{Instruction, InstructionInfo, OpAccess, Register};

const FLAGS: u64 = 1 << 16;

/// The registers that `instruction` reads, and those that it writes.
pub(super) fn sets(instruction: &Instruction, information: &InstructionInfo) -> (Registers, Registers) {
    let flags = |bits: u32| if bits == 0 { 0 } else { FLAGS };
    let mut reads = flags(instruction.rflags_read());
    let mut writes = flags(instruction.rflags_modified());
    for used in information.used_registers() {
        let bit = bit(used.register());
        if reads_it(used.access()) {
            reads |= bit;
        }
        if writes_it(used.access()) {
            writes |= bit;
        }
    }
    (Registers(reads), Registers(writes))
}

/// Whether the value is read, always or sometimes.
pub(super) fn reads_it(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// Whether the value is written, always or sometimes.
pub(super) fn writes_it(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn bit(register: Register) -> u64 {
    let number = register.full_register().number();
    let bit = match register.full_register() {
        full if full.is_gpr() => number,
        full if full.is_vector_register() && number < 16 => 32 + number,
        full if full.is_vector_register() => 48 + (number - 16) / 2,
        full if full.is_k() => 56 + number / 2,
        full if full.is_st() || full.is_mm() => 60,
        _ => return 0,
    };
    1 << bit
}
