//! Builds and parses frames with an independent implementation.

use etherparse::{Ethernet2Header, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use std::net::Ipv4Addr;
use warmcore_linux::net::lab::{End, Link};

/// A UDP datagram and its addresses in a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Datagram {
    pub(crate) macs: [[u8; 6]; 2],
    pub(crate) addresses: [Ipv4Addr; 2],
    pub(crate) ports: [u16; 2],
    pub(crate) vlan: Option<u16>,
    pub(crate) payload: Vec<u8>,
}

impl Datagram {
    /// Creates a datagram from one end of the link to the other.
    pub(crate) fn between(from: &End, to: &End, ports: [u16; 2], payload: &[u8]) -> Self {
        let (macs, addresses) = ([from.mac, to.mac], [from.address, to.address]);
        Self { macs, addresses, ports, vlan: None, payload: payload.to_vec() }
    }

    pub(crate) fn to_far(link: &Link, ports: [u16; 2], payload: &[u8]) -> Self {
        Self::between(&link.near, &link.far, ports, payload)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let [source, destination] = self.addresses.map(|address| address.octets());
        let [from, to] = self.ports;
        let mut frame = Vec::new();
        PacketBuilder::ethernet2(self.macs[0], self.macs[1])
            .ipv4(source, destination, 64)
            .udp(from, to)
            .write(&mut frame, &self.payload)
            .unwrap();
        if let Some(vlan) = self.vlan {
            let [high, low] = vlan.to_be_bytes();
            frame.splice(12..12, [0x81, 0, high, low]);
        }
        frame
    }

    /// Parses a frame and verifies its checksums; `None` if it is not UDP over IPv4.
    pub(crate) fn decode(frame: &[u8]) -> Option<Self> {
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) = (&packet.net, &packet.transport)
        else {
            return None;
        };
        let header = ip.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        let sum = udp.to_header().calc_checksum_ipv4(&header, udp.payload()).unwrap();
        assert_eq!(udp.checksum(), sum, "checksum of a datagram to port {}", udp.destination_port());
        let (ethernet, _) = Ethernet2Header::from_slice(frame).unwrap();
        Some(Self {
            macs: [ethernet.source, ethernet.destination],
            addresses: [header.source.into(), header.destination.into()],
            ports: [udp.source_port(), udp.destination_port()],
            vlan: packet.vlan().map(|_| u16::from_be_bytes([frame[14], frame[15]])),
            payload: udp.payload().to_vec(),
        })
    }
}

/// Returns payloads that differ in content and length.
pub(crate) fn payloads(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|at| (0..8 + at * 13 % 1400).map(|byte| (byte + at * 7) as u8).collect()).collect()
}
