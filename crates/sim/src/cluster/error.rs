//! Why a run gave no outcome.

use core::fmt;
use thiserror::Error;
use warmcore_coherence::Unexpected;
use warmcore_units::Fault;
use warmcore_workload::programs::{Address, BarrierId, LockId, WrongResult};

/// Why a run gave no outcome.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Error {
    /// The machine, or the program's input on it, is impossible.
    #[error("`{}` is {}, which should be {}", .0.field, .0.found, .0.expected)]
    Impossible(Fault),
    /// All processors wait.
    #[error("the program is in a deadlock after {cycles} cycles: {}", list(.waiting))]
    Deadlock {
        /// When the last thing happened.
        cycles: u64,
        /// Who waits for what.
        waiting: Vec<Waiting>,
    },
    /// The program has not ended within the cycles that were allowed.
    #[error("the program has not ended after {cycles} cycles, which is the limit: {}", list(.waiting))]
    TooLong {
        /// How many were allowed.
        cycles: u64,
        /// Who had not ended, and waited for what.
        waiting: Vec<Waiting>,
    },
    /// Whoever watched has stopped it.
    #[error("stopped after {cycles} simulated cycles")]
    Stopped {
        /// When.
        cycles: u64,
    },
    /// The data do not fit.
    #[error("the program has {bytes} bytes of shared data, and the cluster can address {most}")]
    TooLarge {
        /// Bytes of shared data.
        bytes: u64,
        /// Bytes that can be addressed.
        most: u64,
    },
    /// The program uses more locks and barriers than there is space for.
    #[error("the program uses more locks and barriers than fit into {bytes} bytes")]
    TooManyLocks {
        /// Bytes that are set aside for them.
        bytes: u64,
    },
    /// The program referred to an address where nothing is.
    #[error("processor {processor} refers to address {:#x}, where nothing is allocated", .at.0)]
    Stray {
        /// Who did.
        processor: u32,
        /// The address.
        at: Address,
    },
    /// A handler met what the protocol does not allow.
    #[error("on node {node}, about block {block}: {unexpected}")]
    Protocol {
        /// On which node.
        node: u32,
        /// The block's number.
        block: u32,
        /// What it met.
        unexpected: Unexpected,
    },
    /// A handler refers to a block that its node does not have.
    #[error(
        "on node {node}, a handler would have to wait for block {block} of node {home}, and handlers run to their end"
    )]
    WouldBlock {
        /// On which node.
        node: u32,
        /// The block's number.
        block: u32,
        /// The node whose memory it belongs to.
        home: u32,
    },
    /// The program computed something else than it must.
    #[error("the program's results are wrong: {0}")]
    Wrong(WrongResult),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Impossible(fault)
    }
}

/// A processor that has not left the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Which.
    pub processor: u32,
    /// For what.
    pub wait: WaitsFor,
}

/// For what a processor waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// A lock.
    Lock(LockId),
    /// A barrier.
    Barrier(BarrierId),
    /// A block of another node, which the protocol has not brought.
    Block {
        /// The block's number.
        block: u32,
        /// The node whose memory it belongs to.
        home: u32,
    },
    /// A frame of its node's page cache.
    Frame {
        /// The number of the page that needs it.
        page: u32,
    },
    /// The reply to a request outside Stache.
    Reply,
    /// A word that another processor was to change.
    Word,
    /// Nothing: it computes.
    Nothing,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "processor {} ", self.processor)?;
        if self.wait == WaitsFor::Nothing {
            return f.write_str("computes");
        }
        f.write_str("waits for ")?;
        match self.wait {
            WaitsFor::Lock(lock) => write!(f, "lock {}", lock.0),
            WaitsFor::Barrier(barrier) => write!(f, "barrier {}", barrier.0),
            WaitsFor::Block { block, home } => write!(f, "block {block} of node {home}"),
            WaitsFor::Frame { page } => write!(f, "a frame for page {page}"),
            WaitsFor::Reply => f.write_str("the reply to its request"),
            WaitsFor::Word => f.write_str("a word to change"),
            WaitsFor::Nothing => Ok(()),
        }
    }
}

/// The first few of them.
fn list(waiting: &[Waiting]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = waiting.iter().take(SHOWN).map(Waiting::to_string).collect();
    if waiting.len() > SHOWN {
        text.push(format!("and {} more", waiting.len() - SHOWN));
    }
    text.join(", ")
}
