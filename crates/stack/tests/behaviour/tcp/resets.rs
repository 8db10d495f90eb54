//! Resets and other segments that end or threaten a connection, in each state (RFC 9293, §3.5.2 and
//! §3.10.7; RFC 5961).

use super::peer::{SYNCHRONIZED, Scripted, ack, config, data, fin, ours, reset, syn, theirs};
use std::time::Duration;
use warmcore_stack::tcp::{Connection, End, State, UserError, refuse};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp::Segment;

/// The peer's next sequence number in `state`.
fn next(state: State) -> u32 {
    match state {
        State::CloseWait | State::Closing | State::LastAck | State::TimeWait => 2,
        _ => 1,
    }
}

#[test]
fn the_next_segment_may_be_a_reset() {
    for state in SYNCHRONIZED {
        let mut us = Scripted::in_state(state);
        let mut next = next(state);
        if state.receives() {
            us.peer(data(next, 1, b"unread"));
            us.sent();
            next += 6;
        }
        us.peer(reset(next));
        // Elsewhere our FIN was not sent or not acknowledged.
        let end = if state == State::TimeWait { End::Closed } else { End::Reset };
        assert_eq!((us.connection.state(), us.connection.end()), (State::Closed, Some(end)), "{state:?}");
        assert_eq!((us.sent().len(), us.connection.deadline()), (0, None));
        if end == End::Reset {
            assert_eq!(us.connection.readable(), 0);
            assert_eq!(us.connection.read(&mut [0]), Err(UserError::Ended(End::Reset)));
            assert_eq!(us.connection.write(b"x"), Err(UserError::Ended(End::Reset)));
        }
    }
}

#[test]
fn a_reset_while_data_is_not_acknowledged_is_no_orderly_end() {
    for state in [State::Closing, State::LastAck] {
        let mut us = Scripted::established(config());
        us.write(20_000);
        if state == State::LastAck {
            us.peer(fin(1, 1));
        }
        us.connection.close();
        us.sent();
        if state == State::Closing {
            us.peer(fin(1, 1));
        }
        assert_eq!((us.connection.state(), us.connection.unacknowledged()), (state, 20_000));
        us.peer(reset(2));
        assert_eq!(us.connection.end(), Some(End::Reset), "{state:?}");
    }
}

#[test]
fn a_reset_elsewhere_in_the_window_is_challenged_and_outside_it_ignored() {
    for state in SYNCHRONIZED {
        let mut us = Scripted::in_state(state);
        us.peer(reset(next(state) + 1));
        assert_eq!((us.connection.state(), us.flags()), (state, vec![String::new()]));
        for sequence in [next(state).wrapping_sub(1), next(state) + 8000] {
            us.peer(reset(sequence));
            assert_eq!((us.connection.state(), us.sent().len()), (state, 0), "{state:?} {sequence}");
        }
    }
}

#[test]
fn a_syn_is_challenged_wherever_it_is() {
    for state in SYNCHRONIZED {
        for sequence in [0, next(state), next(state) + 20_000] {
            let mut us = Scripted::in_state(state);
            us.peer(Segment { sequence: theirs(sequence), ..syn(None) });
            let sent = us.sent();
            assert_eq!(us.connection.state(), state);
            assert_eq!((&sent[0].flags[..], sent[0].acknowledgement), ("", Some(theirs(next(state)))));
        }
    }
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_or_is_long_gone_changes_nothing() {
    for state in SYNCHRONIZED {
        for acknowledged in [50, 0_u32.wrapping_sub(20_000)] {
            let mut us = Scripted::in_state(state);
            us.peer(data(next(state), acknowledged, b"blind"));
            assert_eq!((us.connection.state(), us.flags()), (state, vec![String::new()]), "{state:?}");
            assert_eq!(us.connection.readable(), 0);
        }
    }
}

#[test]
fn a_segment_without_acknowledgement_changes_nothing() {
    for state in SYNCHRONIZED {
        let mut us = Scripted::in_state(state);
        us.peer(Segment { acknowledgement: None, ..data(next(state), 1, b"blind") });
        assert_eq!((us.connection.state(), us.sent().len(), us.connection.readable()), (state, 0, 0));
    }
}

#[test]
fn challenges_are_limited() {
    let mut us = Scripted::in_state(State::Established);
    let mut answers = 0;
    for _ in 0..1000 {
        us.peer(reset(2));
        answers += us.sent().len();
    }
    assert_eq!(answers, 10);
    us.peer(data(1, 1, b"taken"));
    us.sent();
    for _ in 0..20 {
        us.peer(data(1, 1, b"taken"));
        assert_eq!(us.sent().len(), 1, "our acknowledgement of data may always have been lost");
    }
}

#[test]
fn in_syn_sent_only_a_reset_that_acknowledges_the_syn_counts() {
    for (acknowledged, end) in [(None, None), (Some(2), None), (Some(0), None), (Some(1), Some(End::Refused))]
    {
        let mut us = Scripted::in_state(State::SynSent);
        us.peer(Segment { acknowledgement: acknowledged.map(ours), ..reset(0) });
        assert_eq!((us.connection.end(), us.sent().len()), (end, 0), "{acknowledged:?}");
    }
}

#[test]
fn in_syn_sent_a_wrong_acknowledgement_is_reset() {
    for segment in [ack(9, 2), ack(9, 0), syn(Some(2))] {
        let mut us = Scripted::in_state(State::SynSent);
        us.peer(segment);
        let [answer] = &us.sent()[..] else { panic!("one segment") };
        assert_eq!((&answer.flags[..], Some(answer.sequence)), ("R", segment.acknowledgement));
        assert_eq!(us.connection.state(), State::SynSent);
    }
    let mut us = Scripted::in_state(State::SynSent);
    us.peer(ack(9, 1));
    assert_eq!((us.connection.state(), us.sent().len()), (State::SynSent, 0));
}

#[test]
fn listen_ignores_resets_and_resets_acknowledgements() {
    let mut us = Scripted::in_state(State::Listen);
    us.peer(reset(0));
    us.peer(Segment { acknowledgement: None, ..fin(0, 0) });
    assert_eq!((us.connection.state(), us.sent().len()), (State::Listen, 0));
    for segment in [ack(0, 7), syn(Some(7))] {
        us.peer(segment);
        let [answer] = &us.sent()[..] else { panic!("one segment") };
        assert_eq!((&answer.flags[..], answer.sequence), ("R", ours(7)));
        assert_eq!(us.connection.state(), State::Listen);
    }
}

#[test]
fn a_reset_of_a_passive_open_returns_to_listen_and_of_an_active_one_refuses() {
    let mut passive = Scripted::in_state(State::SynReceived);
    passive.peer(reset(1));
    assert_eq!((passive.connection.state(), passive.connection.end()), (State::Listen, None));
    let mut used = Scripted::in_state(State::SynReceived);
    used.connection.close();
    used.peer(reset(1));
    assert_eq!(used.connection.end(), Some(End::Refused), "a user who has closed waits for no other peer");
    let mut active = Scripted::in_state(State::SynSent);
    active.peer(syn(None));
    active.peer(reset(1));
    assert_eq!(active.connection.end(), Some(End::Refused));
}

#[test]
fn a_wrong_acknowledgement_in_syn_received_is_reset() {
    for acknowledged in [0, 2] {
        let mut us = Scripted::in_state(State::SynReceived);
        us.peer(ack(1, acknowledged));
        let [answer] = &us.sent()[..] else { panic!("one segment") };
        assert_eq!((&answer.flags[..], answer.sequence), ("R", ours(acknowledged)));
        assert_eq!(us.connection.state(), State::SynReceived);
    }
}

#[test]
fn aborting_resets_the_peer_if_there_is_one() {
    for state in SYNCHRONIZED.into_iter().chain([State::SynReceived, State::SynSent, State::Listen]) {
        let mut us = Scripted::in_state(state);
        us.connection.abort();
        assert_eq!((us.connection.state(), us.connection.end()), (State::Closed, Some(End::Aborted)));
        let has_peer = !matches!(state, State::SynSent | State::Listen | State::TimeWait);
        let sent = us.sent();
        assert_eq!(sent.len(), usize::from(has_peer), "{state:?}");
        let closed = matches!(state, State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck);
        let position = ours(if closed { 2 } else { 1 });
        sent.iter().for_each(|sent| assert_eq!((sent.sequence, &sent.flags[..]), (position, "R")));
    }
}

#[test]
fn a_segment_for_no_connection_is_refused_so_that_its_sender_believes_it() {
    assert_eq!(refuse(&reset(1)), None);
    let by_ack = refuse(&data(5, 9, b"abc")).expect("an answer");
    assert_eq!((by_ack.reset, by_ack.sequence, by_ack.acknowledgement), (true, ours(9), None));
    let by_length = refuse(&Segment { acknowledgement: None, ..fin(5, 0) }).expect("an answer");
    assert_eq!((by_length.reset, by_length.acknowledgement), (true, Some(theirs(6))));
    let mut closed = Scripted::in_state(State::Closed);
    closed.peer(data(5, 9, b"abc"));
    assert_eq!(closed.flags(), ["R"]);
}

/// Takes what `from` sends to `to`, and returns how many segments that were.
fn exchange(from: &mut Connection, to: &mut Connection) -> usize {
    let mut segments = 0;
    while let Some(segment) = from.transmit(Duration::ZERO) {
        to.arrives(Duration::ZERO, &segment);
        segments += 1;
    }
    segments
}

#[test]
fn an_old_duplicate_syn_is_recovered_from() {
    // RFC 9293, figure 8.
    let mut client = Connection::connect(config(), SequenceNumber(100));
    let mut server = Connection::listen(config(), SequenceNumber(300));
    assert!(client.transmit(Duration::ZERO).is_some(), "the SYN, which is late");
    server.arrives(Duration::ZERO, &Segment { sequence: SequenceNumber(90), ..syn(None) });
    assert_eq!(exchange(&mut server, &mut client), 1);
    assert_eq!(exchange(&mut client, &mut server), 1);
    assert_eq!((client.state(), server.state()), (State::SynSent, State::Listen));
    server.arrives(Duration::ZERO, &Segment { sequence: SequenceNumber(100), ..syn(None) });
    exchange(&mut server, &mut client);
    exchange(&mut client, &mut server);
    assert_eq!((client.state(), server.state()), (State::Established, State::Established));
}

#[test]
fn a_peer_that_has_restarted_resets_the_half_open_connection() {
    // RFC 9293, figure 9.
    let mut us = Scripted::established(config());
    let mut restarted = Connection::connect(config(), SequenceNumber(400));
    exchange(&mut restarted, &mut us.connection);
    assert_eq!(us.connection.state(), State::Established);
    exchange(&mut us.connection, &mut restarted);
    exchange(&mut restarted, &mut us.connection);
    assert_eq!((us.connection.end(), restarted.state()), (Some(End::Reset), State::SynSent));
}
