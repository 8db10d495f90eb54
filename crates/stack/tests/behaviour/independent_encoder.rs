//! Our reading and writing of frames against those of another implementation, `etherparse`.

use crate::forms::Forms;
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, Ipv4Options, SlicedPacket, UdpHeader};
use etherparse::{LinkSlice, NetSlice, TransportSlice};
use proptest::prelude::*;
use warmcore_stack::wire::fddi::{FRAME_CONTROL_LLC, LLC_SNAP};
use warmcore_stack::wire::{FrameBuilder, LinkKind, classify};
use warmcore_stack::{Config, Flow, LinkAddress};

prop_compose! {
    /// Any flow that can be opened.
    fn flow()(
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

fn encoded_frame(link: LinkKind, flow: &Flow, datagram: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (source, destination) = (flow.source_link.0, flow.destination_link.0);
    match link {
        LinkKind::Ethernet => {
            let header = Ethernet2Header { source, destination, ether_type: EtherType::IPV4 };
            header.write(&mut bytes).expect("a vector takes all bytes");
        }
        // etherparse knows no FDDI; the header is spelt out here instead.
        LinkKind::Fddi => {
            bytes.push(FRAME_CONTROL_LLC);
            bytes.extend([destination, source, LLC_SNAP].concat());
            bytes.extend([0x08, 0x00]);
        }
    }
    bytes.extend(datagram);
    bytes
}

proptest! {
    #[test]
    fn frames_of_the_other_encoder_are_delivered_whole(
        link in prop::sample::select(vec![LinkKind::Fddi, LinkKind::Ethernet]),
        flow in flow(),
        options in options(),
        time_to_live in 1..=u8::MAX,
        payload in prop::collection::vec(any::<u8>(), 0..1500),
        padding in prop::collection::vec(any::<u8>(), 0..50),
    ) {
        let mut forms = Forms::new(Config { link, verify_udp_checksum: true }, &[]);
        let stream = forms.open(&flow);
        let mut frame = encoded_frame(link, &flow, &encoded_datagram(&flow, &options, time_to_live, &payload));
        frame.extend(padding);
        prop_assert_eq!(classify(link, &frame), Ok(flow.key()));
        prop_assert_eq!(forms.receive(&frame), Ok((stream, payload)));
    }

    #[test]
    fn our_frames_are_read_by_the_other_decoder(
        flow in flow(),
        identification: u16,
        payload in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let builder = FrameBuilder { identification, ..FrameBuilder::new(LinkKind::Ethernet, flow) };
        let mut buffer = [0xee; 2048];
        let frame = builder.write(&payload, &mut buffer).expect("the frame fits");
        let packet = SlicedPacket::from_ethernet(frame).expect("the frame is valid");

        let Some(LinkSlice::Ethernet2(ethernet)) = packet.link else { panic!("no Ethernet header") };
        prop_assert_eq!(LinkAddress(ethernet.source()), flow.source_link);
        prop_assert_eq!(LinkAddress(ethernet.destination()), flow.destination_link);

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
        let theirs = encoded_frame(LinkKind::Fddi, &flow, &encoded_datagram(&flow, &[], 64, &payload));
        // etherparse sets "don't fragment" by default, which is also in its header checksum.
        let mut comparable = theirs.clone();
        let ip = LinkKind::Fddi.header();
        comparable[ip + 6..ip + 8].copy_from_slice(&ours[ip + 6..ip + 8]);
        comparable[ip + 10..ip + 12].copy_from_slice(&ours[ip + 10..ip + 12]);
        prop_assert_eq!(&ours[..], &comparable[..]);
    }
}
