//! Whole endpoints: what a user sees.

use super::drivers::{boot, bytes, millis};
use std::time::Duration;
use warmcore_stack::rpc::{
    CallError, Config, Endpoint, Event, Failure, MselectFailure, ReplyError, RpcDropReason, ServedCall,
};

const T0: Duration = Duration::ZERO;
const LONGEST: usize = 16 * 1024;

fn endpoint(id: u32, procedures: &[u16]) -> Endpoint {
    Endpoint::new(Config::default(), boot(id), procedures)
}

/// Passes all frames of one side, and returns how many there were.
fn pass(now: Duration, from: &mut Endpoint, to: &mut Endpoint) -> usize {
    let mut frames = 0;
    while let Some(frame) = from.transmit(now) {
        assert_eq!(to.arrives(now, frame), Ok(()));
        frames += 1;
    }
    frames
}

fn called(server: &mut Endpoint) -> (ServedCall, Vec<u8>) {
    match server.event() {
        Some(Event::Called { call, request, .. }) => (call, request.to_vec()),
        other => panic!("{other:?}"),
    }
}

/// A client that has made its first call reaches its server: the request, the notice that refuses it, the
/// request again.
fn acquaints(client: &mut Endpoint, server: &mut Endpoint) {
    assert_eq!(pass(T0, client, server), 1);
    assert_eq!(pass(T0, server, client), 1);
    assert_eq!(pass(T0, client, server), 1);
}

/// Peers that know each other.
fn acquainted() -> (Endpoint, Endpoint) {
    let (mut client, mut server) = (endpoint(1, &[]), endpoint(9, &[40, 41]));
    client.call(T0, 40, b"").expect("a channel is free");
    acquaints(&mut client, &mut server);
    let (call, request) = called(&mut server);
    assert!(request.is_empty());
    server.reply(call, b"").expect("the client waits");
    assert_eq!(pass(T0, &mut server, &mut client), 1);
    assert!(matches!(client.event(), Some(Event::Replied { results: b"", .. })));
    (client, server)
}

#[test]
fn an_empty_call_and_its_reply_are_one_frame_each() {
    let (mut client, mut server) = acquainted();
    for _ in 0..3 {
        let call = client.call(T0, 41, b"").expect("a channel is free");
        assert_eq!(client.transmit(T0).map(<[u8]>::len), Some(40));
        assert_eq!(client.transmit(T0), None);
        client.time_passes(millis(100));
        assert_eq!(pass(T0, &mut client, &mut server), 1);
        let (serving, _) = called(&mut server);
        server.reply(serving, b"").expect("the client waits");
        assert_eq!(pass(T0, &mut server, &mut client), 1);
        assert_eq!(client.event(), Some(Event::Replied { call, results: b"" }));
    }
    assert_eq!((client.deadline(), server.deadline()), (None, None));
}

#[test]
fn the_longest_message_arrives_and_a_longer_one_is_refused() {
    let (mut client, mut server) = acquainted();
    assert_eq!((client.max_message(), server.max_message()), (LONGEST, LONGEST));
    let too_long = (LONGEST + 1, LONGEST);
    let refused = client.call(T0, 40, &bytes(LONGEST + 1));
    assert_eq!(refused, Err(CallError::TooLong { length: too_long.0, max: too_long.1 }));
    let call = client.call(T0, 40, &bytes(LONGEST)).expect("it fits");
    assert_eq!(pass(T0, &mut client, &mut server), 12);
    let (serving, request) = called(&mut server);
    assert_eq!(request, bytes(LONGEST));
    let refused = server.reply(serving, &bytes(LONGEST + 1));
    assert_eq!(refused, Err(ReplyError::TooLong { length: too_long.0, max: too_long.1 }));
    server.reply(serving, &bytes(LONGEST)).expect("it fits");
    assert_eq!(pass(T0, &mut server, &mut client), 12);
    assert_eq!(client.event(), Some(Event::Replied { call, results: &bytes(LONGEST) }));
}

#[test]
fn a_call_needs_a_channel_until_its_end_was_seen() {
    let (mut client, mut server) = acquainted();
    for _ in 0..8 {
        client.call(T0, 40, b"").expect("a channel is free");
    }
    assert_eq!(client.call(T0, 40, b""), Err(CallError::NoneFree));
    pass(T0, &mut client, &mut server);
    let (serving, _) = called(&mut server);
    server.reply(serving, b"").expect("the client waits");
    pass(T0, &mut server, &mut client);
    assert_eq!(client.call(T0, 40, b""), Err(CallError::NoneFree));
    assert!(client.event().is_some());
    assert!(client.call(T0, 40, b"").is_ok());
}

#[test]
fn an_unknown_procedure_fails_and_the_server_sees_nothing() {
    let (mut client, mut server) = acquainted();
    let call = client.call(T0, 99, b"arguments").expect("a channel is free");
    pass(T0, &mut client, &mut server);
    assert_eq!(server.event(), None);
    pass(T0, &mut server, &mut client);
    let failure = Failure::Refused(MselectFailure::UnknownProcedure);
    assert_eq!(client.event(), Some(Event::Failed { call, failure }));
}

#[test]
fn a_server_that_reboots_serves_no_call_again_that_it_may_have_served() {
    let (mut client, mut server) = acquainted();
    let call = client.call(T0, 40, b"once").expect("a channel is free");
    pass(T0, &mut client, &mut server);
    called(&mut server);
    let mut server = endpoint(10, &[40]);
    client.time_passes(millis(100));
    assert_eq!(pass(T0, &mut client, &mut server), 1);
    assert_eq!(server.event(), None);
    assert_eq!(pass(T0, &mut server, &mut client), 1);
    assert_eq!(client.event(), Some(Event::PeerRebooted));
    assert_eq!(client.event(), Some(Event::Failed { call, failure: Failure::PeerRebooted }));
    // The next call finds the new incarnation.
    client.call(T0, 40, b"new").expect("a channel is free");
    assert_eq!(pass(T0, &mut client, &mut server), 1);
    assert_eq!(called(&mut server).1, b"new");
}

#[test]
fn a_client_that_reboots_has_no_replies_to_its_old_calls() {
    let (mut client, mut server) = acquainted();
    client.call(T0, 40, b"old").expect("a channel is free");
    pass(T0, &mut client, &mut server);
    let (old, _) = called(&mut server);
    let mut client = endpoint(2, &[]);
    client.call(T0, 40, b"new").expect("a channel is free");
    acquaints(&mut client, &mut server);
    assert_eq!(server.event(), Some(Event::PeerRebooted));
    assert_eq!(server.reply(old, b"old"), Err(ReplyError::Gone));
}

#[test]
fn an_incarnation_with_the_boot_id_of_an_earlier_one_is_taken_for_it() {
    // The limit that `BootId` states: the server cannot tell the first calls of both apart.
    let (_, mut server) = acquainted();
    let mut client = endpoint(1, &[]);
    let call = client.call(T0, 40, b"other").expect("a channel is free");
    acquaints(&mut client, &mut server);
    assert_eq!(server.event(), None, "it is not served");
    pass(T0, &mut server, &mut client);
    assert_eq!(client.event(), Some(Event::Replied { call, results: b"" }), "the reply to the earlier call");
}

#[test]
fn a_call_of_an_incarnation_that_is_gone_is_not_served() {
    let (mut client, mut server) = acquainted();
    client.call(T0, 40, b"old").expect("a channel is free");
    pass(T0, &mut client, &mut server);
    let mut client = endpoint(2, &[]);
    client.call(T0, 41, b"new").expect("a channel is free");
    acquaints(&mut client, &mut server);
    assert_eq!(server.event(), Some(Event::PeerRebooted));
    assert_eq!(called(&mut server).1, b"new");
    assert_eq!(server.event(), None);
}

#[test]
fn a_call_that_its_client_has_given_up_is_not_served_after_the_next() {
    for procedure in [40, 99] {
        let (mut client, mut server) = acquainted();
        client.call(T0, 40, b"old").expect("a channel is free");
        pass(T0, &mut client, &mut server);
        while let Some(at) = client.deadline() {
            client.time_passes(at);
        }
        assert!(matches!(client.event(), Some(Event::Failed { failure: Failure::TimedOut, .. })));
        client.call(T0, procedure, b"new").expect("a channel is free");
        pass(T0, &mut client, &mut server);
        match server.event() {
            Some(Event::Called { request, .. }) => assert_eq!((procedure, request), (40, &b"new"[..])),
            other => assert_eq!((procedure, other), (99, None)),
        }
        assert_eq!(server.event(), None);
    }
}

#[test]
fn a_silent_peer_lets_every_call_fail() {
    let mut client = endpoint(1, &[]);
    let call = client.call(T0, 40, &bytes(5000)).expect("a channel is free");
    while let Some(at) = client.deadline() {
        client.time_passes(at);
        while client.transmit(at).is_some() {}
    }
    assert_eq!(client.event(), Some(Event::Failed { call, failure: Failure::TimedOut }));
    assert_eq!(client.event(), None);
}

/// Frames of a client, which one that does not know the server's boot id could have forged.
fn frames_of(id: u32) -> Vec<Vec<u8>> {
    let mut forger = endpoint(id, &[]);
    forger.call(T0, 40, b"").expect("a channel is free");
    let mut frames = Vec::new();
    while let Some(frame) = forger.transmit(T0) {
        frames.push(frame.to_vec());
    }
    frames
}

#[test]
fn a_forged_boot_id_does_not_displace_the_peer() {
    let (mut client, mut server) = acquainted();
    let call = client.call(T0, 40, b"real").expect("a channel is free");
    for frame in frames_of(u32::MAX) {
        assert_eq!(server.arrives(T0, &frame), Ok(()));
        client.arrives(T0, &frame).ok();
    }
    // The notices that answer are for nobody.
    while let Some(frame) = server.transmit(T0) {
        assert_eq!(client.arrives(T0, frame), Err(RpcDropReason::BidOtherIncarnation));
    }
    while let Some(frame) = client.transmit(T0) {
        server.arrives(T0, frame).ok();
    }
    let (serving, request) = called(&mut server);
    assert_eq!(request, b"real");
    server.reply(serving, b"done").expect("the client waits");
    pass(T0, &mut server, &mut client);
    assert_eq!(client.event(), Some(Event::Replied { call, results: b"done" }));
    assert_eq!((client.event(), server.event()), (None, None));
}

#[test]
fn a_first_frame_that_comes_back_does_not_lock_the_peer_out() {
    let (mut client, mut server) = (endpoint(9, &[]), endpoint(1, &[40]));
    client.call(T0, 40, b"first").expect("a channel is free");
    let frame = client.transmit(T0).expect("the request").to_vec();
    assert_eq!(client.arrives(T0, &frame), Ok(()), "it may be a stranger's, who is told so");
    while let Some(notice) = client.transmit(T0) {
        assert!(server.arrives(T0, notice).is_err());
    }
    server.arrives(T0, &frame).expect("it is answered");
    pass(T0, &mut server, &mut client);
    pass(T0, &mut client, &mut server);
    assert_eq!(called(&mut server).1, b"first");
}

#[test]
fn a_frame_longer_than_any_message_is_dropped() {
    assert_eq!(endpoint(1, &[]).arrives(T0, &bytes(70_000)), Err(RpcDropReason::Oversized));
}
