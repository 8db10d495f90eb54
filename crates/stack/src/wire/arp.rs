//! ARP for IPv4 over Ethernet (RFC 826): answering who asks for an address of ours.
//!
//! A process that owns an IP address receives what is sent to it only if its peers learn the MAC
//! address that goes with it. They ask by broadcast; the answer goes to the asker alone. Nothing
//! is remembered here: no address is learnt and none is asked for.
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
use crate::flow::LinkAddress;
use core::net::Ipv4Addr;
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// EtherType of ARP.
pub const ETHERTYPE_ARP: u16 = 0x0806;

/// Longest reply: the shortest frame of Ethernet, and two tags.
pub const MAX_REPLY: usize = MIN_FRAME + MAX_TAGS;

/// What every packet begins with that is about IPv4 addresses over Ethernet.
const IPV4_OVER_ETHERNET: Kind =
    Kind { hardware: U16::new(1), protocol: U16::new(ETHERTYPE_IPV4), lengths: [6, 4] };
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

/// Of which kinds the addresses of a packet are, and how many bytes they have.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Kind {
    hardware: U16,
    protocol: U16,
    lengths: [u8; 2],
}

/// A packet as it is on the wire.
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

/// Somebody asks for the MAC address of an IP address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// MAC address of who asks; one station's.
    pub sender_link: LinkAddress,
    /// IP address of who asks; unspecified in a probe (RFC 5227), which wants an answer too.
    pub sender: Ipv4Addr,
    /// The address asked for.
    pub target: Ipv4Addr,
    /// The VLAN it was asked in.
    pub tags: Tags,
}

/// Reads `frame` as a request for the MAC address of an IPv4 address. `None` if it is anything
/// else, or cannot be answered as it comes from no single station.
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
    /// Writes the reply, which says that the address asked for is at `station`, to the start of
    /// `buffer`, and returns it. [`MAX_REPLY`] bytes are enough for any.
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
