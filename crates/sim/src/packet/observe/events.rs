//! The events of the first packets of a point: arrivals, starts of service, ends.
//!
//! Of events at the same time, an end comes first, then an arrival, then the drop or the start that follows from it, as in the
//! simulation. Packets are numbered in the order in which they arrive. Those that arrive together in one stream are alike;
//! of these the one with the lowest number is said to start first.

use super::watch::{Watcher, watch};
use crate::packet::host::Packet;
use crate::packet::point::{Point, PointError};
use crate::packet::system::Finished;
use core::ops::ControlFlow;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use warmcore_costs::Situation;
use warmcore_record::timeline::{Counter, Slice};
use warmcore_record::{Column, Timeline};
use warmcore_units::Fault;

/// The most packets of a trace, each of three events.
pub const MAX_PACKETS: u64 = 1_000_000;
/// A trace ends when this many times its packets are finished, even if some of its own still wait: a queue that
/// prefers others may never come to them.
const PATIENCE: u64 = 4;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Its service ends, and it leaves.
    Finish,
    /// It arrives.
    Arrival,
    /// It has just arrived and finds its queue full.
    Drop,
    /// Its service starts.
    Start,
}

impl EventKind {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finish => "finish",
            Self::Arrival => "arrival",
            Self::Drop => "drop",
            Self::Start => "start",
        }
    }
}

/// Events in order of time. Columns have equal lengths: a row for each event.
///
/// The trace is complete until the last of its packets arrives; after that it shows what becomes of them, and leaves
/// out later packets.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct EventTrace {
    /// Processors of the host.
    pub processors: u32,
    /// When it happens, in nanoseconds since the start of the run.
    pub time_ns: Vec<f64>,
    /// What happens.
    pub event: Vec<EventKind>,
    /// The packet's number, from 0.
    pub packet: Vec<u64>,
    /// Its stream.
    pub stream: Vec<u32>,
    /// The processor; `None` for an arrival and a drop.
    pub cpu: Vec<Option<u32>>,
    /// What the packet finds in cache, by the index of [`Situation`]; `None` for an arrival and a drop.
    pub situation: Vec<Option<u8>>,
}

impl Point<'_> {
    /// The events of the first `packets` packets of the point's first run, from an empty host. A saturated host has
    /// them too.
    ///
    /// # Errors
    /// If `packets` is 0 or more than [`MAX_PACKETS`], or the traffic cannot be generated.
    pub fn events(&self, packets: u64) -> Result<EventTrace, PointError> {
        let mut recorder = Recorder::new(packets)?;
        let host = self.host(0);
        let mut arrivals = self.traffic().source(self.rate, host.key)?;
        watch(&host, &mut *arrivals, &mut recorder);
        Ok(recorder.trace(host.shape.processors))
    }
}

/// Records what is seen.
#[derive(Default)]
pub(in crate::packet) struct Recorder {
    packets: u64,
    arrived: Vec<Packet>,
    /// By time and stream, the numbers of packets that are not finished.
    present: BTreeMap<(u64, u32), VecDeque<u64>>,
    finished: Vec<(u64, Finished)>,
    dropped: Vec<u64>,
    /// Finished packets, the later ones included.
    all: u64,
}

impl Watcher for Recorder {
    fn arrives(&mut self, packet: &Packet) -> ControlFlow<()> {
        let number = self.arrived.len() as u64;
        if number < self.packets {
            self.arrived.push(*packet);
            self.present.entry(key(packet)).or_default().push_back(number);
        }
        ControlFlow::Continue(())
    }

    fn drops(&mut self, packet: &Packet) {
        if let Some(alike) = self.present.get_mut(&key(packet)) {
            // The last of them is the one that has just arrived.
            self.dropped.extend(alike.pop_back());
            if alike.is_empty() {
                self.present.remove(&key(packet));
            }
        }
    }

    fn finishes(&mut self, finished: &Finished) -> ControlFlow<()> {
        self.all += 1;
        let key = key(&finished.packet);
        if let Some(alike) = self.present.get_mut(&key) {
            self.finished.extend(alike.pop_front().map(|number| (number, *finished)));
            if alike.is_empty() {
                self.present.remove(&key);
            }
        }
        let known = (self.finished.len() + self.dropped.len()) as u64;
        let is_done = known == self.packets || self.all >= PATIENCE.saturating_mul(self.packets);
        if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn key(packet: &Packet) -> (u64, u32) {
    (packet.arrived.0.to_bits(), packet.stream.0)
}

impl Recorder {
    /// Records the first `packets` packets.
    ///
    /// # Errors
    /// If these are none, or more than [`MAX_PACKETS`].
    pub(in crate::packet) fn new(packets: u64) -> Result<Self, Fault> {
        if !(1..=MAX_PACKETS).contains(&packets) {
            return Err(Fault::new("event_packets", packets, format!("between 1 and {MAX_PACKETS}")));
        }
        Ok(Self { packets, ..Self::default() })
    }
}

/// An event, before all are in order.
type Row = (f64, EventKind, u64, u32, Option<(u32, u8)>);

impl Recorder {
    /// What was recorded, on so many `processors`.
    pub(in crate::packet) fn trace(self, processors: u32) -> EventTrace {
        let arrivals = (0..).zip(&self.arrived).map(|(number, packet)| -> Row {
            (packet.arrived.0, EventKind::Arrival, number, packet.stream.0, None)
        });
        let served = self.finished.iter().flat_map(|(number, finished)| -> [Row; 2] {
            let place = Some((finished.cpu.0, finished.situation.index() as u8));
            let stream = finished.packet.stream.0;
            [
                (finished.started.0, EventKind::Start, *number, stream, place),
                (finished.ended.0, EventKind::Finish, *number, stream, place),
            ]
        });
        let dropped = self.dropped.iter().map(|&number| -> Row {
            let packet = &self.arrived[number as usize];
            (packet.arrived.0, EventKind::Drop, number, packet.stream.0, None)
        });
        let mut rows: Vec<Row> = arrivals.chain(served).chain(dropped).collect();
        rows.sort_by(|one, other| {
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        EventTrace {
            processors,
            time_ns: rows.iter().map(|row| row.0).collect(),
            event: rows.iter().map(|row| row.1).collect(),
            packet: rows.iter().map(|row| row.2).collect(),
            stream: rows.iter().map(|row| row.3).collect(),
            cpu: rows.iter().map(|row| Some(row.4?.0)).collect(),
            situation: rows.iter().map(|row| Some(row.4?.1)).collect(),
        }
    }
}

impl EventTrace {
    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// Whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.time_ns.is_empty()
    }

    /// The columns of a table, one row for each event.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let situation = |index: &Option<u8>| situation_name((*index)?);
        vec![
            Column::floats("time", "ns", self.time_ns.iter().copied().map(Some)),
            Column::texts("event", self.event.iter().map(|event| Some(event.name().to_owned()))),
            Column::integers("packet", self.packet.iter().map(|&number| i64::try_from(number).ok())),
            Column::integers("stream", self.stream.iter().map(|&stream| Some(stream.into()))),
            Column::integers("cpu", self.cpu.iter().map(|cpu| cpu.map(i64::from))),
            Column::texts("situation", self.situation.iter().map(situation)),
        ]
    }

    /// The events for a trace viewer: a track for each processor with a slice for each service, and a counter of the
    /// packets present.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        let mut timeline =
            Timeline::new("simulated host", (0..self.processors).map(|cpu| format!("processor {cpu}")));
        let mut present = Counter::new("packets present");
        let mut started: BTreeMap<u64, f64> = BTreeMap::new();
        let mut arrived: BTreeMap<u64, f64> = BTreeMap::new();
        let mut count = 0_u64;
        for row in 0..self.len() {
            let (at, packet) = (self.time_ns[row], self.packet[row]);
            match self.event[row] {
                EventKind::Arrival => {
                    arrived.insert(packet, at);
                    count += 1;
                    present.push(at, count as f64);
                }
                EventKind::Drop => {
                    arrived.remove(&packet);
                    count -= 1;
                    present.push(at, count as f64);
                }
                EventKind::Start => {
                    started.insert(packet, at);
                }
                EventKind::Finish => {
                    count -= 1;
                    present.push(at, count as f64);
                    let began = started.remove(&packet).unwrap_or(at);
                    let waited = began - arrived.remove(&packet).unwrap_or(began);
                    let slice = Slice::new(
                        self.cpu[row].unwrap_or(0),
                        began,
                        at,
                        format!("stream {}", self.stream[row]),
                    )
                    .with("packet", packet)
                    .with("stream", self.stream[row])
                    .with("situation", self.situation[row].and_then(situation_name))
                    .with("waited_us", waited / 1e3);
                    timeline.slices.push(slice);
                }
            }
        }
        timeline.counters.push(present);
        timeline
    }
}

fn situation_name(index: u8) -> Option<String> {
    Situation::all().nth(index.into()).map(|situation| situation.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::{CpuId, Nanos, StreamId};

    /// Two packets alike, of which the second is dropped while the first is served.
    #[test]
    fn a_dropped_packet_has_a_row_and_leaves_the_counter() {
        let mut recorder = Recorder { packets: 2, ..Recorder::default() };
        let packet = Packet::new(Nanos(5.0), StreamId(3));
        for _ in 0..2 {
            assert!(recorder.arrives(&packet).is_continue());
        }
        recorder.drops(&packet);
        let (started, ended) = (Nanos(5.0), Nanos(9.0));
        let served = Finished { packet, cpu: CpuId(1), situation: Situation::default(), started, ended };
        assert!(recorder.finishes(&served).is_break());
        let trace = recorder.trace(2);
        use EventKind::{Arrival, Drop, Finish, Start};
        assert_eq!(trace.event, [Arrival, Arrival, Drop, Start, Finish]);
        assert_eq!(trace.packet, [0, 1, 1, 0, 0]);
        assert_eq!(trace.cpu, [None, None, None, Some(1), Some(1)]);
        let timeline = trace.timeline();
        assert_eq!(timeline.counters[0].values, [(5.0, 1.0), (9.0, 0.0)]);
        assert_eq!(timeline.slices.len(), 1);
    }
}
