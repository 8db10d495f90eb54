use super::*;
use crate::wire::{FrameBuilder, LinkKind};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;
use proptest::sample::Index;

fn any_segment(payload: &[u8]) -> impl Strategy<Value = Segment<'_>> {
    let options = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), any::<Option<(u32, u32)>>());
    let options = options.prop_map(|(max_segment_size, window_scale, sack_permitted, times)| Options {
        max_segment_size,
        window_scale,
        sack_permitted,
        timestamps: times.map(|(value, echo)| Timestamps { value, echo }),
    });
    let head = (any::<u32>(), any::<Option<u32>>(), any::<u16>(), any::<bool>(), 0..4_u8);
    (head, options).prop_map(move |((sequence, acknowledgement, window, push, kind), options)| Segment {
        sequence: SequenceNumber(sequence),
        acknowledgement: acknowledgement.map(SequenceNumber),
        syn: kind == 1,
        fin: kind == 2,
        reset: kind == 3,
        push,
        window,
        options,
        payload: Payload::from(payload),
    })
}

const DATA: &[u8] = b"seventeen bytes..";

fn written(segment: &Segment<'_>) -> Vec<u8> {
    let mut buffer = [0xaa; 128];
    segment.write(&Flow::synthetic(1), &mut buffer).expect("the buffer is longer").to_vec()
}

proptest! {
    #[test]
    fn a_segment_is_parsed_as_it_was_written(segment in any_segment(DATA)) {
        let bytes = written(&segment);
        let parsed = parse(&bytes).expect("we wrote it");
        prop_assert_eq!(parsed.segment, segment);
        prop_assert_eq!(parsed.verify_flow(&Flow::synthetic(1)), Ok(()));
        prop_assert_eq!(parsed.header.source_port.get(), Flow::synthetic(1).source_port);
        prop_assert_eq!(parsed.verify_flow(&Flow::synthetic(2)), Err(DropReason::TcpChecksum));
    }

    #[test]
    fn one_flipped_bit_is_refused(segment in any_segment(DATA), bit: Index) {
        let mut bytes = written(&segment);
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let verified = parse(&bytes).and_then(|parsed| parsed.verify_flow(&Flow::synthetic(1)));
        prop_assert!(verified.is_err());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(parsed) = parse(&bytes) {
            let _ = parsed.verify_flow(&Flow::synthetic(1));
        }
    }

    #[test]
    fn no_mutated_segment_panics_or_reads_beyond_its_bytes(
        segment in any_segment(DATA),
        edits in prop::collection::vec((any::<Index>(), any::<u8>()), 0..8),
        cut: Index,
    ) {
        let mut bytes = written(&segment);
        for (at, byte) in edits {
            // Half of the edits are in the data offset, the flags and the options.
            let range = if byte & 1 == 0 { 0..bytes.len() } else { 12..bytes.len().min(60) };
            *at.get_mut(&mut bytes[range]) = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(parsed) = parse(&bytes) {
            let header = usize::from(parsed.header.data_offset >> 4) * 4;
            prop_assert_eq!(parsed.segment.payload, Payload::from(&bytes[header..]));
        }
    }
}

/// A segment without data, with `edit` made to its bytes.
fn edited(options: Options, edit: impl FnOnce(&mut Vec<u8>)) -> Result<Options, DropReason> {
    let mut bytes = written(&Segment { options, ..Segment::default() });
    edit(&mut bytes);
    parse(&bytes).map(|parsed| parsed.segment.options)
}

#[test]
fn each_malformed_header_is_refused_for_its_own_reason() {
    let plain = Options::default();
    let sized = Options { max_segment_size: Some(1460), ..plain };
    let scaled = Options { window_scale: Some(7), ..plain };
    assert_eq!(edited(plain, |bytes| bytes.truncate(19)), Err(DropReason::TcpTruncated));
    assert_eq!(edited(plain, |bytes| bytes[12] = 0x40), Err(DropReason::TcpDataOffset));
    assert_eq!(edited(plain, |bytes| bytes[12] = 0x60), Err(DropReason::TcpDataOffset));
    assert_eq!(edited(plain, |bytes| bytes[13] = SYN | FIN), Err(DropReason::TcpFlags));
    assert_eq!(edited(plain, |bytes| bytes[13] = SYN | RST | ACK), Err(DropReason::TcpFlags));
    for length in [0, 1, 3, 5, 255] {
        assert_eq!(edited(sized, |bytes| bytes[21] = length), Err(DropReason::TcpOption), "{length}");
    }
    assert_eq!(
        edited(scaled, |bytes| bytes[20..].copy_from_slice(&[1, 1, 1, 2])),
        Err(DropReason::TcpOption)
    );
    assert_eq!(edited(scaled, |bytes| bytes[22] = 2), Err(DropReason::TcpOption));
}

#[test]
fn unknown_options_are_skipped_and_nothing_is_read_after_the_end() {
    let sized = Options { max_segment_size: Some(1460), ..Options::default() };
    assert_eq!(edited(sized, |bytes| bytes[20] = 253), Ok(Options::default()));
    assert_eq!(edited(sized, |bytes| bytes[20] = 0), Ok(Options::default()));
    assert_eq!(
        edited(sized, |bytes| bytes[20..].copy_from_slice(&[1, 4, 2, 0])).map(|o| o.sack_permitted),
        Ok(true)
    );
}

#[test]
fn a_frame_carries_the_segment_behind_valid_headers() {
    let flow = Flow::synthetic(1);
    let segment = Segment { syn: true, payload: Payload::new(&DATA[..5], &DATA[5..]), ..Segment::default() };
    for link in [LinkKind::Fddi, LinkKind::Ethernet] {
        let mut buffer = [0xaa; 128];
        let frame = FrameBuilder::new(link, flow).write_segment(&segment, &mut buffer).expect("it fits");
        let (ip, data) = Ipv4Header::ref_from_prefix(&frame[link.header()..]).expect("there is a header");
        assert_eq!(ip.protocol, PROTOCOL_TCP);
        assert!(crate::wire::checksum::Sum::ZERO.with(ip.as_bytes()).is_valid());
        let length = usize::from(ip.total_length.get()) - crate::wire::ipv4::HEADER;
        let parsed = parse(&data[..length]).expect("we wrote it");
        assert_eq!((parsed.segment, parsed.verify(ip)), (segment, Ok(())));
    }
}

#[test]
fn a_segment_that_does_not_fit_is_refused() {
    let data = vec![0; 65_516];
    let segment = |length| Segment { payload: Payload::from(&data[..length]), ..Segment::default() };
    let (flow, mut buffer) = (Flow::synthetic(1), vec![0; 70_000]);
    let max = 65_495;
    assert_eq!(segment(max).write(&flow, &mut buffer).map(|bytes| bytes.len()), Ok(65_515));
    let too_long = BuildError::PayloadTooLong { length: max + 1, max };
    assert_eq!(segment(max + 1).write(&flow, &mut buffer).map(|bytes| bytes.len()), Err(too_long));
    let too_short = BuildError::BufferTooShort { length: 119, needed: 120 };
    assert_eq!(segment(100).write(&flow, &mut buffer[..119]).map(|bytes| bytes.len()), Err(too_short));
    let link = LinkKind::Ethernet;
    let builder = FrameBuilder::new(link, flow);
    let max = link.max_frame() - link.header() - 20 - HEADER;
    let mut length = |payload| builder.write_segment(&segment(payload), &mut buffer).map(|frame| frame.len());
    assert_eq!(length(max), Ok(link.max_frame()));
    assert_eq!(length(max + 1), Err(BuildError::PayloadTooLong { length: max + 1, max }));
}
