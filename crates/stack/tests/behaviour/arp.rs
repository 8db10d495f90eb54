//! Compares ARP requests and replies with those of another implementation, `etherparse`.

use crate::independent_encoder::{decoded_tags, encoded_ethernet, flow, tags};
use etherparse::{ArpEthIpv4Packet, ArpOperation, EtherType, LinkSlice, NetSlice, SlicedPacket};
use proptest::prelude::*;
use warmcore_stack::wire::vlan::Tags;
use warmcore_stack::wire::{BuildError, arp};
use warmcore_stack::{Flow, LinkAddress};

/// A request by the flow's source for the MAC address of its destination.
fn asked(flow: &Flow) -> ArpEthIpv4Packet {
    ArpEthIpv4Packet {
        operation: ArpOperation::REQUEST,
        sender_mac: flow.source_link.0,
        sender_ipv4: flow.source.octets(),
        target_mac: [0; 6],
        target_ipv4: flow.destination.octets(),
    }
}

/// The packet as a broadcast frame.
fn broadcast(flow: &Flow, tags: Tags, packet: &[u8]) -> Vec<u8> {
    let to_all = Flow { destination_link: LinkAddress([0xff; 6]), ..*flow };
    encoded_ethernet(&to_all, tags, EtherType::ARP, packet)
}

proptest! {
    #[test]
    fn a_request_of_the_other_encoder_is_answered_to_the_other_decoder(
        flow in flow(),
        tags in tags(),
        padding in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut frame = broadcast(&flow, tags, &asked(&flow).to_bytes());
        frame.extend(padding);
        let request = arp::request(&frame).expect("a valid request");
        let Flow { source_link: sender_link, source: sender, destination: target, .. } = flow;
        prop_assert_eq!(request, arp::Request { sender_link, sender, target, tags });

        let mut buffer = [0xee; arp::MAX_REPLY];
        let reply = request.reply(flow.destination_link, &mut buffer).expect("the buffer is long enough");
        prop_assert_eq!(reply.len(), 60 + tags.length());
        let packet = SlicedPacket::from_ethernet(reply).expect("the frame is valid");
        let Some(LinkSlice::Ethernet2(ethernet)) = &packet.link else { panic!("no Ethernet header") };
        prop_assert_eq!(LinkAddress(ethernet.source()), flow.destination_link);
        prop_assert_eq!(LinkAddress(ethernet.destination()), flow.source_link);
        let expected: Vec<u16> = [tags.service, tags.customer].into_iter().flatten().collect();
        prop_assert_eq!(decoded_tags(&packet), expected);
        let Some(NetSlice::Arp(reply)) = packet.net else { panic!("no ARP packet") };
        let answered = ArpEthIpv4Packet {
            operation: ArpOperation::REPLY,
            sender_mac: flow.destination_link.0,
            sender_ipv4: flow.destination.octets(),
            target_mac: flow.source_link.0,
            target_ipv4: flow.source.octets(),
        };
        prop_assert_eq!(reply.to_packet().try_eth_ipv4().ok(), Some(answered));
    }

    #[test]
    fn random_bytes_are_not_a_request(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert_eq!(arp::request(&bytes), None);
    }

    #[test]
    fn a_request_with_one_byte_changed_still_parses_only_if_an_address_changed(
        flow in flow(),
        at in 12..42_usize,
        byte: u8,
    ) {
        let mut frame = broadcast(&flow, Tags::NONE, &asked(&flow).to_bytes());
        prop_assume!(frame[at] != byte);
        frame[at] = byte;
        let changes_an_address = at >= 22;
        let from_one_station = LinkAddress([frame[22], frame[23], frame[24], frame[25], frame[26], frame[27]]);
        let expected = changes_an_address && from_one_station.is_unicast();
        prop_assert_eq!(arp::request(&frame).is_some(), expected);
    }
}

#[test]
fn a_truncated_request_is_not_a_request() {
    let flow = Flow::synthetic(1);
    let tags = Tags { service: Some(1), customer: Some(2) };
    let frame = broadcast(&flow, tags, &asked(&flow).to_bytes());
    for length in 0..frame.len() {
        assert_eq!(arp::request(&frame[..length]), None, "{length} bytes");
    }
    assert!(arp::request(&frame).is_some());
}

#[test]
fn replies_are_not_answered() {
    let flow = Flow::synthetic(1);
    let reply = ArpEthIpv4Packet { operation: ArpOperation::REPLY, ..asked(&flow) };
    assert_eq!(arp::request(&broadcast(&flow, Tags::NONE, &reply.to_bytes())), None);
}

#[test]
fn a_short_buffer_is_refused() {
    let flow = Flow::synthetic(1);
    let tags = Tags { service: None, customer: Some(2) };
    let request = arp::request(&broadcast(&flow, tags, &asked(&flow).to_bytes())).expect("a valid request");
    let too_short = BuildError::BufferTooShort { length: 63, needed: 64 };
    assert_eq!(request.reply(flow.destination_link, &mut [0; 63]), Err(too_short));
}
