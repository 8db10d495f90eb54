//! A connection whose peer is the test: every segment of the peer is written out.
//!
//! The sequence numbers of both sides wrap around within the first bytes.

use std::time::Duration;
use warmcore_stack::tcp::{Config, Connection, State};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp::{Options, Payload, Segment};

/// The window that the peer announces.
pub(super) const WINDOW: u16 = 10_000;

/// The largest segment of both sides.
pub(super) const MSS: usize = 1000;

/// The states in which both sides have seen a SYN of the other, and its acknowledgement.
pub(super) const SYNCHRONIZED: [State; 7] = [
    State::Established,
    State::FinWait1,
    State::FinWait2,
    State::CloseWait,
    State::Closing,
    State::LastAck,
    State::TimeWait,
];

/// Our `offset`-th sequence number: 0 is that of the SYN.
pub(super) fn ours(offset: u32) -> SequenceNumber {
    SequenceNumber(u32::MAX - 1) + offset
}

/// The peer's `offset`-th sequence number.
pub(super) fn theirs(offset: u32) -> SequenceNumber {
    SequenceNumber(u32::MAX) + offset
}

pub(super) fn config() -> Config {
    Config {
        max_segment_size: MSS as u16,
        send_buffer: 20_000,
        receive_buffer: 8000,
        window_scaling: false,
        nagle: false,
        ..Config::default()
    }
}

/// A segment that was sent, with its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    pub(super) sequence: SequenceNumber,
    pub(super) acknowledgement: Option<SequenceNumber>,
    /// S, F and R for the flags.
    pub(super) flags: String,
    pub(super) window: u16,
    pub(super) options: Options,
    pub(super) data: Vec<u8>,
}

impl From<Segment<'_>> for Sent {
    fn from(segment: Segment<'_>) -> Self {
        let flags = [(segment.syn, 'S'), (segment.fin, 'F'), (segment.reset, 'R')];
        Self {
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            flags: flags.into_iter().filter(|flag| flag.0).map(|flag| flag.1).collect(),
            window: segment.window,
            options: segment.options,
            data: segment.payload.pieces().concat(),
        }
    }
}

pub(super) struct Scripted {
    pub(super) connection: Connection,
    pub(super) now: Duration,
}

impl Scripted {
    pub(super) fn connect(config: Config) -> Self {
        Self { connection: Connection::connect(config, ours(0)), now: Duration::ZERO }
    }

    pub(super) fn listen(config: Config) -> Self {
        Self { connection: Connection::listen(config, ours(0)), now: Duration::ZERO }
    }

    /// An established connection, nothing of which is unacknowledged.
    pub(super) fn established(config: Config) -> Self {
        let mut us = Self::connect(config);
        us.sent();
        us.peer(Segment { sequence: theirs(0), ..syn(Some(1)) });
        assert_eq!(us.flags(), [""]);
        assert_eq!(us.connection.state(), State::Established);
        us
    }

    /// A connection in `state`. Where we have closed, our FIN is 1; where the peer has, its FIN is 1.
    pub(super) fn in_state(state: State) -> Self {
        Self::in_state_with(config(), state)
    }

    /// The same, of another configuration.
    pub(super) fn in_state_with(config: Config, state: State) -> Self {
        let mut us = match state {
            State::Closed | State::Listen | State::SynReceived => Self::listen(config),
            State::SynSent => Self::connect(config),
            _ => Self::established(config),
        };
        match state {
            State::Closed => us.connection.close(),
            State::SynReceived => us.peer(syn(None)),
            State::FinWait1 => us.connection.close(),
            State::FinWait2 => us.closes_and(|us| us.peer(ack(1, 2))),
            State::CloseWait => us.peer(fin(1, 1)),
            State::Closing => us.closes_and(|us| us.peer(fin(1, 1))),
            State::TimeWait => us.closes_and(|us| us.peer(fin(1, 2))),
            State::LastAck => {
                us.peer(fin(1, 1));
                us.connection.close();
            }
            State::Listen | State::SynSent | State::Established => {}
        }
        us.sent();
        assert_eq!(us.connection.state(), state);
        us
    }

    fn closes_and(&mut self, then: impl FnOnce(&mut Self)) {
        self.connection.close();
        assert_eq!(self.flags(), ["F"]);
        then(self);
    }

    /// The peer's segment arrives.
    pub(super) fn peer(&mut self, segment: Segment<'_>) {
        self.connection.arrives(self.now, &segment);
    }

    /// All that is sent now.
    pub(super) fn sent(&mut self) -> Vec<Sent> {
        let mut all = Vec::new();
        while let Some(segment) = self.connection.transmit(self.now) {
            all.push(segment.into());
            assert!(all.len() < 1000, "sends without end");
        }
        all
    }

    /// The flags of all that is sent now.
    pub(super) fn flags(&mut self) -> Vec<String> {
        self.sent().into_iter().map(|sent| sent.flags).collect()
    }

    /// Time passes until the connection wants to be told; returns how long.
    pub(super) fn wait(&mut self) -> Duration {
        let before = self.now;
        self.now = self.connection.deadline().expect("something is due");
        self.connection.time_passes(self.now);
        self.now - before
    }

    /// Lets the user write `length` bytes, and checks that they are taken.
    pub(super) fn write(&mut self, length: usize) {
        assert_eq!(self.connection.write(&vec![7; length]), Ok(length));
    }

    /// Lets the user read at most `length` bytes.
    pub(super) fn read(&mut self, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        let length = self.connection.read(&mut buffer).expect("the connection was not reset");
        buffer.truncate(length);
        buffer
    }
}

/// The peer's SYN, with an acknowledgement of our first `acknowledged` sequence numbers.
pub(super) fn syn(acknowledged: Option<u32>) -> Segment<'static> {
    let options = Options { max_segment_size: Some(MSS as u16), ..Options::default() };
    let acknowledgement = acknowledged.map(ours);
    Segment { sequence: theirs(0), acknowledgement, syn: true, window: WINDOW, options, ..Segment::default() }
}

/// A segment of the peer's at its `sequence`, that acknowledges our first `acknowledged`.
pub(super) fn ack(sequence: u32, acknowledged: u32) -> Segment<'static> {
    Segment {
        sequence: theirs(sequence),
        acknowledgement: Some(ours(acknowledged)),
        window: WINDOW,
        ..Segment::default()
    }
}

pub(super) fn fin(sequence: u32, acknowledged: u32) -> Segment<'static> {
    Segment { fin: true, ..ack(sequence, acknowledged) }
}

pub(super) fn data(sequence: u32, acknowledged: u32, data: &[u8]) -> Segment<'_> {
    Segment { payload: Payload::from(data), ..ack(sequence, acknowledged) }
}

pub(super) fn reset(sequence: u32) -> Segment<'static> {
    Segment { sequence: theirs(sequence), reset: true, ..Segment::default() }
}
