//! What a CHAN layer is made with.

use core::time::Duration;

/// Most channels in each direction.
pub const MAX_CHANNELS: u16 = 64;

/// Longest message of the layer below.
const MAX_MESSAGE: usize = u16::MAX as usize;

/// Sizes and times of a [`Chan`](super::Chan) layer. A number beyond its limits is taken for the nearest
/// within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChanConfig {
    /// Channels on which calls are made, and as many on which calls are served: from 1 to
    /// [`MAX_CHANNELS`]. Peers that call each other need the same number.
    pub channels: u16,
    /// Longest request or reply with the headers of the layers above, in bytes: at most 65,535. Each channel
    /// keeps one in each direction.
    pub max_message: usize,
    /// How long a client waits before it sends a request a second time. It waits twice as long each
    /// further time.
    pub timeout: Duration,
    /// Longest that it waits.
    pub max_timeout: Duration,
    /// How often in a row a request is sent again without an answer before the call fails. An
    /// acknowledgement begins the count again.
    pub retries: u32,
    /// How long a server works on a request before it acknowledges it.
    pub ack_after: Duration,
}

impl ChanConfig {
    /// The same with every number within its limits.
    #[must_use]
    pub(in crate::rpc) fn bounded(self) -> Self {
        Self {
            channels: self.channels.clamp(1, MAX_CHANNELS),
            max_message: self.max_message.min(MAX_MESSAGE),
            ..self
        }
    }
}

impl Default for ChanConfig {
    /// 8 channels, messages of 16 KiB with a header, and the times of a local network.
    fn default() -> Self {
        Self {
            channels: 8,
            max_message: 16 * 1024 + 4,
            timeout: Duration::from_millis(100),
            max_timeout: Duration::from_secs(2),
            retries: 8,
            ack_after: Duration::from_millis(50),
        }
    }
}
