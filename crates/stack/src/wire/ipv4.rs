//! IPv4 headers (RFC 791). All checks of a header are made here.
//!
//! Options are skipped, not interpreted. Fragments are refused: the stack does not reassemble.

use super::checksum::Sum;
use crate::drop_reason::DropReason;
pub use crate::identifiers::{PROTOCOL_TCP, PROTOCOL_UDP};
use core::hint::cold_path;
use core::net::Ipv4Addr;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of a header without options.
pub const HEADER: usize = size_of::<Ipv4Header>();

/// Version 4 and a header of five words, the first byte of a header without options.
pub const VERSION_AND_LENGTH: u8 = 0x45;

/// The bits of `fragment` that are set in fragments: "more fragments" and the offset.
const FRAGMENT_BITS: u16 = 0x3fff;

/// The header in wire format, without options.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Ipv4Header {
    /// Version in the high, header length in 32-bit words in the low four bits.
    pub version_and_length: u8,
    /// Type of service.
    pub service: u8,
    /// Length of header and data in bytes.
    pub total_length: U16,
    /// Distinguishes the datagrams of one sender.
    pub identification: U16,
    /// Flags and fragment offset.
    pub fragment: U16,
    /// Hops left.
    pub time_to_live: u8,
    /// What the data is.
    pub protocol: u8,
    /// Internet checksum of the header.
    pub checksum: [u8; 2],
    /// Address of the sender.
    pub source: [u8; 4],
    /// Address of the receiver.
    pub destination: [u8; 4],
}

impl Ipv4Header {
    /// Address of the sender.
    #[must_use]
    pub const fn source(&self) -> Ipv4Addr {
        let [a, b, c, d] = self.source;
        Ipv4Addr::new(a, b, c, d)
    }

    /// Address of the receiver.
    #[must_use]
    pub const fn destination(&self) -> Ipv4Addr {
        let [a, b, c, d] = self.destination;
        Ipv4Addr::new(a, b, c, d)
    }
}

/// A complete datagram with a valid header.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// The header without options.
    pub header: &'a Ipv4Header,
    /// Length of the header with options.
    pub header_length: usize,
    /// The data that the datagram carries, without padding added by the link.
    pub data: &'a [u8],
}

/// Validates the datagram at the start of `bytes`, which must carry UDP.
///
/// # Errors
/// The header is truncated, of another version, inconsistent with the length of `bytes`, has a wrong
/// checksum or a time to live of zero; or the datagram is a fragment or not UDP.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Datagram<'_>, DropReason> {
    parse_carrying(PROTOCOL_UDP, bytes)
}

/// Validates the datagram at the start of `bytes`, which must carry `protocol`.
///
/// # Errors
/// As for [`parse`], with `protocol` in place of UDP.
#[inline]
pub fn parse_carrying(protocol: u8, bytes: &[u8]) -> Result<Datagram<'_>, DropReason> {
    let (header, _) = Ipv4Header::ref_from_prefix(bytes).map_err(|_| DropReason::IpTruncated)?;
    if header.version_and_length >> 4 != 4 {
        cold_path();
        return Err(DropReason::IpVersion);
    }
    let header_length = usize::from(header.version_and_length & 0xf) * 4;
    if header_length < HEADER || header_length > bytes.len() {
        cold_path();
        return Err(DropReason::IpHeaderLength);
    }
    let total_length = usize::from(header.total_length.get());
    let Some(data) = bytes.get(header_length..total_length) else {
        cold_path();
        return Err(DropReason::IpTotalLength);
    };
    let options = bytes.get(HEADER..header_length).unwrap_or_default();
    if !Sum::ZERO.with(header.as_bytes()).with(options).is_valid() {
        cold_path();
        return Err(DropReason::IpChecksum);
    }
    if header.time_to_live == 0 {
        cold_path();
        return Err(DropReason::IpTimeToLive);
    }
    if header.fragment.get() & FRAGMENT_BITS != 0 {
        cold_path();
        return Err(DropReason::IpFragment);
    }
    if header.protocol != protocol {
        cold_path();
        return Err(DropReason::IpProtocol);
    }
    Ok(Datagram { header, header_length, data })
}

/// The sum of the pseudo header that UDP and TCP checksums include, for `length` bytes of `protocol`.
#[inline]
pub(super) fn pseudo_header(source: [u8; 4], destination: [u8; 4], protocol: u8, length: u16) -> Sum {
    Sum::ZERO.with(&source).with(&destination).with_word(u16::from(protocol)).with_word(length)
}
