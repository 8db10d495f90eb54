//! Packets from a source, one by one. The source fills whole blocks, so that a call to it costs little per
//! packet.

use crate::packet::host::Packet;
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::{Arrival, Arrivals, Direction};

/// Arrivals in a block: as many as a `u8` can index.
const BLOCK: usize = u8::MAX as usize + 1;
/// Packets in a chunk, at most.
pub(super) const CHUNK: usize = 64;

/// A source, and the arrivals already taken from it.
pub(super) struct Feed<'s> {
    source: &'s mut dyn Arrivals,
    /// The arrivals taken; [`NEVER`] after the end of the source.
    block: [Arrival; BLOCK],
    /// Index in the block of the upcoming arrival.
    place: u8,
    /// When the upcoming arrival comes.
    at: Nanos,
    /// Index in the block of the first arrival that [`ahead`](Self::ahead) has not given.
    ahead: usize,
    /// The packets handed out last.
    chunk: [Packet; CHUNK],
}

/// Stands for an arrival when there are no more.
const NEVER: Arrival =
    Arrival { at: Nanos::INFINITY, stream: StreamId(0), packets: 0, bytes: 0, direction: Direction::Receive };

impl<'s> Feed<'s> {
    pub(super) fn new(source: &'s mut dyn Arrivals) -> Self {
        let chunk = [Packet::new(Nanos::ZERO, StreamId(0)); CHUNK];
        let mut feed = Self { source, block: [NEVER; BLOCK], place: 0, at: NEVER.at, ahead: 0, chunk };
        feed.refill();
        feed.at = feed.block[0].at;
        feed
    }

    /// The next [`CHUNK`] arrivals, if this has not given the upcoming one before. What is kept of their streams can be
    /// read now, all at once, rather than when each of them needs it.
    #[inline]
    pub(super) fn ahead(&mut self) -> Option<&[Arrival]> {
        let place = usize::from(self.place);
        if place < self.ahead {
            return None;
        }
        self.ahead = BLOCK.min(place + CHUNK);
        Some(&self.block[place..self.ahead])
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

    /// The next `wanted` packets, at most [`CHUNK`]; fewer if the source ends.
    #[inline(always)]
    pub(super) fn chunk(&mut self, wanted: usize) -> &[Packet] {
        let wanted = wanted.min(CHUNK);
        let mut taken = 0;
        while taken < wanted && self.at < NEVER.at {
            let before = taken;
            let place = usize::from(self.place);
            // Most arrivals are single packets.
            for (arrival, packet) in self.block[place..].iter().zip(&mut self.chunk[taken..wanted]) {
                if arrival.packets != 1 {
                    break;
                }
                let Arrival { at, stream, bytes, direction, .. } = *arrival;
                *packet = Packet { arrived: at, stream, bytes, direction };
                taken += 1;
            }
            if taken == before {
                self.chunk[taken] = self.next();
                taken += 1;
            } else {
                self.skip(taken - before);
            }
        }
        &self.chunk[..taken]
    }

    /// Leaves out this many arrivals of the block.
    fn skip(&mut self, arrivals: usize) {
        let place = usize::from(self.place) + arrivals;
        if place == BLOCK {
            self.refill();
        }
        self.place = (place % BLOCK) as u8;
        self.at = self.block[usize::from(self.place)].at;
    }

    /// Takes the next `wanted` packets, whatever their arrival times; fewer if the source ends.
    pub(super) fn take(&mut self, wanted: usize) -> impl Iterator<Item = Packet> {
        (0..wanted).map_while(|_| (self.at() < Nanos::INFINITY).then(|| self.next()))
    }

    #[cold]
    fn refill(&mut self) {
        self.ahead = 0;
        let filled = self.source.fill(&mut self.block);
        self.block[filled..].fill(NEVER);
    }
}
