//! BLAST: fragments, and which of them are sent again.

use super::drivers::{bytes, millis, packet};
use std::collections::HashSet;
use std::time::Duration;
use warmcore_stack::Packet;
use warmcore_stack::rpc::{Blast, BlastConfig, BlastError, BlastReceived, BlastSent, RpcDropReason};
use warmcore_stack::wire::rpc::blast::{BlastFrame, HEADER, Nack, parse};

const LONGEST: usize = 16 * 1024;
/// 1484 bytes of a message fit a frame.
const FRAGMENTS: usize = LONGEST.div_ceil(1500 - HEADER);

fn config() -> BlastConfig {
    BlastConfig { max_message: LONGEST, kept: 2, reassemblies: 2, ..BlastConfig::default() }
}

fn pair() -> (Blast, Blast) {
    (Blast::new(config(), 100), Blast::new(config(), 900))
}

/// All frames that are due.
fn due(blast: &mut Blast, now: Duration) -> Vec<Vec<u8>> {
    let mut frame = packet(&[]);
    let mut frames = Vec::new();
    while blast.transmit(now, &mut frame) {
        frames.push(frame.payload().to_vec());
    }
    frames
}

/// The fragments of a message.
fn cut(blast: &mut Blast, message: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(blast.send(&mut packet(message)), Ok(BlastSent::Fragments));
    due(blast, Duration::ZERO)
}

fn receive(blast: &mut Blast, now: Duration, frame: &[u8]) -> (BlastReceived, Packet) {
    let mut frame = packet(frame);
    (blast.receive(now, &mut frame), frame)
}

/// Passes frames, and returns the message if that makes one whole.
fn pass(blast: &mut Blast, now: Duration, frames: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut whole = None;
    for frame in frames {
        match receive(blast, now, frame) {
            (BlastReceived::Deliver, message) => whole = Some(message.payload().to_vec()),
            (BlastReceived::Kept, _) => {}
            (other, _) => panic!("{other:?}"),
        }
    }
    whole
}

fn nack_of(frame: &[u8]) -> Nack {
    match parse(frame) {
        Ok(BlastFrame::Nack(nack)) => nack,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_that_fits_a_frame_is_one_also_if_it_is_empty() {
    let (mut sender, mut receiver) = pair();
    for length in [0, 1, 1500 - HEADER] {
        let mut message = packet(&bytes(length));
        assert_eq!(sender.send(&mut message), Ok(BlastSent::Frame));
        assert_eq!(message.len(), HEADER + length);
        message.append(&[0; 46]).expect("padding of the link");
        assert_eq!(receiver.receive(Duration::ZERO, &mut message), BlastReceived::Deliver);
        assert_eq!(message.payload(), bytes(length));
    }
    assert_eq!((sender.deadline(), receiver.deadline()), (None, None));
}

#[test]
fn fragments_in_any_order_are_a_message_again() {
    let message = bytes(LONGEST);
    for shift in 0..FRAGMENTS {
        let (mut sender, mut receiver) = pair();
        let mut frames = cut(&mut sender, &message);
        assert_eq!(frames.len(), FRAGMENTS);
        assert!(frames.iter().all(|frame| frame.len() <= 1500));
        frames.rotate_left(shift);
        frames[1..].reverse();
        assert_eq!(pass(&mut receiver, Duration::ZERO, &frames).as_ref(), Some(&message));
        assert_eq!(receiver.deadline(), None);
    }
}

#[test]
fn only_missing_fragments_are_sent_again() {
    let message = bytes(LONGEST);
    // Any two are lost, and one of them a second time.
    for (first, second) in (0..FRAGMENTS).flat_map(|first| (0..first).map(move |second| (first, second))) {
        let (mut sender, mut receiver) = pair();
        let mut frames = cut(&mut sender, &message);
        frames.remove(first);
        frames.remove(second);
        assert_eq!(pass(&mut receiver, Duration::ZERO, &frames), None);

        let at = receiver.deadline().expect("fragments are missing");
        assert_eq!(at, config().nack_after);
        receiver.time_passes(at);
        let asked = due(&mut receiver, at);
        assert_eq!(asked.len(), 1);
        assert_eq!(nack_of(&asked[0]).missing, 1 << first | 1 << second);

        assert_eq!(receive(&mut sender, at, &asked[0]).0, BlastReceived::Resend);
        let again = due(&mut sender, at);
        assert_eq!(again.len(), 2);
        assert_eq!(pass(&mut receiver, at, &again[1..]), None);

        let at = receiver.deadline().expect("a fragment is missing");
        receiver.time_passes(at);
        let asked = due(&mut receiver, at);
        assert_eq!(nack_of(&asked[0]).missing, 1 << second);
        receive(&mut sender, at, &asked[0]);
        let again = due(&mut sender, at);
        assert_eq!(again.len(), 1);
        assert_eq!(pass(&mut receiver, at, &again).as_ref(), Some(&message));
    }
}

#[test]
fn duplicates_are_dropped_before_and_after_the_message_is_whole() {
    let (mut sender, mut receiver) = pair();
    let frames = cut(&mut sender, &bytes(3000));
    let duplicate = BlastReceived::Drop(RpcDropReason::BlastDuplicate);
    for frame in &frames {
        assert_ne!(receive(&mut receiver, Duration::ZERO, frame).0, duplicate);
        assert_eq!(receive(&mut receiver, Duration::ZERO, frame).0, duplicate);
    }
    assert!(frames.iter().all(|frame| receive(&mut receiver, Duration::ZERO, frame).0 == duplicate));
}

#[test]
fn a_message_whose_sender_is_silent_is_given_up_and_not_begun_again() {
    let (mut sender, mut receiver) = pair();
    let frames = cut(&mut sender, &bytes(3000));
    pass(&mut receiver, Duration::ZERO, &frames[..1]);
    let mut waits = Vec::new();
    let mut before = Duration::ZERO;
    while let Some(at) = receiver.deadline() {
        receiver.time_passes(at);
        let asked = due(&mut receiver, at).len();
        waits.push((at - before, asked));
        before = at;
    }
    // Four requests, with waits that double, and the end.
    let expected = [(5, 1), (10, 1), (20, 1), (40, 1), (80, 0)];
    assert_eq!(waits, expected.map(|(wait, asked)| (millis(wait), asked)));
    let late = receive(&mut receiver, before, &frames[1]).0;
    assert_eq!(late, BlastReceived::Drop(RpcDropReason::BlastDuplicate));
}

#[test]
fn more_messages_than_there_is_memory_for_wait_for_each_other() {
    let (mut sender, mut receiver) = pair();
    let messages: Vec<_> = (0..3).map(|_| cut(&mut sender, &bytes(3000))).collect();
    pass(&mut receiver, Duration::ZERO, &messages[0][..1]);
    pass(&mut receiver, Duration::ZERO, &messages[1][..1]);
    let refused = receive(&mut receiver, Duration::ZERO, &messages[2][0]).0;
    assert_eq!(refused, BlastReceived::Drop(RpcDropReason::BlastNoneFree));
    assert!(pass(&mut receiver, Duration::ZERO, &messages[0][1..]).is_some());
    assert!(pass(&mut receiver, Duration::ZERO, &messages[2]).is_some());
}

#[test]
fn a_message_is_kept_for_a_time_and_until_others_need_its_place() {
    let (mut sender, mut receiver) = pair();
    let first = cut(&mut sender, &bytes(3000));
    pass(&mut receiver, Duration::ZERO, &first[1..]);
    let at = receiver.deadline().expect("a fragment is missing");
    receiver.time_passes(at);
    let asked = due(&mut receiver, at);

    let mut busy = pair().0;
    cut(&mut busy, &bytes(3000));
    assert_eq!(receive(&mut busy, at, &asked[0]).0, BlastReceived::Resend);
    cut(&mut busy, &bytes(3000));
    cut(&mut busy, &bytes(3000));
    let gone = BlastReceived::Drop(RpcDropReason::BlastNotKept);
    assert_eq!(receive(&mut busy, at, &asked[0]).0, gone);

    let end = sender.deadline().expect("the message is kept");
    assert_eq!(end, config().keep);
    sender.time_passes(end);
    assert_eq!(sender.deadline(), None);
    assert_eq!(receive(&mut sender, end, &asked[0]).0, gone);
}

#[test]
fn messages_that_are_too_long_or_too_many_are_refused() {
    let mut sender = pair().0;
    let too_long = BlastError::TooLong { length: LONGEST + 1, max: LONGEST };
    assert_eq!(sender.send(&mut packet(&bytes(LONGEST + 1))), Err(too_long));
    assert!(sender.send(&mut packet(&bytes(3000))).is_ok());
    assert!(sender.send(&mut packet(&bytes(3000))).is_ok());
    assert_eq!(sender.send(&mut packet(&bytes(3000))), Err(BlastError::NoneFree));
}

#[test]
fn fragments_that_contradict_each_other_are_dropped() {
    let (mut sender, mut receiver) = pair();
    let long = cut(&mut sender, &bytes(3000));
    let mut other = cut(&mut pair().0, &bytes(3001));
    pass(&mut receiver, Duration::ZERO, &long[..1]);
    let mismatch = BlastReceived::Drop(RpcDropReason::BlastMismatch);
    assert_eq!(receive(&mut receiver, Duration::ZERO, &other[1]).0, mismatch);
    other[1].truncate(100);
    let short = BlastReceived::Drop(RpcDropReason::BlastLength);
    assert_eq!(receive(&mut receiver, Duration::ZERO, &other[1]).0, short);
}

#[test]
fn each_message_has_a_number_of_its_own() {
    let mut sender = Blast::new(config(), u32::MAX);
    let mut numbers = HashSet::new();
    for length in [0, 3000, 10] {
        let mut message = packet(&bytes(length));
        let mut frames = match sender.send(&mut message).expect("the message fits") {
            BlastSent::Frame => vec![message.payload().to_vec()],
            BlastSent::Fragments => due(&mut sender, Duration::ZERO),
        };
        let Ok(BlastFrame::Fragment(fragment)) = parse(&frames.remove(0)) else { panic!("no fragment") };
        assert!(numbers.insert(fragment.message));
    }
}
