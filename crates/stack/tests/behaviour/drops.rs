//! Every drop reason, each tested with a frame that has just that fault.

use crate::forms::{Forms, configs};
use std::collections::BTreeSet;
use warmcore_stack::wire::checksum::Sum;
use warmcore_stack::wire::{FrameBuilder, LinkKind, fddi};
use warmcore_stack::{Config, DropReason, Flow, IndependentStacks, Layer, LockingStack, Pool, SerialStack};
use warmcore_units::StackId;

const PAYLOAD: &[u8] = b"sixteen bytes...";

fn frame(link: LinkKind, flow: Flow) -> Vec<u8> {
    let builder = FrameBuilder::new(link, flow);
    let mut frame = vec![0; builder.frame_length(PAYLOAD.len())];
    builder.write(PAYLOAD, &mut frame).expect("the buffer has the frame's length");
    frame
}

/// Offset of the IP header.
fn ip(link: LinkKind) -> usize {
    link.header()
}

/// Offset of the UDP header.
fn udp(link: LinkKind) -> usize {
    link.header() + 20
}

/// A valid frame with `bytes` at `offset` and a corrected IP header checksum.
fn edited(link: LinkKind, offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut frame = frame(link, Flow::synthetic(1));
    frame[offset..offset + bytes.len()].copy_from_slice(bytes);
    let header = &mut frame[link.header()..][..20];
    header[10..12].fill(0);
    let checksum = Sum::ZERO.with(header).checksum();
    header[10..12].copy_from_slice(&checksum);
    frame
}

fn truncated(link: LinkKind, length: usize) -> Vec<u8> {
    let mut frame = frame(link, Flow::synthetic(1));
    frame.truncate(length);
    frame
}

/// Frames that a stack with only flow 1 open refuses, each with its reason.
fn refused(link: LinkKind) -> Vec<(DropReason, Vec<u8>)> {
    let (ip, udp) = (ip(link), udp(link));
    let flow = Flow::synthetic(1);
    let with = |offset, bytes: &[u8]| edited(link, offset, bytes);
    let mut oversized = frame(link, flow);
    oversized.resize(link.max_frame() + 1, 0);
    let mut bad_header_checksum = frame(link, flow);
    bad_header_checksum[ip + 10] ^= 1;
    let mut bad_options = with(ip, &[0x46]);
    bad_options[ip + 20] ^= 1;
    let mut cases = vec![
        (DropReason::LinkTruncated, vec![]),
        (DropReason::LinkTruncated, truncated(link, ip - 1)),
        (DropReason::LinkOversized, oversized),
        (DropReason::LinkEtherType, with(ip - 2, &[0x08, 0x06])),
        (
            DropReason::LinkNoSession,
            frame(link, Flow { source_link: Flow::synthetic(9).source_link, ..flow }),
        ),
        (DropReason::IpTruncated, truncated(link, ip)),
        (DropReason::IpTruncated, truncated(link, udp - 1)),
        (DropReason::IpVersion, with(ip, &[0x65])),
        (DropReason::IpHeaderLength, with(ip, &[0x44])),
        (DropReason::IpHeaderLength, {
            let mut frame = with(ip, &[0x4f]);
            frame.truncate(udp + 8);
            frame
        }),
        (DropReason::IpTotalLength, with(ip + 2, &[0, 19])),
        (DropReason::IpTotalLength, with(ip + 2, &[0xff, 0xff])),
        (DropReason::IpTotalLength, truncated(link, udp + 8 + PAYLOAD.len() - 1)),
        (DropReason::IpChecksum, bad_header_checksum),
        (DropReason::IpChecksum, bad_options),
        (DropReason::IpTimeToLive, with(ip + 8, &[0])),
        (DropReason::IpFragment, with(ip + 6, &[0x20, 0])),
        (DropReason::IpFragment, with(ip + 6, &[0x00, 1])),
        (DropReason::IpProtocol, with(ip + 9, &[6])),
        (DropReason::IpNoSession, frame(link, Flow { source: Flow::synthetic(9).source, ..flow })),
        (DropReason::UdpTruncated, with(ip + 2, &[0, 27])),
        (DropReason::UdpLength, with(udp + 4, &[0, 7])),
        (DropReason::UdpLength, with(udp + 4, &[0, 8 + 17])),
        (DropReason::UdpNoSession, frame(link, Flow { source_port: 4001, ..flow })),
        (DropReason::UdpNoSession, frame(link, Flow { destination_port: 5001, ..flow })),
    ];
    match link {
        LinkKind::Fddi => cases.extend([
            (DropReason::LinkNotLlc, with(0, &[0x41])),
            (DropReason::LinkNotSnap, with(13, &[0xe0])),
            (DropReason::LinkNotSnap, with(fddi::HEADER - 3, &[1])),
        ]),
        LinkKind::Ethernet => cases.extend([
            (DropReason::LinkTagTruncated, tagged(&[0x8100])[..17].to_vec()),
            (DropReason::LinkTagTruncated, tagged(&[0x88a8])[..14].to_vec()),
            (DropReason::LinkTagTruncated, tagged(&[0x88a8, 0x8100])[..21].to_vec()),
            (DropReason::LinkEtherType, tagged(&[0x8100, 0x8100])),
            (DropReason::LinkEtherType, tagged(&[0x8100, 0x88a8])),
            (DropReason::LinkEtherType, tagged(&[0x88a8, 0x88a8])),
            (DropReason::LinkEtherType, tagged(&[0x88a8, 0x8100, 0x8100])),
            (DropReason::LinkEtherType, tagged(&[0x9100])),
        ]),
    }
    cases
}

/// A valid Ethernet frame of flow 1 with VLAN tags of these types put in, outermost first.
fn tagged(kinds: &[u16]) -> Vec<u8> {
    let mut frame = frame(LinkKind::Ethernet, Flow::synthetic(1));
    for kind in kinds.iter().rev() {
        let [a, b] = kind.to_be_bytes();
        frame.splice(12..12, [a, b, 0, 5]);
    }
    frame
}

#[test]
fn a_customer_tag_a_service_tag_or_both_are_skipped() {
    let config = Config { link: LinkKind::Ethernet, verify_udp_checksum: true };
    let forms = Forms::new(config, &[Flow::synthetic(1)]);
    for kinds in [&[][..], &[0x8100], &[0x88a8], &[0x88a8, 0x8100]] {
        assert_eq!(
            forms.receive(&tagged(kinds)).map(|(_, payload)| payload),
            Ok(PAYLOAD.to_vec()),
            "{kinds:x?}"
        );
    }
}

#[test]
fn each_wrong_frame_is_dropped_and_counted_for_its_own_reason() {
    for config in configs() {
        for (reason, frame) in refused(config.link) {
            let forms = Forms::new(config, &[Flow::synthetic(1)]);
            assert_eq!(forms.receive(&frame), Err(reason), "{config:?}");
            let counters = forms.counters();
            assert_eq!(counters.dropped(reason), 1);
            assert_eq!((counters.received(), counters.delivered), (1, 0));
        }
    }
}

#[test]
fn a_wrong_udp_checksum_matters_only_when_it_is_verified() {
    for config in configs() {
        let forms = Forms::new(config, &[Flow::synthetic(1)]);
        let mut frame = frame(config.link, Flow::synthetic(1));
        frame[udp(config.link) + 8] ^= 1;
        let outcome = forms.receive(&frame).map(|_| ());
        assert_eq!(outcome, if config.verify_udp_checksum { Err(DropReason::UdpChecksum) } else { Ok(()) });
    }
}

#[test]
fn an_absent_udp_checksum_is_accepted() {
    for config in configs() {
        let forms = Forms::new(config, &[Flow::synthetic(1)]);
        let builder =
            FrameBuilder { udp_checksum: false, ..FrameBuilder::new(config.link, Flow::synthetic(1)) };
        let mut buffer = [0; 128];
        let frame = builder.write(PAYLOAD, &mut buffer).expect("the frame fits");
        assert_eq!(frame[udp(config.link) + 6..][..2], [0, 0]);
        assert_eq!(forms.receive(frame).map(|(_, payload)| payload), Ok(PAYLOAD.to_vec()));
    }
}

#[test]
fn an_empty_pool_is_counted_as_a_drop_in_every_form() {
    let config = Config::default();
    let frame = frame(config.link, Flow::synthetic(1));
    let pool = Pool::new(0);
    let (serial, locking) = (SerialStack::new(config), LockingStack::new(config));
    let independent = IndependentStacks::new(1, config);
    let exhausted = Err(DropReason::PoolExhausted);
    assert_eq!(serial.receive(&pool, &frame, |_| ()), exhausted);
    assert_eq!(locking.receive(&pool, &frame, |_| ()), exhausted);
    assert_eq!(independent.receive(StackId(0), &pool, &frame, |_| ()), exhausted);
    let counted = [Some(serial.counters()), Some(locking.counters()), independent.counters(StackId(0))];
    for counters in counted.into_iter().flatten() {
        assert_eq!(counters.dropped(DropReason::PoolExhausted), 1);
    }
}

#[test]
fn every_reason_is_tested_here() {
    let by_frame =
        [LinkKind::Fddi, LinkKind::Ethernet].into_iter().flat_map(refused).map(|(reason, _)| reason);
    let apart = [DropReason::PoolExhausted, DropReason::UdpChecksum];
    // The unit tests of TCP's format and the behaviour of conversations test these.
    let is_conversation = |reason: &DropReason| matches!(reason.layer(), Layer::Tcp | Layer::Rpc);
    let conversations = DropReason::ALL.into_iter().filter(is_conversation);
    let met: BTreeSet<_> = by_frame.chain(apart).chain(conversations).collect();
    assert_eq!(met, BTreeSet::from(DropReason::ALL));
}

#[test]
fn fddi_frames_of_any_class_and_priority_are_received() {
    let config = Config { link: LinkKind::Fddi, verify_udp_checksum: true };
    let forms = Forms::new(config, &[Flow::synthetic(1)]);
    for frame_control in [0x50, 0x57, 0xd0] {
        assert!(forms.receive(&edited(LinkKind::Fddi, 0, &[frame_control])).is_ok());
    }
}
