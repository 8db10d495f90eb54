//! Fragments are assigned to the stream of their datagram.

use crate::streams;
use crate::writer::{MICROS, NANOS, Order, pcap};
use etherparse::{IpNumber, Ipv4Header, Ipv6FragmentHeader, Ipv6Header};
use warmcore_workload::Trace;

/// A fragment, or the whole, of a UDP datagram from `port` over IPv4.
fn ipv4(port: u16, identification: u16, offset: u16, more: bool) -> Vec<u8> {
    let body = body(port, offset);
    let mut header =
        Ipv4Header::new(body.len() as u16, 9, IpNumber::UDP, [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
    header.identification = identification;
    header.more_fragments = more;
    header.fragment_offset = offset.try_into().unwrap();
    [header.to_bytes().to_vec(), body].concat()
}

fn ipv6(port: u16, identification: u32, offset: u16, more: bool) -> Vec<u8> {
    let body = body(port, offset);
    let fragment = Ipv6FragmentHeader::new(IpNumber::UDP, offset.try_into().unwrap(), more, identification);
    let header = Ipv6Header {
        payload_length: (body.len() + 8) as u16,
        next_header: IpNumber::IPV6_FRAGMENTATION_HEADER,
        source: [1; 16],
        destination: [2; 16],
        ..Ipv6Header::default()
    };
    [header.to_bytes().to_vec(), fragment.to_bytes().to_vec(), body].concat()
}

/// A payload that starts with ports; in later fragments, bytes that could be mistaken for other ports.
fn body(port: u16, offset: u16) -> Vec<u8> {
    let port = if offset == 0 { port } else { 0xde00 + offset };
    [&port.to_be_bytes()[..], &[0, 53, 0, 24, 0, 0], &[0; 16]].concat()
}

/// The streams of raw IP packets a microsecond apart.
fn streams_of(frames: &[Vec<u8>]) -> Vec<u32> {
    let packets: Vec<_> = frames.iter().zip(0..).map(|(frame, at)| (0, at, frame.clone())).collect();
    streams(&Trace::parse(&pcap(MICROS, Order::Little, 101, &packets)).unwrap())
}

#[test]
fn later_fragments_join_the_stream_of_the_first_in_any_order() {
    let (one, two) = ((1, 77), (2, 78));
    for frames in [
        [
            ipv4(one.0, one.1, 0, true),
            ipv4(two.0, two.1, 0, true),
            ipv4(0, 77, 3, true),
            ipv4(0, 78, 3, false),
        ],
        [
            ipv4(0, 77, 3, true),
            ipv4(0, 78, 3, false),
            ipv4(one.0, one.1, 0, true),
            ipv4(two.0, two.1, 0, true),
        ],
        [ipv6(1, 77, 0, true), ipv6(2, 78, 0, true), ipv6(0, 77, 3, true), ipv6(0, 78, 3, false)],
        [ipv6(0, 77, 3, true), ipv6(0, 78, 3, false), ipv6(1, 77, 0, true), ipv6(2, 78, 0, true)],
    ] {
        assert_eq!(streams_of(&frames), [0, 1, 0, 1]);
    }
}

#[test]
fn whole_and_fragmented_packets_share_a_stream() {
    assert_eq!(streams_of(&[ipv4(1, 0, 0, false), ipv4(1, 9, 0, true), ipv4(0, 9, 3, false)]), [0, 0, 0]);
}

#[test]
fn fragments_without_a_first_one_are_a_stream_without_ports() {
    assert_eq!(streams_of(&[ipv4(0, 9, 3, false), ipv4(1, 8, 0, true), ipv4(0, 10, 6, false)]), [0, 1, 0]);
}

/// A reused 16-bit identification: each later fragment joins the datagram nearest in time, but none more
/// than half a minute away.
#[test]
fn a_reused_identification_is_another_datagram() {
    let at = |seconds, frame| (seconds, 0, frame);
    let packets = [
        at(0, ipv4(1, 9, 0, true)),
        at(1, ipv4(0, 9, 3, false)),
        at(20, ipv4(2, 9, 0, true)),
        at(21, ipv4(0, 9, 3, false)),
        at(52, ipv4(0, 9, 3, false)),
    ];
    let trace = Trace::parse(&pcap(NANOS, Order::Little, 101, &packets)).unwrap();
    assert_eq!(streams(&trace), [0, 0, 1, 1, 2]);
}
