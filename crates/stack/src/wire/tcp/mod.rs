//! TCP segments (RFC 9293, §3.1), parsed from and written to the data of an IP datagram.
//!
//! [`parse`] makes every check of the header and of its options, as [`ParsedSegment::verify`] does of the
//! checksum. A [`Segment`] is what the header means, without ports: a connection
//! ([`tcp`](crate::tcp)) receives and sends values of this type, and whoever drives it knows the ports.
//!
//! Urgent data is not marked: the urgent pointer is ignored, and the data is in line (RFC 9293, §3.8.5
//! and RFC 6093 discourage the rest). Bits of congestion notification and reserved bits are ignored.

mod frame;
mod options;
mod payload;

pub use frame::{parse_frame, write_checksum};
pub use options::{Options, Timestamps};
pub use payload::Payload;

use super::build::BuildError;
use super::ipv4::{Ipv4Header, PROTOCOL_TCP, pseudo_header};
use super::sequence::SequenceNumber;
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use core::hint::cold_path;
use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of a header without options.
pub const HEADER: usize = size_of::<TcpHeader>();

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// The header in wire format, without options.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TcpHeader {
    /// Port of the sender.
    pub source_port: U16,
    /// Port of the receiver.
    pub destination_port: U16,
    /// Position of the first byte, or of SYN.
    pub sequence: U32,
    /// Position of the next byte expected, if ACK is set.
    pub acknowledgement: U32,
    /// Header length in 32-bit words, in the high four bits.
    pub data_offset: u8,
    /// Control bits.
    pub flags: u8,
    /// Bytes that the sender of the segment is ready to receive, scaled.
    pub window: U16,
    /// Internet checksum of pseudo header, header and data.
    pub checksum: [u8; 2],
    /// End of urgent data; ignored.
    pub urgent: U16,
}

/// What a segment says, apart from ports and checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment<'a> {
    /// Position of the first of what the segment carries: SYN, data, FIN.
    pub sequence: SequenceNumber,
    /// Position of the next byte that the sender expects. `None` if ACK is not set.
    pub acknowledgement: Option<SequenceNumber>,
    /// Synchronise sequence numbers: the first of a connection.
    pub syn: bool,
    /// No more data from the sender.
    pub fin: bool,
    /// Reset the connection.
    pub reset: bool,
    /// Push: the receiver should have the data without waiting for more.
    pub push: bool,
    /// The window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// Data.
    pub payload: Payload<'a>,
}

impl Segment<'_> {
    /// Sequence numbers that the segment takes: its data, and one each for SYN and FIN.
    #[inline]
    #[must_use]
    pub const fn sequence_length(&self) -> u32 {
        self.payload.len() as u32 + self.syn as u32 + self.fin as u32
    }

    /// Length of the header with options, in bytes.
    #[must_use]
    pub const fn header_length(&self) -> usize {
        HEADER + self.options.length()
    }

    /// Length of header and data, in bytes.
    #[must_use]
    pub const fn length_on_wire(&self) -> usize {
        self.header_length() + self.payload.len()
    }

    /// Writes header and data, with the checksum, to the start of `buffer` and returns them. The ports
    /// and the addresses of the pseudo header are those of `flow`.
    ///
    /// # Errors
    /// The segment does not fit a datagram of IPv4, or `buffer`.
    pub fn write<'b>(&self, flow: &Flow, buffer: &'b mut [u8]) -> Result<&'b mut [u8], BuildError> {
        let max = usize::from(u16::MAX) - super::ipv4::HEADER - self.header_length();
        let length = self.payload.len();
        if length > max {
            return Err(BuildError::PayloadTooLong { length, max });
        }
        let needed = self.length_on_wire();
        let length = buffer.len();
        let bytes = buffer.get_mut(..needed).ok_or(BuildError::BufferTooShort { length, needed })?;
        self.fill(flow, bytes);
        Ok(bytes)
    }

    /// Writes the segment to `bytes`, which must have its length on the wire, at most 65,515 bytes.
    pub(super) fn fill(&self, flow: &Flow, bytes: &mut [u8]) {
        let total = bytes.len() as u16;
        let (header, rest) = bytes.split_at_mut(HEADER);
        let (options, data) = rest.split_at_mut(self.options.length());
        header.copy_from_slice(self.header(flow).as_bytes());
        self.options.write(options);
        self.payload.copy_to(data);
        let pseudo = pseudo_header(flow.source.octets(), flow.destination.octets(), PROTOCOL_TCP, total);
        let checksum = pseudo.with(bytes).checksum();
        bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum);
    }

    /// The header, with a checksum of zero.
    fn header(&self, flow: &Flow) -> TcpHeader {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        TcpHeader {
            source_port: U16::new(flow.source_port),
            destination_port: U16::new(flow.destination_port),
            sequence: U32::new(self.sequence.0),
            acknowledgement: U32::new(self.acknowledgement.map_or(0, |at| at.0)),
            data_offset: (self.header_length() as u8 / 4) << 4,
            flags: flag(self.fin, FIN)
                | flag(self.syn, SYN)
                | flag(self.reset, RST)
                | flag(self.push, PSH)
                | flag(self.acknowledgement.is_some(), ACK),
            window: U16::new(self.window),
            checksum: [0; 2],
            urgent: U16::ZERO,
        }
    }
}

/// Where the checksum stands in the header.
const CHECKSUM: usize = core::mem::offset_of!(TcpHeader, checksum);

/// A segment with a consistent header.
#[derive(Clone, Copy, Debug)]
pub struct ParsedSegment<'a> {
    /// The header without options.
    pub header: &'a TcpHeader,
    /// What it means.
    pub segment: Segment<'a>,
    /// Header and data.
    bytes: &'a [u8],
}

/// Parses the segment in `data`, the data of an IP datagram.
///
/// # Errors
/// The header is truncated, its length is below 20 bytes or beyond the datagram, an option has a wrong
/// length, or SYN is set together with FIN or RST.
#[inline]
pub fn parse(data: &[u8]) -> Result<ParsedSegment<'_>, DropReason> {
    let (header, _) = TcpHeader::ref_from_prefix(data).map_err(|_| DropReason::TcpTruncated)?;
    let length = usize::from(header.data_offset >> 4) * 4;
    let Some(options) = data.get(HEADER..length) else {
        cold_path();
        return Err(DropReason::TcpDataOffset);
    };
    let is_set = |bit| header.flags & bit != 0;
    if is_set(SYN) && header.flags & (FIN | RST) != 0 {
        cold_path();
        return Err(DropReason::TcpFlags);
    }
    let segment = Segment {
        sequence: SequenceNumber(header.sequence.get()),
        acknowledgement: is_set(ACK).then(|| SequenceNumber(header.acknowledgement.get())),
        syn: is_set(SYN),
        fin: is_set(FIN),
        reset: is_set(RST),
        push: is_set(PSH),
        window: header.window.get(),
        options: Options::parse(options)?,
        payload: Payload::from(data.get(length..).unwrap_or_default()),
    };
    Ok(ParsedSegment { header, segment, bytes: data })
}

impl ParsedSegment<'_> {
    /// Verifies the checksum in software, with the pseudo header made from `ip`.
    ///
    /// # Errors
    /// The checksum is wrong. Unlike a UDP checksum it is never absent.
    #[inline]
    pub fn verify(&self, ip: &Ipv4Header) -> Result<(), DropReason> {
        self.verify_between(ip.source, ip.destination)
    }

    /// As [`verify`](Self::verify), for a segment between the addresses of `flow`.
    ///
    /// # Errors
    /// As for [`verify`](Self::verify).
    pub fn verify_flow(&self, flow: &Flow) -> Result<(), DropReason> {
        self.verify_between(flow.source.octets(), flow.destination.octets())
    }

    #[inline]
    fn verify_between(&self, source: [u8; 4], destination: [u8; 4]) -> Result<(), DropReason> {
        let Ok(length) = u16::try_from(self.bytes.len()) else { return Err(DropReason::TcpChecksum) };
        let sum = pseudo_header(source, destination, PROTOCOL_TCP, length).with(self.bytes);
        if sum.is_valid() { Ok(()) } else { Err(DropReason::TcpChecksum) }
    }
}

#[cfg(test)]
mod tests;
