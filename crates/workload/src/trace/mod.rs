//! Replaying a capture of real traffic.
//!
//! - Two formats are supported: pcap (microseconds or nanoseconds) and pcapng (any resolution, several
//!   interfaces and sections). Captures may be of Ethernet, raw IP, BSD loopback or Linux cooked frames,
//!   with or without VLAN tags.
//! - Packets are sorted by time, whatever their order in the file.
//! - A stream is the packets of one 5-tuple in one direction; streams are numbered by first appearance.
//!   Protocols without ports have one stream for each pair of addresses. A tunnel is one stream of its outer
//!   addresses.
//! - A fragment belongs to the stream of its datagram.
//! - Packets that are not IP are left out and counted.
//! - If a file ends within a packet, the packets before it are read, and the [position](Truncation) is
//!   reported.
//! - A packet's size is that of its frame on the wire, with the link header, at most 65535.
//! - A packet counts as sent if the capture says so, in a Linux cooked header or in the flags of a pcapng
//!   packet; all others count as received.

mod flow;
mod link;
mod pcap;
mod pcapng;
mod replay;
mod requests;
mod streams;

pub use replay::{Capture, Cycle, Replay, Trace, check_time_scale};
pub use requests::Requests;

use crate::arrivals::Direction;
use core::fmt;
use link::Link;
use serde::{Deserialize, Serialize};

/// Where a file ends too early, as when the capturing program was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Truncation {
    /// Number of the next packet, from 1.
    pub packet: usize,
    /// Offset of the incomplete record or block.
    pub byte: usize,
    /// How many bytes are missing, at least.
    pub missing: usize,
}

/// A trace could not be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceError {
    /// The file is empty.
    #[error("the file is empty; give a pcap or pcapng file with packets")]
    Empty,
    /// The file has another format.
    #[error("neither a pcap nor a pcapng file: it begins with the bytes {}{}", hex(.0), hint(.0))]
    Unrecognised(Vec<u8>),
    /// The file ends before the end of its first packet.
    #[error("cut off or corrupt: {0}")]
    Truncated(Truncation),
    /// The file contradicts itself.
    #[error("corrupt or unusable: packet {packet} or what precedes it, at byte {byte}, {problem}")]
    Corrupt {
        /// Number of the next packet, from 1.
        packet: usize,
        /// Offset of the record or block.
        byte: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A packet has an unsupported link type.
    #[error(
        "packet {packet}, at byte {byte}, was captured on a link of type {link}; supported are Ethernet (1), \
         raw IP (12, 101, 228, 229), loopback (0, 108) and Linux cooked captures (113, 276)"
    )]
    UnknownLink {
        /// Number of the packet, from 1.
        packet: usize,
        /// Offset of its record.
        byte: usize,
        /// The number of the link type.
        link: i32,
    },
    /// No packet is a request.
    #[error("no usable requests: none of its {packets} packets is a UDP datagram that was captured whole")]
    NoRequests {
        /// How many packets there are.
        packets: usize,
    },
    /// No packet belongs to a stream.
    #[error("no usable packets: none of its {packets} packets is an IP packet")]
    NoUsablePackets {
        /// How many packets there are.
        packets: usize,
    },
}

/// A packet of a capture.
struct Record<'a> {
    /// Nanoseconds since 1970.
    at: i64,
    /// Bytes on the wire.
    length: u32,
    link: Link,
    direction: Direction,
    /// The captured bytes, possibly not all.
    frame: &'a [u8],
}

/// The packets of a capture, in the order of the file.
struct Records<'a> {
    records: Vec<Record<'a>>,
    /// Set if the file ends within a packet.
    cut: Option<Truncation>,
}

impl<'a> Records<'a> {
    /// Reads the records in `rest`, the tail of `bytes`. `next` adds the packets of one record or block, and
    /// returns the bytes after it.
    fn read(
        bytes: &'a [u8],
        mut rest: &'a [u8],
        mut next: impl FnMut(&'a [u8], Place, &mut Vec<Record<'a>>) -> Result<&'a [u8], TraceError>,
    ) -> Result<Self, TraceError> {
        let mut records = Vec::new();
        while !rest.is_empty() {
            let place = Place { packet: records.len() + 1, byte: bytes.len() - rest.len() };
            rest = match next(rest, place, &mut records) {
                Ok(after) => after,
                Err(TraceError::Truncated(cut)) if !records.is_empty() => {
                    return Ok(Self { records, cut: Some(cut) });
                }
                Err(error) => return Err(error),
            };
        }
        Ok(Self { records, cut: None })
    }
}

fn records(bytes: &[u8]) -> Result<Records<'_>, TraceError> {
    match bytes.first_chunk() {
        None if bytes.is_empty() => Err(TraceError::Empty),
        Some(&pcapng::MAGIC) => pcapng::records(bytes),
        Some(magic) if pcap::MAGICS.contains(&u32::from_le_bytes(*magic)) => pcap::records(bytes),
        _ => Err(TraceError::Unrecognised(bytes.iter().copied().take(4).collect())),
    }
}

const CONTRADICTION: &str = "contradicts its own lengths";

/// A position in the file, for errors.
#[derive(Clone, Copy, Debug)]
struct Place {
    packet: usize,
    byte: usize,
}

impl Place {
    fn corrupt(self, problem: impl Into<String>) -> TraceError {
        TraceError::Corrupt { packet: self.packet, byte: self.byte, problem: problem.into() }
    }

    fn truncated(self, missing: usize) -> TraceError {
        TraceError::Truncated(Truncation { packet: self.packet, byte: self.byte, missing })
    }

    fn unknown_link(self, link: i32) -> TraceError {
        TraceError::UnknownLink { packet: self.packet, byte: self.byte, link }
    }

    /// Converts a parser's error on the record or block here.
    fn unparsed<E>(self, error: pcap_parser::nom::Err<E>) -> TraceError {
        use pcap_parser::nom::{Err, Needed};
        match error {
            Err::Incomplete(Needed::Size(missing)) => self.truncated(missing.get()),
            Err::Incomplete(Needed::Unknown) => self.truncated(1),
            Err::Error(_) | Err::Failure(_) => self.corrupt(CONTRADICTION),
        }
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packet, byte, missing } = self;
        write!(f, "packet {packet} or what precedes it, at byte {byte}, lacks its last {missing} bytes")
    }
}

/// A hint for captures that are compressed.
fn hint(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] => "; decompress it first",
        _ => "",
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}
