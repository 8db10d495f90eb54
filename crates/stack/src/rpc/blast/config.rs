//! What a BLAST layer is made with.

use crate::wire::rpc::blast::{HEADER, MAX_FRAGMENTS};
use core::time::Duration;

/// Most messages that are kept, and most that are reassembled at the same time.
const MAX_MESSAGES: usize = 256;

/// Sizes and times of a [`Blast`](super::Blast) layer. A number beyond its limits is taken for the nearest
/// within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlastConfig {
    /// Longest frame with its BLAST header, in bytes: from one more to 65,535 more than the header.
    pub mtu: usize,
    /// Longest message, in bytes: at most 65,535, and what [`MAX_FRAGMENTS`] frames carry.
    pub max_message: usize,
    /// Messages that are kept, after they were sent, for a peer that misses fragments, from 1 to 256. Each
    /// takes `max_message` bytes.
    pub kept: usize,
    /// Messages that can be reassembled at the same time, from 1 to 256. Each takes `max_message` bytes.
    pub reassemblies: usize,
    /// How long no fragment may arrive before the missing ones are asked for. It is twice as long each
    /// further time. The whole must exceed the time of a round trip.
    pub nack_after: Duration,
    /// How often in a row they are asked for, before the message is given up.
    pub nacks: u32,
    /// How long a message is kept after its last fragment was sent.
    pub keep: Duration,
}

impl BlastConfig {
    /// The same with every number within its limits.
    #[must_use]
    pub(in crate::rpc) fn bounded(self) -> Self {
        let mtu = self.mtu.clamp(HEADER + 1, HEADER + usize::from(u16::MAX));
        let most = (MAX_FRAGMENTS * (mtu - HEADER)).min(usize::from(u16::MAX));
        Self {
            mtu,
            max_message: self.max_message.min(most),
            kept: self.kept.clamp(1, MAX_MESSAGES),
            reassemblies: self.reassemblies.clamp(1, MAX_MESSAGES),
            ..self
        }
    }
}

impl Default for BlastConfig {
    /// Frames of Ethernet, and messages of 16 KiB with the headers of the layers above.
    fn default() -> Self {
        Self {
            mtu: 1500,
            max_message: 16 * 1024 + 24,
            kept: 8,
            reassemblies: 8,
            nack_after: Duration::from_millis(5),
            nacks: 4,
            keep: Duration::from_millis(500),
        }
    }
}
