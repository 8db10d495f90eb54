//! The flow of a packet: its 5-tuple, and its datagram if it is a fragment.

use super::link::Link;
use core::net::IpAddr;
use etherparse::{Ipv6ExtensionSlice, LaxIpv4Slice, LaxIpv6Slice, LaxNetSlice, LaxSlicedPacket};

/// A 5-tuple. `ports` is `None` if the protocol has none or they were not captured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Flow {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ports: Option<[u8; 4]>,
}

/// Identifies a datagram that was fragmented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fragmented {
    source: IpAddr,
    destination: IpAddr,
    /// The protocol under IPv4; IPv6 does not use it to identify datagrams (RFC 8200, §4.5).
    protocol: Option<u8>,
    identification: u32,
}

/// Which part of its datagram a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The whole datagram.
    Whole,
    /// The first fragment, which contains the ports.
    First(Fragmented),
    /// A later fragment, without ports.
    Later(Fragmented),
}

/// An IP packet's data.
pub(super) struct Datagram<'a> {
    /// The number of the protocol.
    pub(super) protocol: u8,
    pub(super) part: Part,
    /// The captured bytes after the IP header, possibly not all.
    pub(super) payload: &'a [u8],
}

/// The flow and part of the packet in `frame`; `None` if it is not an IP packet, or too little of it was
/// captured.
pub(super) fn identify(link: Link, frame: &[u8]) -> Option<(Flow, Part)> {
    let (source, destination, Datagram { protocol, part, payload }) = ip(link, frame)?;
    let ports = match part {
        Part::Later(_) => None,
        _ if has_ports(protocol) => payload.first_chunk().copied(),
        _ => None,
    };
    Some((Flow { source, destination, protocol, ports }, part))
}

/// The data of the packet in `frame`; `None` under the same conditions.
pub(super) fn datagram(link: Link, frame: &[u8]) -> Option<Datagram<'_>> {
    ip(link, frame).map(|(_, _, datagram)| datagram)
}

fn ip(link: Link, frame: &[u8]) -> Option<(IpAddr, IpAddr, Datagram<'_>)> {
    let (ether_type, packet) = link.packet(frame)?;
    let packet = LaxSlicedPacket::from_ether_type(ether_type, packet);
    let net = packet.net.as_ref()?;
    let (source, destination, part) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            (header.source_addr().into(), header.destination_addr().into(), ipv4_part(ip))
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            (header.source_addr().into(), header.destination_addr().into(), ipv6_part(ip))
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let payload = net.ip_payload_ref()?;
    Some((source, destination, Datagram { protocol: payload.ip_number.0, part, payload: payload.payload }))
}

/// Whether the protocol's header starts with ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 33 | 132 | 136)
}

fn ipv4_part(ip: &LaxIpv4Slice<'_>) -> Part {
    let header = ip.header();
    if !header.is_fragmenting_payload() {
        return Part::Whole;
    }
    let datagram = Fragmented {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: Some(header.protocol().0),
        identification: header.identification().into(),
    };
    if header.fragments_offset().value() == 0 { Part::First(datagram) } else { Part::Later(datagram) }
}

fn ipv6_part(ip: &LaxIpv6Slice<'_>) -> Part {
    let header = ip.header();
    let fragment = ip.extensions().clone().into_iter().find_map(|extension| match extension {
        Ipv6ExtensionSlice::Fragment(fragment) if fragment.is_fragmenting_payload() => Some(fragment),
        _ => None,
    });
    let Some(fragment) = fragment else { return Part::Whole };
    let datagram = Fragmented {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: None,
        identification: fragment.identification(),
    };
    if fragment.fragment_offset().value() == 0 { Part::First(datagram) } else { Part::Later(datagram) }
}
