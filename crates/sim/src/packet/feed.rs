//! Packets from a source, one after the other. The source fills a block at a time, so that asking
//! it costs nothing beside what it does.

use crate::packet::host::Packet;
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::{Arrival, Arrivals, Direction};

/// Arrivals drawn from the source at once: as many as a `u8` tells apart.
const BLOCK: usize = u8::MAX as usize + 1;

/// A source with a look at what comes next.
pub(super) struct Feed<'s> {
    source: &'s mut dyn Arrivals,
    /// What has been drawn; [`NEVER`] after the source's end.
    block: [Arrival; BLOCK],
    /// Where in the block the upcoming arrival stands.
    place: u8,
    /// When it comes.
    at: Nanos,
}

/// In place of an arrival when there is none any more.
const NEVER: Arrival =
    Arrival { at: Nanos::INFINITY, stream: StreamId(0), packets: 0, bytes: 0, direction: Direction::Receive };

impl<'s> Feed<'s> {
    pub(super) fn new(source: &'s mut dyn Arrivals) -> Self {
        let mut feed = Self { source, block: [NEVER; BLOCK], place: 0, at: NEVER.at };
        feed.refill();
        feed.at = feed.block[0].at;
        feed
    }

    /// When the next arrival comes; infinite if there is none.
    #[inline]
    pub(super) const fn at(&self) -> Nanos {
        self.at
    }

    /// The next packet arrives. There must be one.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Packet {
        let arrival = &mut self.block[usize::from(self.place)];
        let packet = Packet {
            arrived: self.at,
            stream: arrival.stream,
            bytes: arrival.bytes,
            direction: arrival.direction,
        };
        arrival.packets -= 1;
        if arrival.packets == 0 {
            self.advance();
        }
        packet
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.place = self.place.wrapping_add(1);
        if self.place == 0 {
            self.refill();
        }
        self.at = self.block[usize::from(self.place)].at;
    }

    /// The next `wanted` packets, whenever they would arrive; fewer if there are no more.
    pub(super) fn take(&mut self, wanted: usize) -> impl Iterator<Item = Packet> {
        (0..wanted).map_while(|_| (self.at() < Nanos::INFINITY).then(|| self.next()))
    }

    #[cold]
    fn refill(&mut self) {
        let filled = self.source.fill(&mut self.block);
        self.block[filled..].fill(NEVER);
    }
}
