//! A host whose TCP is ours: it drives connections over one TUN interface.

use super::faults::{Direction, Faults};
use std::time::{Duration, Instant};
use warmcore_linux::net::{ETHERNET_HEADER, FrameDevice, Tun, wait_readable};
use warmcore_stack::Flow;
use warmcore_stack::tcp::{Config, Connection, State, refuse};
use warmcore_stack::wire::tcp::{Segment, parse_frame};
use warmcore_stack::wire::{FrameBuilder, LinkKind, SequenceNumber};

/// How long anything may take: far longer than it does.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// Longest sleep, since what a test waits for need not be a frame.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);
/// Most frames received before something is sent.
const BATCH: usize = 64;
/// Our sequence numbers wrap around within a megabyte.
const INITIAL: SequenceNumber = SequenceNumber(u32::MAX - 1_000_000);

/// A connection and whose it is.
struct Endpoint {
    connection: Connection,
    port: u16,
    /// The flow of what it sends. `None` while it waits for a peer.
    flow: Option<Flow>,
    /// The window fields that we and the peer sent last.
    windows: (u16, u16),
}

/// Which of a host's connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Id(usize);

pub(crate) struct Host {
    tun: Tun,
    /// The clock of all connections starts here.
    start: Instant,
    endpoints: Vec<Endpoint>,
    /// Answers to segments that are for nobody.
    refusals: Vec<(Flow, Segment<'static>)>,
    faults: Option<Faults>,
    buffer: Vec<u8>,
}

impl Host {
    pub(crate) fn new(tun: Tun, faults: Option<Faults>) -> Self {
        let buffer = vec![0; LinkKind::Ethernet.max_frame()];
        Self { tun, start: Instant::now(), endpoints: Vec::new(), refusals: Vec::new(), faults, buffer }
    }

    /// Connects along `flow`.
    pub(crate) fn connect(&mut self, flow: Flow, config: Config) -> Id {
        self.add(Connection::connect(config, INITIAL), flow.source_port, Some(flow))
    }

    /// Listens for one connection to `port`.
    pub(crate) fn listen(&mut self, port: u16, config: Config) -> Id {
        self.add(Connection::listen(config, INITIAL), port, None)
    }

    fn add(&mut self, connection: Connection, port: u16, flow: Option<Flow>) -> Id {
        self.endpoints.push(Endpoint { connection, port, flow, windows: (0, 0) });
        Id(self.endpoints.len() - 1)
    }

    pub(crate) fn connection(&mut self, id: Id) -> &mut Connection {
        &mut self.endpoints[id.0].connection
    }

    pub(crate) fn state(&self, id: Id) -> State {
        self.endpoints[id.0].connection.state()
    }

    /// The window fields that we and the peer sent last.
    pub(crate) fn windows(&self, id: Id) -> (u16, u16) {
        self.endpoints[id.0].windows
    }

    /// Frames that suffered a fault.
    pub(crate) fn suffered(&self) -> u64 {
        self.faults.as_ref().map_or(0, |faults| faults.suffered)
    }

    /// Serves all connections until `is_so`.
    pub(crate) fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            if began.elapsed() > LIMIT {
                let states = self.endpoints.iter().map(|endpoint| endpoint.connection.state());
                panic!("not {what} within {LIMIT:?}, in {:?}", states.collect::<Vec<_>>());
            }
            self.serve();
        }
        self.transmit();
    }

    /// Serves all connections for some time.
    pub(crate) fn serve_for(&mut self, time: Duration) {
        let began = Instant::now();
        self.until("over", |_| began.elapsed() > time);
    }

    /// Sends what is due; then receives what is there, or sleeps until something happens.
    pub(crate) fn serve(&mut self) {
        self.transmit();
        if self.receive() == 0 {
            let sleep = self.next_time().map_or(LONGEST_SLEEP, |at| at.saturating_sub(self.start.elapsed()));
            wait_readable(&[self.tun.descriptor()], Some(sleep.min(LONGEST_SLEEP))).unwrap();
            self.receive();
        }
        self.tun.check().unwrap();
        let now = self.start.elapsed();
        self.endpoints.iter_mut().for_each(|endpoint| endpoint.connection.time_passes(now));
    }

    /// When something is due without a frame.
    fn next_time(&self) -> Option<Duration> {
        let deadlines = self.endpoints.iter().filter_map(|endpoint| endpoint.connection.deadline());
        deadlines.chain(self.faults.as_ref().and_then(Faults::next_time)).min()
    }

    fn receive(&mut self) -> usize {
        let now = self.start.elapsed();
        let Self { tun, endpoints, refusals, faults, .. } = self;
        let Some(faults) = faults else {
            return tun.receive(BATCH, |frame| arrives(endpoints, refusals, now, frame.bytes));
        };
        tun.receive(BATCH, |frame| faults.take(Direction::In, now, frame.bytes, ETHERNET_HEADER));
        let mut received = 0;
        while let Some(frame) = faults.next(Direction::In, now) {
            arrives(endpoints, refusals, now, &frame);
            received += 1;
        }
        received
    }

    fn transmit(&mut self) {
        let now = self.start.elapsed();
        let Self { tun, endpoints, refusals, faults, buffer, .. } = self;
        let mut send = |flow, segment: &Segment<'_>| {
            let builder = FrameBuilder::new(LinkKind::Ethernet, flow);
            let frame = builder.write_segment(segment, buffer).expect("a segment fits its frame");
            match faults {
                None => tun.send(frame).unwrap(),
                Some(faults) => faults.take(Direction::Out, now, frame, ETHERNET_HEADER),
            }
        };
        for endpoint in endpoints {
            let Some(flow) = endpoint.flow else { continue };
            while let Some(segment) = endpoint.connection.transmit(now) {
                endpoint.windows.0 = segment.window;
                send(flow, &segment);
            }
            if endpoint.connection.state() == State::Listen {
                endpoint.flow = None;
            }
        }
        refusals.drain(..).for_each(|(flow, segment)| send(flow, &segment));
        while let Some(frame) = faults.as_mut().and_then(|faults| faults.next(Direction::Out, now)) {
            tun.send(&frame).unwrap();
        }
    }
}

/// A frame arrives: its segment goes to its connection, or is refused.
fn arrives(
    endpoints: &mut [Endpoint],
    refusals: &mut Vec<(Flow, Segment<'static>)>,
    now: Duration,
    frame: &[u8],
) {
    // What is not TCP, or spoilt, is nothing.
    let Ok((flow, segment)) = parse_frame(LinkKind::Ethernet, frame) else { return };
    let answer = flow.reversed();
    let is_for = |endpoint: &&mut Endpoint| {
        let is_open = endpoint.connection.state() != State::Closed;
        is_open && endpoint.port == flow.destination_port && endpoint.flow.is_none_or(|own| own == answer)
    };
    if let Some(endpoint) = endpoints.iter_mut().find(is_for) {
        endpoint.flow = Some(answer);
        endpoint.windows.1 = segment.window;
        endpoint.connection.arrives(now, &segment);
    } else if let Some(reset) = refuse(&segment) {
        refusals.push((answer, reset));
    }
}
