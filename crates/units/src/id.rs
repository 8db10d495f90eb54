//! Identifiers: integers with distinct types, so that they cannot be confused.

use core::fmt;
use serde::{Deserialize, Serialize};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The identifier as an index into a table with one entry per identifier.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// # Panics
            /// If `index` does not fit 32 bits.
            #[inline]
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("an identifier fits 32 bits"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

identifier!(
    /// A logical processor, numbered as the operating system numbers it.
    CpuId, "cpu"
);
identifier!(
    /// A stream: the packets of one 5-tuple.
    StreamId, "stream"
);
identifier!(
    /// One of the N independent protocol stacks.
    StackId, "stack"
);
identifier!(
    /// A protocol thread.
    ThreadId, "thread"
);
identifier!(
    /// A process or thread in a run queue.
    TaskId, "task"
);
identifier!(
    /// A node of a cluster: processors that share a memory.
    NodeId, "node"
);
