//! Each transition of RFC 9293, figure 5, and what is sent with it.

use super::peer::{MSS, Scripted, ack, config, data, fin, ours, reset, syn, theirs};
use std::time::Duration;
use warmcore_stack::tcp::{End, Event, State, UserError};
use warmcore_stack::wire::tcp::{Options, Segment};

fn events(us: &mut Scripted) -> Vec<Event> {
    std::iter::from_fn(|| us.connection.event()).collect()
}

#[test]
fn an_active_open_sends_syn_and_is_established_by_its_answer() {
    let mut us = Scripted::connect(config());
    let [first] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((first.sequence, first.acknowledgement, &first.flags[..]), (ours(0), None, "S"));
    assert_eq!(first.options, Options { max_segment_size: Some(MSS as u16), ..Options::default() });
    assert_eq!(us.connection.state(), State::SynSent);
    us.peer(syn(Some(1)));
    assert_eq!(us.connection.state(), State::Established);
    let [answer] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((answer.sequence, answer.acknowledgement, &answer.flags[..]), (ours(1), Some(theirs(1)), ""));
    assert_eq!(events(&mut us), [Event::Connected]);
    assert_eq!(us.connection.deadline(), None);
}

#[test]
fn a_passive_open_answers_syn_and_is_established_by_an_acknowledgement() {
    let mut us = Scripted::listen(config());
    assert_eq!((us.connection.state(), us.sent().len()), (State::Listen, 0));
    us.peer(syn(None));
    assert_eq!(us.connection.state(), State::SynReceived);
    let [answer] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((answer.sequence, answer.acknowledgement, &answer.flags[..]), (ours(0), Some(theirs(1)), "S"));
    us.peer(ack(1, 1));
    assert_eq!((us.connection.state(), us.sent().len()), (State::Established, 0));
    assert_eq!(events(&mut us), [Event::Connected]);
}

#[test]
fn data_with_the_acknowledgement_that_establishes_is_received() {
    let mut us = Scripted::in_state(State::SynReceived);
    us.peer(data(1, 1, b"at once"));
    assert_eq!(us.connection.state(), State::Established);
    assert_eq!(us.read(100), b"at once");
}

#[test]
fn both_may_open_at_once() {
    let mut us = Scripted::in_state(State::SynSent);
    us.now += Duration::from_secs(30);
    us.peer(syn(None));
    assert_eq!(us.connection.state(), State::SynReceived);
    let [answer] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((answer.sequence, answer.acknowledgement, &answer.flags[..]), (ours(0), Some(theirs(1)), "S"));
    us.peer(syn(Some(1)));
    assert_eq!(us.flags(), [""], "the peer's answer is old, and acknowledged");
    us.peer(ack(1, 1));
    assert_eq!(us.connection.state(), State::Established);
    us.write(1);
    us.sent();
    assert_eq!(us.wait(), Duration::from_secs(1), "the two SYNs are not timed");
}

#[test]
fn a_syn_is_sent_again_with_growing_pauses_until_the_connection_is_given_up() {
    let mut us = Scripted::connect(config());
    us.sent();
    let mut pauses = Vec::new();
    while us.connection.state() == State::SynSent {
        pauses.push(us.wait().as_secs());
        us.sent().iter().for_each(|sent| assert_eq!((sent.sequence, &sent.flags[..]), (ours(0), "S")));
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60]);
    assert_eq!(us.connection.end(), Some(End::TimedOut));
    assert_eq!(events(&mut us), [Event::Ended(End::TimedOut)]);
}

#[test]
fn an_unanswered_syn_of_a_passive_open_returns_to_listen() {
    let mut us = Scripted::in_state(State::SynReceived);
    while us.connection.state() == State::SynReceived {
        us.wait();
        us.sent();
    }
    assert_eq!((us.connection.state(), us.connection.end()), (State::Listen, None));
    us.peer(syn(None));
    assert_eq!(us.flags(), ["S"]);
}

#[test]
fn closing_before_there_is_a_peer_ends_the_connection() {
    for state in [State::Listen, State::SynSent] {
        let mut us = Scripted::in_state(state);
        us.connection.close();
        assert_eq!((us.connection.state(), us.connection.end()), (State::Closed, Some(End::Closed)));
        assert_eq!((us.sent().len(), us.connection.deadline()), (0, None));
    }
}

#[test]
fn closing_while_syn_is_sent_sends_data_and_fin_once_established() {
    let mut us = Scripted::in_state(State::SynSent);
    us.write(10);
    us.connection.close();
    assert_eq!((us.connection.state(), us.connection.end()), (State::SynSent, None));
    assert_eq!(us.connection.write(b"more"), Err(UserError::Closing));
    us.connection.close();
    us.peer(syn(Some(1)));
    assert_eq!(us.connection.state(), State::FinWait1);
    let [last] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((last.sequence, &last.flags[..], last.data.len()), (ours(1), "F", 10));
}

#[test]
fn data_that_waits_for_a_peer_is_not_said_to_be_delivered_if_there_is_none() {
    let closed = || {
        let mut us = Scripted::in_state(State::SynSent);
        us.write(10);
        us.connection.close();
        us
    };
    let mut refused = closed();
    refused.peer(Segment { acknowledgement: Some(ours(1)), ..reset(0) });
    assert_eq!(refused.connection.end(), Some(End::Refused));
    let mut silent = closed();
    while silent.connection.end().is_none() {
        silent.wait();
        silent.sent();
    }
    assert_eq!(silent.connection.end(), Some(End::TimedOut));
    let mut both = closed();
    both.peer(syn(None));
    assert_eq!(both.flags(), ["S"]);
    both.peer(ack(1, 1));
    assert_eq!((both.connection.state(), both.flags()), (State::FinWait1, vec!["F".to_string()]));
}

#[test]
fn closing_while_syn_is_received_sends_data_and_fin_once_established() {
    let mut us = Scripted::in_state(State::SynReceived);
    us.write(10);
    us.connection.close();
    assert_eq!((us.connection.state(), us.sent().len()), (State::SynReceived, 0));
    us.peer(ack(1, 1));
    assert_eq!(us.connection.state(), State::FinWait1);
    let [last] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((last.sequence, &last.flags[..], last.data.len()), (ours(1), "F", 10));
}

#[test]
fn we_close_first() {
    let mut us = Scripted::established(config());
    us.connection.close();
    assert_eq!(us.connection.state(), State::FinWait1);
    let [last] = &us.sent()[..] else { panic!("one segment") };
    assert_eq!((last.sequence, &last.flags[..]), (ours(1), "F"));
    us.peer(ack(1, 2));
    assert_eq!((us.connection.state(), us.sent().len()), (State::FinWait2, 0));
    us.peer(data(1, 2, b"half-open"));
    assert_eq!(us.read(100), b"half-open");
    us.peer(fin(10, 2));
    assert_eq!(us.connection.state(), State::TimeWait);
    assert_eq!(us.sent().last().and_then(|sent| sent.acknowledgement), Some(theirs(11)));
    assert_eq!(us.wait(), 2 * config().max_segment_lifetime);
    assert_eq!((us.connection.state(), us.connection.end()), (State::Closed, Some(End::Closed)));
}

#[test]
fn the_peer_closes_first_and_we_go_on_sending() {
    let mut us = Scripted::established(config());
    us.peer(fin(1, 1));
    assert_eq!((us.connection.state(), us.flags()), (State::CloseWait, vec![String::new()]));
    assert!(us.connection.is_at_end());
    assert!(events(&mut us).contains(&Event::PeerClosed));
    us.write(5);
    assert_eq!(us.sent()[0].data.len(), 5);
    us.peer(ack(2, 6));
    us.connection.close();
    assert_eq!((us.connection.state(), us.flags()), (State::LastAck, vec!["F".to_string()]));
    us.peer(ack(2, 7));
    assert_eq!((us.connection.state(), us.connection.end()), (State::Closed, Some(End::Closed)));
    assert_eq!(us.connection.deadline(), None);
}

#[test]
fn both_close_at_once() {
    let mut us = Scripted::in_state(State::Closing);
    us.peer(ack(2, 2));
    assert_eq!(us.connection.state(), State::TimeWait);
}

#[test]
fn a_fin_that_acknowledges_ours_leads_to_time_wait_at_once() {
    let mut us = Scripted::in_state(State::FinWait1);
    us.peer(fin(1, 2));
    assert_eq!(us.connection.state(), State::TimeWait);
}

#[test]
fn time_wait_answers_a_repeated_fin_and_begins_anew() {
    let mut us = Scripted::in_state(State::TimeWait);
    us.now += Duration::from_secs(100);
    us.peer(fin(1, 2));
    assert_eq!(us.sent()[0].acknowledgement, Some(theirs(2)));
    assert_eq!(us.wait(), 2 * config().max_segment_lifetime);
    assert_eq!(us.connection.state(), State::Closed);
}

#[test]
fn a_fin_is_sent_again_until_it_is_acknowledged() {
    for state in [State::FinWait1, State::Closing, State::LastAck] {
        let mut us = Scripted::in_state(state);
        for _ in 0..3 {
            us.wait();
            let sent = us.sent();
            assert_eq!((sent[0].sequence, &sent[0].flags[..], sent.len()), (ours(1), "F", 1), "{state:?}");
        }
    }
}

#[test]
fn a_repeated_fin_is_acknowledged_again_in_every_state_that_has_it() {
    for state in [State::CloseWait, State::Closing, State::LastAck, State::TimeWait] {
        let mut us = Scripted::in_state(state);
        us.peer(fin(1, 1));
        let answers: Vec<_> = us.sent().iter().map(|sent| sent.acknowledgement).collect();
        assert_eq!((answers, us.connection.state()), (vec![Some(theirs(2))], state));
    }
}

#[test]
fn a_fin_that_comes_before_data_waits_for_it() {
    let mut us = Scripted::established(config());
    us.peer(Segment { fin: true, ..data(5, 1, b"world") });
    assert_eq!(us.connection.state(), State::Established);
    assert_eq!(us.sent()[0].acknowledgement, Some(theirs(1)));
    us.peer(data(1, 1, b"old "));
    assert_eq!(us.connection.state(), State::CloseWait);
    assert_eq!(us.sent()[0].acknowledgement, Some(theirs(11)));
    assert_eq!(us.read(100), b"old world");
    assert!(us.connection.is_at_end());
}

#[test]
fn the_first_fin_counts() {
    let mut us = Scripted::established(config());
    us.peer(fin(5, 1));
    us.peer(fin(8, 1));
    us.peer(data(1, 1, b"all and more"));
    assert_eq!((us.connection.state(), us.read(100)), (State::CloseWait, b"all ".to_vec()));
}

#[test]
fn the_user_is_told_why_nothing_is_written() {
    let write = |us: &mut Scripted| us.connection.write(b"x");
    assert_eq!(write(&mut Scripted::in_state(State::Listen)), Err(UserError::NotConnected));
    for state in [State::FinWait1, State::FinWait2, State::Closing, State::LastAck, State::TimeWait] {
        assert_eq!(write(&mut Scripted::in_state(state)), Err(UserError::Closing), "{state:?}");
    }
    assert_eq!(write(&mut Scripted::in_state(State::Closed)), Err(UserError::Ended(End::Closed)));
}

#[test]
fn data_written_before_the_connection_is_established_is_sent_then() {
    let mut us = Scripted::in_state(State::SynSent);
    us.write(3);
    assert_eq!(us.sent().len(), 0);
    us.peer(syn(Some(1)));
    let sent = us.sent();
    assert_eq!((sent[0].data.len(), sent[0].acknowledgement, sent.len()), (3, Some(theirs(1)), 1));
}
