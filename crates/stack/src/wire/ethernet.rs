//! Ethernet II framing: destination, source, VLAN tags, EtherType, data.
//!
//! Frames of up to [`MAX_FRAME`] bytes (jumbo frames) are accepted, not counting [tags](super::vlan).
//! Frames shorter than Ethernet's minimum of 60 bytes are accepted too, since virtual interfaces
//! produce them. Bytes after the IP datagram are padding and are ignored.

use super::vlan::Tags;
use super::{ETHERTYPE_IPV4, LinkFrame};
use crate::drop_reason::DropReason;
use crate::identifiers::LinkAddress;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of the header, without tags.
pub const HEADER: usize = size_of::<EthernetHeader>();

/// Longest frame accepted, from destination address to data, without tags: 9000 bytes of data,
/// the header, and 4 bytes for a frame check sequence the driver may have left.
pub const MAX_FRAME: usize = 9018;

/// Shortest frame a real Ethernet carries, without its frame check sequence.
pub const MIN_FRAME: usize = 60;

/// The header in wire format.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct EthernetHeader {
    /// The station the frame is for.
    pub destination: LinkAddress,
    /// The station that sent it.
    pub source: LinkAddress,
    /// What the data is, or that a VLAN tag follows.
    pub ethertype: U16,
}

/// Reads the header of an Ethernet II frame that carries IPv4, and skips its tags.
///
/// # Errors
/// The header or a tag is truncated, the frame is oversized, or it does not carry IPv4.
#[inline]
pub fn parse(frame: &[u8]) -> Result<LinkFrame<'_>, DropReason> {
    let (header, mut data) = EthernetHeader::ref_from_prefix(frame).map_err(|_| DropReason::LinkTruncated)?;
    let mut ethertype = header.ethertype;
    if ethertype != ETHERTYPE_IPV4 {
        (_, ethertype, data) = Tags::read(ethertype, data)?;
    }
    if data.len() > MAX_FRAME - HEADER {
        return Err(DropReason::LinkOversized);
    }
    if ethertype != ETHERTYPE_IPV4 {
        return Err(DropReason::LinkEtherType);
    }
    let header_length = frame.len() - data.len();
    Ok(LinkFrame { destination: header.destination, source: header.source, header_length, data })
}

/// The VLAN tags of a frame; none if the frame is truncated within them.
#[must_use]
pub fn tags(frame: &[u8]) -> Tags {
    let Ok((header, data)) = EthernetHeader::ref_from_prefix(frame) else { return Tags::NONE };
    Tags::read(header.ethertype, data).map_or(Tags::NONE, |(tags, ..)| tags)
}

/// Writes a header with `tags`, for data of type `ethertype`, to the start of `frame`, which must have
/// room for it.
pub(super) fn write_header(
    frame: &mut [u8],
    destination: LinkAddress,
    source: LinkAddress,
    tags: Tags,
    ethertype: u16,
) {
    let (header, rest) = frame.split_at_mut(HEADER);
    let ethertype = U16::new(tags.write(ethertype, &mut rest[..tags.length()]));
    header.copy_from_slice(EthernetHeader { destination, source, ethertype }.as_bytes());
}
