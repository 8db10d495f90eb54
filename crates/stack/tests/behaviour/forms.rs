//! All forms of the stack side by side, with the same streams and fed the same frames.

use std::cell::Cell;
use warmcore_stack::wire::{LinkKind, classify};
use warmcore_stack::{
    Config, Counters, DropReason, Flow, Home, IndependentStacks, LockingStack, Pool, References, SerialStack,
};
use warmcore_units::{StackId, StreamId};

/// The stack in which the independent form opens all streams.
const STACK: StackId = StackId(1);
/// Number of stacks in which the multiple-open form receives in turn.
const STACKS: u32 = 2;
const SEGMENTS: usize = 3;

/// The result of receiving a frame in one form.
pub(crate) type Delivery = Result<(StreamId, Vec<u8>), DropReason>;

pub(crate) struct Forms {
    config: Config,
    pool: Pool,
    serial: SerialStack,
    locking: LockingStack,
    independent: IndependentStacks,
    /// Independent stacks with every stream open in each of them.
    multiple_open: IndependentStacks,
    turn: Cell<u32>,
}

impl Forms {
    pub(crate) fn new(config: Config, flows: &[Flow]) -> Self {
        let mut forms = Self {
            config,
            pool: Pool::new(SEGMENTS),
            serial: SerialStack::new(config),
            locking: LockingStack::new(config),
            independent: IndependentStacks::new(2, config),
            multiple_open: IndependentStacks::new(STACKS as usize, config),
            turn: Cell::new(0),
        };
        for flow in flows {
            forms.open(flow);
        }
        forms
    }

    /// Opens the flow in every form; all must give the same identifier.
    pub(crate) fn open(&mut self, flow: &Flow) -> StreamId {
        let serial = self.serial.open(flow);
        assert_eq!(serial, self.locking.open(flow));
        assert_eq!(serial, self.independent.open(STACK, flow));
        assert_eq!(serial, self.multiple_open.open_everywhere(flow));
        let stream = serial.expect("the flow can be opened");
        assert_eq!(self.independent.find(&flow.key()), Some((Home::Stack(STACK), stream)));
        assert_eq!(self.multiple_open.find(&flow.key()), Some((Home::EveryStack, stream)));
        stream
    }

    /// Closes the stream in every form.
    pub(crate) fn close(&mut self, stream: StreamId) {
        let serial = self.serial.close(stream);
        assert_eq!(serial, self.locking.close(stream));
        assert_eq!(serial, self.independent.close(stream));
        assert_eq!(serial, self.multiple_open.close(stream));
        serial.expect("the stream was open");
    }

    /// Receives `frame` in every form and asserts what must hold after any frame: the forms agree, no
    /// reference is left inside, the pool is full, and the classifier gives the same answer.
    pub(crate) fn receive(&self, frame: &[u8]) -> Delivery {
        let serial = self.serial.receive(&self.pool, frame, |d| (d.stream, d.payload.to_vec()));
        let locking = self.locking.receive(&self.pool, frame, |d| (d.stream, d.payload.to_vec()));
        let independent =
            self.independent.receive(STACK, &self.pool, frame, |d| (d.stream, d.payload.to_vec()));
        assert_eq!(serial, locking, "serial and locking forms disagree");
        assert_eq!(serial, independent, "serial and independent forms disagree");
        let stack = self.next_stack();
        let multiple =
            self.multiple_open.receive(stack, &self.pool, frame, |d| (d.stream, d.payload.to_vec()));
        assert_eq!(serial, multiple, "serial and multiple-open forms disagree in {stack}");
        self.assert_at_rest();
        self.assert_classified(frame, &serial);
        serial
    }

    fn next_stack(&self) -> StackId {
        let turn = self.turn.get();
        self.turn.set((turn + 1) % STACKS);
        StackId(turn)
    }

    /// The counts of all forms, which must agree.
    pub(crate) fn counters(&self) -> Counters {
        let serial = self.serial.counters();
        assert_eq!(serial, self.locking.counters());
        assert_eq!(Some(serial), self.independent.counters(STACK));
        let mut multiple = Counters::default();
        (0..STACKS)
            .filter_map(|stack| self.multiple_open.counters(StackId(stack)))
            .for_each(|c| multiple += c);
        assert_eq!(serial, multiple);
        serial
    }

    /// Packets delivered to a stream, on which all forms must agree.
    pub(crate) fn delivered(&self, stream: StreamId) -> Option<u64> {
        let serial = self.serial.stream_state(stream);
        assert_eq!(serial, self.locking.stream_state(stream));
        assert_eq!(serial, self.independent.stream_state(stream));
        let delivered = serial.map(|state| state.delivered);
        assert_eq!(delivered, self.multiple_open.stream_state(stream).map(|state| state.delivered));
        delivered
    }

    fn assert_at_rest(&self) {
        assert_eq!(self.serial.references(), References::default());
        assert_eq!(self.locking.references(), References::default());
        assert_eq!(self.independent.references(STACK), Some(References::default()));
        for stack in (0..STACKS).map(StackId) {
            assert_eq!(self.multiple_open.references(stack), Some(References::default()));
        }
        assert_eq!(self.pool.available(), SEGMENTS);
    }

    /// A delivered frame must classify to its stream. A dropped frame must either fail to classify for
    /// the same reason, or be dropped for a reason that headers alone cannot show.
    fn assert_classified(&self, frame: &[u8], outcome: &Delivery) {
        let key = classify(self.config.link, frame);
        assert_eq!(key, Flow::parse(self.config.link, frame).map(|flow| flow.key()));
        match (outcome, key) {
            (Ok((stream, _)), Ok(key)) => assert_eq!(self.serial.find(&key), Some(*stream)),
            (Err(reason), Ok(_)) => assert!(
                matches!(
                    reason,
                    DropReason::LinkNoSession
                        | DropReason::IpNoSession
                        | DropReason::UdpNoSession
                        | DropReason::UdpChecksum
                ),
                "{reason:?} was not seen by the classifier"
            ),
            (Err(reason), Err(classified)) => {
                assert!(*reason == classified || reason.layer() < classified.layer());
            }
            (Ok(_), Err(classified)) => panic!("delivered, but classified as {classified:?}"),
        }
    }
}

/// Streams of three kinds: distinct hosts, two ports of one host, and one MAC address shared by
/// two hosts behind a router.
pub(crate) fn flows() -> Vec<Flow> {
    let first = Flow::synthetic(1);
    let other_port = Flow { source_port: 4001, ..first };
    let behind_router = Flow { source_link: first.source_link, ..Flow::synthetic(2) };
    vec![first, other_port, behind_router, Flow::synthetic(3)]
}

/// Every configuration of a stack.
pub(crate) fn configs() -> impl Iterator<Item = Config> {
    [LinkKind::Fddi, LinkKind::Ethernet]
        .into_iter()
        .flat_map(|link| [true, false].map(|verify_udp_checksum| Config { link, verify_udp_checksum }))
}
