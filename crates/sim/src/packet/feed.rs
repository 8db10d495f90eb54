//! Packets from a source, one by one. The source fills whole blocks, so that a call to it costs little per
//! packet.

use crate::packet::host::Packet;
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::{Arrival, Arrivals, Direction};

/// Arrivals in a block: as many as a `u8` can index.
const BLOCK: usize = u8::MAX as usize + 1;

/// A source, and the arrivals already taken from it.
pub(super) struct Feed<'s> {
    source: &'s mut dyn Arrivals,
    /// The arrivals taken; [`NEVER`] after the end of the source.
    block: [Arrival; BLOCK],
    /// Index in the block of the upcoming arrival.
    place: u8,
    /// When the upcoming arrival comes.
    at: Nanos,
}

/// Stands for an arrival when there are no more.
const NEVER: Arrival =
    Arrival { at: Nanos::INFINITY, stream: StreamId(0), packets: 0, bytes: 0, direction: Direction::Receive };

impl<'s> Feed<'s> {
    pub(super) fn new(source: &'s mut dyn Arrivals) -> Self {
        let mut feed = Self { source, block: [NEVER; BLOCK], place: 0, at: NEVER.at };
        feed.refill();
        feed.at = feed.block[0].at;
        feed
    }

    /// When the next arrival comes; infinite if there are no more.
    #[inline]
    pub(super) const fn at(&self) -> Nanos {
        self.at
    }

    /// Takes the next packet. There must be one.
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

    /// Takes the next `wanted` packets, whatever their arrival times; fewer if the source ends.
    pub(super) fn take(&mut self, wanted: usize) -> impl Iterator<Item = Packet> {
        (0..wanted).map_while(|_| (self.at() < Nanos::INFINITY).then(|| self.next()))
    }

    #[cold]
    fn refill(&mut self) {
        let filled = self.source.fill(&mut self.block);
        self.block[filled..].fill(NEVER);
    }
}
