//! FDDI framing: frame control, addresses, then LLC/SNAP with an EtherType (RFC 1390).
//!
//! A frame here begins with its frame control and ends with its data. The interface handles preamble,
//! delimiters and the frame check sequence.

use super::{ETHERTYPE_IPV4, LinkFrame};
use crate::drop_reason::DropReason;
use crate::identifiers::LinkAddress;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of frame control, addresses, LLC and SNAP.
pub const HEADER: usize = size_of::<FddiHeader>();

/// Longest frame, from frame control to data: 4500 bytes less delimiters and check sequence.
pub const MAX_FRAME: usize = 4491;

/// Frame control of an asynchronous LLC frame with 48-bit addresses and priority 4.
pub const FRAME_CONTROL_LLC: u8 = 0x54;

/// LLC header of SNAP (both service access points 0xaa, unnumbered information) and the
/// organisation code 0 that says an EtherType follows.
pub const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// The bits of a frame control for address length (48 bits) and format (LLC); the others are class and
/// priority.
const LLC_BITS: u8 = 0x70;

/// The header in wire format.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FddiHeader {
    /// Class, address length, format and priority.
    pub frame_control: u8,
    /// The station the frame is for.
    pub destination: LinkAddress,
    /// The station that sent it.
    pub source: LinkAddress,
    /// LLC and the organisation code of SNAP.
    pub llc_snap: [u8; 6],
    /// What the data is.
    pub ethertype: U16,
}

/// Reads the header of an FDDI frame that carries IPv4.
///
/// # Errors
/// The frame is truncated, oversized, not LLC, not SNAP, or does not carry IPv4.
#[inline]
pub fn parse(frame: &[u8]) -> Result<LinkFrame<'_>, DropReason> {
    let (header, data) = FddiHeader::ref_from_prefix(frame).map_err(|_| DropReason::LinkTruncated)?;
    if frame.len() > MAX_FRAME {
        return Err(DropReason::LinkOversized);
    }
    if header.frame_control & LLC_BITS != FRAME_CONTROL_LLC & LLC_BITS {
        return Err(DropReason::LinkNotLlc);
    }
    if header.llc_snap != LLC_SNAP {
        return Err(DropReason::LinkNotSnap);
    }
    if header.ethertype != ETHERTYPE_IPV4 {
        return Err(DropReason::LinkEtherType);
    }
    Ok(LinkFrame { destination: header.destination, source: header.source, header_length: HEADER, data })
}
