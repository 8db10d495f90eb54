//! BID: which incarnations of sender and receiver a message is between.

use zerocopy::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of a header.
pub const HEADER: usize = size_of::<BidHeader>();

/// A message for the layer above.
pub const MESSAGE: u32 = 1;
/// Says only who its sender is: it refused a message for another incarnation.
pub const NOTICE: u32 = 2;

/// The header in wire format. Every sequence of its bytes is a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct BidHeader {
    /// [`MESSAGE`] or [`NOTICE`].
    pub kind: U32,
    /// Boot id of the sender, not 0.
    pub source: U32,
    /// What the sender believes to be the receiver's boot id; 0 if it does not know.
    pub destination: U32,
}
