//! The objects of one run, created anew for every run: the protocol stack with its two streams, a
//! free-memory pool for each consumer, packet buffers, and protocol threads.
//!
//! The streams of a conversation (TCP, RPC) have far ends too, and are open before the run begins.
//!
//! Each run deliberately has a new memory layout. Where lines fall in the sets of a cache is a source
//! of variation, and an interval over runs that all shared one layout would be too narrow.

use crate::clock::{self, Ticks};
use crate::error::RunError;
use crate::run::consumers::{Consumers, LINK, Source};
use crate::run::pattern::{CONSUMERS, STREAMS};
use crate::run::remote_end::RemoteEnd;
use core::hint::black_box;
use core::num::NonZero;
use core::time::Duration;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_costs::{Approach, Packets};
use warmcore_linux::ProtocolThread;
use warmcore_runtime::HandlerState;
use warmcore_stack::rpc::BootId;
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::{
    Config, Conversations, Delivery, DropReason, Exchange, Flow, IndependentStacks, LockingStack, Pool,
};
use warmcore_units::StackId;

/// Both streams belong to this one of the independent stacks.
const SHARED_STACK: StackId = StackId(0);
/// Segments of a pool. Only one is in use at a time.
const SEGMENTS: usize = 8;
/// Most bytes between two objects, to vary their layout.
const SPACER: usize = 32 << 10;
/// The incarnation of the stack's host and of the senders'.
const BOOT: BootId = BootId(NonZero::<u32>::MIN);
/// What answers consist of.
const REPLY: u8 = 0xa5;

/// The receive side under one of the two approaches.
pub(crate) enum Protocol {
    /// A lock on each active map and session.
    Locking(Box<LockingStack>),
    /// A stack for each consumer, with one lock each.
    IndependentStacks(Box<IndependentStacks>),
}

impl Protocol {
    /// Opens both streams; under Independent Protocol Stacks in the same stack, so that they share its
    /// history lines.
    fn new(
        approach: Approach,
        config: Config,
        conversations: Option<Conversations>,
    ) -> Result<Self, RunError> {
        let flows = (0..STREAMS).map(flow);
        match approach {
            Approach::Locking => {
                let mut stack = conversations.map_or_else(
                    || LockingStack::new(config),
                    |conversations| LockingStack::conversing(config, conversations),
                );
                for flow in flows {
                    stack.open(&flow)?;
                }
                Ok(Self::Locking(Box::new(stack)))
            }
            Approach::IndependentStacks => {
                let mut stacks = conversations.map_or_else(
                    || IndependentStacks::new(CONSUMERS, config),
                    |conversations| IndependentStacks::conversing(CONSUMERS, config, conversations),
                );
                for flow in flows {
                    stacks.open(SHARED_STACK, &flow)?;
                }
                Ok(Self::IndependentStacks(Box::new(stacks)))
            }
        }
    }

    /// Times the reception of a datagram on `thread`: from the dispatch of the thread, through building
    /// the message, to the end of the unwind and the release of its memory, with all writes done.
    /// `pause` is called when the payload is delivered, and the ticks it returns are subtracted.
    #[inline(always)]
    pub(crate) fn time(
        &self,
        thread: &mut ProtocolThread,
        pool: &Pool,
        frame: &[u8],
        state: &HandlerState,
        pause: impl FnOnce() -> Result<Ticks, RunError>,
    ) -> Result<Reception, RunError> {
        let deliver = |delivery: Delivery<'_>| {
            black_box(delivery.payload.len());
            state.touch(delivery.stream);
            pause()
        };
        match self {
            Self::Locking(stack) => {
                let (stack, pool, frame) = black_box((&**stack, pool, frame));
                let start = clock::now();
                let paused = thread.run(|| stack.receive(pool, frame, deliver));
                Reception::end(start, paused)
            }
            Self::IndependentStacks(stacks) => {
                let (stacks, pool, frame) = black_box((&**stacks, pool, frame));
                let start = clock::now();
                let paused = thread.run(|| stacks.receive(SHARED_STACK, pool, frame, deliver));
                Reception::end(start, paused)
            }
        }
    }

    /// Times the same of a packet of a conversation: it is answered on its way, with frames in the exchange.
    /// `pause` is called when something is delivered for the first time.
    ///
    /// # Errors
    /// If the packet is dropped, or nothing is delivered.
    #[inline(always)]
    pub(crate) fn time_answered(
        &self,
        thread: &mut ProtocolThread,
        pool: &Pool,
        frame: &[u8],
        state: &HandlerState,
        answering: Answering<'_>,
        pause: impl FnOnce() -> Result<Ticks, RunError>,
    ) -> Result<Reception, RunError> {
        let Answering { now, reply_bytes, exchange } = answering;
        let (mut pause, mut paused) = (Some(pause), None);
        let deliver = |delivery: Delivery<'_>, reply: &mut Vec<u8>| {
            black_box(delivery.payload.len());
            state.touch(delivery.stream);
            reply.resize(reply_bytes, REPLY);
            if let Some(pause) = pause.take() {
                paused = Some(pause());
            }
        };
        let (start, stop, received) = match self {
            Self::Locking(stack) => {
                let (stack, pool, frame) = black_box((&**stack, pool, frame));
                let start = clock::now();
                let received = thread.run(|| stack.converse(now, pool, frame, exchange, deliver));
                (start, clock::now(), received)
            }
            Self::IndependentStacks(stacks) => {
                let (stacks, pool, frame) = black_box((&**stacks, pool, frame));
                let start = clock::now();
                let received =
                    thread.run(|| stacks.converse(now, SHARED_STACK, pool, frame, exchange, deliver));
                (start, clock::now(), received)
            }
        };
        received.map_err(RunError::Dropped)?;
        let paused = paused.ok_or(RunError::NothingDelivered)??;
        Ok(Reception { start, stop, paused })
    }

    /// Receives a packet by which a conversation is opened, untimed and on the caller's stack. Its answer is as
    /// long as a message can be, unless answers are empty.
    fn open(
        &self,
        pool: &Pool,
        frame: &[u8],
        reply_bytes: usize,
        exchange: &mut Exchange,
    ) -> Result<(), RunError> {
        let longest = if reply_bytes == 0 { 0 } else { Conversations::MAX_MESSAGE };
        let deliver = |_: Delivery<'_>, reply: &mut Vec<u8>| reply.resize(longest, REPLY);
        let received = match self {
            Self::Locking(stack) => stack.converse(OPENING, pool, frame, exchange, deliver),
            Self::IndependentStacks(stacks) => {
                stacks.converse(OPENING, SHARED_STACK, pool, frame, exchange, deliver)
            }
        };
        received.map_err(RunError::Dropped)
    }
}

/// When conversations are opened, before the time of every packet.
const OPENING: Duration = Duration::ZERO;

/// How a packet of a conversation is answered.
pub(crate) struct Answering<'a> {
    /// The time that its machine is told.
    pub(crate) now: Duration,
    /// Bytes of the handler's answer.
    pub(crate) reply_bytes: usize,
    /// What the stack sends.
    pub(crate) exchange: &'a mut Exchange,
}

/// When a packet was received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reception {
    pub(crate) start: Ticks,
    pub(crate) stop: Ticks,
    /// Ticks in between that are not part of the packet's time.
    pub(crate) paused: Ticks,
}

impl Reception {
    #[inline(always)]
    fn end(start: Ticks, paused: Result<Result<Ticks, RunError>, DropReason>) -> Result<Self, RunError> {
        let stop = clock::now();
        let paused = paused.map_err(RunError::Dropped)??;
        Ok(Self { start, stop, paused })
    }

    /// The packet's time, including the overhead of the readings.
    pub(crate) const fn ticks(&self) -> Ticks {
        self.stop.saturating_sub(self.start).saturating_sub(self.paused)
    }
}

/// The flow of `stream`. Each stream comes from its own host.
fn flow(stream: usize) -> Flow {
    Flow::synthetic(if stream == 0 { 1 } else { 2 })
}

/// All objects of a run.
pub(crate) struct Bench {
    pub(crate) protocol: Protocol,
    /// One pool for each consumer, because the experiments are not about the pools' lines.
    pub(crate) pools: Vec<Pool>,
    /// Memory that the handler of each stream touches.
    pub(crate) state: HandlerState,
    /// Moved into the baton when the run starts.
    pub(crate) consumers: Consumers,
    /// Keeps the objects apart while the run lasts.
    pub(crate) spacers: Vec<Vec<u8>>,
}

impl Bench {
    /// Creates a bench with a memory layout drawn from `rng`.
    ///
    /// # Errors
    /// If the system gives no memory for a stack, the protocol stack refuses our streams, the payload of a
    /// datagram does not fit a frame, or a conversation cannot be opened.
    pub(crate) fn new(
        approach: Approach,
        packets: Packets,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Self, RunError> {
        let mut spacers = Vec::new();
        let mut space = |rng: &mut Xoshiro256PlusPlus| spacers.push(vec![1; rng.random_range(16..SPACER)]);
        space(rng);
        let config = Config { link: LINK, verify_udp_checksum: packets.checksum };
        let conversations = Conversations::serving(packets.transport, BOOT);
        let protocol = Protocol::new(approach, config, conversations)?;
        space(rng);
        let pools: Vec<Pool> = (0..CONSUMERS).map(|_| Pool::new(SEGMENTS)).collect();
        let mut consumers = Consumers::new(source(config, conversations, packets.payload_bytes)?);
        for _ in 0..CONSUMERS {
            space(rng);
            let thread = ProtocolThread::new(rng.random_range(0..ProtocolThread::POSITIONS))?;
            consumers.add(packets.frames, thread);
        }
        space(rng);
        let state = HandlerState::new(STREAMS, packets.handler_bytes);
        consumers.open(OPENING, |consumer, frame, exchange| {
            protocol.open(&pools[consumer], frame, packets.reply_bytes, exchange)
        })?;
        Ok(Self { protocol, pools, state, consumers, spacers })
    }
}

/// Where packets with `payload` bytes come from.
fn source(config: Config, conversations: Option<Conversations>, payload: usize) -> Result<Source, RunError> {
    let Some(conversations) = conversations else {
        return Ok(Source::Frames([frame(0, payload)?, frame(1, payload)?]));
    };
    let end = |stream| RemoteEnd::new(config, conversations, flow(stream), payload);
    Ok(Source::RemoteEnds(Box::new(core::array::from_fn(end))))
}

/// A valid frame of `stream` with `payload` bytes of payload.
fn frame(stream: usize, payload: usize) -> Result<Vec<u8>, RunError> {
    let builder = FrameBuilder::new(LINK, flow(stream));
    let mut frame = vec![0; builder.frame_length(payload)];
    builder.write(&vec![0x5a; payload], &mut frame)?;
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::consumers::WaitingPacket;
    use crate::run::pattern::{Step, TIMED_STREAM};
    use crate::run::script::Script;
    use rand::SeedableRng;
    use warmcore_costs::FrameLines;
    use warmcore_units::Transport;

    const FRAMES: [FrameLines; 2] = [FrameLines::Written, FrameLines::Resident];

    fn every_kind_of_packets() -> impl Iterator<Item = Packets> {
        let datagrams = [0, 256, LINK.max_payload()].into_iter().flat_map(|payload_bytes| {
            [false, true].map(|checksum| (Transport::Udp, payload_bytes, checksum, 0))
        });
        let conversations = [Transport::Tcp, Transport::Rpc].into_iter().flat_map(|transport| {
            let sizes = [1, 256, Conversations::MAX_MESSAGE].into_iter();
            sizes.flat_map(move |payload_bytes| {
                [0, 64, Conversations::MAX_MESSAGE]
                    .map(|reply_bytes| (transport, payload_bytes, true, reply_bytes))
            })
        });
        datagrams.chain(conversations).flat_map(|(transport, payload_bytes, checksum, reply_bytes)| {
            FRAMES.map(|frames| Packets {
                frames,
                transport,
                payload_bytes,
                checksum,
                handler_bytes: 128,
                reply_bytes,
            })
        })
    }

    /// Prepares and receives one packet, as the phases of a run do.
    fn pass(bench: &mut Bench, packets: Packets, step: Step, number: usize) -> Result<Reception, RunError> {
        let now = Script::now(number);
        bench.consumers.write_packet(step, now)?;
        bench.consumers.zero_stack(step.consumer);
        bench.consumers.fetch_packet(step);
        let WaitingPacket { frame, thread, exchange } = bench.consumers.packet(step);
        let pool = &bench.pools[step.consumer];
        let (protocol, state, reply_bytes) = (&bench.protocol, &bench.state, packets.reply_bytes);
        let reception = match exchange {
            None => {
                assert_eq!(frame, super::frame(step.stream, packets.payload_bytes)?);
                protocol.time(thread, pool, frame, state, || Ok(0))
            }
            Some(exchange) => {
                let answering = Answering { now, reply_bytes, exchange };
                protocol.time_answered(thread, pool, frame, state, answering, || Ok(0))
            }
        };
        bench.consumers.send_answers(step);
        assert_eq!(pool.available(), SEGMENTS);
        reception
    }

    #[test]
    fn packets_of_both_streams_are_received_under_both_approaches() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for approach in Approach::ALL {
            for packets in every_kind_of_packets() {
                let mut bench = Bench::new(approach, packets, &mut rng).unwrap();
                let before = [0, 1].map(|stream| bench.consumers.answered(stream));
                let (mut received, mut number) = ([0, 0], 0);
                for stream in [TIMED_STREAM, 1, 1, TIMED_STREAM].repeat(25) {
                    for consumer in 0..CONSUMERS {
                        let reception = pass(&mut bench, packets, Step { consumer, stream }, number);
                        let reception = reception.unwrap_or_else(|error| panic!("{packets:?}: {error}"));
                        assert!(reception.stop > reception.start);
                        received[stream] += 1;
                        number += 1;
                    }
                }
                for (stream, before) in before.into_iter().enumerate() {
                    // The answers to the last packet arrive when the next is sent.
                    let answers = (received[stream] - 1) * packets.reply_bytes as u64;
                    assert_eq!(bench.consumers.answered(stream) - before, answers, "{packets:?}");
                }
            }
        }
    }

    #[test]
    fn a_conversation_stays_in_its_steady_state_throughout_a_long_run() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for packets in every_kind_of_packets().filter(|packets| packets.transport.is_conversation()) {
            let mut bench = Bench::new(Approach::Locking, packets, &mut rng).unwrap();
            for number in 0..10_000 {
                let step = Step { consumer: number % CONSUMERS, stream: number / 2 % STREAMS };
                let passed = pass(&mut bench, packets, step, number);
                passed.unwrap_or_else(|error| panic!("{packets:?}, packet {number}: {error}"));
            }
        }
    }

    #[test]
    fn a_packet_is_paused_once_and_the_error_of_a_pause_is_that_of_the_packet() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for packets in every_kind_of_packets().filter(|packets| packets.transport.is_conversation()) {
            let mut bench = Bench::new(Approach::IndependentStacks, packets, &mut rng).unwrap();
            let step = Step { consumer: 0, stream: TIMED_STREAM };
            let mut receive = |number, pause: fn() -> Result<Ticks, RunError>| {
                bench.consumers.write_packet(step, Script::now(number)).unwrap();
                bench.consumers.fetch_packet(step);
                let WaitingPacket { frame, thread, exchange } = bench.consumers.packet(step);
                let exchange = exchange.unwrap();
                let reply_bytes = packets.reply_bytes;
                let answering = Answering { now: Script::now(number), reply_bytes, exchange };
                let pool = &bench.pools[0];
                let reception =
                    bench.protocol.time_answered(thread, pool, frame, &bench.state, answering, pause);
                bench.consumers.send_answers(step);
                reception
            };
            assert_eq!(receive(0, || Ok(7)).unwrap().paused, 7);
            assert!(matches!(receive(1, || Err(RunError::PartnerFailed)), Err(RunError::PartnerFailed)));
        }
    }

    #[test]
    fn a_payload_that_fits_no_frame_is_refused() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let packets = |transport, payload_bytes| Packets {
            frames: FrameLines::Written,
            transport,
            payload_bytes,
            checksum: false,
            handler_bytes: 0,
            reply_bytes: 0,
        };
        let mut new = |packets| Bench::new(Approach::Locking, packets, &mut rng);
        let datagrams = new(packets(Transport::Udp, LINK.max_payload() + 1));
        assert!(matches!(datagrams, Err(RunError::Frame(_))));

        let mut sent = |transport, payload_bytes| {
            let mut bench = new(packets(transport, payload_bytes)).unwrap();
            bench.consumers.write_packet(Step { consumer: 0, stream: 0 }, Script::now(0)).unwrap_err()
        };
        let error = sent(Transport::Tcp, 2 * Conversations::MAX_MESSAGE);
        assert!(matches!(error, RunError::FrameCount { frames: 2 }), "{error}");
        let error = sent(Transport::Rpc, 2 * Conversations::MAX_MESSAGE);
        assert!(matches!(error, RunError::Offer(_)), "{error}");
        let error = sent(Transport::Tcp, 0);
        assert!(matches!(error, RunError::FrameCount { frames: 0 }), "{error}");
    }

    #[test]
    fn paused_time_is_subtracted() {
        let reception = Reception { start: 100, stop: 400, paused: 250 };
        assert_eq!(reception.ticks(), 50);
        assert_eq!(Reception { paused: 900, ..reception }.ticks(), 0);
    }
}
