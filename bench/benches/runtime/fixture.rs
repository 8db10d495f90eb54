//! The input that is identical for all contenders: frames, their order, stacks and arrival times; and what
//! peers share to send and record it.

use crate::contender::Load;
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
/// Bytes of payload in each packet.
pub(crate) const PAYLOAD: u16 = 64;
/// Length of a run below saturation.
pub(crate) const PACED_TIME: Nanos = Nanos(400e6);
/// Length of a run at saturation that is not bounded by [`PACKETS`].
pub(crate) const SATURATED_TIME: Nanos = Nanos(200e6);
/// Packets of a run at saturation for contenders that process a fixed number.
pub(crate) const PACKETS: usize = 1_000_000;

const CONFIG: Config = Config { link: Memory::LINK, verify_udp_checksum: false };
const KEY: Key = Key { seed: 1, point: 0, replication: 0 };
/// A sender sleeps while the next packet is due later than this, and yields otherwise.
const PARK: Nanos = Nanos(200e3);

/// A packet that is sent to a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// When it arrives.
    pub(crate) at: Nanos,
    /// Its stream, which is also the index of its frame.
    pub(crate) stream: StreamId,
}

/// One frame per stream, made by Warmcore's memory driver.
pub(crate) fn frames() -> Result<Vec<Prepared>, Box<dyn Error>> {
    let mix = Box::new((0..STREAMS).map(StreamId));
    let opened =
        Memory::saturating(STREAMS, PAYLOAD, mix).open(&QueueRequest { queues: 1, steering: &[] })?;
    Ok(opened.prepared)
}

pub(crate) fn flows() -> Vec<Flow> {
    (0..STREAMS).map(|stream| Memory::flow(StreamId(stream))).collect()
}

/// A memory driver that produces the packets of `load`.
pub(crate) fn driver(load: Load) -> Result<Memory, Box<dyn Error>> {
    let traffic = traffic().generated()?;
    Ok(match load {
        Load::Saturation => Memory::saturating(STREAMS, PAYLOAD, traffic.mix(KEY)?),
        // Twice the length of a run, so that the schedule does not start over.
        Load::Rate(rate) => Memory::scheduled(STREAMS, PAYLOAD, traffic.source(rate, KEY)?, PACED_TIME * 2.0),
    })
}

/// The same packets as a list; at saturation all arrive at time zero.
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
            if arrival.at > PACED_TIME {
                return Ok(messages);
            }
            messages.push(Message { at: arrival.at, stream: arrival.stream });
        }
    }
}

fn traffic() -> Traffic {
    Traffic { streams: STREAMS, ..Traffic::default() }
}

/// One stack with all streams.
pub(crate) fn locking() -> Result<LockingStack, Box<dyn Error>> {
    let mut stack = LockingStack::new(CONFIG);
    flows().iter().try_for_each(|flow| stack.open(flow).map(drop))?;
    Ok(stack)
}

/// Stacks to which the streams are assigned in turn.
pub(crate) fn independent(stacks: usize) -> Result<IndependentStacks, Box<dyn Error>> {
    let mut independent = IndependentStacks::new(stacks, CONFIG);
    for (number, flow) in flows().iter().enumerate() {
        independent.open(StackId::from(number % stacks), flow)?;
    }
    Ok(independent)
}

/// The application's handler, the same for all contenders.
#[inline]
pub(crate) fn touch(delivery: &Delivery<'_>) {
    read(delivery.payload);
}

/// Reads the first and last byte of a payload.
#[inline]
pub(crate) fn read(payload: &[u8]) {
    black_box((payload.first(), payload.last(), payload.len()));
}

/// Panics if the stack dropped a packet: a benchmark must process all of them.
#[inline]
pub(crate) fn delivered(outcome: Result<(), DropReason>) {
    outcome.expect("the frame is valid and its stream open");
}

/// Sends each message when it is due, with its arrival time converted to that of `clock`.
pub(crate) fn send_all(messages: &[Message], clock: &Clock, mut send: impl FnMut(Message)) {
    let begun = clock.now();
    for &Message { at, stream } in messages {
        let at = begun + at;
        wait_until(at, clock);
        send(Message { at, stream });
    }
}

/// Waits until `at`, sleeping or yielding the processor.
fn wait_until(at: Nanos, clock: &Clock) {
    loop {
        let left = at - clock.now();
        if left.0 <= 0.0 {
            return;
        }
        if left > PARK {
            thread::sleep(Duration::from_nanos((left.0 / 2.0) as u64));
        } else {
            thread::yield_now();
        }
    }
}

/// Counts the packets that a peer's worker has processed, and below saturation records their delays.
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

    /// Records that a packet which arrived `at` has been processed.
    #[inline]
    pub(crate) fn processed(&mut self, at: Nanos) {
        self.packets += 1;
        if self.timed {
            self.delays.push((self.clock.now() - at).0);
        }
    }

    /// The number of packets and their delays.
    pub(crate) fn finish(mut self) -> (u64, Delays) {
        (self.packets, self.delays.take())
    }
}

/// Sums the counts and merges the delays of several workers.
pub(crate) fn merge(records: impl IntoIterator<Item = (u64, Delays)>) -> (u64, Delays) {
    records.into_iter().fold((0, Delays::default()), |(count, mut delays), (packets, theirs)| {
        delays.merge(&theirs);
        (count + packets, delays)
    })
}
