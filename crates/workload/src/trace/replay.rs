//! The packets of a capture, as arrivals.

use super::streams::{Datagrams, Streams};
use super::{Record, TraceError, flow, records};
use crate::arrivals::{Arrival, Arrivals, ImpossibleArrivals};
use std::sync::Arc;
use warmcore_units::{Fault, Nanos, PerSecond, StreamId};

/// The IP packets of a capture, in order of time from the first; cheap to clone.
#[derive(Clone, Debug)]
pub struct Trace {
    /// At least one.
    packets: Arc<[Arrival]>,
    streams: u32,
    skipped: usize,
}

impl Trace {
    /// Reads the bytes of a pcap or pcapng file.
    ///
    /// # Errors
    /// If it is neither, contradicts itself, ends too early, or has no IP packets.
    pub fn parse(file: &[u8]) -> Result<Self, TraceError> {
        let mut records = records(file)?;
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
        Ok(Self { packets: arrivals, streams: streams.count(), skipped: records.len() - packets.len() })
    }

    /// How many packets it has, at least 1.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// How many streams they belong to.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.streams
    }

    /// How many packets of the capture were left out, as they are not IP.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// From the first packet to the last.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.packets.last().map_or(Nanos::ZERO, |last| last.at)
    }

    /// The mean rate: intervals between packets, by the time they take. `None` if that is no time.
    #[must_use]
    pub fn rate(&self) -> Option<PerSecond> {
        let duration = self.duration();
        (duration > Nanos::ZERO).then(|| PerSecond::every(duration / (self.packets.len() - 1) as f64))
    }

    /// The packets with all times multiplied by `time_scale`, the first at time 0; it ends with
    /// the last.
    ///
    /// # Errors
    /// If the scale is not a positive number.
    pub fn replay(&self, time_scale: f64) -> Result<Replay, ImpossibleArrivals> {
        check_time_scale(time_scale)?;
        Ok(Replay { packets: Arc::clone(&self.packets), time_scale, next: 0 })
    }

    /// The streams of the packets, one after the other, over and over.
    pub fn mix(&self) -> impl Iterator<Item = StreamId> + Send + use<> {
        let packets = Arc::clone(&self.packets);
        (0..packets.len()).cycle().map(move |index| packets[index].stream)
    }
}

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

/// A trace in the course of being replayed.
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
