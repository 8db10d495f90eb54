//! Compares our reading and writing of frames with another implementation, `etherparse`.

use crate::forms::Forms;
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, Ipv4Options, SlicedPacket, UdpHeader};
use etherparse::{LinkExtSlice, LinkSlice, NetSlice, SingleVlanHeader, TransportSlice, VlanId, VlanPcp};
use proptest::prelude::*;
use warmcore_stack::wire::fddi::{FRAME_CONTROL_LLC, LLC_SNAP};
use warmcore_stack::wire::vlan::Tags;
use warmcore_stack::wire::{FrameBuilder, LinkKind, classify};
use warmcore_stack::{Config, Flow, LinkAddress};

prop_compose! {
    /// Any flow that can be opened.
    pub(crate) fn flow()(
        source_link: [u8; 6],
        destination_link: [u8; 6],
        source in 0x0100_0000..0xdfff_ffff_u32,
        destination: u32,
        source_port: u16,
        destination_port in 1..=u16::MAX,
    ) -> Flow {
        let mut source_link = source_link;
        source_link[0] = source_link[0] & 0xfe | 2;
        Flow {
            source_link: LinkAddress(source_link),
            destination_link: LinkAddress(destination_link),
            source: source.into(),
            destination: destination.into(),
            source_port,
            destination_port,
        }
    }
}

fn options() -> impl Strategy<Value = Vec<u8>> {
    (0..=10_usize).prop_flat_map(|words| prop::collection::vec(any::<u8>(), words * 4))
}

pub(crate) fn tags() -> impl Strategy<Value = Tags> {
    (any::<Option<u16>>(), any::<Option<u16>>()).prop_map(|(service, customer)| Tags { service, customer })
}

/// The IP datagram of `flow`, as `etherparse` encodes it.
fn encoded_datagram(flow: &Flow, options: &[u8], time_to_live: u8, payload: &[u8]) -> Vec<u8> {
    let length = 8 + payload.len();
    let (source, destination) = (flow.source.octets(), flow.destination.octets());
    let mut ip = Ipv4Header::new(0, time_to_live, IpNumber::UDP, source, destination)
        .expect("an empty datagram is not too long");
    ip.options = Ipv4Options::try_from(options).expect("the options are whole words");
    ip.set_payload_len(length).expect("the payload fits a datagram");
    ip.header_checksum = ip.calc_header_checksum();
    let udp = UdpHeader::with_ipv4_checksum(flow.source_port, flow.destination_port, &ip, payload)
        .expect("the payload fits a datagram");
    let mut bytes = Vec::new();
    ip.write(&mut bytes).expect("a vector takes all bytes");
    udp.write(&mut bytes).expect("a vector takes all bytes");
    bytes.extend(payload);
    bytes
}

fn encoded_frame(link: LinkKind, flow: &Flow, tags: Tags, datagram: &[u8]) -> Vec<u8> {
    match link {
        LinkKind::Ethernet => encoded_ethernet(flow, tags, EtherType::IPV4, datagram),
        // etherparse does not support FDDI, so the header is written out here.
        LinkKind::Fddi => {
            let (source, destination) = (flow.source_link.0, flow.destination_link.0);
            let mut bytes = vec![FRAME_CONTROL_LLC];
            bytes.extend([destination, source, LLC_SNAP].concat());
            bytes.extend([0x08, 0x00]);
            bytes.extend(datagram);
            bytes
        }
    }
}

/// The Ethernet frame between the flow's stations, as `etherparse` encodes it.
pub(crate) fn encoded_ethernet(flow: &Flow, tags: Tags, data_type: EtherType, data: &[u8]) -> Vec<u8> {
    let (source, destination) = (flow.source_link.0, flow.destination_link.0);
    let kinds = [(EtherType::PROVIDER_BRIDGING, tags.service), (EtherType::VLAN_TAGGED_FRAME, tags.customer)];
    let present: Vec<_> = kinds.into_iter().filter_map(|(kind, tag)| Some((kind, tag?))).collect();
    let type_at = |depth: usize| present.get(depth).map_or(data_type, |(kind, _)| *kind);
    let mut bytes = Vec::new();
    let header = Ethernet2Header { source, destination, ether_type: type_at(0) };
    header.write(&mut bytes).expect("a vector takes all bytes");
    for (depth, (_, information)) in present.iter().enumerate() {
        let header = SingleVlanHeader {
            pcp: VlanPcp::try_new((information >> 13) as u8).expect("three bits"),
            drop_eligible_indicator: information & 0x1000 != 0,
            vlan_id: VlanId::try_new(information & 0x0fff).expect("twelve bits"),
            ether_type: type_at(depth + 1),
        };
        header.write(&mut bytes).expect("a vector takes all bytes");
    }
    bytes.extend(data);
    bytes
}

/// The tags that `etherparse` finds in a frame, outermost first.
pub(crate) fn decoded_tags(packet: &SlicedPacket<'_>) -> Vec<u16> {
    let information = |extension: &LinkExtSlice<'_>| match extension {
        LinkExtSlice::Vlan(tag) => {
            let [priority, eligible] =
                [u16::from(tag.priority_code_point().value()), u16::from(tag.drop_eligible_indicator())];
            priority << 13 | eligible << 12 | tag.vlan_identifier().value()
        }
        other => panic!("not a tag: {other:?}"),
    };
    packet.link_exts.iter().map(information).collect()
}

proptest! {
    #[test]
    fn frames_of_the_other_encoder_are_delivered_whole(
        link in prop::sample::select(vec![LinkKind::Fddi, LinkKind::Ethernet]),
        flow in flow(),
        options in options(),
        time_to_live in 1..=u8::MAX,
        tags in tags(),
        payload in prop::collection::vec(any::<u8>(), 0..1500),
        padding in prop::collection::vec(any::<u8>(), 0..50),
    ) {
        let mut forms = Forms::new(Config { link, verify_udp_checksum: true }, &[]);
        let stream = forms.open(&flow);
        let mut frame = encoded_frame(link, &flow, tags, &encoded_datagram(&flow, &options, time_to_live, &payload));
        frame.extend(padding);
        prop_assert_eq!(link.tags(&frame), if link == LinkKind::Fddi { Tags::NONE } else { tags });
        prop_assert_eq!(Flow::parse(link, &frame), Ok(flow));
        prop_assert_eq!(classify(link, &frame), Ok(flow.key()));
        prop_assert_eq!(forms.receive(&frame), Ok((stream, payload)));
    }

    #[test]
    fn our_frames_are_read_by_the_other_decoder(
        flow in flow(),
        tags in tags(),
        identification: u16,
        payload in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let builder = FrameBuilder { identification, tags, ..FrameBuilder::new(LinkKind::Ethernet, flow) };
        let mut buffer = [0xee; 2048];
        let frame = builder.write(&payload, &mut buffer).expect("the frame fits");
        let packet = SlicedPacket::from_ethernet(frame).expect("the frame is valid");

        let Some(LinkSlice::Ethernet2(ethernet)) = &packet.link else { panic!("no Ethernet header") };
        prop_assert_eq!(LinkAddress(ethernet.source()), flow.source_link);
        prop_assert_eq!(LinkAddress(ethernet.destination()), flow.destination_link);
        let expected: Vec<u16> = [tags.service, tags.customer].into_iter().flatten().collect();
        prop_assert_eq!(decoded_tags(&packet), expected);

        let Some(NetSlice::Ipv4(ip)) = packet.net else { panic!("no IP header") };
        let ip = ip.header().to_header();
        prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
        prop_assert_eq!(ip.identification, identification);
        prop_assert_eq!((ip.source, ip.destination), (flow.source.octets(), flow.destination.octets()));

        let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no UDP header") };
        let checksum = udp.to_header().calc_checksum_ipv4(&ip, &payload);
        prop_assert_eq!(Ok(udp.checksum()), checksum.map_err(|error| error.to_string()));
        prop_assert_eq!((udp.source_port(), udp.destination_port()), (flow.source_port, flow.destination_port));
        prop_assert_eq!(udp.payload(), payload);
    }

    #[test]
    fn both_encoders_write_the_same_fddi_frame(
        flow in flow(),
        payload in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let builder = FrameBuilder::new(LinkKind::Fddi, flow);
        let mut buffer = [0xee; 2048];
        let ours = builder.write(&payload, &mut buffer).expect("the frame fits");
        let theirs = encoded_frame(LinkKind::Fddi, &flow, Tags::NONE, &encoded_datagram(&flow, &[], 64, &payload));
        // etherparse sets "don't fragment" by default, which changes its header checksum.
        let mut comparable = theirs.clone();
        let ip = LinkKind::Fddi.header();
        comparable[ip + 6..ip + 8].copy_from_slice(&ours[ip + 6..ip + 8]);
        comparable[ip + 10..ip + 12].copy_from_slice(&ours[ip + 10..ip + 12]);
        prop_assert_eq!(&ours[..], &comparable[..]);
    }
}
