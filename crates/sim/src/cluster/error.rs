//! Why a run gave no outcome.

use core::fmt;
use std::collections::BTreeMap;
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
    /// This host has no memory for another program's stack.
    #[error(
        "this host gives no memory for the stack of processor {number}: simulate fewer processors, or raise the limit"
    )]
    NoStack {
        /// The processor.
        number: u32,
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lock(lock) => write!(f, "lock {}", lock.0),
            Self::Barrier(barrier) => write!(f, "barrier {}", barrier.0),
            Self::Block { block, home } => write!(f, "block {block} of node {home}"),
            Self::Frame { page } => write!(f, "a frame for page {page}"),
            Self::Reply => f.write_str("the reply to a request"),
            Self::Word => f.write_str("a word to change"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

/// Who waits for what, those together that wait for the same: `processors 0 to 6 and 9 wait for barrier 4; processor 7 computes`.
fn list(waiting: &[Waiting]) -> String {
    const SHOWN: usize = 8;
    let mut groups: BTreeMap<WaitsFor, Vec<u32>> = BTreeMap::new();
    for &Waiting { processor, wait } in waiting {
        groups.entry(wait).or_default().push(processor);
    }
    let group = |(wait, processors): (&WaitsFor, &Vec<u32>)| {
        let several = processors.len() > 1;
        let who = format!("processor{} {}", if several { "s" } else { "" }, ranges(processors));
        match (wait, several) {
            (WaitsFor::Nothing, true) => format!("{who} compute"),
            (WaitsFor::Nothing, false) => format!("{who} computes"),
            (_, true) => format!("{who} wait for {wait}"),
            (_, false) => format!("{who} waits for {wait}"),
        }
    };
    let mut text: Vec<String> = groups.iter().take(SHOWN).map(group).collect();
    let others: usize = groups.values().skip(SHOWN).map(Vec::len).sum();
    if others > 0 {
        text.push(format!("{others} others for something else each"));
    }
    text.join("; ")
}

/// Ascending numbers, neighbours together: `0 to 6 and 9`.
fn ranges(numbers: &[u32]) -> String {
    let of_run = |run: &[u32]| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        run => run.iter().map(u32::to_string).collect(),
    };
    let shown: Vec<String> = numbers.chunk_by(|one, next| one + 1 == *next).flat_map(of_run).collect();
    match shown.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => shown.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_wait_for_the_same_are_named_together() {
        let at = |processor, wait| Waiting { processor, wait };
        let barrier = WaitsFor::Barrier(BarrierId(4));
        let mut waiting: Vec<Waiting> = [0, 1, 2, 5].map(|processor| at(processor, barrier)).to_vec();
        waiting.insert(3, at(3, WaitsFor::Lock(LockId(9))));
        waiting.insert(4, at(4, WaitsFor::Nothing));
        assert_eq!(
            list(&waiting),
            "processor 3 waits for lock 9; processors 0 to 2 and 5 wait for barrier 4; processor 4 computes"
        );
        let each: Vec<Waiting> = (0..20).map(|lock| at(lock, WaitsFor::Lock(LockId(lock)))).collect();
        assert!(list(&each).ends_with("processor 7 waits for lock 7; 12 others for something else each"));
    }
}
