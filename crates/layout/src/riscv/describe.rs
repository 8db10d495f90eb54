//! What a decoded instruction is to a pipeline.

use super::decode::{Decoded, Op};
use crate::trace::{Class, Instruction, Registers};

/// The instruction `decoded` at `address`, as a trace holds it.
///
/// Jumps through a register are calls if they link to `ra` or `t0`, and returns if they go there without linking (the
/// manual's table of return-address prediction hints, chapter 2.5.1).
#[must_use]
#[inline]
pub fn describe(address: u64, decoded: &Decoded) -> Instruction {
    Instruction {
        address,
        length: 4,
        class: class(decoded),
        reads: Registers((1 << decoded.rs1 | 1 << decoded.rs2) & !1),
        writes: Registers((1 << decoded.rd) & !1),
        target: decoded.target(address),
    }
}

const fn is_link(register: u8) -> bool {
    matches!(register, 1 | 5)
}

#[rustfmt::skip]
fn class(decoded: &Decoded) -> Class {
    match decoded.op {
        Op::Jal | Op::Jalr if is_link(decoded.rd) => Class::Call,
        Op::Jalr if decoded.rd == 0 && is_link(decoded.rs1) => Class::Return,
        Op::Jal | Op::Jalr => Class::Jump,
        Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => Class::Branch,
        Op::Lb | Op::Lh | Op::Lw | Op::Ld | Op::Lbu | Op::Lhu | Op::Lwu => Class::Load,
        Op::Sb | Op::Sh | Op::Sw | Op::Sd => Class::Store,
        Op::Mul | Op::Mulh | Op::Mulhsu | Op::Mulhu | Op::Mulw => Class::Multiply,
        Op::Div | Op::Divu | Op::Rem | Op::Remu | Op::Divw | Op::Divuw | Op::Remw | Op::Remuw => Class::Divide,
        Op::Fence | Op::Ecall | Op::Ebreak | Op::Unknown => Class::Other,
        _ => Class::Integer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(word: u32) -> Instruction {
        describe(0x1000, &Decoded::new(word))
    }

    #[test]
    fn jumps_are_calls_and_returns_by_their_registers() {
        // jal ra, 8; jal x0, 8; jalr ra, x10; jalr x0, x1; jalr x0, x6
        let words = [0x0080_00ef, 0x0080_006f, 0x0005_00e7, 0x0000_8067, 0x0003_0067];
        let classes = words.map(|word| described(word).class);
        assert_eq!(classes, [Class::Call, Class::Jump, Class::Call, Class::Return, Class::Jump]);
        let targets = words.map(|word| described(word).target);
        assert_eq!(targets, [Some(0x1008), Some(0x1008), None, None, None]);
    }

    #[test]
    fn the_register_that_is_zero_is_no_register() {
        // sd x0, 0(x2); addi x0, x0, 0; add x3, x1, x2
        let sets = [0x0001_3023, 0x0000_0013, 0x0020_81b3].map(|word| {
            let found = described(word);
            (found.reads.0, found.writes.0)
        });
        assert_eq!(sets, [(1 << 2, 0), (0, 0), (1 << 1 | 1 << 2, 1 << 3)]);
    }
}
