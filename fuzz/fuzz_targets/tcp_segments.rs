//! A TCP connection in any state: two real ones talk, and in between one of them receives segments of
//! any bytes.
//!
//! The bytes are combined by exclusive or with the last segment that the peer sent, so that zeros are a
//! valid segment and the fuzzer starts inside the window.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use warmcore_stack::Flow;
use warmcore_stack::tcp::{Changes, Config, Connection, refuse};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp;

/// Most waits until a connection whose peer is silent is over or has nothing to do.
const MOST_WAITS: u32 = 100;
const BYTES: &[u8] = &[9; 9000];

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    is_passive: bool,
    scales: bool,
    changes: (bool, bool),
    steps: Vec<Step<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// A segment of any bytes arrives. Its data is so much longer.
    Segment(&'a [u8], u16),
    /// The users act.
    Ours(Action),
    Theirs(Action),
    /// Both sides send what they have.
    Exchange,
    /// Only ours does, and all is lost.
    Lose,
    Pause(u16),
}

#[derive(Arbitrary, Debug)]
enum Action {
    Write(u16),
    Read(u16),
    Close,
    Abort,
}

struct Pair {
    config: Config,
    ours: Connection,
    theirs: Connection,
    /// The last segment that the peer sent.
    last: Vec<u8>,
    now: Duration,
}

fuzz_target!(|input: Input<'_>| {
    let mut pair = Pair::new(&input);
    for step in &input.steps {
        pair.take(step);
        assert!(pair.ours.readable() <= pair.config.receive_buffer);
        assert!(pair.ours.unacknowledged() <= pair.config.send_buffer);
    }
    pair.comes_to_rest();
});

impl Pair {
    fn new(input: &Input<'_>) -> Self {
        let config = Config {
            send_buffer: 8000,
            receive_buffer: 8000,
            window_scaling: input.scales,
            changes: Changes { avoid_division: input.changes.0, header_prediction: input.changes.1 },
            ..Config::default()
        };
        let (listen, connect) = (Connection::listen, Connection::connect);
        let open = if input.is_passive { [listen, connect] } else { [connect, listen] };
        let [ours, theirs] =
            [open[0](config, SequenceNumber(1000)), open[1](config, SequenceNumber(u32::MAX - 9))];
        Self { config, ours, theirs, last: vec![0; tcp::HEADER], now: Duration::ZERO }
    }

    fn take(&mut self, step: &Step<'_>) {
        match step {
            Step::Segment(edits, more) => self.arrives(edits, usize::from(more % 2000)),
            Step::Ours(action) => act(&mut self.ours, action),
            Step::Theirs(action) => act(&mut self.theirs, action),
            Step::Exchange => self.exchange(),
            Step::Lose => self.lose(),
            Step::Pause(millis) => {
                self.now += Duration::from_millis((*millis).into());
                self.ours.time_passes(self.now);
                self.theirs.time_passes(self.now);
            }
        }
    }

    fn arrives(&mut self, edits: &[u8], more: usize) {
        let mut bytes = self.last.clone();
        bytes.resize(bytes.len().max(edits.len()) + more, 0);
        for (byte, edit) in bytes.iter_mut().zip(edits) {
            *byte ^= edit;
        }
        let Ok(parsed) = tcp::parse(&bytes) else { return };
        let _ = refuse(&parsed.segment);
        self.ours.arrives(self.now, &parsed.segment);
    }

    fn exchange(&mut self) {
        while let Some(segment) = self.ours.transmit(self.now) {
            self.theirs.arrives(self.now, &segment);
        }
        let flow = Flow::synthetic(1);
        while let Some(segment) = self.theirs.transmit(self.now) {
            let mut buffer = [0; 2048];
            self.last = segment.write(&flow, &mut buffer).expect("a segment of the link's size").to_vec();
            self.ours.arrives(self.now, &segment);
        }
    }

    fn lose(&mut self) {
        while self.ours.transmit(self.now).is_some() {}
    }

    /// A peer that is silent from now on keeps no timer running.
    fn comes_to_rest(&mut self) {
        self.lose();
        let mut waits = 0;
        while let Some(at) = self.ours.deadline() {
            self.now = self.now.max(at);
            self.ours.time_passes(self.now);
            self.lose();
            waits += 1;
            assert!(waits < MOST_WAITS, "{:?}", self.ours.state());
        }
    }
}

fn act(connection: &mut Connection, action: &Action) {
    match action {
        Action::Write(length) => drop(connection.write(&BYTES[..usize::from(*length) % BYTES.len()])),
        Action::Read(length) => drop(connection.read(&mut vec![0; (*length).into()])),
        Action::Close => connection.close(),
        Action::Abort => connection.abort(),
    }
}
