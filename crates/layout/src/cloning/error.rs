//! Why functions cannot be cloned.

use thiserror::Error;

/// Why functions cannot be cloned. Addresses are those of the original code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CloneError {
    /// The linker has told nothing.
    #[error("the program has no relocations: expected one linked with `--emit-relocs --no-relax`")]
    NoRelocations,
    /// There is no such function.
    #[error("there is no function {index}: expected one of the {functions} of the program")]
    NoFunction {
        /// Its index.
        index: usize,
        /// How many there are.
        functions: usize,
    },
    /// A function gets two places.
    #[error("`{function}` is to be cloned twice: expected one place for each")]
    Twice {
        /// Its name.
        function: String,
    },
    /// An instruction cannot be there, or the function has no whole instructions.
    #[error(
        "`{function}` of {size} bytes cannot be at {address:#x}: expected multiples of 4, and some bytes"
    )]
    Alignment {
        /// Its name.
        function: String,
        /// Where it should be.
        address: u64,
        /// How many bytes it has.
        size: u64,
    },
    /// A function is where no code is.
    #[error("`{function}` of {size} bytes at {address:#x} is not all in one executable segment")]
    NoCode {
        /// Its name.
        function: String,
        /// Its first byte.
        address: u64,
        /// How many bytes it has.
        size: u64,
    },
    /// Something is where the clone should be.
    #[error(
        "the clone of `{function}` at {address:#x} overlaps another, the program or the end of memory: expected a free place"
    )]
    Overlap {
        /// Its name.
        function: String,
        /// Where it should be.
        address: u64,
    },
    /// Something points inside: most likely a table of jumps.
    #[error(
        "`{function}` cannot be moved: {place:#x} holds an address inside it, as tables of jumps do; expected it to be \
         compiled without (`-Z no-jump-tables`, or `if` instead of `match`)"
    )]
    JumpTable {
        /// Its name.
        function: String,
        /// Where the pointer is.
        place: u64,
    },
    /// It is unknown what an address is made of.
    #[error(
        "`{function}` cannot be moved: the instruction at {address:#x} is relative to its place, and no relocation \
         says to what; expected a program linked with `--emit-relocs --no-relax`"
    )]
    Unrelocated {
        /// Its name.
        function: String,
        /// Which instruction.
        address: u64,
    },
    /// It needs the code that follows it.
    #[error(
        "`{function}` cannot be moved: its code falls through its end; expected a jump, return or call there"
    )]
    FallsThrough {
        /// Its name.
        function: String,
    },
    /// It contains something else than instructions.
    #[error(
        "`{function}` cannot be moved: the word {word:#010x} at {address:#x} is no instruction of RV64IM"
    )]
    UnknownInstruction {
        /// Its name.
        function: String,
        /// Where it is.
        address: u64,
        /// What is there.
        word: u32,
    },
    /// The new place is too far from what the code refers to.
    #[error(
        "`{function}` cannot be moved so far: the instruction at {address:#x} does not reach {target:#x} from there \
         (branches reach 4 KiB, jumps 1 MiB, pairs 2 GiB)"
    )]
    TooFar {
        /// Its name.
        function: String,
        /// Which instruction.
        address: u64,
        /// What it refers to.
        target: u64,
    },
}
