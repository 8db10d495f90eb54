//! ARP for IPv4 over Ethernet (RFC 826): answers requests for our address.
//!
//! A process with its own IP address receives packets only if its peers learn the MAC address that
//! belongs to it. They ask by broadcast, and the answer goes to the asker alone. This module keeps no
//! table: it learns no addresses and asks for none.
//!
//! ```
//! use core::net::Ipv4Addr;
//! use warmcore_stack::LinkAddress;
//! use warmcore_stack::wire::arp;
//!
//! let ours = (Ipv4Addr::new(10, 0, 0, 1), LinkAddress([2, 0, 0, 0, 0, 1]));
//! let mut asked = [0xff; 42];
//! asked[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 9, 0x08, 0x06]);
//! asked[14..22].copy_from_slice(&[0, 1, 0x08, 0, 6, 4, 0, 1]);
//! asked[22..32].copy_from_slice(&[2, 0, 0, 0, 0, 9, 10, 0, 0, 9]);
//! asked[38..42].copy_from_slice(&[10, 0, 0, 1]);
//!
//! let request = arp::request(&asked).filter(|request| request.target == ours.0);
//! let mut buffer = [0; arp::MAX_REPLY];
//! let reply = request.map(|request| request.reply(ours.1, &mut buffer)).transpose()?;
//! assert_eq!(reply.map(|frame| frame.len()), Some(60));
//! # Ok::<(), warmcore_stack::wire::BuildError>(())
//! ```

use super::ETHERTYPE_IPV4;
use super::build::BuildError;
use super::ethernet::{self, EthernetHeader, MIN_FRAME};
use super::vlan::{MAX_TAGS, Tags};
use crate::identifiers::LinkAddress;
use core::net::Ipv4Addr;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// EtherType of ARP.
pub const ETHERTYPE_ARP: u16 = 0x0806;

/// Longest reply: the shortest frame of Ethernet, and two tags.
pub const MAX_REPLY: usize = MIN_FRAME + MAX_TAGS;

/// The first fields of every ARP packet for IPv4 over Ethernet.
const IPV4_OVER_ETHERNET: Kind =
    Kind { hardware: U16::new(1), protocol: U16::new(ETHERTYPE_IPV4), lengths: [6, 4] };
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

/// Types and lengths of a packet's addresses.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Kind {
    hardware: U16,
    protocol: U16,
    lengths: [u8; 2],
}

/// An ARP packet in wire format.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Packet {
    kind: Kind,
    operation: U16,
    sender_link: LinkAddress,
    sender: [u8; 4],
    target_link: LinkAddress,
    target: [u8; 4],
}

/// A request for the MAC address of an IP address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// MAC address of the asker, a unicast address.
    pub sender_link: LinkAddress,
    /// IP address of the asker; unspecified in a probe (RFC 5227), which must be answered too.
    pub sender: Ipv4Addr,
    /// The address asked for.
    pub target: Ipv4Addr,
    /// VLAN tags of the request.
    pub tags: Tags,
}

/// Parses `frame` as a request for the MAC address of an IPv4 address. Returns `None` if it is anything
/// else, or if its sender is not a unicast address and so cannot be answered.
#[must_use]
pub fn request(frame: &[u8]) -> Option<Request> {
    let (header, data) = EthernetHeader::ref_from_prefix(frame).ok()?;
    let (tags, ethertype, data) = Tags::read(header.ethertype, data).ok()?;
    let (packet, _padding) = Packet::ref_from_prefix(data).ok()?;
    let is_request = ethertype == ETHERTYPE_ARP
        && packet.kind == IPV4_OVER_ETHERNET
        && packet.operation == REQUEST
        && packet.sender_link.is_unicast();
    is_request.then(|| Request {
        sender_link: packet.sender_link,
        sender: packet.sender.into(),
        target: packet.target.into(),
        tags,
    })
}

impl Request {
    /// Writes the reply, which says that the requested address is at `station`, to the start of
    /// `buffer` and returns it. [`MAX_REPLY`] bytes are enough for any reply.
    ///
    /// # Errors
    /// The reply does not fit `buffer`.
    pub fn reply<'b>(&self, station: LinkAddress, buffer: &'b mut [u8]) -> Result<&'b mut [u8], BuildError> {
        let needed = MIN_FRAME + self.tags.length();
        let length = buffer.len();
        let frame = buffer.get_mut(..needed).ok_or(BuildError::BufferTooShort { length, needed })?;
        ethernet::write_header(frame, self.sender_link, station, self.tags, ETHERTYPE_ARP);
        let packet = Packet {
            kind: IPV4_OVER_ETHERNET,
            operation: U16::new(REPLY),
            sender_link: station,
            sender: self.target.octets(),
            target_link: self.sender_link,
            target: self.sender.octets(),
        };
        let body = &mut frame[ethernet::HEADER + self.tags.length()..];
        let (body, padding) = body.split_at_mut(size_of::<Packet>());
        body.copy_from_slice(packet.as_bytes());
        padding.fill(0);
        Ok(frame)
    }
}
