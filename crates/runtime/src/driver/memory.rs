//! Frames from memory: as in Salehi, Kurose & Towsley 1994, packets are built before the run and arrive
//! as a traffic description says.
//!
//! The arrival schedule is computed before the run and repeats when it ends, so that nothing is drawn
//! at random in the packet path. A packet arrives at its scheduled time whether or not a worker polls,
//! and its delay counts from there.
//!
//! Frames of conversations cannot be built before the run: each stream has a far end instead,
//! which sends a message when the schedule says so.

mod conversing;

use super::{Bytes, Driver, DriverError, Due, Incoming, Opened, Prepared, Queue, QueueRequest};
use conversing::{Conversing, STREAM_MEMORY};
use std::io;
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_stack::{Conversations, Flow};
use warmcore_units::{Bytes as Size, Nanos, StreamId};
use warmcore_workload::Arrivals;
use warmcore_workload::arrivals::Arrival;

/// Most arrivals in a schedule, which repeats after them.
const MAX_SCHEDULED: usize = 1 << 22;
/// Most memory that all prepared frames may take.
const MAX_MEMORY: Size = Size(1 << 30);

/// Number of sending hosts. Further streams use further ports of the same hosts.
const HOSTS: u32 = 60_000;

/// Prepared frames that arrive as scheduled.
pub struct Memory {
    streams: u32,
    payload: u16,
    timing: Timing,
    conversations: Option<Conversations>,
}

/// When a memory driver's packets arrive.
enum Timing {
    /// At the times of this source, for this long, and then again.
    Scheduled(Box<dyn Arrivals>, Nanos),
    /// Whenever a worker polls, as many as it takes. The iterator names the stream of each packet.
    Saturating(Box<dyn Iterator<Item = StreamId> + Send>),
}

/// One packet of a schedule.
#[derive(Clone, Copy, Debug)]
struct ScheduledPacket {
    /// Nanoseconds since the packet before it in its queue.
    gap: f32,
    frame: u32,
}

impl Memory {
    /// Packets of `streams` streams with `payload` bytes of data. They arrive as `arrivals` says for
    /// `span`, and then in the same way again.
    #[must_use]
    pub fn scheduled(streams: u32, payload: u16, arrivals: Box<dyn Arrivals>, span: Nanos) -> Self {
        Self { streams, payload, timing: Timing::Scheduled(arrivals, span), conversations: None }
    }

    /// Packets of the streams that `mix` names, arriving as fast as workers take them.
    #[must_use]
    pub fn saturating(streams: u32, payload: u16, mix: Box<dyn Iterator<Item = StreamId> + Send>) -> Self {
        Self { streams, payload, timing: Timing::Saturating(mix), conversations: None }
    }

    /// The same with the far ends of `conversations`, if there are any: packets are messages of theirs.
    #[must_use]
    pub fn with_conversations(self, conversations: Option<Conversations>) -> Self {
        Self { conversations, ..self }
    }

    /// The flow of `stream`, for opening it in a stack.
    #[must_use]
    pub fn flow(stream: StreamId) -> Flow {
        let (host, port) = (stream.0 % HOSTS, stream.0 / HOSTS);
        let flow = Flow::synthetic(host as u16 + 1);
        Flow { source_port: flow.source_port.wrapping_add(port as u16), ..flow }
    }

    /// The stream whose packets come from this host and port.
    fn stream(host: u16, port: u16) -> Option<usize> {
        let host = usize::from(host.checked_sub(1)?);
        let ports = usize::from(port.wrapping_sub(Flow::synthetic(1).source_port));
        Some(ports * HOSTS as usize + host)
    }

    /// The link type of the frames.
    pub const LINK: LinkKind = LinkKind::Fddi;

    fn prepare(&self) -> Result<Vec<Prepared>, DriverError> {
        let refuse = |reason: String| DriverError { driver: "memory", reason };
        let length = FrameBuilder::new(Self::LINK, Self::flow(StreamId(0))).frame_length(self.payload.into());
        let needed = Size(length as u64 * u64::from(self.streams));
        if needed > MAX_MEMORY {
            return Err(refuse(format!(
                "a frame of {length} bytes for each of {} streams takes {needed}; expected at most {MAX_MEMORY}: \
                 take fewer streams or smaller packets",
                self.streams
            )));
        }
        let payload = vec![0x5a; self.payload.into()];
        let frame = |stream: u32| {
            let stream = StreamId(stream);
            let mut bytes = vec![0; length];
            FrameBuilder::new(Self::LINK, Self::flow(stream))
                .write(&payload, &mut bytes)
                .map_err(|error| refuse(error.to_string()))?;
            Ok(Prepared { stream, bytes })
        };
        (0..self.streams).map(frame).collect()
    }

    /// Checks that there is memory for both ends of every stream. No frame is prepared.
    fn check_far_ends(&self) -> Result<Vec<Prepared>, DriverError> {
        let most = MAX_MEMORY.0 / STREAM_MEMORY;
        if u64::from(self.streams) <= most {
            return Ok(Vec::new());
        }
        let reason = format!(
            "{} streams with connections or calls take more than {MAX_MEMORY}; expected at most {most} streams",
            self.streams
        );
        Err(DriverError { driver: "memory", reason })
    }
}

impl Driver for Memory {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let prepared = match self.conversations {
            None => self.prepare()?,
            Some(_) => self.check_far_ends()?,
        };
        let queues = request.queues.max(1) as usize;
        let mut packets = vec![Vec::new(); queues];
        let queue_of = |stream: StreamId| match request.steering.get(stream.index()) {
            Some(&queue) if queues > 1 => queue as usize % queues,
            _ => 0,
        };
        let (saturating, period) = match &mut self.timing {
            Timing::Scheduled(arrivals, span) => {
                (false, schedule(&mut **arrivals, *span, &mut packets, queue_of))
            }
            Timing::Saturating(mix) => {
                for stream in mix.take(MAX_SCHEDULED / 4) {
                    packets[queue_of(stream)].push(ScheduledPacket { gap: 0.0, frame: stream.0 });
                }
                (true, Nanos::ZERO)
            }
        };
        if packets.iter().all(Vec::is_empty) {
            let reason =
                "no packet arrives; expected traffic with at least one packet in its span".to_owned();
            return Err(DriverError { driver: "memory", reason });
        }
        let Self { streams, payload, conversations, .. } = *self;
        let queue = |packets: Vec<ScheduledPacket>| -> Box<dyn Queue> {
            let (at, period_start) = (Nanos::ZERO, Nanos::ZERO);
            let (gaps, frames) = packets.into_iter().map(|packet| (packet.gap, packet.frame)).unzip();
            let schedule = Schedule { gaps, frames, next: 0, at, period_start, period, saturating };
            match conversations {
                None => Box::new(schedule),
                Some(conversations) => Box::new(Conversing::new(schedule, streams, payload, conversations)),
            }
        };
        Ok(Opened { queues: packets.into_iter().map(queue).collect(), prepared })
    }
}

/// Writes the arrivals of `span`, or as many as a schedule holds, into the queues. Returns how long
/// they last.
fn schedule(
    arrivals: &mut dyn Arrivals,
    span: Nanos,
    packets: &mut [Vec<ScheduledPacket>],
    queue_of: impl Fn(StreamId) -> usize,
) -> Nanos {
    let mut last = vec![Nanos::ZERO; packets.len()];
    let mut block = [Arrival::default(); 256];
    let (mut count, mut end) = (0, Nanos::ZERO);
    'fill: loop {
        let filled = arrivals.fill(&mut block);
        for arrival in &block[..filled] {
            if arrival.at > span || count >= MAX_SCHEDULED {
                end = Nanos(arrival.at.0.min(span.0));
                break 'fill;
            }
            let queue = queue_of(arrival.stream);
            for _ in 0..arrival.packets {
                let gap = (arrival.at - last[queue]).0 as f32;
                packets[queue].push(ScheduledPacket { gap, frame: arrival.stream.0 });
                last[queue] += Nanos(f64::from(gap));
            }
            count += arrival.packets as usize;
            end = arrival.at;
        }
        if filled < block.len() {
            break;
        }
    }
    let period = end.max(last.into_iter().fold(Nanos::ZERO, Nanos::max));
    if period.0 > 0.0 { period } else { span }
}

/// The arrival schedule of one queue.
struct Schedule {
    /// Nanoseconds since the packet before, and the frame of each packet.
    gaps: Vec<f32>,
    frames: Vec<u32>,
    next: usize,
    /// When the next packet arrives.
    at: Nanos,
    /// When the current repetition of the schedule began, and how long each lasts.
    period_start: Nanos,
    period: Nanos,
    saturating: bool,
}

impl Schedule {
    #[inline]
    fn advance(&mut self) {
        self.next += 1;
        match self.gaps.get(self.next) {
            Some(&gap) => self.at += Nanos(f64::from(gap)),
            None => {
                self.period_start += self.period;
                self.start_period();
            }
        }
    }

    fn start_period(&mut self) {
        self.next = 0;
        self.at = self.period_start + Nanos(self.gaps.first().map_or(0.0, |&gap| f64::from(gap)));
    }
}

impl Queue for Schedule {
    fn begin(&mut self, now: Nanos) {
        self.period_start = now;
        self.start_period();
    }

    #[inline]
    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let mut taken = 0;
        while taken < limit && self.at <= now {
            let at = if self.saturating { now } else { self.at };
            let Some(&frame) = self.frames.get(self.next) else { break };
            sink(Incoming { at, bytes: Bytes::Prepared(frame) });
            self.advance();
            taken += 1;
        }
        taken
    }

    fn receive_prepared(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Nanos, &[u32])) -> usize {
        if !self.saturating || self.at > now || self.frames.is_empty() {
            return 0;
        }
        let mut taken = 0;
        while taken < limit {
            let rest = &self.frames[self.next..];
            let frames = &rest[..rest.len().min(limit - taken)];
            sink(now, frames);
            taken += frames.len();
            self.next = (self.next + frames.len()) % self.frames.len();
        }
        taken
    }

    fn due(&self) -> Due {
        if self.frames.is_empty() { Due::Never } else { Due::At(self.at) }
    }

    /// Discards the frame: nothing receives from memory.
    fn send(&mut self, _frame: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
