//! The packets that wait at the processors of a simulated host.

use super::delays::ShadowPacket;
use crate::load_order::LoadOrder;
use alloc::vec::Vec;
use warmcore_units::CpuId;

/// A queue for each processor, all in one slab. Once the slab holds the largest number of packets that
/// wait at a time, nothing more is allocated.
#[derive(Clone, Debug)]
pub(super) struct ShadowQueues {
    queues: Vec<Queue>,
    lengths: LoadOrder,
    slab: Vec<Slot>,
    /// First of the free slots, which are linked.
    free: u32,
    waiting: u32,
    capacity: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: ShadowPacket,
    next: u32,
}

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

/// The queues hold as many packets as they may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Full;

impl ShadowQueues {
    /// Empty queues that hold at most `capacity` packets together.
    pub(super) fn empty(processors: u32, capacity: u32) -> Self {
        Self {
            queues: alloc::vec![Queue { first: NONE, last: NONE, length: 0 }; processors as usize],
            lengths: LoadOrder::idle(processors),
            slab: Vec::new(),
            free: NONE,
            waiting: 0,
            capacity,
        }
    }

    /// Appends `packet` to the queue of `cpu`.
    #[inline]
    pub(super) fn join(&mut self, cpu: CpuId, packet: ShadowPacket) -> Result<(), Full> {
        if self.waiting == self.capacity {
            return Err(Full);
        }
        self.waiting += 1;
        let place = self.occupy(packet);
        let queue = &mut self.queues[cpu.index()];
        match core::mem::replace(&mut queue.last, place) {
            NONE => queue.first = place,
            before => self.slab[before as usize].next = place,
        }
        queue.length += 1;
        self.lengths.set(cpu, queue.length);
        Ok(())
    }

    /// The packet that `cpu` takes next: the first of its own queue, or else of the longest one.
    #[inline]
    pub(super) fn take(&mut self, cpu: CpuId) -> Option<ShadowPacket> {
        if self.waiting == 0 {
            return None;
        }
        let own = self.queues[cpu.index()].length > 0;
        let from = if own { cpu } else { self.lengths.most_loaded().0 };
        self.waiting -= 1;
        let queue = &mut self.queues[from.index()];
        let place = queue.first;
        let Slot { packet, next } = self.slab[place as usize];
        queue.first = next;
        if next == NONE {
            queue.last = NONE;
        }
        queue.length -= 1;
        self.lengths.set(from, queue.length);
        self.slab[place as usize].next = core::mem::replace(&mut self.free, place);
        Some(packet)
    }

    /// Puts `packet` into a free slot, with no successor; returns its index.
    #[inline]
    fn occupy(&mut self, packet: ShadowPacket) -> u32 {
        let filled = Slot { packet, next: NONE };
        if self.free == NONE {
            self.slab.push(filled);
            // The slab is as long as the number of waiting packets, a u32.
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
    const CAPACITY: usize = 8;

    /// A packet that differs from all others.
    fn packet(number: usize) -> ShadowPacket {
        let request = request(Nanos(number as f64), 0);
        ShadowPacket { request, gathered: Nanos::ZERO, recent: Nanos::ZERO }
    }

    proptest! {
        /// Compared with one `VecDeque` for each processor. Of equally long queues, any may be taken from.
        #[test]
        fn packets_leave_as_from_plain_queues(steps in prop::collection::vec((0..PROCESSORS, any::<bool>()), 0..200)) {
            let mut shadow = ShadowQueues::empty(PROCESSORS as u32, CAPACITY as u32);
            let mut queues = [const { VecDeque::new() }; PROCESSORS];
            for (number, (cpu, joins)) in steps.into_iter().enumerate() {
                if joins {
                    let full = queues.iter().map(VecDeque::len).sum::<usize>() == CAPACITY;
                    let joined = shadow.join(CpuId::from(cpu), packet(number));
                    prop_assert_eq!(joined, if full { Err(Full) } else { Ok(()) });
                    if !full {
                        queues[cpu].push_back(packet(number));
                    }
                } else {
                    let taken = shadow.take(CpuId::from(cpu));
                    let longest = queues.iter().map(VecDeque::len).max();
                    let own = !queues[cpu].is_empty();
                    let mut expected_from = queues.iter_mut().enumerate().filter(|(other, queue)| {
                        if own { *other == cpu } else { Some(queue.len()) == longest }
                    });
                    let expected = match taken {
                        None => expected_from.all(|(_, queue)| queue.is_empty()),
                        Some(_) => expected_from.any(|(_, queue)| queue.pop_front_if(|first| Some(*first) == taken).is_some()),
                    };
                    prop_assert!(expected, "{taken:?}");
                }
                prop_assert!(shadow.slab.len() <= CAPACITY);
            }
        }
    }
}
