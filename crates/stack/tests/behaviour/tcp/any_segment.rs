//! For any segments, any user and any pauses: no panic, bounded memory, and an end of what is sent.

use super::peer::{MSS, SYNCHRONIZED, Scripted, config, ours, theirs};
use proptest::prelude::*;
use std::time::Duration;
use warmcore_stack::tcp::{Changes, Config, State};
use warmcore_stack::wire::tcp::{Options, Payload, Segment};

#[derive(Clone, Debug)]
enum Step {
    Arrives { segment: Segment<'static>, length: usize },
    Write(usize),
    Read(usize),
    Close,
    Abort,
    Wait,
    Pause(u64),
}

/// Segments near the beginning of both streams, where they may mean something.
fn segment() -> impl Strategy<Value = Segment<'static>> {
    let near = prop_oneof![0..6_u32, 0..9000_u32, any::<u32>()];
    let options = (any::<Option<u16>>(), any::<Option<u8>>());
    let options = options.prop_map(|(max_segment_size, window_scale)| Options {
        max_segment_size,
        window_scale,
        ..Options::default()
    });
    let flags = prop_oneof![6 => Just(""), 2 => Just("F"), 2 => Just("S"), 1 => Just("R"), 1 => Just("SFR")];
    let window = prop_oneof![Just(0), 0..3000_u16, any::<u16>()];
    let acknowledgement = prop::option::weighted(0.9, near.clone());
    (near, acknowledgement, flags, window, options).prop_map(
        |(sequence, acknowledged, flags, window, options)| Segment {
            sequence: theirs(sequence),
            acknowledgement: acknowledged.map(ours),
            syn: flags.contains('S'),
            fin: flags.contains('F'),
            reset: flags.contains('R'),
            push: false,
            window,
            options,
            payload: Payload::default(),
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let length = prop_oneof![Just(0), 0..20_usize, 0..9000_usize];
    prop_oneof![
        12 => (segment(), length).prop_map(|(segment, length)| Step::Arrives { segment, length }),
        3 => (0..9000_usize).prop_map(Step::Write),
        3 => (0..9000_usize).prop_map(Step::Read),
        1 => Just(Step::Close),
        1 => Just(Step::Abort),
        3 => Just(Step::Wait),
        1 => (0..5000_u64).prop_map(Step::Pause),
    ]
}

fn states() -> impl Strategy<Value = State> {
    let others = [State::Listen, State::SynSent, State::SynReceived];
    prop::sample::select([&others[..], &SYNCHRONIZED].concat())
}

const BYTES: &[u8] = &[9; 9000];

fn take(us: &mut Scripted, step: &Step) {
    match step {
        Step::Arrives { segment, length } => {
            us.peer(Segment { payload: Payload::from(&BYTES[..*length]), ..*segment });
        }
        Step::Write(length) => drop(us.connection.write(&BYTES[..*length])),
        Step::Read(length) => drop(us.connection.read(&mut vec![0; *length])),
        Step::Close => us.connection.close(),
        Step::Abort => us.connection.abort(),
        Step::Wait if us.connection.deadline().is_some() => drop(us.wait()),
        Step::Wait => {}
        Step::Pause(millis) => {
            us.now += Duration::from_millis(*millis);
            us.connection.time_passes(us.now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_that_arrives_breaks_a_connection(
        state in states(),
        header_prediction: bool,
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let changes = Changes { header_prediction, ..Changes::default() };
        let config = Config { changes, window_scaling: true, ..config() };
        let mut us = Scripted::in_state_with(config, state);
        for step in &steps {
            take(&mut us, step);
            let sent = us.sent();
            prop_assert!(sent.iter().all(|sent| sent.data.len() <= MSS));
            prop_assert!(us.connection.readable() <= config.receive_buffer);
            prop_assert!(us.connection.unacknowledged() <= config.send_buffer);
            prop_assert!(us.connection.state() != State::Closed || us.connection.deadline().is_none());
        }
        // A peer that is silent from now on keeps no timer running.
        let mut waits = 0;
        while us.connection.deadline().is_some() {
            us.wait();
            us.sent();
            waits += 1;
            prop_assert!(waits < 50, "{:?}", us.connection.state());
        }
    }
}
