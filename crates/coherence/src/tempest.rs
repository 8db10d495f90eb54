//! Tempest's vocabulary: fine-grain tags, accesses, protocol events and the objects by which they are dispatched
//! (Falsafi 1998, §4.1 and §5.1).

use crate::message::Message;
use warmcore_units::{CpuId, NodeId};

/// What a block's fine-grain tag lets the processors of its node do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Tag {
    /// Nothing: every access faults.
    #[default]
    Invalid,
    /// Loads; a store faults.
    ReadOnly,
    /// Loads and stores.
    ReadWrite,
}

impl Tag {
    /// Whether an access goes ahead; otherwise it is a block access fault.
    #[must_use]
    pub const fn permits(self, access: Access) -> bool {
        match access {
            Access::Read => !matches!(self, Self::Invalid),
            Access::Write => matches!(self, Self::ReadWrite),
        }
    }
}

/// What a processor wants of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
}

/// Something that a protocol handler is run for, on one node and about one block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// A processor of this node was denied an access by the tag.
    Fault {
        /// Who was denied it, and now waits.
        cpu: CpuId,
        /// What was denied.
        access: Access,
    },
    /// A message has come.
    Message {
        /// The node that sent it.
        from: NodeId,
        /// What it says.
        message: Message,
    },
    /// The page that holds the block leaves this node's page cache.
    Unmap,
}

impl Event {
    /// By what an event about `block` is dispatched: handlers of one object never run at the same time.
    #[must_use]
    pub const fn object(self, block: u64) -> Object {
        match self {
            Self::Fault { .. } | Self::Message { .. } => Object::Block(block),
            Self::Unmap => Object::Sequential,
        }
    }
}

/// What a handler touches, and so beside which others it may run (Falsafi 1998, §5.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Object {
    /// One memory block, by its global number or address.
    Block(u64),
    /// Everything: page operations run alone.
    Sequential,
    /// Nothing that another handler changes. No handler of Stache is of this kind; those of applications are, that
    /// read only constant data or store into another node's memory.
    Unrestricted,
}
