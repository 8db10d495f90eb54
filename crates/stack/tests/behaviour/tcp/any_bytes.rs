//! For any bytes in place of a segment, in any state: no panic, and nothing beyond the buffers. The twin of
//! the fuzz target `tcp_segments`.

use super::peer::{SYNCHRONIZED, Scripted, config, ours, theirs};
use proptest::prelude::*;
use proptest::sample::Index;
use std::time::Duration;
use warmcore_stack::Flow;
use warmcore_stack::tcp::{State, refuse};
use warmcore_stack::wire::tcp::{HEADER, Payload, Segment, parse};

/// A segment in the window, with some bytes changed and a length of its own, or any bytes.
#[derive(Clone, Debug)]
enum Bytes {
    Edited { data: usize, edits: Vec<(Index, u8)>, length: Option<Index> },
    Any(Vec<u8>),
}

fn bytes() -> impl Strategy<Value = Bytes> {
    let edits = prop::collection::vec((any::<Index>(), any::<u8>()), 0..5);
    let length = prop::option::weighted(0.2, any::<Index>());
    prop_oneof![
        8 => (0..1500_usize, edits, length).prop_map(|(data, edits, length)| Bytes::Edited { data, edits, length }),
        1 => prop::collection::vec(any::<u8>(), 0..100).prop_map(Bytes::Any),
    ]
}

impl Bytes {
    fn written(&self, offset: u32) -> Vec<u8> {
        let (data, edits, length) = match self {
            Self::Edited { data, edits, length } => (data, edits, length),
            Self::Any(bytes) => return bytes.clone(),
        };
        let segment = Segment {
            sequence: theirs(offset),
            acknowledgement: Some(ours(1)),
            window: 5000,
            payload: Payload::from(&[3; 1500][..*data]),
            ..Segment::default()
        };
        let mut buffer = [0; 2048];
        let mut bytes = segment.write(&Flow::synthetic(1), &mut buffer).expect("it fits").to_vec();
        for (at, byte) in edits {
            bytes[at.index(HEADER)] = *byte;
        }
        if let Some(length) = length {
            bytes.truncate(length.index(bytes.len() + 1));
        }
        bytes
    }
}

fn states() -> impl Strategy<Value = State> {
    let others = [State::Listen, State::SynSent, State::SynReceived];
    prop::sample::select([&others[..], &SYNCHRONIZED].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_bytes_break_a_connection(
        state in states(),
        steps in prop::collection::vec((bytes(), 0..3_u32, 0..400_u64), 1..30),
    ) {
        let config = config();
        let mut us = Scripted::in_state_with(config, state);
        for (bytes, action, pause) in &steps {
            if let Ok(parsed) = parse(&bytes.written(1)) {
                let _ = refuse(&parsed.segment);
                us.connection.arrives(us.now, &parsed.segment);
            }
            match action {
                0 => drop(us.connection.write(&[7; 2000])),
                1 => drop(us.connection.read(&mut [0; 2000])),
                _ => {}
            }
            us.now += Duration::from_millis(*pause);
            us.connection.time_passes(us.now);
            us.sent();
            prop_assert!(us.connection.readable() <= config.receive_buffer);
            prop_assert!(us.connection.unacknowledged() <= config.send_buffer);
        }
    }
}
