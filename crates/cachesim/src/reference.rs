//! One reference to memory, and on whose behalf it is.

use core::fmt;
use serde::{Deserialize, Serialize};

/// What a processor does to memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It reads an instruction.
    Fetch,
    /// It reads data.
    Load,
    /// It writes data. An instruction that reads and writes one place is a load and a store.
    Store,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Fetch, Self::Load, Self::Store];
}

/// On whose behalf a reference is: a process, a function, a layer of a stack. What the numbers mean is up to the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(pub u32);

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "owner{}", self.0)
    }
}

/// One reference of a processor to memory, in 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reference {
    /// The first byte.
    pub address: u64,
    /// On whose behalf it is.
    pub owner: Owner,
    /// How many bytes; 0 counts as 1.
    pub size: u16,
    /// What is done.
    pub kind: Kind,
}

impl Reference {
    /// A reference of [`Owner`] 0.
    #[must_use]
    pub const fn new(kind: Kind, address: u64, size: u16) -> Self {
        Self { address, owner: Owner(0), size, kind }
    }

    /// The same on behalf of `owner`.
    #[must_use]
    pub const fn by(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    /// The last byte; no further than the end of the address space.
    #[must_use]
    #[inline]
    pub const fn last(&self) -> u64 {
        let more = if self.size == 0 { 0 } else { self.size as u64 - 1 };
        self.address.saturating_add(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_last_byte_even_at_the_end_of_memory() {
        assert_eq!(Reference::new(Kind::Load, 10, 4).last(), 13);
        assert_eq!(Reference::new(Kind::Load, 10, 0).last(), 10);
        assert_eq!(Reference::new(Kind::Load, u64::MAX, 8).last(), u64::MAX);
        assert_eq!(size_of::<Reference>(), 16);
    }
}
