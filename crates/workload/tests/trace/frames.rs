//! Kinds of frames: links, VLANs, IPv4 and IPv6, protocols with and without ports.

use crate::writer::{MICROS, NANOS, Order, arp, ethernet, pcap, udp};
use crate::{packets, streams};
use etherparse::{PacketBuilder, VlanId};
use warmcore_workload::{Direction, Trace};

/// A UDP packet over IPv4, without a link header.
fn ipv4() -> Vec<u8> {
    udp(7)[14..].to_vec()
}

fn ipv6(port: u16) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv6([1; 16], [2; 16], 9).udp(port, 53);
    builder.write(&mut packet, &[0; 40]).unwrap();
    packet
}

/// An IPv4 packet with a Linux cooked header of this packet type.
fn cooked(packet_type: u8) -> Vec<u8> {
    [&[0, packet_type, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0][..], &ipv4()].concat()
}

fn cooked2(packet_type: u8) -> Vec<u8> {
    [&[8, 0, 0, 0, 0, 0, 0, 3, 0, 1, packet_type, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], &ipv4()].concat()
}

#[test]
fn packets_are_read_from_every_link_type() {
    let loopback = |family: u8, packet: Vec<u8>| [vec![family, 0, 0, 0], packet].concat();
    for (link, frame) in [
        (1, udp(7)),
        (12, ipv4()),
        (101, ipv4()),
        (101, ipv6(7)),
        (228, ipv4()),
        (229, ipv6(7)),
        (0, loopback(2, ipv4())),
        (0, loopback(30, ipv6(7))),
        (108, loopback(2, ipv4())),
        (113, cooked(0)),
        (276, cooked2(0)),
        (0x1000_0001, udp(7)),
    ] {
        let length = frame.len();
        let file = pcap(NANOS, Order::Little, link, &[(0, 0, frame)]);
        let trace = Trace::parse(&file).unwrap_or_else(|error| panic!("link {link}: {error}"));
        assert_eq!(usize::from(packets(&trace)[0].bytes), length, "link {link}");
        assert_eq!(packets(&trace)[0].direction, Direction::Receive);
    }
}

#[test]
fn cooked_headers_give_the_direction() {
    for (link, frame) in [(113, cooked(4)), (276, cooked2(4))] {
        let trace = Trace::parse(&pcap(MICROS, Order::Big, link, &[(0, 0, frame)])).unwrap();
        assert_eq!(packets(&trace)[0].direction, Direction::Send);
    }
}

#[test]
fn a_vlan_tag_does_not_change_the_stream() {
    let tagged = |vlan: u16| {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let builder = builder.single_vlan(VlanId::try_new(vlan).unwrap());
        let mut frame = Vec::new();
        builder.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9).udp(1, 53).write(&mut frame, &[0; 8]).unwrap();
        frame
    };
    assert_eq!(
        streams(&Trace::parse(&ethernet(&[udp(1), tagged(3), udp(2), tagged(4)])).unwrap()),
        [0, 0, 1, 0]
    );
}

/// Packets that differ in any of the five parts belong to different streams; so do opposite directions.
#[test]
fn streams_are_five_tuples() {
    let builder = |from: u8, to: u8| PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([from; 4], [to; 4], 9);
    let udp = |from, to, ports: (u16, u16)| {
        let mut frame = Vec::new();
        builder(from, to).udp(ports.0, ports.1).write(&mut frame, &[]).unwrap();
        frame
    };
    let mut tcp = Vec::new();
    builder(1, 2).tcp(5, 6, 0, 0).write(&mut tcp, &[]).unwrap();
    let mut ping = Vec::new();
    builder(1, 2).icmpv4_echo_request(1, 1).write(&mut ping, &[]).unwrap();
    let frames = [
        udp(1, 2, (5, 6)),
        udp(3, 2, (5, 6)),
        udp(1, 3, (5, 6)),
        udp(1, 2, (7, 6)),
        udp(1, 2, (5, 7)),
        udp(2, 1, (6, 5)),
        tcp,
        ping.clone(),
        udp(1, 2, (5, 6)),
        ping,
    ];
    assert_eq!(streams(&Trace::parse(&ethernet(&frames)).unwrap()), [0, 1, 2, 3, 4, 5, 6, 7, 0, 7]);
}

#[test]
fn packets_that_are_not_ip_are_left_out_and_counted() {
    let short = udp(1)[..20].to_vec();
    let trace = Trace::parse(&ethernet(&[arp(), udp(1), vec![], short, udp(2)])).unwrap();
    assert_eq!((trace.packets(), trace.capture().not_ip), (2, 3));
    assert_eq!(packets(&trace)[0].at.0, 0.0, "the first packet used is the origin of time");
}

/// A packet captured only up to its ports still has its stream, and its size on the wire.
#[test]
fn a_short_snapshot_length_suffices() {
    let mut file = ethernet(&[]);
    for frame in [udp(1), udp(2), udp(1)] {
        let kept = &frame[..14 + 20 + 4];
        let head = [0, 0, kept.len() as u32, 1_400].map(u32::to_le_bytes).concat();
        file.extend([&head, kept].concat());
    }
    let trace = Trace::parse(&file).unwrap();
    assert_eq!(streams(&trace), [0, 1, 0]);
    assert_eq!(packets(&trace)[0].bytes, 1_400);
}
