//! Ethernet II framing: destination, source, EtherType, data.
//!
//! Frames up to [`MAX_FRAME`] bytes (jumbo frames) are accepted. Shorter ones than Ethernet's
//! minimum of 60 are too, since virtual interfaces produce them; bytes after the IP datagram are
//! padding and are ignored.

use super::{ETHERTYPE_IPV4, LinkFrame};
use crate::drop_reason::DropReason;
use crate::flow::LinkAddress;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of the header.
pub const HEADER: usize = size_of::<EthernetHeader>();

/// Longest frame accepted, from destination address to data: 9000 bytes of data, the header, and
/// 4 bytes for a frame check sequence the driver may have left.
pub const MAX_FRAME: usize = 9018;

/// Shortest frame a real Ethernet carries, without its frame check sequence.
pub const MIN_FRAME: usize = 60;

/// The header as it is on the wire.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct EthernetHeader {
    /// The station the frame is for.
    pub destination: LinkAddress,
    /// The station that sent it.
    pub source: LinkAddress,
    /// What the data is.
    pub ethertype: U16,
}

/// Reads the header of an Ethernet II frame that carries IPv4.
///
/// # Errors
/// The frame is truncated, oversized, or carries something else.
#[inline]
pub fn parse(frame: &[u8]) -> Result<LinkFrame<'_>, DropReason> {
    let (header, data) = EthernetHeader::ref_from_prefix(frame).map_err(|_| DropReason::LinkTruncated)?;
    if frame.len() > MAX_FRAME {
        return Err(DropReason::LinkOversized);
    }
    if header.ethertype != ETHERTYPE_IPV4 {
        return Err(DropReason::LinkEtherType);
    }
    Ok(LinkFrame { destination: header.destination, source: header.source, header_length: HEADER, data })
}
