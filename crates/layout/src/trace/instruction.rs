//! One instruction of a program, as far as timing and placement are concerned.

/// What an instruction is to a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Integer arithmetic, logic and moves, within one cycle.
    Integer,
    /// Integer multiplication.
    Multiply,
    /// Integer division.
    Divide,
    /// Reads memory, and writes none.
    Load,
    /// Writes memory.
    Store,
    /// May go elsewhere within its function.
    Branch,
    /// Always goes elsewhere.
    Jump,
    /// Calls a function.
    Call,
    /// Returns to the caller.
    Return,
    /// Floating point or vectors.
    Float,
    /// Anything else: fences, system calls.
    Other,
}

/// A set of registers: bits 0 to 31 are the integer ones, 32 to 63 all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Registers(pub u64);

impl Registers {
    /// Whether some register is in both sets.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// One instruction of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    /// Its first byte.
    pub address: u64,
    /// How many bytes it has.
    pub length: u8,
    /// What it is to a pipeline.
    pub class: Class,
    /// Registers that it reads. One that always reads zero is none.
    pub reads: Registers,
    /// Registers that it writes.
    pub writes: Registers,
    /// Where it goes, if it names the place: branches, direct jumps and direct calls.
    pub target: Option<u64>,
}

impl Instruction {
    /// The first byte after it; at the end of the address space that is 0.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.address.wrapping_add(self.length as u64)
    }
}
