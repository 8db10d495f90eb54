//! CHAN: requests and replies on numbered channels.

use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of a header.
pub const HEADER: usize = size_of::<ChanHeader>();

/// A request, from the client.
pub const REQUEST: u16 = 1;
/// The reply, from the server.
pub const REPLY: u16 = 2;
/// The server has the request, and works on it.
pub const ACK: u16 = 3;

/// The header in wire format. Every sequence of its bytes is a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ChanHeader {
    /// [`REQUEST`], [`REPLY`] or [`ACK`].
    pub kind: U16,
    /// The channel, numbered by the client.
    pub channel: U16,
    /// The call, numbered by the client on each channel.
    pub sequence: U32,
}
