//! Who waits at which processor of an imagined host.

use super::delays::ShadowPacket;
use crate::load_order::LoadOrder;
use alloc::vec::Vec;
use warmcore_units::CpuId;

/// A line for each processor, all in one slab: once it has grown to as many as ever wait at a
/// time, nothing is allocated.
#[derive(Clone, Debug)]
pub(super) struct ShadowQueues {
    lines: Vec<Line>,
    lengths: LoadOrder,
    slab: Vec<Place>,
    /// The first of the free places, which are linked.
    free: u32,
    waiting: u32,
    room: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    packet: ShadowPacket,
    next: u32,
}

/// In place of a link: none.
const NONE: u32 = u32::MAX;

/// There were already as many as may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Full;

impl ShadowQueues {
    /// In which nobody waits, and at most `room` packets may.
    pub(super) fn empty(processors: u32, room: u32) -> Self {
        Self {
            lines: alloc::vec![Line { first: NONE, last: NONE, length: 0 }; processors as usize],
            lengths: LoadOrder::idle(processors),
            slab: Vec::new(),
            free: NONE,
            waiting: 0,
            room,
        }
    }

    /// `packet` is the last in the line of `cpu`.
    #[inline]
    pub(super) fn join(&mut self, cpu: CpuId, packet: ShadowPacket) -> Result<(), Full> {
        if self.waiting == self.room {
            return Err(Full);
        }
        self.waiting += 1;
        let place = self.occupy(packet);
        let line = &mut self.lines[cpu.index()];
        match core::mem::replace(&mut line.last, place) {
            NONE => line.first = place,
            before => self.slab[before as usize].next = place,
        }
        line.length += 1;
        self.lengths.set(cpu, line.length);
        Ok(())
    }

    /// The packet that `cpu` takes next: the first of its own line, or else of the longest.
    #[inline]
    pub(super) fn take(&mut self, cpu: CpuId) -> Option<ShadowPacket> {
        if self.waiting == 0 {
            return None;
        }
        let own = self.lines[cpu.index()].length > 0;
        let from = if own { cpu } else { self.lengths.longest().0 };
        self.waiting -= 1;
        let line = &mut self.lines[from.index()];
        let place = line.first;
        let Place { packet, next } = self.slab[place as usize];
        line.first = next;
        if next == NONE {
            line.last = NONE;
        }
        line.length -= 1;
        self.lengths.set(from, line.length);
        self.slab[place as usize].next = core::mem::replace(&mut self.free, place);
        Some(packet)
    }

    /// A place with `packet` in it and nothing behind.
    #[inline]
    fn occupy(&mut self, packet: ShadowPacket) -> u32 {
        let filled = Place { packet, next: NONE };
        if self.free == NONE {
            self.slab.push(filled);
            // As many as wait, which is a u32.
            return self.waiting - 1;
        }
        let place = self.free;
        self.free = core::mem::replace(&mut self.slab[place as usize], filled).next;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::request;
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;
    use warmcore_units::Nanos;

    const PROCESSORS: usize = 3;
    const ROOM: usize = 8;

    /// A packet that is none of the others.
    fn packet(number: usize) -> ShadowPacket {
        let request = request(Nanos(number as f64), 0);
        ShadowPacket { request, gathered: Nanos::ZERO, recent: Nanos::ZERO }
    }

    proptest! {
        /// Against a queue for each processor. Of lines that are equally long any may be taken from.
        #[test]
        fn they_are_queues(steps in prop::collection::vec((0..PROCESSORS, any::<bool>()), 0..200)) {
            let mut lines = ShadowQueues::empty(PROCESSORS as u32, ROOM as u32);
            let mut queues = [const { VecDeque::new() }; PROCESSORS];
            for (number, (cpu, joins)) in steps.into_iter().enumerate() {
                if joins {
                    let full = queues.iter().map(VecDeque::len).sum::<usize>() == ROOM;
                    let joined = lines.join(CpuId::from(cpu), packet(number));
                    prop_assert_eq!(joined, if full { Err(Full) } else { Ok(()) });
                    if !full {
                        queues[cpu].push_back(packet(number));
                    }
                } else {
                    let taken = lines.take(CpuId::from(cpu));
                    let longest = queues.iter().map(VecDeque::len).max();
                    let own = !queues[cpu].is_empty();
                    let mut right = queues.iter_mut().enumerate().filter(|(other, queue)| {
                        if own { *other == cpu } else { Some(queue.len()) == longest }
                    });
                    let expected = match taken {
                        None => right.all(|(_, queue)| queue.is_empty()),
                        Some(_) => right.any(|(_, queue)| queue.pop_front_if(|first| Some(*first) == taken).is_some()),
                    };
                    prop_assert!(expected, "{taken:?}");
                }
                prop_assert!(lines.slab.len() <= ROOM);
            }
        }
    }
}
