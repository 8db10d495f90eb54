//! What an endpoint is made with.

use crate::rpc::{BlastConfig, ChanConfig};
use crate::wire::rpc::{bid, chan, mselect};

/// Configuration of an [`Endpoint`](super::Endpoint).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// Of the BLAST layer.
    pub blast: BlastConfig,
    /// Of the CHAN layer.
    pub chan: ChanConfig,
}

impl Config {
    /// Frames of at most `mtu` bytes, and arguments and results of at most `max_message` bytes. The rest
    /// is as by default.
    #[must_use]
    pub fn with_sizes(mtu: usize, max_message: usize) -> Self {
        let on_chan = max_message.saturating_add(mselect::HEADER);
        let on_blast = on_chan.saturating_add(chan::HEADER + bid::HEADER);
        Self {
            blast: BlastConfig { mtu, max_message: on_blast, ..BlastConfig::default() },
            chan: ChanConfig { max_message: on_chan, ..ChanConfig::default() },
        }
    }
}
