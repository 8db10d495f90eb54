//! Packets from a source, one after the other. The source fills a block at a time, so that asking
//! it costs nothing beside what it does.

use crate::packet::host::Packet;
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::{Arrival, Arrivals, Direction};

/// Arrivals drawn from the source at once.
const BLOCK: usize = 256;

/// A source with a look at what comes next.
pub(super) struct Feed<'s> {
    source: &'s mut dyn Arrivals,
    block: [Arrival; BLOCK],
    /// Where in the block the upcoming arrival stands.
    place: usize,
    filled: usize,
    upcoming: Arrival,
}

/// In place of an arrival when there is none any more.
const NEVER: Arrival =
    Arrival { at: Nanos::INFINITY, stream: StreamId(0), packets: 0, bytes: 0, direction: Direction::Receive };

impl<'s> Feed<'s> {
    pub(super) fn of(source: &'s mut dyn Arrivals) -> Self {
        let mut feed = Self { source, block: [NEVER; BLOCK], place: 0, filled: BLOCK, upcoming: NEVER };
        feed.refill();
        feed
    }

    /// When the next arrival comes; infinite if there is none.
    #[inline]
    pub(super) const fn at(&self) -> Nanos {
        self.upcoming.at
    }

    /// The next arrival happens: `receive` gets its packets.
    #[inline(always)]
    pub(super) fn arrive(&mut self, mut receive: impl FnMut(Packet)) {
        let Arrival { at, stream, packets, bytes, direction } = self.upcoming;
        let packet = Packet { arrived: at, stream, bytes, direction };
        self.place += 1;
        match self.block[..self.filled].get(self.place) {
            Some(&next) => self.upcoming = next,
            None => self.refill(),
        }
        for _ in 0..packets {
            receive(packet);
        }
    }

    /// The next packets, as many as `wanted` or a few more if they come in batches, whenever they
    /// would arrive; whether there were so many.
    pub(super) fn take(&mut self, wanted: usize, mut receive: impl FnMut(Packet)) -> bool {
        let mut taken = 0;
        while taken < wanted && self.at() < Nanos::INFINITY {
            self.arrive(|packet| {
                taken += 1;
                receive(packet);
            });
        }
        taken >= wanted
    }

    #[cold]
    fn refill(&mut self) {
        // A block that was not filled was the last.
        let more = self.filled == BLOCK;
        self.filled = if more { self.source.fill(&mut self.block) } else { 0 };
        self.place = 0;
        self.upcoming = if self.filled > 0 { self.block[0] } else { NEVER };
    }
}
