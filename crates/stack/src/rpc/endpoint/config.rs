//! What an endpoint is made with.

use crate::rpc::{BlastConfig, ChanConfig};
use crate::wire::rpc::{bid, blast, chan, mselect};

// Even frames with a single byte carry an empty message.
const _: () = assert!(EMPTY_ON_BLAST <= blast::MAX_FRAGMENTS);

/// Bytes of an empty message on CHAN, and on BLAST.
const EMPTY_ON_CHAN: usize = mselect::HEADER;
const EMPTY_ON_BLAST: usize = EMPTY_ON_CHAN + chan::HEADER + bid::HEADER;

/// Configuration of an [`Endpoint`](super::Endpoint).
///
/// What contradicts itself is reconciled: every layer takes at least an empty message with the headers of
/// those above, and CHAN none that BLAST does not take. [`Endpoint::max_message`](super::Endpoint::max_message)
/// says what is left for arguments and results. The peer should have the same sizes: it drops what is too
/// long for it, and the call times out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// Of the BLAST layer.
    pub blast: BlastConfig,
    /// Of the CHAN layer.
    pub chan: ChanConfig,
}

impl Config {
    /// Frames of at most `mtu` bytes, and arguments and results of at most `max_message` bytes, or of what 32
    /// such frames carry. The rest is as by default.
    #[must_use]
    pub fn with_sizes(mtu: usize, max_message: usize) -> Self {
        let on_chan = max_message.saturating_add(mselect::HEADER);
        let on_blast = on_chan.saturating_add(chan::HEADER + bid::HEADER);
        Self {
            blast: BlastConfig { mtu, max_message: on_blast, ..BlastConfig::default() },
            chan: ChanConfig { max_message: on_chan, ..ChanConfig::default() },
        }
    }

    /// The same with every number within its limits, and sizes that fit each other.
    pub(super) fn reconciled(self) -> Self {
        let max_message = self.blast.max_message.max(EMPTY_ON_BLAST);
        let blast = BlastConfig { max_message, ..self.blast }.bounded();
        let most = blast.max_message - (EMPTY_ON_BLAST - EMPTY_ON_CHAN);
        let max_message = self.chan.max_message.clamp(EMPTY_ON_CHAN, most);
        Self { blast, chan: ChanConfig { max_message, ..self.chan }.bounded() }
    }
}
