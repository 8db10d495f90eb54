//! MSELECT: which procedure is called, and whether it exists.

use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of a header.
pub const HEADER: usize = size_of::<MselectHeader>();

/// A call, or the results of one.
pub const OK: u16 = 0;
/// In a reply: nobody has the procedure.
pub const UNKNOWN_PROCEDURE: u16 = 1;
/// In a reply: the call was not understood.
pub const MALFORMED: u16 = 2;

/// The header in wire format. Every sequence of its bytes is a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct MselectHeader {
    /// The procedure called; the same in its reply.
    pub procedure: U16,
    /// [`OK`], [`UNKNOWN_PROCEDURE`] or [`MALFORMED`].
    pub status: U16,
}
