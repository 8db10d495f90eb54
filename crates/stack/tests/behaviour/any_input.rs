//! For any bytes: no panic, no reference left, no segment lost, and all forms agree.
//!
//! [`Forms::receive`] asserts these after every frame.

use crate::forms::{Forms, configs, flows};
use proptest::prelude::*;
use proptest::sample::Index;
use warmcore_stack::wire::checksum::Sum;
use warmcore_stack::wire::vlan::{MAX_TAGS, Tags};
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_stack::{Config, DropReason, Flow};

/// One change to a frame.
#[derive(Clone, Debug)]
enum Edit {
    Set(Index, u8),
    /// Sets a byte in the headers, where it matters most.
    SetHeader(Index, u8),
    Truncate(Index),
    Extend(Vec<u8>),
    /// Inserts a VLAN tag before all others of an Ethernet frame.
    Tag([u8; 2], u16),
    /// Corrects the IP header checksum, so that the change gets past the IP layer.
    RepairIpChecksum,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::SetHeader(at, byte)),
        1 => any::<Index>().prop_map(Edit::Truncate),
        1 => prop::collection::vec(any::<u8>(), 0..64).prop_map(Edit::Extend),
        2 => (prop::sample::select(vec![[0x81, 0], [0x88, 0xa8]]), any::<u16>())
            .prop_map(|(kind, information)| Edit::Tag(kind, information)),
        3 => Just(Edit::RepairIpChecksum),
    ]
}

fn apply(edit: Edit, link: LinkKind, frame: &mut Vec<u8>) {
    match edit {
        Edit::Set(at, byte) if !frame.is_empty() => *at.get_mut(frame) = byte,
        Edit::SetHeader(at, byte) if !frame.is_empty() => {
            let headers = frame.len().min(link.header() + 28);
            *at.get_mut(&mut frame[..headers]) = byte;
        }
        Edit::Tag([a, b], information) if frame.len() >= 12 => {
            let [c, d] = information.to_be_bytes();
            frame.splice(12..12, [a, b, c, d]);
        }
        Edit::Set(..) | Edit::SetHeader(..) | Edit::Tag(..) => {}
        Edit::Truncate(at) => frame.truncate(at.index(frame.len() + 1)),
        Edit::Extend(bytes) => frame.extend(bytes),
        Edit::RepairIpChecksum => repair_ip_checksum(&mut frame[..], link),
    }
}

fn repair_ip_checksum(frame: &mut [u8], link: LinkKind) {
    let link_header = link.header() + link.tags(frame).length();
    let Some(datagram) = frame.get_mut(link_header..) else { return };
    let length = datagram.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    let Some(header) = datagram.get_mut(..length).filter(|header| header.len() >= 20) else { return };
    header[10..12].fill(0);
    let checksum = Sum::ZERO.with(header).checksum();
    header[10..12].copy_from_slice(&checksum);
}

fn config() -> impl Strategy<Value = Config> {
    prop::sample::select(configs().collect::<Vec<_>>())
}

fn flow() -> impl Strategy<Value = Flow> {
    let mut known_and_unknown = flows();
    known_and_unknown.push(Flow::synthetic(99));
    prop::sample::select(known_and_unknown)
}

fn built(link: LinkKind, flow: Flow, payload: &[u8]) -> Vec<u8> {
    let builder = FrameBuilder::new(link, flow);
    let mut frame = vec![0; builder.frame_length(payload.len())];
    builder.write(payload, &mut frame).expect("the payload fits the link");
    frame
}

proptest! {
    #[test]
    fn random_bytes(config in config(), frame in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = Forms::new(config, &flows()).receive(&frame);
    }

    #[test]
    fn sequences_of_edited_frames(
        config in config(),
        frames in prop::collection::vec(
            (flow(), prop::collection::vec(any::<u8>(), 0..300), prop::collection::vec(edit(), 0..4)),
            1..12,
        ),
    ) {
        let forms = Forms::new(config, &flows());
        let sent = frames.len() as u64;
        for (flow, payload, edits) in frames {
            let mut frame = built(config.link, flow, &payload);
            edits.into_iter().for_each(|edit| apply(edit, config.link, &mut frame));
            let _ = forms.receive(&frame);
        }
        prop_assert_eq!(forms.counters().received(), sent);
    }

    #[test]
    fn valid_frames_reach_their_stream_whole(
        config in config(),
        packets in prop::collection::vec((0..4_usize, prop::collection::vec(any::<u8>(), 0..1500)), 1..12),
    ) {
        let flows = flows();
        let mut forms = Forms::new(config, &[]);
        let streams: Vec<_> = flows.iter().map(|flow| forms.open(flow)).collect();
        for (which, payload) in &packets {
            let frame = built(config.link, flows[*which], payload);
            prop_assert_eq!(forms.receive(&frame), Ok((streams[*which], payload.clone())));
        }
        for (which, stream) in streams.iter().enumerate() {
            let sent = packets.iter().filter(|(to, _)| *to == which).count() as u64;
            prop_assert_eq!(forms.delivered(*stream), Some(sent));
        }
    }

    #[test]
    fn one_flipped_bit_is_never_delivered_as_something_else(
        link in prop::sample::select(vec![LinkKind::Fddi, LinkKind::Ethernet]),
        payload in prop::collection::vec(any::<u8>(), 18..300),
        bit: Index,
    ) {
        let flows = flows();
        let forms = Forms::new(Config { link, verify_udp_checksum: true }, &flows);
        let mut frame = built(link, flows[0], &payload);
        let intact = forms.receive(&frame);
        let bit = bit.index(frame.len() * 8);
        frame[bit / 8] ^= 1 << (bit % 8);
        let outcome = forms.receive(&frame);
        prop_assert!(outcome.is_err() || outcome == intact, "{outcome:?}");
    }
}

const BOTH_TAGS: Tags = Tags { service: Some(7), customer: Some(0xffff) };

#[test]
fn a_frame_cut_short_anywhere_is_dropped() {
    for config in configs() {
        let forms = Forms::new(config, &flows());
        let builder = FrameBuilder { tags: BOTH_TAGS, ..FrameBuilder::new(config.link, flows()[0]) };
        let mut frame = vec![0; builder.frame_length(40)];
        builder.write(&[7; 40], &mut frame).expect("the buffer has the frame's length");
        for length in 0..frame.len() {
            assert!(forms.receive(&frame[..length]).is_err(), "{config:?}, {length} bytes");
        }
        assert!(forms.receive(&frame).is_ok());
    }
}

#[test]
fn the_longest_frame_is_received_and_a_longer_one_is_not() {
    for config in configs() {
        let forms = Forms::new(config, &flows());
        let payload = vec![3; config.link.max_payload()];
        let mut frame = built(config.link, flows()[0], &payload);
        assert_eq!(frame.len(), config.link.max_frame());
        assert_eq!(forms.receive(&frame).map(|(_, payload)| payload.len()), Ok(payload.len()));
        frame.push(0);
        assert_eq!(forms.receive(&frame), Err(DropReason::LinkOversized));
    }
}

#[test]
fn tags_do_not_count_towards_the_longest_frame() {
    let link = LinkKind::Ethernet;
    let forms = Forms::new(Config { link, verify_udp_checksum: true }, &flows());
    let builder = FrameBuilder { tags: BOTH_TAGS, ..FrameBuilder::new(link, flows()[0]) };
    let payload = vec![3; link.max_payload()];
    let longest = link.max_frame() + MAX_TAGS;
    let mut frame = vec![0; longest];
    assert_eq!(builder.write(&payload, &mut frame).map(|frame| frame.len()), Ok(longest));
    assert_eq!(forms.receive(&frame).map(|(_, payload)| payload.len()), Ok(payload.len()));
    frame.push(0);
    assert_eq!(forms.receive(&frame), Err(DropReason::LinkOversized));
}
