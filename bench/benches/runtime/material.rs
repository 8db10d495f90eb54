//! What everybody processes: the same frames in the same order, through the same stacks, at the
//! same times.

use crate::trial::Load;
use std::error::Error;
use std::hint::black_box;
use std::thread;
use std::time::Duration;
use warmcore_runtime::Memory;
use warmcore_runtime::clock::Clock;
use warmcore_runtime::driver::{Driver, Prepared, QueueRequest};
use warmcore_runtime::tally::Delays;
use warmcore_scenario::Traffic;
use warmcore_stack::{Config, Delivery, DropReason, Flow, IndependentStacks, LockingStack};
use warmcore_stats::histogram::{COARSE, Filling};
use warmcore_units::{Nanos, StackId, StreamId};
use warmcore_workload::{Arrival, Key};

pub(crate) const STREAMS: u32 = 8;
/// Bytes of data in each packet.
pub(crate) const PAYLOAD: u16 = 64;
/// The time that arrivals of a trial below saturation take.
pub(crate) const SPAN: Nanos = Nanos(400e6);
/// How long those at saturation take that have no number of packets.
pub(crate) const SATURATED: Nanos = Nanos(200e6);
/// Packets at saturation of those that are handed a number.
pub(crate) const PACKETS: usize = 1_000_000;

const CONFIG: Config = Config { link: Memory::LINK, verify_udp_checksum: false };
const KEY: Key = Key { seed: 1, point: 0, replication: 0 };
/// A sender that has longer than this until the next packet sleeps for some of it.
const NAP: Nanos = Nanos(200e3);

/// A packet on its way to a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// When it arrives.
    pub(crate) at: Nanos,
    /// Its stream, and the number of its frame.
    pub(crate) stream: StreamId,
}

/// Frames of all streams, made by our driver.
pub(crate) fn frames() -> Result<Vec<Prepared>, Box<dyn Error>> {
    let mix = Box::new((0..STREAMS).map(StreamId));
    let opened =
        Memory::saturating(STREAMS, PAYLOAD, mix).open(&QueueRequest { queues: 1, steering: &[] })?;
    Ok(opened.prepared)
}

pub(crate) fn flows() -> Vec<Flow> {
    (0..STREAMS).map(|stream| Memory::flow(StreamId(stream))).collect()
}

/// A driver with the packets of `load`.
pub(crate) fn driver(load: Load) -> Result<Memory, Box<dyn Error>> {
    let traffic = traffic().generated()?;
    Ok(match load {
        Load::Saturation => Memory::saturating(STREAMS, PAYLOAD, traffic.mix(KEY)?),
        // Twice as long as they are received, so that they do not begin anew.
        Load::Rate(rate) => Memory::scheduled(STREAMS, PAYLOAD, traffic.source(rate, KEY)?, SPAN * 2.0),
    })
}

/// The same packets one by one; at saturation all arrive at the beginning.
pub(crate) fn messages(load: Load) -> Result<Vec<Message>, Box<dyn Error>> {
    let traffic = traffic().generated()?;
    let Load::Rate(rate) = load else {
        let at = Nanos::ZERO;
        return Ok(traffic.mix(KEY)?.take(PACKETS).map(|stream| Message { at, stream }).collect());
    };
    let (mut source, mut messages) = (traffic.source(rate, KEY)?, Vec::new());
    let mut block = [Arrival::default(); 256];
    loop {
        source.fill(&mut block);
        for arrival in block {
            if arrival.at > SPAN {
                return Ok(messages);
            }
            messages.push(Message { at: arrival.at, stream: arrival.stream });
        }
    }
}

fn traffic() -> Traffic {
    Traffic { streams: STREAMS, ..Traffic::default() }
}

/// One stack for all.
pub(crate) fn locking() -> Result<LockingStack, Box<dyn Error>> {
    let mut stack = LockingStack::new(CONFIG);
    flows().iter().try_for_each(|flow| stack.open(flow).map(drop))?;
    Ok(stack)
}

/// Stacks to which the streams are dealt in turn.
pub(crate) fn independent(stacks: usize) -> Result<IndependentStacks, Box<dyn Error>> {
    let mut made = IndependentStacks::new(stacks, CONFIG);
    for (number, flow) in flows().iter().enumerate() {
        made.open(StackId::from(number % stacks), flow)?;
    }
    Ok(made)
}

/// What everybody's application does with a packet.
#[inline]
pub(crate) fn touch(delivery: &Delivery<'_>) {
    read(delivery.payload);
}

/// The same, of the data alone.
#[inline]
pub(crate) fn read(payload: &[u8]) {
    black_box((payload.first(), payload.last(), payload.len()));
}

/// Nothing measured here may be refused.
#[inline]
pub(crate) fn delivered(outcome: Result<(), DropReason>) {
    outcome.expect("the frame is valid and its stream open");
}

/// Sends `messages` when they are due, which each of them then says by `clock`.
pub(crate) fn send_all(messages: &[Message], clock: &Clock, mut send: impl FnMut(Message)) {
    let begun = clock.now();
    for &Message { at, stream } in messages {
        let at = begun + at;
        wait_until(at, clock);
        send(Message { at, stream });
    }
}

/// Waits until `at`, letting others run.
fn wait_until(at: Nanos, clock: &Clock) {
    loop {
        let left = at - clock.now();
        if left.0 <= 0.0 {
            return;
        }
        if left > NAP {
            thread::sleep(Duration::from_nanos((left.0 / 2.0) as u64));
        } else {
            thread::yield_now();
        }
    }
}

/// What a peer's worker keeps of the packets it has processed. At saturation it only counts them.
pub(crate) struct Record {
    clock: Clock,
    timed: bool,
    packets: u64,
    delays: Filling<COARSE>,
}

impl Record {
    pub(crate) fn new(clock: &Clock, load: Load) -> Self {
        Self { clock: clock.clone(), timed: load != Load::Saturation, packets: 0, delays: Filling::default() }
    }

    /// A packet that arrived `at` has been processed.
    #[inline]
    pub(crate) fn processed(&mut self, at: Nanos) {
        self.packets += 1;
        if self.timed {
            self.delays.push((self.clock.now() - at).0);
        }
    }

    /// How many packets, and their delays.
    pub(crate) fn finish(mut self) -> (u64, Delays) {
        (self.packets, self.delays.take())
    }
}

/// What several workers have kept, together.
pub(crate) fn together(records: impl IntoIterator<Item = (u64, Delays)>) -> (u64, Delays) {
    records.into_iter().fold((0, Delays::default()), |(count, mut delays), (packets, theirs)| {
        delays.merge(&theirs);
        (count + packets, delays)
    })
}
