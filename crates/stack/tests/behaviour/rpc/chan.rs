//! CHAN: at most once.

use super::drivers::{millis, packet};
use std::time::Duration;
use warmcore_stack::Packet;
use warmcore_stack::rpc::{CallId, Chan, ChanConfig, ChanError, ChanReceived, RpcDropReason, ServedCall};

const T0: Duration = Duration::ZERO;

fn config() -> ChanConfig {
    ChanConfig { channels: 2, max_message: 100, retries: 3, ..ChanConfig::default() }
}

fn pair() -> (Chan, Chan) {
    (Chan::new(config()), Chan::new(config()))
}

fn request(client: &mut Chan, channel: u16) -> (CallId, Vec<u8>) {
    let mut message = packet(b"request");
    let call = client.call(T0, channel, &mut message).expect("the channel is idle");
    (call, message.payload().to_vec())
}

fn receive(chan: &mut Chan, message: &[u8]) -> (ChanReceived, Packet) {
    let mut message = packet(message);
    (chan.receive(T0, &mut message), message)
}

fn served(server: &mut Chan, message: &[u8]) -> ServedCall {
    match receive(server, message) {
        (ChanReceived::Request(call), request) => {
            assert_eq!(request.payload(), b"request");
            call
        }
        (other, _) => panic!("{other:?}"),
    }
}

fn reply(server: &mut Chan, call: ServedCall) -> Vec<u8> {
    let mut message = packet(b"reply");
    server.reply(call, &mut message).expect("the client waits");
    message.payload().to_vec()
}

fn due(chan: &mut Chan) -> Vec<Vec<u8>> {
    let mut message = packet(&[]);
    let mut messages = Vec::new();
    while chan.transmit(&mut message) {
        messages.push(message.payload().to_vec());
    }
    messages
}

fn dropped(reason: RpcDropReason) -> ChanReceived {
    ChanReceived::Drop(reason)
}

#[test]
fn a_request_and_its_reply_need_nothing_else() {
    let (mut client, mut server) = pair();
    for channel in [0, 1, 0] {
        let (call, sent) = request(&mut client, channel);
        let answered = reply_to(&mut server, &sent);
        let (received, results) = receive(&mut client, &answered);
        assert_eq!(received, ChanReceived::Reply(call));
        assert_eq!(results.payload(), b"reply");
    }
    assert_eq!((client.deadline(), server.deadline()), (None, None));
    assert!(due(&mut client).is_empty() && due(&mut server).is_empty());
}

fn reply_to(server: &mut Chan, request: &[u8]) -> Vec<u8> {
    let call = served(server, request);
    reply(server, call)
}

#[test]
fn a_duplicate_request_is_answered_with_an_acknowledgement_and_then_with_the_reply() {
    let (mut client, mut server) = pair();
    let (call, sent) = request(&mut client, 0);
    let serving = served(&mut server, &sent);
    let (answer, ack) = receive(&mut server, &sent);
    assert_eq!(answer, ChanReceived::Answer);
    assert_eq!(receive(&mut client, ack.payload()).0, ChanReceived::Acknowledged(call));

    let first = reply(&mut server, serving);
    let (answer, again) = receive(&mut server, &sent);
    assert_eq!((answer, again.payload()), (ChanReceived::Answer, &first[..]));
    assert_eq!(receive(&mut client, &first).0, ChanReceived::Reply(call));
    assert_eq!(receive(&mut client, again.payload()).0, dropped(RpcDropReason::ChanStale));
    assert_eq!(receive(&mut client, ack.payload()).0, dropped(RpcDropReason::ChanStale));
}

#[test]
fn a_request_is_sent_again_with_timeouts_that_double_until_the_call_fails() {
    let mut client = pair().0;
    let (call, sent) = request(&mut client, 1);
    let mut waits = Vec::new();
    let mut before = T0;
    while let Some(at) = client.deadline() {
        client.time_passes(at);
        waits.push((at - before, due(&mut client) == [sent.clone()]));
        before = at;
    }
    let expected = [(100, true), (200, true), (400, true), (800, false)];
    assert_eq!(waits, expected.map(|(wait, sent)| (millis(wait), sent)));
    assert_eq!((client.failed(), client.failed()), (Some(call), None));
    assert!(client.call(before, 1, &mut packet(b"")).is_ok());
}

#[test]
fn a_slow_server_acknowledges_by_itself_and_the_client_goes_on_waiting() {
    let (mut client, mut server) = pair();
    let (call, sent) = request(&mut client, 0);
    let serving = served(&mut server, &sent);
    assert_eq!(server.deadline(), Some(config().ack_after));
    server.time_passes(config().ack_after);
    let acks = due(&mut server);
    assert_eq!((acks.len(), server.deadline()), (1, None));

    for _ in 0..20 {
        let at = client.deadline().expect("the call waits");
        client.time_passes(at);
        assert_eq!((due(&mut client).len(), client.failed()), (1, None));
        assert_eq!(client.receive(at, &mut packet(&acks[0])), ChanReceived::Acknowledged(call));
    }
    let answered = reply(&mut server, serving);
    assert_eq!(receive(&mut client, &answered).0, ChanReceived::Reply(call));
}

#[test]
fn messages_of_calls_that_are_over_or_not_made_yet_are_dropped() {
    let (mut client, mut server) = pair();
    let (_, first) = request(&mut client, 0);
    let first_reply = reply_to(&mut server, &first);
    receive(&mut client, &first_reply);
    let (_, second) = request(&mut client, 0);
    assert_eq!(receive(&mut client, &first_reply).0, dropped(RpcDropReason::ChanStale));
    served(&mut server, &second);
    assert_eq!(receive(&mut server, &first).0, dropped(RpcDropReason::ChanStale));

    let mut future = first_reply;
    future[7] += 9;
    assert_eq!(receive(&mut client, &future).0, dropped(RpcDropReason::ChanFuture));
    let mut future = second;
    future[4] = 0x41;
    assert_eq!(receive(&mut server, &future).0, dropped(RpcDropReason::ChanFuture));
}

#[test]
fn a_client_that_gave_up_and_calls_again_is_served_and_the_old_reply_is_not_sent() {
    let (mut client, mut server) = pair();
    let (_, first) = request(&mut client, 0);
    let old = served(&mut server, &first);
    while let Some(at) = client.deadline() {
        client.time_passes(at);
    }
    let (call, second) = request(&mut client, 0);
    let answered = reply_to(&mut server, &second);
    assert_eq!(server.reply(old, &mut packet(b"old")), Err(ChanError::Gone));
    assert_eq!(receive(&mut client, &answered).0, ChanReceived::Reply(call));
}

#[test]
fn after_a_reboot_of_the_peer_calls_fail_and_its_own_are_forgotten() {
    let (mut client, mut server) = pair();
    let (call, sent) = request(&mut client, 0);
    let old = served(&mut server, &sent);
    client.peer_rebooted();
    assert_eq!((client.failed(), client.failed(), client.deadline()), (Some(call), None, None));

    // A client of the same numbers, whose calls have nothing to do with the old ones.
    server.peer_rebooted();
    let new = served(&mut server, &sent);
    assert_ne!(old, new);
    assert_eq!(server.reply(old, &mut packet(b"old")), Err(ChanError::Gone));
    assert!(server.reply(new, &mut packet(b"new")).is_ok());
    assert_eq!(server.reply(new, &mut packet(b"new")), Err(ChanError::Gone));
}

#[test]
fn a_peer_that_is_known_now_is_sent_the_request_at_once() {
    let mut client = pair().0;
    let (_, sent) = request(&mut client, 0);
    client.peer_learned(millis(1));
    assert_eq!(due(&mut client), [sent]);
    assert_eq!(client.deadline(), Some(millis(101)));
}

#[test]
fn sequence_numbers_wrap() {
    let mut server = pair().1;
    let (_, mut sent) = request(&mut pair().0, 0);
    for sequence in [u32::MAX - 1, u32::MAX, 0, 1] {
        sent[4..8].copy_from_slice(&sequence.to_be_bytes());
        assert_eq!(served(&mut server, &sent).sequence, sequence);
    }
}

#[test]
fn what_is_busy_missing_or_too_long_is_refused() {
    let (mut client, mut server) = pair();
    let (_, sent) = request(&mut client, 0);
    assert_eq!(client.call(T0, 0, &mut packet(b"")), Err(ChanError::Busy));
    assert_eq!(client.call(T0, 2, &mut packet(b"")), Err(ChanError::NoChannel));
    let too_long = ChanError::TooLong { length: 101, max: 100 };
    assert_eq!(client.call(T0, 1, &mut packet(&[0; 101])), Err(too_long));
    let serving = served(&mut server, &sent);
    assert_eq!(server.reply(serving, &mut packet(&[0; 101])), Err(too_long));
    assert!(server.reply(serving, &mut packet(&[0; 100])).is_ok());

    assert_eq!(receive(&mut server, &sent[..7]).0, dropped(RpcDropReason::ChanTruncated));
    let with = |at: usize, byte| {
        let mut message = sent.clone();
        message[at] = byte;
        message
    };
    assert_eq!(receive(&mut server, &with(1, 4)).0, dropped(RpcDropReason::ChanKind));
    assert_eq!(receive(&mut server, &with(3, 2)).0, dropped(RpcDropReason::ChanNoChannel));
}
