//! Unusable and malicious files.

use crate::packets;
use crate::writer::{MICROS, Order, Pcapng, arp, ethernet, pcap, udp};
use proptest::prelude::*;
use warmcore_workload::{Trace, TraceError, Truncation};

fn refusal(file: &[u8]) -> String {
    Trace::parse(file).expect_err("refused").to_string()
}

#[test]
fn files_that_are_no_captures_are_refused() {
    assert_eq!(Trace::parse(&[]).unwrap_err(), TraceError::Empty);
    assert!(refusal(b"PK\x03\x04").contains("begins with the bytes 50 4b 03 04"));
    assert!(refusal(b"\x1f\x8b\x08\x00").contains("decompress it first"));
    assert!(refusal(b"ab").contains("begins with the bytes 61 62"));
    assert_eq!(Trace::parse(&ethernet(&[])).unwrap_err(), TraceError::NoUsablePackets { packets: 0 });
    assert_eq!(
        Trace::parse(&ethernet(&[arp(), arp()])).unwrap_err(),
        TraceError::NoUsablePackets { packets: 2 }
    );
}

#[test]
fn a_truncated_pcap_file_is_read_up_to_the_last_complete_packet() {
    let whole = ethernet(&[udp(1), udp(2)]);
    let (header, record) = (24, 16 + udp(1).len());
    for length in 1..whole.len() {
        let result = Trace::parse(&whole[..length]);
        match length {
            _ if length < 4 => assert!(matches!(result, Err(TraceError::Unrecognised(_))), "{length}"),
            _ if length < header => {
                assert!(matches!(result, Err(TraceError::Truncated(Truncation { byte: 0, .. }))), "{length}");
            }
            _ => {
                let before = (length - header) / record;
                let byte = header + before * record;
                let cut = (length != byte).then_some((before + 1, byte));
                let place = |cut: Truncation| (cut.packet, cut.byte);
                let found = match result {
                    Ok(trace) => (trace.packets(), trace.capture().cut.map(place)),
                    Err(TraceError::Truncated(found)) => (0, Some(place(found))),
                    Err(TraceError::NoUsablePackets { packets }) => (packets, None),
                    Err(error) => panic!("{length} bytes: {error}"),
                };
                assert_eq!(found, (before, cut), "{length}");
            }
        }
    }
}

#[test]
fn a_truncated_pcapng_file_is_read_up_to_the_last_complete_block() {
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        file.interface(1, &[]);
        let first = file.bytes.len();
        file.packet(0, 1, &udp(1), None);
        let second = file.bytes.len();
        file.packet(0, 2, &udp(2), None);
        for length in first + 1..second {
            let error = Trace::parse(&file.bytes[..length]).unwrap_err();
            let TraceError::Truncated(cut) = error else { panic!("{error}") };
            assert_eq!((cut.packet, cut.byte), (1, first));
        }
        for length in second + 1..file.bytes.len() {
            let trace = Trace::parse(&file.bytes[..length]).unwrap();
            let cut = trace.capture().cut.unwrap();
            assert_eq!((trace.packets(), cut.packet, cut.byte), (1, 2, second));
        }
        assert_eq!(Trace::parse(&file.bytes).unwrap().capture().cut, None);
    }
}

/// An impossible length is reported as corruption, not as truncation.
#[test]
fn a_corrupt_length_is_not_a_truncation() {
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, &[]).packet(0, 1, &udp(1), None);
    let second = file.bytes.len();
    file.packet(0, 2, &udp(2), None);
    for length in [0x7fff_fff0_u32, 101] {
        file.bytes[second + 4..second + 8].copy_from_slice(&length.to_le_bytes());
        assert!(refusal(&file.bytes).contains("packet 2 or what precedes it"), "{length}");
        assert!(refusal(&file.bytes).contains("contradicts its own lengths"), "{length}");
    }
}

#[test]
fn contradictions_are_refused_with_their_position() {
    let record = |at: usize, value: u32| {
        let mut file = ethernet(&[udp(1), udp(2)]);
        let second = 24 + 16 + udp(1).len();
        file[second + at..second + at + 4].copy_from_slice(&value.to_le_bytes());
        refusal(&file)
    };
    assert!(
        record(4, 1_000_000)
            .contains("packet 2 or what precedes it, at byte 100, has a time with 1000000 parts")
    );
    assert!(record(12, 3).contains("at byte 100, claims 60 bytes captured of 3"));
    assert!(record(8, 0xffff_ffff).contains("at byte 100, claims 4294967295 bytes captured of 60"));

    let link = refusal(&pcap(MICROS, Order::Little, 147, &[(0, 0, udp(1))]));
    assert!(link.contains("packet 1, at byte 24, was captured on a link of type 147"), "{link}");
}

#[test]
fn invalid_pcapng_blocks_are_refused() {
    let refused = |spoil: fn(&mut Pcapng)| {
        let mut file = Pcapng::new(Order::Big);
        file.interface(1, &[]);
        spoil(&mut file);
        refusal(&file.bytes)
    };
    for (error, expected) in [
        (refused(|file| _ = file.packet(1, 0, &udp(1), None)), "names interface 1, which is not described"),
        (refused(|file| _ = file.block(3, &[0; 8])), "is a simple packet block, which has no time"),
        (refused(|file| _ = file.block(2, &[0; 20])), "is an obsolete packet block"),
        (refused(|file| _ = file.interface(1, &[(9, &[99])])), "has a time resolution of 99"),
        (refused(|file| _ = file.packet(0, u64::MAX, &udp(1), None)), "has a time outside"),
        (refused(|file| _ = file.block(6, &[0xff; 20])), "contradicts its own lengths"),
        (refused(|file| _ = file.block(0x0a0d_0d0a, &[0; 16])), "does not state its byte order"),
    ] {
        assert!(error.contains(expected), "{error}");
    }
}

/// A valid file of each format.
fn valid_files() -> Vec<Vec<u8>> {
    let frames = [udp(1), arp(), udp(2), udp(1)];
    let mut files = vec![ethernet(&frames)];
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        file.interface(1, &[(9, &[9]), (14, &[0; 8])]);
        for (frame, at) in frames.iter().zip(0..) {
            file.packet(0, at, frame, Some(1));
        }
        files.push(file.bytes);
    }
    files
}

/// If the file can be read, its packets are in order and their streams were counted.
fn check(file: &[u8]) {
    let Ok(trace) = Trace::parse(file) else { return };
    let packets = packets(&trace);
    assert!(packets.is_sorted_by(|one, next| one.at <= next.at));
    assert!(packets.iter().all(|packet| packet.stream.0 < trace.streams()));
    assert!(trace.streams() as usize <= trace.packets());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_mutation_of_a_file_does_harm(
        which in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        length in any::<prop::sample::Index>(),
        cut: bool,
    ) {
        let mut file = valid_files().swap_remove(which);
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if cut {
            file.truncate(length.index(file.len()));
        }
        check(&file);
    }

    #[test]
    fn no_bytes_after_a_valid_start_do_harm(
        which in 0..3_usize,
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let start: Vec<u8> = valid_files().swap_remove(which).into_iter().take(24).collect();
        check(&[start, bytes].concat());
    }

    #[test]
    fn no_frame_does_harm(
        link in prop::sample::select(vec![0_u32, 1, 101, 113, 276]),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..4),
        version in prop::sample::select(vec![0x45_u8, 0x60]),
    ) {
        // With a valid IP version at the start, more packets get past the first checks.
        let packets: Vec<_> = frames.into_iter().map(|mut frame| {
            frame.iter_mut().take(1).for_each(|byte| *byte = version);
            (0, 0, frame)
        }).collect();
        check(&pcap(MICROS, Order::Little, link, &packets));
    }
}
