//! The objects of one run, created anew for every run: the protocol stack with its two streams, a
//! free-memory pool for each consumer, packet buffers, and protocol threads.
//!
//! Each run deliberately has a new memory layout. Where lines fall in the sets of a cache is a source
//! of variation, and an interval over runs that all shared one layout would be too narrow.

use crate::clock::{self, Ticks};
use crate::error::RunError;
use crate::run::consumers::{Consumers, LINK};
use crate::run::pattern::{CONSUMERS, STREAMS};
use core::hint::black_box;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_costs::{Approach, Packets};
use warmcore_linux::ProtocolThread;
use warmcore_runtime::HandlerState;
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::{Config, Delivery, DropReason, Flow, IndependentStacks, LockingStack, Pool};
use warmcore_units::StackId;

/// Both streams belong to this one of the independent stacks.
const SHARED_STACK: StackId = StackId(0);
/// Segments of a pool. Only one is in use at a time.
const SEGMENTS: usize = 8;
/// Most bytes between two objects, to vary their layout.
const SPACER: usize = 32 << 10;

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
    fn new(approach: Approach, verify_udp_checksum: bool) -> Result<Self, RunError> {
        let config = Config { link: LINK, verify_udp_checksum };
        let flows = (0..STREAMS).map(flow);
        match approach {
            Approach::Locking => {
                let mut stack = LockingStack::new(config);
                for flow in flows {
                    stack.open(&flow)?;
                }
                Ok(Self::Locking(Box::new(stack)))
            }
            Approach::IndependentStacks => {
                let mut stacks = IndependentStacks::new(CONSUMERS, config);
                for flow in flows {
                    stacks.open(SHARED_STACK, &flow)?;
                }
                Ok(Self::IndependentStacks(Box::new(stacks)))
            }
        }
    }

    /// Times the reception of `frame` on `thread`: from the dispatch of the thread, through building
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
    /// A valid frame of each stream.
    pub(crate) frames: [Vec<u8>; STREAMS],
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
    /// If the system gives no memory for a stack, the protocol stack refuses our streams, or the
    /// payload does not fit a frame.
    pub(crate) fn new(
        approach: Approach,
        packets: Packets,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Self, RunError> {
        let mut spacers = Vec::new();
        let mut space = |rng: &mut Xoshiro256PlusPlus| spacers.push(vec![1; rng.random_range(16..SPACER)]);
        space(rng);
        let protocol = Protocol::new(approach, packets.checksum)?;
        space(rng);
        let pools = (0..CONSUMERS).map(|_| Pool::new(SEGMENTS)).collect();
        let frames = [frame(0, packets.payload_bytes)?, frame(1, packets.payload_bytes)?];
        let mut consumers = Consumers::default();
        for _ in 0..CONSUMERS {
            space(rng);
            let thread = ProtocolThread::new(rng.random_range(0..ProtocolThread::POSITIONS))?;
            consumers.add(&frames, packets.frames, thread);
        }
        space(rng);
        let state = HandlerState::new(STREAMS, packets.handler_bytes);
        Ok(Self { protocol, pools, frames, state, consumers, spacers })
    }
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
    use crate::run::pattern::{Step, TIMED_STREAM};
    use rand::SeedableRng;
    use warmcore_costs::FrameLines;

    fn every_kind_of_packets() -> impl Iterator<Item = Packets> {
        let payloads = [0, 256, LINK.max_payload()];
        payloads.into_iter().flat_map(|payload_bytes| {
            [FrameLines::Written, FrameLines::Resident].into_iter().flat_map(move |frames| {
                [false, true].map(|checksum| Packets { frames, payload_bytes, checksum, handler_bytes: 128 })
            })
        })
    }

    #[test]
    fn packets_of_both_streams_are_received_under_both_approaches() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for approach in Approach::ALL {
            for packets in every_kind_of_packets() {
                let mut bench = Bench::new(approach, packets, &mut rng).unwrap();
                for stream in [TIMED_STREAM, 1, 1, TIMED_STREAM] {
                    for consumer in 0..CONSUMERS {
                        let step = Step { consumer, stream };
                        bench.consumers.write_packet(step, &bench.frames);
                        bench.consumers.zero_stack(consumer);
                        let (frame, thread) = bench.consumers.packet(step, bench.frames[stream].len());
                        assert_eq!(frame, bench.frames[stream]);
                        let pool = &bench.pools[consumer];
                        let reception =
                            bench.protocol.time(thread, pool, frame, &bench.state, || Ok(0)).unwrap();
                        assert!(reception.stop > reception.start);
                        assert_eq!(pool.available(), SEGMENTS);
                    }
                }
            }
        }
    }

    #[test]
    fn a_payload_that_fits_no_frame_is_refused() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let packets = Packets {
            frames: FrameLines::Written,
            payload_bytes: LINK.max_payload() + 1,
            checksum: false,
            handler_bytes: 0,
        };
        assert!(matches!(Bench::new(Approach::Locking, packets, &mut rng), Err(RunError::Frame(_))));
    }

    #[test]
    fn paused_time_is_subtracted() {
        let reception = Reception { start: 100, stop: 400, paused: 250 };
        assert_eq!(reception.ticks(), 50);
        assert_eq!(Reception { paused: 900, ..reception }.ticks(), 0);
    }
}
