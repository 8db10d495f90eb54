//! The names of the policies that choose processors.

use core::fmt;
use serde::{Deserialize, Serialize};

/// How a processor is chosen for a packet. The policies themselves are in `warmcore-policy`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorPolicy {
    /// The idle processor that ran protocol code last.
    Mru,
    /// The idle processor that ran protocol code longest ago.
    Lru,
    /// The processor that the stream is wired to; streams are assigned in turn. Under Hybrid, where every
    /// processor's stack has the stream open, that processor if it is idle, or any other idle one.
    #[default]
    #[serde(alias = "wired")]
    WiredStreams,
    /// The processor the stream hashes to, as receive-side scaling does.
    Hash,
    /// The processor the stream hashes to; an idle processor takes over waiting packets of others.
    #[serde(alias = "hash-with-stealing")]
    HashStealing,
    /// The processor with the fewest packets.
    ShortestQueue,
    /// Of two processors drawn at random, the one with fewer packets.
    #[serde(alias = "power-of-two-choices")]
    PowerOfTwo,
    /// Any idle processor, drawn at random; one queue for all.
    CentralQueue,
    /// The most recently used idle processor, but only once the queue is long: the queueing heuristic of
    /// Salehi 1994, §8.
    #[serde(alias = "patient-mru")]
    Patient,
    /// The one of three strategies under which recent packets would have had the shortest delays.
    Adaptive,
}

impl ProcessorPolicy {
    /// The policies that Salehi 1994 compares.
    pub const SALEHI_1994: [Self; 3] = [Self::Mru, Self::Lru, Self::WiredStreams];

    /// Every policy.
    pub const ALL: [Self; 10] = [
        Self::Mru,
        Self::Lru,
        Self::WiredStreams,
        Self::Hash,
        Self::HashStealing,
        Self::ShortestQueue,
        Self::PowerOfTwo,
        Self::CentralQueue,
        Self::Patient,
        Self::Adaptive,
    ];

    /// Whether packets wait in one queue for all processors under this policy.
    #[must_use]
    pub const fn has_common_queue(self) -> bool {
        matches!(self, Self::Mru | Self::Lru | Self::CentralQueue | Self::Patient)
    }

    /// Whether streams are assigned to stacks and processors by a hash rather than in turn.
    #[must_use]
    pub const fn hashes(self) -> bool {
        matches!(self, Self::Hash | Self::HashStealing)
    }

    /// The policy in words, to follow "packets are processed".
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Mru => "on the most recently used processor (MRU)",
            Self::Lru => "on the least recently used processor (LRU)",
            Self::WiredStreams => "with each stream wired to a processor (Wired-Streams)",
            Self::Hash => "with each stream hashed to a processor",
            Self::HashStealing => "with each stream hashed to a processor, and idle ones stealing",
            Self::ShortestQueue => "on the processor with the shortest queue",
            Self::PowerOfTwo => "on the less loaded of two processors drawn at random",
            Self::CentralQueue => "from one queue on any processor that is free",
            Self::Patient => "on the most recently used processor once the queue is long",
            Self::Adaptive => "where recent packets would have been quickest (adaptive)",
        }
    }
}

impl fmt::Display for ProcessorPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mru => "MRU",
            Self::Lru => "LRU",
            Self::WiredStreams => "Wired-Streams",
            Self::Hash => "hash",
            Self::HashStealing => "hash with stealing",
            Self::ShortestQueue => "shortest queue",
            Self::PowerOfTwo => "power of two choices",
            Self::CentralQueue => "central queue",
            Self::Patient => "patient MRU",
            Self::Adaptive => "adaptive",
        })
    }
}
