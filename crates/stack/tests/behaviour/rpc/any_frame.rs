//! Frames that no peer would send: no panic, no growth, and an end. The twin of the fuzz target `rpc_frames`.

use super::drivers::{boot, bytes, millis, packet};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::HashSet;
use std::time::Duration;
use warmcore_stack::rpc::{
    Bid, Blast, BlastConfig, Chan, ChanConfig, Config, Endpoint, Event, Mselect, ServedCall,
};

const PROCEDURES: [u16; 2] = [1, 2];

fn endpoint(id: u32) -> Endpoint {
    Endpoint::new(Config::with_sizes(600, 4000), boot(id), &PROCEDURES)
}

fn frames(endpoint: &mut Endpoint, now: Duration) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Some(frame) = endpoint.transmit(now) {
        frames.push(frame.to_vec());
    }
    frames
}

fn pass(from: &mut Endpoint, to: &mut Endpoint, seen: &mut Vec<Vec<u8>>) {
    for frame in frames(from, Duration::ZERO) {
        to.arrives(Duration::ZERO, &frame).ok();
        seen.push(frame);
    }
}

fn called(server: &mut Endpoint) -> Option<(ServedCall, usize)> {
    match server.event() {
        Some(Event::Called { call, request, .. }) => Some((call, request.len())),
        _ => None,
    }
}

/// Two peers in the middle of calls, and frames of every kind that they have sent each other.
fn in_conversation() -> (Endpoint, Endpoint, Vec<Vec<u8>>) {
    let (mut client, mut server) = (endpoint(1), endpoint(9));
    let mut seen = Vec::new();
    for length in [0, 10, 3000] {
        client.call(Duration::ZERO, 1, &bytes(length)).expect("a channel is free");
        for _ in 0..3 {
            pass(&mut client, &mut server, &mut seen);
            if let Some((call, length)) = called(&mut server) {
                server.reply(call, &bytes(length)).expect("the client waits");
            }
            pass(&mut server, &mut client, &mut seen);
        }
        assert!(client.event().is_some(), "{length} bytes");
    }
    // One that is not replied to, which is acknowledged, and one with a fragment missing.
    client.call(Duration::ZERO, 2, b"slow").expect("a channel is free");
    pass(&mut client, &mut server, &mut seen);
    called(&mut server).expect("the call has arrived");
    client.call(Duration::ZERO, 2, &bytes(3000)).expect("a channel is free");
    for frame in frames(&mut client, Duration::ZERO).iter().skip(1) {
        server.arrives(Duration::ZERO, frame).ok();
    }
    server.time_passes(millis(60));
    seen.extend(frames(&mut server, millis(60)));
    (client, server, seen)
}

/// A silent peer keeps no timer running.
fn comes_to_rest(endpoint: &mut Endpoint) {
    let mut waits = 0;
    while let Some(at) = endpoint.deadline() {
        endpoint.time_passes(at);
        frames(endpoint, at);
        waits += 1;
        assert!(waits < 1000);
    }
}

/// What an endpoint may still do after anything has arrived.
fn goes_on(endpoint: &mut Endpoint) {
    let mut events = 0;
    while endpoint.event().is_some() {
        events += 1;
        assert!(events < 100);
    }
    assert!(frames(endpoint, Duration::ZERO).len() < 100);
}

#[test]
fn every_truncation_of_every_frame_is_dropped_or_understood() {
    let (mut client, mut server, seen) = in_conversation();
    let kinds: HashSet<_> = seen.iter().map(|frame| (frame[1], frame.get(19))).collect();
    assert!(kinds.len() > 3, "{kinds:?}");
    for length in seen.iter().flat_map(|frame| (0..frame.len()).map(move |length| &frame[..length])) {
        client.arrives(Duration::ZERO, length).ok();
        server.arrives(Duration::ZERO, length).ok();
    }
    for endpoint in [&mut client, &mut server] {
        goes_on(endpoint);
        comes_to_rest(endpoint);
    }
}

#[test]
fn every_flipped_bit_of_every_frame_is_dropped_or_understood() {
    let (mut client, mut server, seen) = in_conversation();
    for frame in &seen {
        // The headers, and a little of what follows.
        for bit in 0..frame.len().min(48) * 8 {
            let mut frame = frame.clone();
            frame[bit / 8] ^= 1 << (bit % 8);
            for endpoint in [&mut client, &mut server] {
                endpoint.arrives(Duration::ZERO, &frame).ok();
                goes_on(endpoint);
            }
        }
    }
    comes_to_rest(&mut client);
    comes_to_rest(&mut server);
}

/// What may happen to an endpoint.
#[derive(Clone, Debug)]
enum Step {
    /// One of the frames of a conversation, with some bytes changed, and cut or extended.
    Frame {
        which: Index,
        edits: Vec<(Index, u8)>,
        length: Option<u16>,
    },
    Bytes(Vec<u8>),
    Call(u16, usize),
    Reply(usize),
    Pause(u64),
    Transmit,
}

fn step() -> impl Strategy<Value = Step> {
    let edits = prop::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    let length = prop::option::weighted(0.2, 0..700_u16);
    prop_oneof![
        12 => (any::<Index>(), edits, length)
            .prop_map(|(which, edits, length)| Step::Frame { which, edits, length }),
        2 => prop::collection::vec(any::<u8>(), 0..80).prop_map(Step::Bytes),
        2 => (0..4_u16, 0..5000_usize).prop_map(|(procedure, length)| Step::Call(procedure, length)),
        2 => (0..5000_usize).prop_map(Step::Reply),
        2 => (0..3000_u64).prop_map(Step::Pause),
        2 => Just(Step::Transmit),
    ]
}

fn edited(frame: &[u8], edits: &[(Index, u8)], length: Option<u16>) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for (at, byte) in edits {
        // Headers, mostly.
        let at = at.index(frame.len().min(44));
        frame[at] = *byte;
    }
    if let Some(length) = length {
        frame.resize(length.into(), 0);
    }
    frame
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn nothing_that_arrives_breaks_an_endpoint(is_client: bool, steps in prop::collection::vec(step(), 1..60)) {
        let (client, server, seen) = in_conversation();
        let mut endpoint = if is_client { client } else { server };
        let mut now = Duration::ZERO;
        for step in &steps {
            match step {
                Step::Frame { which, edits, length } => {
                    let frame = edited(&seen[which.index(seen.len())], edits, *length);
                    endpoint.arrives(now, &frame).ok();
                }
                Step::Bytes(bytes) => drop(endpoint.arrives(now, bytes)),
                Step::Call(procedure, length) => drop(endpoint.call(now, *procedure, &bytes(*length))),
                Step::Reply(length) => {
                    while let Some(event) = endpoint.event() {
                        if let Event::Called { call, request, .. } = event {
                            prop_assert!(request.len() <= 4096);
                            endpoint.reply(call, &bytes(*length)).ok();
                        }
                    }
                }
                Step::Pause(millis) => {
                    now += Duration::from_millis(*millis);
                    endpoint.time_passes(now);
                }
                Step::Transmit => {
                    prop_assert!(frames(&mut endpoint, now).iter().all(|frame| frame.len() <= 600));
                }
            }
        }
        frames(&mut endpoint, now);
        comes_to_rest(&mut endpoint);
    }

    #[test]
    fn any_bytes_in_any_packet_break_no_layer(
        given in prop::collection::vec(any::<u8>(), 0..100),
        headroom in 0..20_usize,
        room in 0..20_usize,
    ) {
        let tight = || {
            let mut packet = warmcore_stack::Packet::with_capacity(headroom, given.len() + room);
            packet.append(&given).expect("the packet has room");
            packet
        };
        for mut message in [tight(), packet(&given)] {
            let mut blast = Blast::new(BlastConfig { mtu: 0, kept: 1, reassemblies: 0, ..BlastConfig::default() }, 0);
            let _ = blast.receive(Duration::ZERO, &mut message);
            let _ = blast.send(&mut message);
            blast.transmit(Duration::ZERO, &mut message);
        }
        for mut message in [tight(), packet(&given)] {
            let mut chan = Chan::new(ChanConfig { channels: 0, max_message: 50, ..ChanConfig::default() });
            let _ = chan.receive(Duration::ZERO, &mut message);
            let _ = chan.receive(Duration::ZERO, &mut message);
            let _ = chan.call(Duration::ZERO, 0, &mut message);
            chan.time_passes(Duration::MAX);
            chan.transmit(&mut message);
        }
        for mut message in [tight(), packet(&given)] {
            let mut bid = Bid::new(boot(1));
            let _ = bid.receive(&mut message);
            let _ = bid.send(&mut message);
        }
        for mut message in [tight(), packet(&given)] {
            let mselect = Mselect::new(&PROCEDURES);
            let _ = mselect.receive_call(&mut message);
            let _ = mselect.call(1, &mut message);
            let _ = mselect.receive_reply(&mut message);
        }
    }
}
