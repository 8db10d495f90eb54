//! What is to happen, by time; what is scheduled for one time happens in the order in which it was scheduled.
//!
//! Nearly everything is scheduled for the next few hundred cycles. So there is a list for each of the next [`NEAR`] cycles, with
//! bits that tell which of them are not empty, and a heap for what is farther away. As time goes on, events move from
//! the heap to the lists before anything else can be scheduled for their cycle, which keeps the order.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    /// A processor goes on with its program.
    Continue(u32),
    /// A processor's reference that missed gets to the bus; or it needs a frame, submits a request, leaves the program.
    Reference(u32),
    /// A block access fault or a message gets to a device, by its place among those under way.
    Arrive { node: u32, event: u32 },
    /// A node looks for a frame again.
    FindFrame { node: u32 },
    /// A step of a handler has ended.
    Step { node: u32, thread: u32 },
    /// A processor that was interrupted, or has trapped, turns to the device.
    Poll { node: u32, cpu: u32 },
}

/// Cycles that have a list of their own.
const NEAR: u64 = 2048;
/// Words of bits for them.
const WORDS: usize = NEAR as usize / 64;
/// No entry.
const NONE: u32 = u32::MAX;

/// An event in a list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Event,
    next: u32,
}

/// The events of one cycle.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// The events that are scheduled.
#[derive(Debug)]
pub(super) struct Agenda {
    /// Before this, nothing happens any more.
    now: u64,
    lists: Box<[List; NEAR as usize]>,
    /// Which lists are not empty.
    bits: [u64; WORDS],
    entries: Vec<Entry>,
    free: u32,
    far: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// How many events have been far, to keep their order.
    scheduled: u64,
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            now: 0,
            lists: Box::new([List { first: NONE, last: NONE }; NEAR as usize]),
            bits: [0; WORDS],
            entries: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            scheduled: 0,
        }
    }
}

impl Agenda {
    /// Foresees `event` for `time`, or for now if that has passed.
    #[inline]
    pub(super) fn push(&mut self, time: u64, event: Event) {
        let time = time.max(self.now);
        if time - self.now >= NEAR {
            self.scheduled += 1;
            self.far.push(Reverse((time, self.scheduled, event)));
        } else {
            self.append(time, event);
        }
    }

    fn append(&mut self, time: u64, event: Event) {
        let entry = Entry { event, next: NONE };
        let place = self.free;
        let place = if place == NONE {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        } else {
            self.free = self.entries[place as usize].next;
            self.entries[place as usize] = entry;
            place
        };
        let slot = (time % NEAR) as usize;
        let list = &mut self.lists[slot];
        if list.first == NONE {
            list.first = place;
            self.bits[slot / 64] |= 1 << (slot % 64);
        } else {
            self.entries[list.last as usize].next = place;
        }
        list.last = place;
    }

    /// The next event, and when it happens.
    pub(super) fn pop(&mut self) -> Option<(u64, Event)> {
        let time = self.next_time();
        if time == u64::MAX {
            return None;
        }
        self.advance(time);
        let slot = (time % NEAR) as usize;
        let list = &mut self.lists[slot];
        let place = list.first;
        let Entry { event, next } = self.entries[place as usize];
        list.first = next;
        if next == NONE {
            self.bits[slot / 64] &= !(1 << (slot % 64));
        }
        self.entries[place as usize].next = self.free;
        self.free = place;
        Some((time, event))
    }

    /// Time goes on to `time`: far events that are near by then move to their lists.
    fn advance(&mut self, time: u64) {
        self.now = time;
        while let Some(&Reverse((far, _, event))) = self.far.peek()
            && far - time < NEAR
        {
            self.far.pop();
            self.append(far, event);
        }
    }

    /// The time of the next event; never, if there is none.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        let start = (self.now % NEAR) as usize;
        let (word, bit) = (start / 64, start % 64);
        let after = self.bits[word] >> bit;
        if after != 0 {
            return self.now + u64::from(after.trailing_zeros());
        }
        // The first word comes again at the end, with the bits below `bit`.
        for step in 1..=WORDS {
            let bits = self.bits[(word + step) % WORDS];
            if bits != 0 {
                return self.now - bit as u64 + 64 * step as u64 + u64::from(bits.trailing_zeros());
            }
        }
        self.far.peek().map_or(u64::MAX, |Reverse((time, ..))| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drained(mut agenda: Agenda) -> Vec<(u64, Event)> {
        core::iter::from_fn(|| agenda.pop()).collect()
    }

    #[test]
    fn events_of_one_time_happen_in_the_order_in_which_they_were_scheduled() {
        let mut agenda = Agenda::default();
        for (time, processor) in [(5, 9), (3, 2), (5, 1), (3, 1)] {
            agenda.push(time, Event::Continue(processor));
        }
        let expected = [(3, 2), (3, 1), (5, 9), (5, 1)].map(|(time, number)| (time, Event::Continue(number)));
        assert_eq!(drained(agenda), expected);
    }

    proptest! {
        /// Near and far, scheduled before and while others happen: the order is that of a stable sort.
        #[test]
        fn the_order_is_that_of_a_stable_sort(delays in prop::collection::vec((0_u64..3 * NEAR, any::<bool>()), 1..200)) {
            let mut agenda = Agenda::default();
            let mut expected = Vec::new();
            let mut happened = Vec::new();
            let mut now = 0;
            for (number, (delay, goes_on)) in (0..).zip(delays) {
                agenda.push(now + delay, Event::Continue(number));
                expected.push((now + delay, Event::Continue(number)));
                if goes_on && let Some((time, event)) = agenda.pop() {
                    now = time;
                    happened.push((time, event));
                }
            }
            happened.extend(drained(agenda));
            expected.sort_by_key(|&(time, _)| time);
            prop_assert_eq!(happened, expected);
        }
    }
}
