//! Numbers streams by first appearance, and assigns fragments to the stream of their datagram.

use super::flow::{Flow, Fragmented, Part};
use std::collections::HashMap;
use warmcore_units::StreamId;

/// The longest time between fragments of one datagram, in nanoseconds: how long receivers wait for them. A
/// later fragment with the same identification belongs to another datagram.
const REASSEMBLY: u64 = 30_000_000_000;

/// The times and flows of the first fragments of a trace's datagrams.
#[derive(Default)]
pub(super) struct Datagrams(HashMap<Fragmented, Vec<(i64, Flow)>>);

impl Datagrams {
    /// Notes a packet; packets come in order of time.
    pub(super) fn note(&mut self, at: i64, flow: Flow, part: Part) {
        if let Part::First(datagram) = part {
            self.0.entry(datagram).or_default().push((at, flow));
        }
    }

    /// The flow of a packet. For a later fragment, this is the flow of the first fragment nearest in time,
    /// before or after it, or its own without ports if there is none.
    fn flow(&self, at: i64, flow: Flow, part: Part) -> Flow {
        let Part::Later(datagram) = part else { return flow };
        let Some(firsts) = self.0.get(&datagram) else { return flow };
        let split = firsts.partition_point(|&(first, _)| first <= at);
        let before = split.checked_sub(1).and_then(|index| firsts.get(index));
        let near = before.into_iter().chain(firsts.get(split));
        let nearest = near.min_by_key(|(first, _)| first.abs_diff(at));
        nearest.filter(|(first, _)| first.abs_diff(at) <= REASSEMBLY).map_or(flow, |&(_, flow)| flow)
    }
}

/// The streams that have appeared.
pub(super) struct Streams {
    datagrams: Datagrams,
    numbers: HashMap<Flow, u32>,
}

impl Streams {
    pub(super) fn new(datagrams: Datagrams) -> Self {
        Self { datagrams, numbers: HashMap::new() }
    }

    /// The stream of a packet; packets come in order of time.
    pub(super) fn number(&mut self, at: i64, flow: Flow, part: Part) -> StreamId {
        let flow = self.datagrams.flow(at, flow, part);
        // A trace that fits memory has fewer packets than there are numbers.
        let next = self.numbers.len() as u32;
        StreamId(*self.numbers.entry(flow).or_insert(next))
    }

    /// How many streams have appeared.
    pub(super) fn count(&self) -> u32 {
        self.numbers.len() as u32
    }
}
