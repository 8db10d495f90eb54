//! A capture of real traffic, replayed.
//!
//! - Both formats are read, pcap (microseconds or nanoseconds) and pcapng (any resolution, several
//!   interfaces and sections), of Ethernet, raw IP, BSD loopback or Linux cooked captures, with
//!   VLAN tags or without.
//! - Packets are taken in order of their times, whatever their order in the file.
//! - A stream is the packets of one 5-tuple, in one direction; streams are numbered by their first
//!   packet. Protocols without ports have a stream for each pair of addresses. A tunnel is a
//!   stream of its outer addresses.
//! - A fragment belongs to the stream of its datagram.
//! - Packets that are not IP are left out, and counted.
//! - Of a file that ends within a packet, those before it are read, and where it [ends](Truncation) is said.
//! - A packet's size is that of its frame on the wire, its link header included, at most 65535.
//! - A packet is sent, not received, where the capture says so: in a Linux cooked header, or in
//!   the flags of a pcapng packet.

mod flow;
mod link;
mod pcap;
mod pcapng;
mod replay;
mod streams;

pub use replay::{Capture, Cycle, Replay, Trace, check_time_scale};

use crate::arrivals::Direction;
use core::fmt;
use link::Link;
use serde::{Deserialize, Serialize};

/// Where a file ends too early, as it does when what wrote it was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Truncation {
    /// Number of the packet, from 1, that would have been the next.
    pub packet: usize,
    /// Where the incomplete record or block begins.
    pub byte: usize,
    /// How many bytes are missing, as far as is known.
    pub missing: usize,
}

/// A trace could not be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceError {
    /// No bytes at all.
    #[error("the file is empty; give a pcap or pcapng file with packets")]
    Empty,
    /// Another format.
    #[error("neither a pcap nor a pcapng file: it begins with the bytes {}{}", hex(.0), hint(.0))]
    Unrecognised(Vec<u8>),
    /// The file ends before its first packet does.
    #[error("cut off or corrupt: {0}")]
    Truncated(Truncation),
    /// The file contradicts itself.
    #[error("corrupt or unusable: packet {packet} or what precedes it, at byte {byte}, {problem}")]
    Corrupt {
        /// Number of the packet, from 1, that would have been the next.
        packet: usize,
        /// Where the record or block begins.
        byte: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A packet of a kind of link that is not understood.
    #[error(
        "packet {packet}, at byte {byte}, was captured on a link of type {link}; understood are Ethernet (1), \
         raw IP (12, 101, 228, 229), loopback (0, 108) and Linux cooked captures (113, 276)"
    )]
    UnknownLink {
        /// Number of the packet, from 1.
        packet: usize,
        /// Where its record begins.
        byte: usize,
        /// The number of the link type.
        link: i32,
    },
    /// Nothing that belongs to a stream.
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
    /// What was captured of it, maybe not all.
    frame: &'a [u8],
}

/// The packets of a capture, in the order of the file.
struct Records<'a> {
    records: Vec<Record<'a>>,
    /// Where the file ends within a packet, if it does.
    cut: Option<Truncation>,
}

impl<'a> Records<'a> {
    /// What `next` reads of `bytes` from `rest` on: it adds the packets of one record or block, and
    /// returns what follows it.
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

/// Where in the file something is read.
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

    /// What a parser says of the record or block here.
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

/// What to do about the formats that captures come wrapped in.
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
