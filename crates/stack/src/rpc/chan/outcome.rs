//! What calls are named by, and what comes of messages.

use crate::packet::PacketFull;
use crate::rpc::RpcDropReason;

/// A call that was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallId {
    /// The channel.
    pub channel: u16,
    /// Number of the call on the channel.
    pub sequence: u32,
}

/// A call that is served.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ServedCall {
    /// The channel.
    pub channel: u16,
    /// Number of the call on the channel.
    pub sequence: u32,
    /// How often the client had rebooted: its numbers begin again then.
    pub generation: u32,
}

/// Why a request or reply was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChanError {
    /// There is no such channel.
    #[error("there is no such channel")]
    NoChannel,
    /// The channel has a call.
    #[error("the channel waits for the reply to another call")]
    Busy,
    /// Nobody waits for the reply: it was given already, or the client has made another call or rebooted.
    #[error("nobody waits for the reply")]
    Gone,
    /// The message is too long.
    #[error("the message has {length} bytes; {max} is the limit")]
    TooLong {
        /// Bytes of the message.
        length: usize,
        /// Most bytes of a message.
        max: usize,
    },
    /// The packet has no room for the header.
    #[error(transparent)]
    PacketFull(#[from] PacketFull),
}

/// What to do with what arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChanReceived {
    /// A new call: pass it to the layer above, and its reply to [`Chan::reply`](super::Chan::reply).
    Request(ServedCall),
    /// The reply to a call, which is over: pass it to the layer above.
    Reply(CallId),
    /// Nothing: the server works on a call.
    Acknowledged(CallId),
    /// A duplicate request. The packet is the answer now: send it to the layer below.
    Answer,
    /// Nothing.
    Drop(RpcDropReason),
}
