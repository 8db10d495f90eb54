//! Three hosts in the mind: what the packets that arrive would have met under each choice.

use super::costs::{Costs, Stacks};
use super::recent::RecentHost;
use super::wired::{WiredHost, Wiring};
use crate::policy::Request;
use warmcore_units::Nanos;

/// How processors are chosen for the time being.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// One processor for all, which is warm.
    Gather,
    /// The most recently used idle processor.
    Recent,
    /// The stream's home, and others where it is busy. With this it begins: it is the choice that
    /// keeps up with most packets.
    #[default]
    Home,
}

/// The choices side by side.
#[derive(Clone, Debug)]
pub(super) struct Rehearsal {
    costs: Costs,
    first: WiredHost,
    recent: RecentHost,
    homes: WiredHost,
    /// The delays of the current block, added up: by [`Choice`].
    sums: [f64; 3],
    /// How many packets that is; and how many make a block.
    packets: u32,
    block: u32,
    choice: Choice,
}

/// Packets, for each processor, after which the choices are compared; and at least. Long enough that chance moves the *differences*
/// of means, which see the same packets, by little more than a percent; short enough to follow a
/// changing load.
const BLOCK_PER_PROCESSOR: u32 = 128;
pub(super) const BLOCK: u32 = 1_024;

/// Another choice is made if it is better by so much: less is not worth the caches that a change
/// leaves behind.
const GAIN: f64 = 0.01;

impl Rehearsal {
    pub(super) fn new(stacks: Stacks, processors: u32, costs: Costs) -> Self {
        let limit = Limit::of(&costs);
        let wired = |wiring| WiredHost::new(wiring, stacks, processors, limit);
        Self {
            first: wired(Wiring::First),
            recent: RecentHost::new(stacks, processors, limit),
            homes: wired(Wiring::Homes),
            costs,
            sums: [0.0; 3],
            packets: 0,
            block: BLOCK.max(processors.saturating_mul(BLOCK_PER_PROCESSOR)),
            choice: Choice::default(),
        }
    }

    pub(super) const fn choice(&self) -> Choice {
        self.choice
    }

    /// A packet arrives.
    #[inline]
    pub(super) fn arrive(&mut self, request: &Request) {
        let costs = &self.costs;
        let [gather, recent, home] = &mut self.sums;
        *gather += self.first.arrive(request, costs).0;
        *recent += self.recent.arrive(request, costs).0;
        *home += self.homes.arrive(request, costs).0;
        self.packets += 1;
        if self.packets == self.block {
            self.compare();
        }
    }

    fn compare(&mut self) {
        let current = self.sums[self.choice as usize];
        for (choice, sum) in [Choice::Gather, Choice::Recent, Choice::Home].into_iter().zip(self.sums) {
            if sum < current * (1.0 - GAIN) && sum < self.sums[self.choice as usize] {
                self.choice = choice;
            }
        }
        self.sums = [0.0; 3];
        self.packets = 0;
    }
}

/// The longest delay that is followed: a choice under which lines only grow is bad enough with
/// this one, and must not have to work off more when the load falls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(Nanos);

impl Limit {
    /// Of the hottest packets, how many such a delay takes.
    const PACKETS: f64 = 500.0;

    pub(super) fn of(costs: &Costs) -> Self {
        Self(costs.hottest() * Self::PACKETS)
    }

    /// `end`, or as late as is followed at `now`.
    #[inline]
    pub(super) fn on(self, now: Nanos, end: Nanos) -> Nanos {
        Nanos(end.0.min(now.0 + self.0.0))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{costs, request};
    use super::*;
    use alloc::vec::Vec;

    /// More than one processor can do, of four streams that take turns in changing order: on their
    /// own processors all are warm and find their own history.
    pub(crate) fn steady(packets: u32) -> Vec<(f64, u32)> {
        let stream = |packet: u32| [0, 1, 2, 3, 1, 0, 3, 2][packet as usize % 8];
        (0..packets).map(|packet| (f64::from(packet) * 60.0, stream(packet))).collect()
    }

    /// A packet often enough to keep one processor warm, and after each fourth another soon, for which a
    /// second processor would be cold.
    pub(crate) fn sparse(packets: u32) -> Vec<(f64, u32)> {
        let time = |packet: u32| f64::from(packet / 5 * 4 + packet % 5) * 300.0;
        let soon = |packet: u32| if packet % 5 == 4 { -240.0 } else { 0.0 };
        (0..packets).map(|packet| (time(packet) + soon(packet), packet % 4)).collect()
    }

    /// Four packets of a stream at once, of every stream in turn: there are processors for all four.
    pub(crate) fn bursts(packets: u32) -> Vec<(f64, u32)> {
        (0..packets).map(|packet| (f64::from(packet / 4) * 450.0, packet / 4 % 4)).collect()
    }

    fn rehearse(rehearsal: &mut Rehearsal, from: f64, packets: &[(f64, u32)]) -> f64 {
        for &(after, stream) in packets {
            rehearsal.arrive(&request(Nanos(from + after), stream));
        }
        from + packets.last().map_or(0.0, |&(after, _)| after)
    }

    /// With lines left over from an overload, within two blocks of the change.
    #[test]
    fn the_choice_follows_the_load() {
        let mut rehearsal = Rehearsal::new(Stacks::PerProcessor, 4, costs());
        assert_eq!(rehearsal.choice(), Choice::Home);
        let mut now = 0.0;
        for _ in 0..3 {
            now = rehearse(&mut rehearsal, now, &steady(2 * BLOCK));
            assert_eq!(rehearsal.choice(), Choice::Home);
            now = rehearse(&mut rehearsal, now, &sparse(2 * BLOCK));
            assert_eq!(rehearsal.choice(), Choice::Gather);
        }
    }

    #[test]
    fn a_choice_that_is_hardly_better_is_not_taken() {
        let mut rehearsal = Rehearsal::new(Stacks::PerProcessor, 4, costs());
        for (recent, choice) in [(0.995, Choice::Home), (0.985, Choice::Recent), (1.005, Choice::Recent)] {
            rehearsal.sums = [2.0, recent, 1.0];
            rehearsal.compare();
            assert_eq!(rehearsal.choice(), choice);
        }
    }
}
