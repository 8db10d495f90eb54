//! Replays the packets of a capture as arrivals.

use super::streams::{Datagrams, Streams};
use super::{Record, Records, TraceError, Truncation, flow, records};
use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals};
use crate::popularity::MAX_STREAMS;
use core::fmt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use warmcore_units::{Fault, Nanos, PerSecond, StreamId};

/// The IP packets of a capture, in order of time since the first; cheap to clone.
#[derive(Clone, Debug)]
pub struct Trace {
    /// At least one.
    packets: Arc<[Arrival]>,
    capture: Capture,
}

/// What was read from a capture, and what was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Capture {
    /// Number of IP packets, which form the trace.
    pub packets: usize,
    /// Number of their streams.
    pub streams: u32,
    /// Number of packets that are not IP and were left out.
    pub not_ip: usize,
    /// Where the file is truncated, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Truncation>,
}

impl fmt::Display for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packets, streams, not_ip, cut } = self;
        write!(f, "{packets} packets of {streams} streams")?;
        if *not_ip > 0 {
            write!(f, "; left out: {not_ip} packets that are not IP")?;
        }
        match cut {
            Some(cut) => write!(f, "; the file is cut off, and was read until there: {cut}"),
            None => Ok(()),
        }
    }
}

impl Trace {
    /// Reads the bytes of a pcap or pcapng file.
    ///
    /// # Errors
    /// If the file is neither, contradicts itself, ends within its first packet, or has no IP packets.
    pub fn parse(file: &[u8]) -> Result<Self, TraceError> {
        let Records { mut records, cut } = records(file)?;
        records.sort_by_key(|record| record.at);
        let packets: Vec<_> = records
            .iter()
            .filter_map(|record| Some((record, flow::identify(record.link, record.frame)?)))
            .collect();
        let Some((first, _)) = packets.first() else {
            return Err(TraceError::NoUsablePackets { packets: records.len() });
        };
        let mut datagrams = Datagrams::default();
        for &(record, (flow, part)) in &packets {
            datagrams.note(record.at, flow, part);
        }
        let mut streams = Streams::new(datagrams);
        let arrivals = packets
            .iter()
            .map(|&(record, (flow, part))| arrival(record, first.at, streams.number(record.at, flow, part)))
            .collect();
        let capture = Capture {
            packets: packets.len(),
            streams: streams.count(),
            not_ip: records.len() - packets.len(),
            cut,
        };
        Ok(Self { packets: arrivals, capture })
    }

    /// A trace of these packets, at times since its start.
    ///
    /// # Errors
    /// If there are none, a time comes before the one in front of it or is no number, or a stream's number is above
    /// [`MAX_STREAMS`].
    pub fn from_arrivals(arrivals: Vec<Arrival>) -> Result<Self, Fault> {
        let Some(last_stream) = arrivals.iter().map(|arrival| arrival.stream.0).max() else {
            return Err(Fault::new("arrivals", "empty", "at least one packet"));
        };
        let mut before = Nanos::ZERO;
        for (index, arrival) in arrivals.iter().enumerate() {
            if !(arrival.at >= before && arrival.at < Nanos::INFINITY) {
                let expected = "times in ascending order, from 0";
                return Err(Fault::new(format!("arrivals.times.{index}"), arrival.at.0, expected));
            }
            before = arrival.at;
        }
        if last_stream >= MAX_STREAMS {
            return Err(Fault::new("arrivals.streams", last_stream, format!("numbers below {MAX_STREAMS}")));
        }
        let capture = Capture { packets: arrivals.len(), streams: last_stream + 1, not_ip: 0, cut: None };
        Ok(Self { packets: arrivals.into(), capture })
    }

    /// How many packets it has, at least 1.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// How many streams they belong to.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.capture.streams
    }

    /// What was read from the capture, and what was left out.
    #[must_use]
    pub fn capture(&self) -> Capture {
        self.capture
    }

    /// Each stream's share of the packets; the shares add up to 1.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let mut packets = vec![0_u32; self.streams() as usize];
        self.packets.iter().for_each(|packet| packets[packet.stream.index()] += 1);
        packets.into_iter().map(|count| f64::from(count) / self.packets.len() as f64).collect()
    }

    /// The time from the first packet to the last.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.packets.last().map_or(Nanos::ZERO, |last| last.at)
    }

    /// The mean rate: the number of intervals between packets over the duration. `None` if the duration is 0.
    #[must_use]
    pub fn rate(&self) -> Option<PerSecond> {
        let duration = self.duration();
        (duration > Nanos::ZERO).then(|| PerSecond::every(duration / (self.packets.len() - 1) as f64))
    }

    /// Replays the packets once, with all times multiplied by `time_scale` and the first at time 0.
    ///
    /// # Errors
    /// If the scale is not a positive number.
    pub fn replay(&self, time_scale: f64) -> Result<Replay, ImpossibleArrivals> {
        check_time_scale(time_scale)?;
        Ok(Replay { packets: Arc::clone(&self.packets), time_scale, next: 0 })
    }

    /// Replays the packets repeatedly, without end, as [`replay`](Self::replay) does once. The gap between
    /// the last packet and the next first one is the mean gap between packets.
    ///
    /// # Errors
    /// If the scale is not a positive number.
    pub fn cycle(&self, time_scale: f64) -> Result<Cycle, ImpossibleArrivals> {
        check_time_scale(time_scale)?;
        let gap = self.rate().map_or(Nanos::ZERO, PerSecond::interval);
        let period = self.duration() + gap;
        Ok(Cycle { packets: Arc::clone(&self.packets), time_scale, period, started: Nanos::ZERO, next: 0 })
    }

    /// The streams of the packets in order, repeated without end.
    pub fn mix(&self) -> impl Iterator<Item = StreamId> + Send + use<> {
        let packets = Arc::clone(&self.packets);
        (0..packets.len()).cycle().map(move |index| packets[index].stream)
    }
}

/// Checks the time scale of a trace.
///
/// # Errors
/// If `time_scale` is not a positive number.
pub fn check_time_scale(time_scale: f64) -> Result<(), Fault> {
    if time_scale.is_normal() && time_scale > 0.0 {
        return Ok(());
    }
    Err(Fault::new("time_scale", time_scale, "a factor above 0, such as 0.5 for twice the rate"))
}

fn arrival(record: &Record<'_>, start: i64, stream: StreamId) -> Arrival {
    Arrival {
        at: Nanos(record.at.abs_diff(start) as f64),
        stream,
        packets: 1,
        bytes: u16::try_from(record.length).unwrap_or(u16::MAX),
        direction: record.direction,
    }
}

/// A replay of a trace.
#[derive(Clone, Debug)]
pub struct Replay {
    packets: Arc<[Arrival]>,
    time_scale: f64,
    next: usize,
}

impl Arrivals for Replay {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let rest = &self.packets[self.next..];
        for (place, &packet) in block.iter_mut().zip(rest) {
            *place = Arrival { at: packet.at * self.time_scale, ..packet };
        }
        let filled = block.len().min(rest.len());
        self.next += filled;
        filled
    }
}

/// An endless replay of a trace.
#[derive(Clone, Debug)]
pub struct Cycle {
    packets: Arc<[Arrival]>,
    time_scale: f64,
    period: Nanos,
    /// When this round started, in trace time.
    started: Nanos,
    next: usize,
}

impl Arrivals for Cycle {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        for place in &mut *block {
            let packet = self.packets[self.next];
            *place = Arrival { at: (self.started + packet.at) * self.time_scale, ..packet };
            self.next += 1;
            if self.next == self.packets.len() {
                self.next = 0;
                self.started += self.period;
            }
        }
        block.len()
    }
}
