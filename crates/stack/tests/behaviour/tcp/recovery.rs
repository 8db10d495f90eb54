//! Losses and disorder: retransmission, fast retransmit, reassembly within bounds.

use super::peer::{MSS, Scripted, Sent, ack, config, data, ours, syn, theirs};
use std::time::Duration;
use warmcore_stack::tcp::{Config, Connection, End, State};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp::Segment;

/// An established connection that has sent `segments` full segments, after a round trip of 100 ms.
fn with_in_flight(segments: usize) -> Scripted {
    let mut us = Scripted::established(Config { min_timeout: Duration::from_millis(10), ..config() });
    // Grow the congestion window first.
    let mut acked = 1;
    for _ in 0..4 {
        us.write(4 * MSS);
        let sent = us.sent();
        us.now += Duration::from_millis(100);
        acked += sent.iter().map(|sent| sent.data.len() as u32).sum::<u32>();
        us.peer(ack(1, acked));
        us.sent();
    }
    let left = us.connection.unacknowledged();
    assert_eq!(left, 0);
    us.write(segments * MSS);
    assert_eq!(us.sent().len(), segments);
    us
}

/// How much had been acknowledged before [`with_in_flight`] sent its segments.
const BASE: u32 = 1 + 16 * MSS as u32;

fn pieces(sent: &[Sent]) -> Vec<(SequenceNumber, usize)> {
    sent.iter().map(|sent| (sent.sequence, sent.data.len())).collect()
}

#[test]
fn what_is_not_acknowledged_is_sent_again_in_slow_start() {
    let mut us = with_in_flight(5);
    us.wait();
    assert_eq!(pieces(&us.sent()), [(ours(BASE), MSS)]);
    us.peer(ack(1, BASE + 1000));
    assert_eq!(pieces(&us.sent()), [(ours(BASE + 1000), MSS), (ours(BASE + 2000), MSS)]);
    us.peer(ack(1, BASE + 5000));
    assert_eq!((us.sent().len(), us.connection.deadline()), (0, None));
}

#[test]
fn after_a_pause_sending_begins_with_the_initial_window() {
    let mut us = with_in_flight(5);
    us.peer(ack(1, BASE + 5000));
    us.now += Duration::from_secs(10);
    us.write(10 * MSS);
    assert_eq!(us.sent().len(), 4);
}

#[test]
fn after_a_lost_syn_sending_begins_with_one_segment() {
    let mut us = Scripted::connect(config());
    us.sent();
    us.wait();
    us.sent();
    us.peer(syn(Some(1)));
    us.write(4 * MSS);
    assert_eq!(pieces(&us.sent()), [(ours(1), MSS)]);
    assert_eq!(us.wait(), Duration::from_secs(3), "RFC 6298, rule 5.7");
}

#[test]
fn the_timer_runs_from_the_first_segment_in_flight() {
    let mut us = Scripted::established(config());
    us.write(MSS);
    us.sent();
    let due = us.connection.deadline();
    us.now += Duration::from_millis(500);
    us.write(MSS);
    us.sent();
    assert_eq!(us.connection.deadline(), due);
    us.peer(ack(1, 1001));
    assert_eq!(us.wait(), Duration::from_secs(1), "from the acknowledgement");
}

#[test]
fn duplicates_while_nothing_is_in_flight_mean_nothing() {
    let mut us = Scripted::established(config());
    (0..10).for_each(|_| us.peer(ack(1, 1)));
    us.write(10 * MSS);
    assert_eq!(us.sent().len(), 4);
}

#[test]
fn the_acknowledgement_of_a_segment_that_was_resent_is_not_timed() {
    let mut us = with_in_flight(6);
    (0..3).for_each(|_| us.peer(ack(1, BASE)));
    us.sent();
    us.now += Duration::from_secs(5);
    us.peer(ack(1, BASE + 6000));
    us.write(1);
    us.sent();
    assert!(us.wait() < Duration::from_secs(1));
}

#[test]
fn the_pause_follows_the_round_trip_and_doubles() {
    let mut us = with_in_flight(1);
    let first = us.wait();
    assert!(first >= Duration::from_millis(100) && first < Duration::from_millis(400), "{first:?}");
    us.sent();
    let second = us.wait();
    assert_eq!(second, 2 * first);
    us.sent();
    assert_eq!(us.wait(), 4 * first);
}

#[test]
fn the_connection_is_given_up_after_so_many_retries() {
    let mut us = with_in_flight(1);
    let mut resent = 0;
    while us.connection.state() == State::Established {
        us.wait();
        resent += us.sent().len();
    }
    assert_eq!((resent, us.connection.end()), (config().retries as usize, Some(End::TimedOut)));
    assert_eq!(us.connection.deadline(), None);
}

#[test]
fn acknowledgements_of_nothing_new_do_not_put_off_a_retransmission() {
    let mut us = with_in_flight(1);
    let due = us.connection.deadline();
    us.now += Duration::from_millis(1);
    us.peer(data(1, BASE, b"x"));
    us.peer(ack(2, BASE));
    us.sent();
    assert!(us.connection.deadline() <= due);
}

#[test]
fn three_duplicates_resend_the_first_segment_at_once() {
    let mut us = with_in_flight(6);
    for _ in 0..2 {
        us.peer(ack(1, BASE));
        assert_eq!(us.sent().len(), 0);
    }
    us.peer(ack(1, BASE));
    assert_eq!(pieces(&us.sent()), [(ours(BASE), MSS)]);
    // The second loss of the same window (RFC 6582).
    us.peer(ack(1, BASE + 2000));
    assert_eq!(pieces(&us.sent()), [(ours(BASE + 2000), MSS)]);
    us.peer(ack(1, BASE + 6000));
    assert_eq!(us.connection.unacknowledged(), 0);
}

#[test]
fn segments_with_data_or_another_window_are_no_duplicates() {
    let mut us = with_in_flight(6);
    for index in 0..4 {
        us.peer(data(1 + index, BASE, b"x"));
    }
    let resent = |us: &mut Scripted| us.sent().iter().any(|sent| !sent.data.is_empty());
    assert!(!resent(&mut us));
    for window in [9000, 8999, 8998, 8997] {
        us.peer(Segment { window, ..ack(5, BASE) });
    }
    assert!(!resent(&mut us));
}

#[test]
fn what_comes_out_of_order_is_acknowledged_at_once_and_put_in_order() {
    let mut us = Scripted::established(config());
    let acknowledged =
        |us: &mut Scripted| us.sent().iter().map(|sent| sent.acknowledgement).collect::<Vec<_>>();
    us.peer(data(7, 1, b"ghi"));
    assert_eq!(acknowledged(&mut us), [Some(theirs(1))]);
    us.peer(data(3, 1, b"cdef"));
    assert_eq!(acknowledged(&mut us), [Some(theirs(1))]);
    us.peer(data(6, 1, b"fghijk"));
    assert_eq!(acknowledged(&mut us), [Some(theirs(1))]);
    us.peer(data(1, 1, b"abcd"));
    assert_eq!(acknowledged(&mut us), [Some(theirs(12))]);
    assert_eq!(us.read(100), b"abcdefghijk");
}

#[test]
fn a_peer_that_leaves_gaps_does_not_make_us_remember_more_than_sixteen() {
    let mut us = Scripted::established(config());
    for index in 0..100 {
        us.peer(data(2 + 2 * index, 1, b"x"));
    }
    us.sent();
    let mut filled = 0;
    for index in 0..100 {
        let before = us.connection.readable();
        us.peer(data(1 + 2 * index, 1, b"y"));
        filled += us.connection.readable() - before - 1;
        if us.connection.readable() == before + 1 {
            break;
        }
    }
    assert_eq!(filled, 16);
}

#[test]
fn only_what_is_lost_between_ranges_is_missing() {
    let mut us = Scripted::established(config());
    let stream: Vec<u8> = (0..=255).collect();
    for start in (0..256).step_by(16).rev() {
        us.peer(data(1 + start as u32, 1, &stream[start..start + 16]));
    }
    assert_eq!(us.read(1000), stream);
}

#[test]
fn a_transfer_without_losses_sends_every_byte_once_and_half_as_many_acknowledgements() {
    let config = Config { send_buffer: 50_000, receive_buffer: 50_000, ..config() };
    let mut client = Connection::connect(config, SequenceNumber(u32::MAX - 300_000));
    let mut server = Connection::listen(config, SequenceNumber(0));
    let (total, mut now, mut buffer) = (1_000_000, Duration::ZERO, vec![0; 50_000]);
    let (mut written, mut read, mut sent, mut answers) = (0, 0, 0, 0);
    while read < total {
        written += client.write(&vec![0; (total - written).min(50_000)]).expect("the connection is open");
        while let Some(segment) = client.transmit(now) {
            sent += segment.payload.len();
            server.arrives(now, &segment);
        }
        now += Duration::from_millis(10);
        read += server.read(&mut buffer).expect("the connection is open");
        [&mut client, &mut server].into_iter().for_each(|end| end.time_passes(now));
        while let Some(segment) = server.transmit(now) {
            answers += 1;
            client.arrives(now, &segment);
        }
    }
    assert_eq!(sent, total);
    assert!(answers < total / MSS, "{answers} answers to {} segments", total / MSS);
}

#[test]
fn a_fin_that_was_not_sent_yet_is_not_resent() {
    let mut us = Scripted::established(config());
    let small = |segment| Segment { window: MSS as u16, ..segment };
    us.peer(small(ack(1, 1)));
    us.write(MSS);
    us.sent();
    us.connection.close();
    (0..3).for_each(|_| us.peer(small(ack(1, 1))));
    let [resent] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((resent.data.len(), &resent.flags[..]), (MSS, ""));
}

#[test]
fn two_duplicates_allow_a_new_segment_each_so_that_a_small_window_sees_a_third() {
    let mut us = Scripted::established(config());
    us.write(10 * MSS);
    assert_eq!(us.sent().len(), 4);
    // The first was lost, and then one of the others.
    for expected in [4001, 5001, 1] {
        us.peer(ack(1, 1));
        assert_eq!(pieces(&us.sent()), [(ours(expected), MSS)], "RFC 3042, RFC 5681, §3.2");
    }
    us.peer(ack(1, 1));
    assert_eq!(us.sent().len(), 0, "half of four segments and four duplicates are in flight");
}

#[test]
fn each_segment_after_a_gap_is_answered_though_several_arrive_at_once() {
    let mut us = Scripted::established(config());
    us.write(10);
    us.sent();
    us.write(10);
    (1..=4).for_each(|place| us.peer(data(place * 1000 + 1, 1, &[7; MSS])));
    us.peer(ack(1, 11));
    let sent = us.sent();
    assert!(sent.iter().all(|sent| sent.acknowledgement == Some(theirs(1))));
    let lengths: Vec<_> = sent.iter().map(|sent| sent.data.len()).collect();
    assert_eq!(lengths, [0, 0, 0, 0, 10], "those that count carry no data");
}

#[test]
fn a_gap_that_was_filled_at_once_is_answered_once() {
    let mut us = Scripted::established(config());
    (0..=4).rev().for_each(|place| us.peer(data(place * 1000 + 1, 1, &[7; MSS])));
    let sent = us.sent();
    assert_eq!(sent.len(), 1, "more would ask for what comes next");
    assert_eq!(sent[0].acknowledgement, Some(theirs(5001)));
}
