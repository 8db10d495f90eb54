//! One instruction, executed.

use super::arithmetic::{div, divu, divuw, divw, extend, mulh, mulhsu, mulhu, rem, remu, remuw, remw};
use super::memory::Memory;
use crate::riscv::decode::{Decoded, Op, is_compressed};
use crate::riscv::error::MachineError;
use crate::trace::Access;
use warmcore_cachesim::Kind;

/// Why the next instruction is not simply the next.
pub(super) enum Halt {
    /// The program asks its host.
    Ecall,
    /// It cannot go on.
    Error(MachineError),
}

impl From<MachineError> for Halt {
    fn from(error: MachineError) -> Self {
        Self::Error(error)
    }
}

/// What one instruction may change, and what it touched.
pub(super) struct Hart<'a> {
    pub(super) registers: &'a mut [u64; 32],
    pub(super) memory: &'a mut Memory,
    /// The data that the last instruction touched, if it is a load or a store.
    pub(super) access: Option<Access>,
}

impl Hart<'_> {
    #[inline(always)]
    fn get(&self, register: u8) -> u64 {
        self.registers[usize::from(register & 31)]
    }

    /// Whatever is written to register 0 is lost.
    #[inline(always)]
    fn set(&mut self, register: u8, value: u64) {
        self.registers[usize::from(register & 31)] = value;
        self.registers[0] = 0;
    }

    #[inline(always)]
    fn load<const N: usize>(&mut self, pc: u64, decoded: &Decoded) -> Result<[u8; N], Halt> {
        let address = self.get(decoded.rs1).wrapping_add_signed(i64::from(decoded.imm));
        self.access = Some(Access { address, size: N as u16, kind: Kind::Load });
        Ok(self.memory.load(pc, address)?)
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, pc: u64, decoded: &Decoded) -> Result<(), Halt> {
        let address = self.get(decoded.rs1).wrapping_add_signed(i64::from(decoded.imm));
        self.access = Some(Access { address, size: N as u16, kind: Kind::Store });
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.get(decoded.rs2).to_le_bytes()[..N]);
        Ok(self.memory.store(pc, address, bytes)?)
    }

    /// Executes `decoded`, which is at `pc`. Returns where the next instruction is.
    #[inline(always)]
    #[rustfmt::skip]
    pub(super) fn step(&mut self, pc: u64, decoded: &Decoded) -> Result<u64, Halt> {
        let (a, b) = (self.get(decoded.rs1), self.get(decoded.rs2));
        let (imm, imm_word) = (i64::from(decoded.imm) as u64, decoded.imm as u32);
        let (a_word, b_word) = (a as u32, b as u32);
        let (a_signed, b_signed) = (a as i64, b as i64);
        let next = pc.wrapping_add(4);
        let elsewhere = pc.wrapping_add(imm);
        let result = match decoded.op {
            Op::Lui => imm,
            Op::Auipc => elsewhere,
            Op::Jal => { self.set(decoded.rd, next); return Ok(elsewhere); }
            Op::Jalr => { self.set(decoded.rd, next); return aligned(a.wrapping_add(imm) & !1); }
            Op::Beq => return Ok(if a == b { elsewhere } else { next }),
            Op::Bne => return Ok(if a != b { elsewhere } else { next }),
            Op::Blt => return Ok(if a_signed < b_signed { elsewhere } else { next }),
            Op::Bge => return Ok(if a_signed >= b_signed { elsewhere } else { next }),
            Op::Bltu => return Ok(if a < b { elsewhere } else { next }),
            Op::Bgeu => return Ok(if a >= b { elsewhere } else { next }),
            Op::Lb => i64::from(i8::from_le_bytes(self.load(pc, decoded)?)) as u64,
            Op::Lh => i64::from(i16::from_le_bytes(self.load(pc, decoded)?)) as u64,
            Op::Lw => i64::from(i32::from_le_bytes(self.load(pc, decoded)?)) as u64,
            Op::Ld => u64::from_le_bytes(self.load(pc, decoded)?),
            Op::Lbu => u64::from(u8::from_le_bytes(self.load(pc, decoded)?)),
            Op::Lhu => u64::from(u16::from_le_bytes(self.load(pc, decoded)?)),
            Op::Lwu => u64::from(u32::from_le_bytes(self.load(pc, decoded)?)),
            Op::Sb => { self.store::<1>(pc, decoded)?; return Ok(next); }
            Op::Sh => { self.store::<2>(pc, decoded)?; return Ok(next); }
            Op::Sw => { self.store::<4>(pc, decoded)?; return Ok(next); }
            Op::Sd => { self.store::<8>(pc, decoded)?; return Ok(next); }
            Op::Addi => a.wrapping_add(imm),
            Op::Slti => u64::from(a_signed < imm as i64),
            Op::Sltiu => u64::from(a < imm),
            Op::Xori => a ^ imm,
            Op::Ori => a | imm,
            Op::Andi => a & imm,
            Op::Slli => a.wrapping_shl(imm_word),
            Op::Srli => a.wrapping_shr(imm_word),
            Op::Srai => a_signed.wrapping_shr(imm_word) as u64,
            Op::Addiw => extend(a_word.wrapping_add(imm_word)),
            Op::Slliw => extend(a_word.wrapping_shl(imm_word)),
            Op::Srliw => extend(a_word.wrapping_shr(imm_word)),
            Op::Sraiw => extend((a_word as i32).wrapping_shr(imm_word) as u32),
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Sll => a.wrapping_shl(b_word),
            Op::Slt => u64::from(a_signed < b_signed),
            Op::Sltu => u64::from(a < b),
            Op::Xor => a ^ b,
            Op::Srl => a.wrapping_shr(b_word),
            Op::Sra => a_signed.wrapping_shr(b_word) as u64,
            Op::Or => a | b,
            Op::And => a & b,
            Op::Addw => extend(a_word.wrapping_add(b_word)),
            Op::Subw => extend(a_word.wrapping_sub(b_word)),
            Op::Sllw => extend(a_word.wrapping_shl(b_word)),
            Op::Srlw => extend(a_word.wrapping_shr(b_word)),
            Op::Sraw => extend((a_word as i32).wrapping_shr(b_word) as u32),
            Op::Mul => a.wrapping_mul(b),
            Op::Mulh => mulh(a, b),
            Op::Mulhsu => mulhsu(a, b),
            Op::Mulhu => mulhu(a, b),
            Op::Div => div(a, b),
            Op::Divu => divu(a, b),
            Op::Rem => rem(a, b),
            Op::Remu => remu(a, b),
            Op::Mulw => extend(a_word.wrapping_mul(b_word)),
            Op::Divw => divw(a_word, b_word),
            Op::Divuw => divuw(a_word, b_word),
            Op::Remw => remw(a_word, b_word),
            Op::Remuw => remuw(a_word, b_word),
            Op::Fence => return Ok(next),
            Op::Ecall => return Err(Halt::Ecall),
            Op::Ebreak => return Err(MachineError::Breakpoint { pc }.into()),
            Op::Unknown => return Err(unknown(pc, imm_word)),
        };
        self.set(decoded.rd, result);
        Ok(next)
    }
}

/// `target`, if an instruction can be there.
#[inline(always)]
fn aligned(target: u64) -> Result<u64, Halt> {
    if target & 3 == 0 { Ok(target) } else { Err(MachineError::NotCode { pc: target }.into()) }
}

#[cold]
fn unknown(pc: u64, word: u32) -> Halt {
    let error = if is_compressed(word) {
        MachineError::Compressed { pc, word }
    } else {
        MachineError::UnknownInstruction { pc, word }
    };
    error.into()
}
