//! Words of RV64IM, taken apart (*The RISC-V Instruction Set Manual, Volume I*, 20240411, chapters 2, 4 and 12, and the
//! table of encodings in chapter 35).

/// What an instruction does. The names are those of the manual.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[rustfmt::skip]
#[allow(missing_docs, reason = "the manual has a page for each")]
pub enum Op {
    Lui, Auipc, Jal, Jalr,
    Beq, Bne, Blt, Bge, Bltu, Bgeu,
    Lb, Lh, Lw, Ld, Lbu, Lhu, Lwu,
    Sb, Sh, Sw, Sd,
    Addi, Slti, Sltiu, Xori, Ori, Andi, Slli, Srli, Srai,
    Addiw, Slliw, Srliw, Sraiw,
    Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And,
    Addw, Subw, Sllw, Srlw, Sraw,
    Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu,
    Mulw, Divw, Divuw, Remw, Remuw,
    Fence, Ecall, Ebreak,
    /// No instruction that is known here; the immediate is the word.
    Unknown,
}

/// One instruction, taken apart into 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Decoded {
    /// What it does.
    pub op: Op,
    /// The register that it writes; 0 if it writes none.
    pub rd: u8,
    /// The first register that it reads; 0 if it reads none.
    pub rs1: u8,
    /// The second register that it reads; 0 if it reads none.
    pub rs2: u8,
    /// Its immediate, extended by its sign: bytes for branches and jumps, the upper bits in place for `lui` and `auipc`.
    pub imm: i32,
}

impl Decoded {
    /// Takes `word` apart. One that is compressed, or is no instruction of RV64IM, becomes [`Op::Unknown`].
    #[must_use]
    pub fn new(word: u32) -> Self {
        known(word).unwrap_or(Self { op: Op::Unknown, rd: 0, rs1: 0, rs2: 0, imm: word as i32 })
    }

    /// The place that it names, if it stands at `address` and is a branch or `jal`.
    #[must_use]
    pub const fn target(&self, address: u64) -> Option<u64> {
        match self.op {
            Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu | Op::Jal => {
                Some(address.wrapping_add_signed(self.imm as i64))
            }
            _ => None,
        }
    }
}

/// Whether `word` begins with a compressed instruction, of two bytes.
#[must_use]
pub const fn is_compressed(word: u32) -> bool {
    word & 3 != 3
}

fn known(word: u32) -> Option<Decoded> {
    let [rd, rs1, rs2] = [7, 15, 20].map(|shift| (word >> shift & 31) as u8);
    let (funct3, funct7) = (word >> 12 & 7, word >> 25);
    let upper = (word & 0xffff_f000) as i32;
    let immediate = word as i32 >> 20;
    let (op, rd, rs1, rs2, imm) = match word & 0x7f {
        0x37 => (Op::Lui, rd, 0, 0, upper),
        0x17 => (Op::Auipc, rd, 0, 0, upper),
        0x6f => (Op::Jal, rd, 0, 0, whole(jump_offset(word))?),
        0x67 if funct3 == 0 => (Op::Jalr, rd, rs1, 0, immediate),
        0x63 => (branch(funct3)?, 0, rs1, rs2, whole(branch_offset(word))?),
        0x03 => (load(funct3)?, rd, rs1, 0, immediate),
        0x23 => (store(funct3)?, 0, rs1, rs2, store_offset(word)),
        0x13 => (with_immediate(funct3, word >> 26)?, rd, rs1, 0, shift_or(funct3, immediate, 63)),
        0x1b => (with_immediate_word(funct3, funct7)?, rd, rs1, 0, shift_or(funct3, immediate, 31)),
        0x33 => (with_register(funct3, funct7)?, rd, rs1, rs2, 0),
        0x3b => (with_register_word(funct3, funct7)?, rd, rs1, rs2, 0),
        0x0f if funct3 == 0 => (Op::Fence, 0, 0, 0, 0),
        0x73 if word == 0x0000_0073 => (Op::Ecall, 0, 0, 0, 0),
        0x73 if word == 0x0010_0073 => (Op::Ebreak, 0, 0, 0, 0),
        _ => return None,
    };
    Some(Decoded { op, rd, rs1, rs2, imm })
}

/// An offset of whole instructions: without compressed ones there is nothing in between.
fn whole(offset: i32) -> Option<i32> {
    (offset & 3 == 0).then_some(offset)
}

fn jump_offset(word: u32) -> i32 {
    let sign = (word as i32 >> 31) << 20;
    sign | (word & 0xf_f000 | word >> 9 & 0x800 | word >> 20 & 0x7fe) as i32
}

fn branch_offset(word: u32) -> i32 {
    let sign = (word as i32 >> 31) << 12;
    sign | (word << 4 & 0x800 | word >> 20 & 0x7e0 | word >> 7 & 0x1e) as i32
}

fn store_offset(word: u32) -> i32 {
    (word as i32 >> 25) << 5 | (word >> 7 & 31) as i32
}

/// Of a shift, the immediate is only how far.
fn shift_or(funct3: u32, immediate: i32, furthest: i32) -> i32 {
    if matches!(funct3, 1 | 5) { immediate & furthest } else { immediate }
}

fn branch(funct3: u32) -> Option<Op> {
    Some(match funct3 {
        0 => Op::Beq,
        1 => Op::Bne,
        4 => Op::Blt,
        5 => Op::Bge,
        6 => Op::Bltu,
        7 => Op::Bgeu,
        _ => return None,
    })
}

fn load(funct3: u32) -> Option<Op> {
    [Op::Lb, Op::Lh, Op::Lw, Op::Ld, Op::Lbu, Op::Lhu, Op::Lwu].get(funct3 as usize).copied()
}

fn store(funct3: u32) -> Option<Op> {
    [Op::Sb, Op::Sh, Op::Sw, Op::Sd].get(funct3 as usize).copied()
}

fn with_immediate(funct3: u32, funct6: u32) -> Option<Op> {
    Some(match (funct3, funct6) {
        (0, _) => Op::Addi,
        (2, _) => Op::Slti,
        (3, _) => Op::Sltiu,
        (4, _) => Op::Xori,
        (6, _) => Op::Ori,
        (7, _) => Op::Andi,
        (1, 0) => Op::Slli,
        (5, 0) => Op::Srli,
        (5, 0x10) => Op::Srai,
        _ => return None,
    })
}

fn with_immediate_word(funct3: u32, funct7: u32) -> Option<Op> {
    Some(match (funct3, funct7) {
        (0, _) => Op::Addiw,
        (1, 0) => Op::Slliw,
        (5, 0) => Op::Srliw,
        (5, 0x20) => Op::Sraiw,
        _ => return None,
    })
}

fn with_register(funct3: u32, funct7: u32) -> Option<Op> {
    const PLAIN: [Op; 8] = [Op::Add, Op::Sll, Op::Slt, Op::Sltu, Op::Xor, Op::Srl, Op::Or, Op::And];
    const M: [Op; 8] = [Op::Mul, Op::Mulh, Op::Mulhsu, Op::Mulhu, Op::Div, Op::Divu, Op::Rem, Op::Remu];
    match (funct7, funct3) {
        (0, _) => PLAIN.get(funct3 as usize).copied(),
        (1, _) => M.get(funct3 as usize).copied(),
        (0x20, 0) => Some(Op::Sub),
        (0x20, 5) => Some(Op::Sra),
        _ => None,
    }
}

fn with_register_word(funct3: u32, funct7: u32) -> Option<Op> {
    Some(match (funct7, funct3) {
        (0, 0) => Op::Addw,
        (0x20, 0) => Op::Subw,
        (0, 1) => Op::Sllw,
        (0, 5) => Op::Srlw,
        (0x20, 5) => Op::Sraw,
        (1, 0) => Op::Mulw,
        (1, 4) => Op::Divw,
        (1, 5) => Op::Divuw,
        (1, 6) => Op::Remw,
        (1, 7) => Op::Remuw,
        _ => return None,
    })
}
