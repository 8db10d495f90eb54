//! Frames from memory: as in the source, packets are made ready before the run, and arrive when a
//! traffic description says so.
//!
//! The arrivals are a schedule that is computed before the run and begins anew when it ends, so
//! that nothing is drawn at random in the packet's path. A packet arrives at its scheduled time,
//! whether or not a worker looks: its delay counts from there.

use super::{Bytes, Driver, DriverError, Due, Incoming, Opened, Prepared, Queue, QueueRequest};
use std::io;
use warmcore_stack::Flow;
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_units::{Bytes as Size, Nanos, StreamId};
use warmcore_workload::Arrivals;
use warmcore_workload::arrivals::Arrival;

/// Arrivals in a schedule at most; it begins anew after them.
const LONGEST: usize = 1 << 22;
/// Bytes that prepared frames may take together.
const MOST_MEMORY: Size = Size(1 << 30);

/// Hosts that packets come from; further streams are further ports of theirs.
const HOSTS: u32 = 60_000;

/// Prepared frames that arrive as scheduled.
pub struct Memory {
    streams: u32,
    payload: u16,
    pace: Pace,
}

/// When a memory driver's packets arrive.
enum Pace {
    /// At these times.
    Scheduled(Box<dyn Arrivals>, Nanos),
    /// Whenever somebody looks: as many as are taken in. The streams of the packets, one by one.
    Saturating(Box<dyn Iterator<Item = StreamId> + Send>),
}

/// One packet of a schedule.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Nanoseconds after the one before it in its queue.
    gap: f32,
    frame: u32,
}

impl Memory {
    /// Packets of `streams` streams with `payload` bytes of data, which arrive as `arrivals` say
    /// for `span`, and then in the same way again.
    #[must_use]
    pub fn scheduled(streams: u32, payload: u16, arrivals: Box<dyn Arrivals>, span: Nanos) -> Self {
        Self { streams, payload, pace: Pace::Scheduled(arrivals, span) }
    }

    /// The same packets, of the streams that `mix` names, as fast as they are taken in.
    #[must_use]
    pub fn saturating(streams: u32, payload: u16, mix: Box<dyn Iterator<Item = StreamId> + Send>) -> Self {
        Self { streams, payload, pace: Pace::Saturating(mix) }
    }

    /// The flow that packets of `stream` belong to, for opening it in a stack.
    #[must_use]
    pub fn flow(stream: StreamId) -> Flow {
        let (host, port) = (stream.0 % HOSTS, stream.0 / HOSTS);
        let flow = Flow::synthetic(host as u16 + 1);
        Flow { source_port: flow.source_port.wrapping_add(port as u16), ..flow }
    }

    /// How frames are laid out.
    pub const LINK: LinkKind = LinkKind::Fddi;

    fn prepare(&self) -> Result<Vec<Prepared>, DriverError> {
        let refuse = |reason: String| DriverError { driver: "memory", reason };
        let length = FrameBuilder::new(Self::LINK, Self::flow(StreamId(0))).frame_length(self.payload.into());
        let needed = Size(length as u64 * u64::from(self.streams));
        if needed > MOST_MEMORY {
            return Err(refuse(format!(
                "a frame of {length} bytes for each of {} streams takes {needed}; expected at most {MOST_MEMORY}: \
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
}

impl Driver for Memory {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let prepared = self.prepare()?;
        let queues = request.queues.max(1) as usize;
        let mut entries = vec![Vec::new(); queues];
        let queue_of = |stream: StreamId| match request.steering.get(stream.index()) {
            Some(&queue) if queues > 1 => queue as usize % queues,
            _ => 0,
        };
        let (saturating, round) = match &mut self.pace {
            Pace::Scheduled(arrivals, span) => {
                (false, schedule(&mut **arrivals, *span, &mut entries, queue_of))
            }
            Pace::Saturating(mix) => {
                for stream in mix.take(LONGEST / 4) {
                    entries[queue_of(stream)].push(Entry { gap: 0.0, frame: stream.0 });
                }
                (true, Nanos::ZERO)
            }
        };
        if entries.iter().all(Vec::is_empty) {
            let reason =
                "no packet arrives; expected traffic with at least one packet in its span".to_owned();
            return Err(DriverError { driver: "memory", reason });
        }
        let queue = |entries: Vec<Entry>| -> Box<dyn Queue> {
            Box::new(Schedule { entries, next: 0, at: Nanos::ZERO, begins: Nanos::ZERO, round, saturating })
        };
        Ok(Opened { queues: entries.into_iter().map(queue).collect(), prepared })
    }
}

/// Lays down the arrivals of `span`, or as many as a schedule holds, by queue; how long they last.
fn schedule(
    arrivals: &mut dyn Arrivals,
    span: Nanos,
    entries: &mut [Vec<Entry>],
    queue_of: impl Fn(StreamId) -> usize,
) -> Nanos {
    let mut last = vec![Nanos::ZERO; entries.len()];
    let mut block = [Arrival::default(); 256];
    let (mut count, mut end) = (0, Nanos::ZERO);
    'fill: loop {
        let filled = arrivals.fill(&mut block);
        for arrival in &block[..filled] {
            if arrival.at > span || count >= LONGEST {
                end = Nanos(arrival.at.0.min(span.0));
                break 'fill;
            }
            let queue = queue_of(arrival.stream);
            for _ in 0..arrival.packets {
                let gap = (arrival.at - last[queue]).0 as f32;
                entries[queue].push(Entry { gap, frame: arrival.stream.0 });
                last[queue] += Nanos(f64::from(gap));
            }
            count += arrival.packets as usize;
            end = arrival.at;
        }
        if filled < block.len() {
            break;
        }
    }
    let round = end.max(last.into_iter().fold(Nanos::ZERO, Nanos::max));
    if round.0 > 0.0 { round } else { span }
}

/// The packets of one queue.
struct Schedule {
    entries: Vec<Entry>,
    next: usize,
    /// When the next one arrives.
    at: Nanos,
    /// When the present round began, and how long each lasts.
    begins: Nanos,
    round: Nanos,
    saturating: bool,
}

impl Schedule {
    #[inline]
    fn advance(&mut self) {
        self.next += 1;
        match self.entries.get(self.next) {
            Some(entry) => self.at += Nanos(f64::from(entry.gap)),
            None => {
                self.begins += self.round;
                self.start_round();
            }
        }
    }

    fn start_round(&mut self) {
        self.next = 0;
        self.at = self.begins + Nanos(self.entries.first().map_or(0.0, |entry| f64::from(entry.gap)));
    }
}

impl Queue for Schedule {
    fn begin(&mut self, now: Nanos) {
        self.begins = now;
        self.start_round();
    }

    #[inline]
    fn receive(&mut self, now: Nanos, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let mut taken = 0;
        while taken < limit && self.at <= now {
            let at = if self.saturating { now } else { self.at };
            let Some(entry) = self.entries.get(self.next) else { break };
            take(Incoming { at, bytes: Bytes::Prepared(entry.frame) });
            self.advance();
            taken += 1;
        }
        taken
    }

    fn due(&self) -> Due {
        if self.entries.is_empty() { Due::Never } else { Due::At(self.at) }
    }

    /// Memory has no other end: what is sent goes nowhere.
    fn send(&mut self, _frame: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
