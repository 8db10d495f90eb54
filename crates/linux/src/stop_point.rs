//! Where a path begins or ends, by its address.

use std::fmt;

/// What a thread does where a path begins or ends. Addresses are those of a file or of a process, as its user says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopPoint {
    /// It comes to the instruction at this address, and has not executed it.
    Execute(u64),
    /// It has stored to one of these bytes.
    Store {
        /// The first byte, a multiple of their number.
        address: u64,
        /// How many: 1, 2, 4 or 8.
        size: u64,
    },
}

impl StopPoint {
    /// The same of a program that lies `bias` bytes further.
    #[must_use]
    pub const fn moved(self, bias: u64) -> Self {
        match self {
            Self::Execute(address) => Self::Execute(address.wrapping_add(bias)),
            Self::Store { address, size } => Self::Store { address: address.wrapping_add(bias), size },
        }
    }
}

impl fmt::Display for StopPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Execute(address) => write!(f, "the instruction at {address:#x}"),
            Self::Store { address, size } => write!(f, "a store to {size} bytes at {address:#x}"),
        }
    }
}
