//! Windows of both directions: closed, small, growing, scaled; what is acknowledged when.

use super::peer::{MSS, Scripted, ack, config, data, ours, syn, theirs};
use std::time::Duration;
use warmcore_stack::Flow;
use warmcore_stack::tcp::{Changes, Config, Connection, End, State};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp::{Options, Segment};

fn with_window(window: u16, segment: Segment<'_>) -> Segment<'_> {
    Segment { window, ..segment }
}

/// An established connection whose peer has a window of `window`.
fn with_peer_window(window: u16) -> Scripted {
    let mut us = Scripted::established(config());
    us.peer(with_window(window, ack(1, 1)));
    us
}

fn lengths(us: &mut Scripted) -> Vec<usize> {
    us.sent().iter().map(|sent| sent.data.len()).collect()
}

#[test]
fn a_closed_window_is_probed_with_one_byte_at_growing_intervals() {
    let mut us = with_peer_window(0);
    us.write(3000);
    assert_eq!(us.sent().len(), 0);
    let mut pauses = Vec::new();
    for _ in 0..8 {
        pauses.push(us.wait().as_secs());
        let [probe] = &us.sent()[..] else { panic!("one segment") };
        assert_eq!((probe.sequence, probe.data.len()), (ours(1), 1));
        us.peer(with_window(0, ack(1, 1)));
        assert_eq!(us.sent().len(), 0);
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
    us.peer(ack(1, 1));
    let sent = us.sent();
    assert_eq!(sent[0].sequence, ours(1), "the probe's byte was not taken, and comes again");
    assert_eq!(sent.iter().map(|sent| sent.data.len()).sum::<usize>(), 3000);
}

#[test]
fn a_peer_that_answers_probes_is_never_given_up_and_one_that_does_not_is() {
    let mut us = with_peer_window(0);
    us.write(1);
    us.sent();
    for _ in 0..100 {
        us.wait();
        us.sent();
        us.peer(with_window(0, ack(1, 1)));
    }
    assert_eq!(us.connection.state(), State::Established);
    let mut probes = 0;
    while us.connection.state() == State::Established {
        us.wait();
        probes += us.sent().len();
    }
    assert_eq!((probes, us.connection.end()), (config().retries as usize, Some(End::TimedOut)));
}

#[test]
fn a_probe_that_is_taken_counts_as_sent() {
    let mut us = with_peer_window(0);
    us.write(10);
    us.sent();
    us.wait();
    us.sent();
    us.peer(with_window(0, ack(1, 2)));
    assert_eq!(us.connection.unacknowledged(), 9);
    us.peer(ack(1, 2));
    let sent = us.sent();
    assert_eq!((sent[0].sequence, sent[0].data.len()), (ours(2), 9));
}

#[test]
fn a_fin_probes_a_closed_window() {
    let mut us = with_peer_window(0);
    us.connection.close();
    assert_eq!(us.sent().len(), 0);
    us.wait();
    assert_eq!(us.flags(), ["F"]);
    us.peer(with_window(0, ack(1, 2)));
    assert_eq!(us.connection.state(), State::FinWait2);
}

#[test]
fn no_more_is_sent_than_the_window_takes() {
    let mut us = with_peer_window(2500);
    us.write(5000);
    assert_eq!(lengths(&mut us), [1000, 1000], "a rest of 500 is less than half the largest window");
    us.peer(with_window(2500, ack(1, 2001)));
    assert_eq!(lengths(&mut us), [1000, 1000]);
    us.peer(with_window(1000, ack(1, 4001)));
    assert_eq!(lengths(&mut us), [1000]);
}

#[test]
fn a_window_that_stays_small_is_used_after_a_while() {
    let mut us = with_peer_window(300);
    us.write(5000);
    assert_eq!(us.sent().len(), 0);
    us.wait();
    assert_eq!(lengths(&mut us), [300]);
}

#[test]
fn an_old_segment_does_not_change_the_window() {
    let mut us = Scripted::established(config());
    us.peer(with_window(4000, data(4, 1, b"new")));
    us.peer(with_window(1, data(1, 1, b"old")));
    assert_eq!(us.read(100), b"oldnew");
    us.sent();
    us.write(3000);
    assert_eq!(lengths(&mut us), [1000, 1000, 1000]);
}

#[test]
fn our_window_closes_as_data_waits_and_opens_when_enough_was_read() {
    let mut us = Scripted::established(config());
    let bytes = vec![5; MSS];
    for segment in 0..8 {
        us.peer(data(1 + segment * 1000, 1, &bytes));
    }
    let last = us.sent().pop().expect("an acknowledgement");
    assert_eq!((last.acknowledgement, last.window), (Some(theirs(8001)), 0));
    us.peer(data(8001, 1, b"!"));
    let answer = us.sent().pop().expect("a probe is answered");
    assert_eq!((answer.acknowledgement, answer.window), (Some(theirs(8001)), 0));
    assert_eq!((us.read(1900).len(), us.sent().len()), (1900, 0), "too little to tell the peer");
    assert_eq!(us.read(100).len(), 100);
    assert_eq!(us.sent()[0].window, 2000);
    us.peer(data(8001, 1, &bytes));
    assert_eq!(us.read(10_000).len(), 7000);
}

#[test]
fn a_closed_window_still_takes_acknowledgements() {
    let mut us = Scripted::established(config());
    us.peer(data(1, 1, &vec![5; 8000]));
    us.write(100);
    us.sent();
    us.peer(data(8001, 101, b"no room"));
    assert_eq!(us.connection.unacknowledged(), 0);
    assert_eq!(us.connection.readable(), 8000);
}

#[test]
fn a_repeated_fin_is_acknowledged_though_the_window_is_closed() {
    let mut us = Scripted::established(config());
    let bytes = vec![5; 7999];
    let last = Segment { fin: true, ..data(1, 1, &bytes) };
    for _ in 0..2 {
        us.peer(last);
        let [answer] = &us.sent()[..] else { panic!("one segment") };
        assert_eq!((answer.acknowledgement, answer.window), (Some(theirs(8001)), 0));
    }
    assert_eq!((us.connection.state(), us.read(10_000).len()), (State::CloseWait, 7999));
}

#[test]
fn a_window_is_updated_after_more_bytes_than_sequence_numbers_compare() {
    let changes = Changes { header_prediction: true, ..Changes::default() };
    let config = Config { max_segment_size: 60_000, receive_buffer: 60_000, changes, ..config() };
    let mut us = Scripted::established(config);
    let (bytes, mut buffer) = (vec![5; 60_000], vec![0; 60_000]);
    let segments = (1 << 31) / 60_000 + 1;
    for index in 0..segments {
        us.peer(data(1_u32.wrapping_add(index * 60_000), 1, &bytes));
        assert_eq!(us.connection.read(&mut buffer), Ok(60_000));
        us.sent();
    }
    us.peer(with_window(300, ack(1 + segments * 60_000, 1)));
    us.write(1000);
    assert_eq!(us.sent().len(), 0, "half the old window, and not the whole of the new");
    us.wait();
    assert_eq!(lengths(&mut us), [300]);
}

#[test]
fn an_update_is_due_at_35_or_33_percent() {
    for (avoid_division, step) in [(false, 350), (true, 250 + 62 + 15)] {
        let changes = Changes { avoid_division, ..Changes::default() };
        let mut us = Scripted::established(Config { receive_buffer: 1000, changes, ..config() });
        us.peer(data(1, 1, &vec![5; 1000]));
        us.sent();
        assert_eq!((us.read(step - 1).len(), us.sent().len()), (step - 1, 0));
        us.read(1);
        assert_eq!(us.sent().len(), 1);
    }
}

#[test]
fn what_is_beyond_the_window_or_was_read_is_not_taken() {
    let mut us = Scripted::established(config());
    us.peer(data(1, 1, &vec![5; 4000]));
    assert_eq!(us.read(10_000).len(), 4000);
    us.peer(data(1, 1, &vec![6; 4000]));
    assert_eq!(us.connection.readable(), 0, "an old duplicate");
    us.peer(data(20_000, 1, b"far"));
    assert_eq!(us.connection.readable(), 0);
    us.peer(data(3001, 1, &vec![6; 2000]));
    assert!(us.read(10_000) == vec![6; 1000], "what is new of it");
    us.sent();
    us.peer(data(5001, 1, &vec![7; 30_000]));
    assert!(us.read(100_000) == vec![7; 8000], "what fits the window");
}

#[test]
fn scaled_windows_are_used_if_both_sides_say_so() {
    let scaling = Config { window_scaling: true, receive_buffer: 1 << 20, ..config() };
    for (theirs_scale, window, sent) in [(Some(3), 1 << 20, 8), (None, 65_535, 2)] {
        let mut us = Scripted::connect(scaling);
        let first = us.sent().remove(0);
        assert_eq!((first.options.window_scale, first.window), (Some(5), u16::MAX));
        let options = Options { window_scale: theirs_scale, ..syn(None).options };
        us.peer(with_window(250, Segment { options, ..syn(Some(1)) }));
        us.sent();
        us.peer(with_window(250, ack(1, 1)));
        us.write(3000);
        let first = us.sent();
        let announced = u32::from(first[0].window) << if theirs_scale.is_some() { 5 } else { 0 };
        assert_eq!(announced, window);
        let expected: &[usize] = if sent == 8 { &[1000, 1000] } else { &[250] };
        assert_eq!(first.iter().map(|sent| sent.data.len()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn the_window_of_a_syn_is_not_scaled_and_that_of_its_answer_is() {
    let mut us = Scripted::listen(Config { window_scaling: true, ..config() });
    let options = Options { window_scale: Some(3), ..syn(None).options };
    us.peer(with_window(250, Segment { options, ..syn(None) }));
    assert_eq!(us.sent()[0].options.window_scale, Some(0));
    us.peer(with_window(250, ack(1, 1)));
    us.write(3000);
    assert_eq!(lengths(&mut us), [1000, 1000]);
}

#[test]
fn no_window_is_scaled_by_more_than_fourteen_bits() {
    let mut us = Scripted::listen(Config { window_scaling: true, ..config() });
    let options = Options { window_scale: Some(255), ..syn(None).options };
    us.peer(Segment { options, ..syn(None) });
    us.sent();
    us.peer(with_window(1, ack(1, 1)));
    us.write(20_000);
    assert_eq!(lengths(&mut us), [1000; 4]);
}

#[test]
fn an_old_acknowledgement_does_not_change_the_window() {
    let mut us = Scripted::established(config());
    us.write(2000);
    us.sent();
    us.peer(ack(1, 2001));
    us.peer(with_window(1, data(2, 1, b"early")));
    us.sent();
    us.write(3000);
    assert_eq!(lengths(&mut us), [1000, 1000, 1000]);
}

#[test]
fn segments_are_no_longer_than_the_peer_wants_or_536_bytes() {
    for (named, length) in [(Some(700), 700), (Some(5000), MSS), (None, 536), (Some(0), 64)] {
        let mut us = Scripted::in_state(State::SynSent);
        let options = Options { max_segment_size: named, ..Options::default() };
        us.peer(Segment { options, ..syn(Some(1)) });
        us.sent();
        us.write(5000);
        assert_eq!(lengths(&mut us)[0], length);
    }
}

#[test]
fn nagle_holds_small_segments_while_data_is_in_flight() {
    for (nagle, first, then) in [(false, vec![10, 20], vec![]), (true, vec![10], vec![20])] {
        let mut us = Scripted::established(Config { nagle, ..config() });
        us.write(10);
        let mut sent = lengths(&mut us);
        us.write(20);
        sent.extend(lengths(&mut us));
        assert_eq!(sent, first);
        us.peer(ack(1, 11));
        assert_eq!(lengths(&mut us), then);
    }
}

#[test]
fn the_second_full_segment_is_acknowledged_at_once_and_a_single_one_later() {
    let mut us = Scripted::established(config());
    let bytes = vec![5; MSS];
    us.peer(data(1, 1, &bytes));
    assert_eq!(us.sent().len(), 0);
    us.peer(data(1001, 1, &bytes));
    assert_eq!(us.sent()[0].acknowledgement, Some(theirs(2001)));
    us.peer(data(2001, 1, b"one"));
    assert_eq!(us.sent().len(), 0);
    assert_eq!(us.wait(), Duration::from_millis(200));
    assert_eq!(us.sent()[0].acknowledgement, Some(theirs(2004)));
    us.peer(data(2004, 1, b"two"));
    us.write(1);
    assert_eq!(us.sent()[0].acknowledgement, Some(theirs(2007)), "data carries it");
    us.peer(ack(2007, 2));
    assert_eq!(us.connection.deadline(), None);
}

#[test]
fn two_peers_with_closed_windows_do_not_answer_each_other_for_ever() {
    let small = Config { receive_buffer: 2000, ..config() };
    let mut ends =
        [Connection::connect(small, SequenceNumber(1)), Connection::listen(small, SequenceNumber(u32::MAX))];
    let mut now = Duration::ZERO;
    let exchange = |ends: &mut [Connection; 2], now: Duration| {
        let [a, b] = ends;
        let mut segments = 0;
        loop {
            let before = segments;
            while let Some(segment) = a.transmit(now) {
                b.arrives(now, &segment);
                segments += 1;
            }
            while let Some(segment) = b.transmit(now) {
                a.arrives(now, &segment);
                segments += 1;
            }
            assert!(segments < 100);
            if segments == before {
                return segments;
            }
        }
    };
    exchange(&mut ends, now);
    ends.iter_mut().for_each(|end| assert_eq!(end.write(&[1; 5000]), Ok(5000)));
    exchange(&mut ends, now);
    assert_eq!(ends.each_ref().map(Connection::readable), [2000, 2000]);
    for _ in 0..20 {
        now = ends.iter().filter_map(Connection::deadline).min().expect("the windows are probed");
        ends.iter_mut().for_each(|end| end.time_passes(now));
        let segments = exchange(&mut ends, now);
        assert!(segments <= 6, "{segments}");
    }
}

/// What a peer whose largest segment is as `theirs` sends first to one with `ours`, established and with much
/// to send.
fn first_segment(theirs: u16, ours: u16) -> Vec<u8> {
    let config = |size| Config {
        max_segment_size: size,
        send_buffer: 1 << 20,
        receive_buffer: 1 << 20,
        ..Config::default()
    };
    let mut sender = Connection::connect(config(theirs), SequenceNumber(1));
    let mut receiver = Connection::listen(config(ours), SequenceNumber(9));
    for _ in 0..2 {
        while let Some(segment) = sender.transmit(Duration::ZERO) {
            receiver.arrives(Duration::ZERO, &segment);
        }
        while let Some(segment) = receiver.transmit(Duration::ZERO) {
            sender.arrives(Duration::ZERO, &segment);
        }
    }
    sender.write(&vec![7; 500_000]).expect("the connection is established");
    let mut buffer = vec![0; 70_000];
    let segment = sender.transmit(Duration::ZERO).expect("the window is open");
    let bytes = segment.write(&Flow::synthetic(1), &mut buffer).expect("every segment can be written");
    bytes[20..].to_vec()
}

#[test]
fn the_largest_segment_is_what_a_datagram_carries() {
    assert_eq!(first_segment(65_494, u16::MAX).len(), 65_494);
    for size in [65_495, 65_496, u16::MAX] {
        assert_eq!(first_segment(size, size).len(), 65_495, "{size}");
    }
}

#[test]
fn a_peer_that_asks_for_tiny_segments_gets_64_bytes() {
    for asked in [0, 1, 40, 64] {
        assert_eq!(first_segment(1000, asked).len(), 64, "{asked}");
    }
    assert_eq!(first_segment(40, 1000).len(), 40, "our own limit is kept");
}
