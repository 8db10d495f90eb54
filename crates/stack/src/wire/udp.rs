//! UDP headers (RFC 768).

use super::ipv4::{Ipv4Header, PROTOCOL_UDP, pseudo_header};
use crate::drop_reason::DropReason;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of the header.
pub const HEADER: usize = size_of::<UdpHeader>();

/// The header in wire format.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct UdpHeader {
    /// Port of the sender.
    pub source_port: U16,
    /// Port of the receiver.
    pub destination_port: U16,
    /// Length of header and payload in bytes.
    pub length: U16,
    /// Internet checksum of pseudo header, header and payload; zero if the sender computed none.
    pub checksum: [u8; 2],
}

/// A user datagram with a consistent length.
#[derive(Clone, Copy, Debug)]
pub struct UserDatagram<'a> {
    /// The header.
    pub header: &'a UdpHeader,
    /// The data for the application.
    pub payload: &'a [u8],
    /// Header and payload.
    bytes: &'a [u8],
}

/// Parses the user datagram in `data`, the data of an IP datagram.
///
/// # Errors
/// The header is truncated, or its length field is below 8 or beyond the datagram.
#[inline]
pub fn parse(data: &[u8]) -> Result<UserDatagram<'_>, DropReason> {
    let (header, _) = UdpHeader::ref_from_prefix(data).map_err(|_| DropReason::UdpTruncated)?;
    let length = usize::from(header.length.get());
    let Some(payload) = data.get(HEADER..length) else { return Err(DropReason::UdpLength) };
    let bytes = data.get(..length).unwrap_or_default();
    Ok(UserDatagram { header, payload, bytes })
}

impl UserDatagram<'_> {
    /// Verifies the checksum in software, with the pseudo header made from `ip`.
    ///
    /// # Errors
    /// There is a checksum, and it is wrong.
    #[inline]
    pub fn verify(&self, ip: &Ipv4Header) -> Result<(), DropReason> {
        let sum = || pseudo_header(ip.source, ip.destination, PROTOCOL_UDP, self.header.length.get());
        let valid = self.header.checksum == [0, 0] || sum().with(self.bytes).is_valid();
        if valid { Ok(()) } else { Err(DropReason::UdpChecksum) }
    }
}
