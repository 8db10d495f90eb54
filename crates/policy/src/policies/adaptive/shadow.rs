//! Three hosts in the mind: what the packets that arrive would have met under each choice.

use super::costs::{Costs, StackSharing};
use super::delay_cap::DelayCap;
use super::delays::{Delays, ShadowPacket};
use super::recent::RecentHost;
use super::stealing::StealingHost;
use super::strategy::{SavingsLedger, Strategy};
use super::wired::{WiredHost, Wiring};
use crate::policy::Request;

/// The choices side by side.
#[derive(Clone, Debug)]
pub(super) struct ShadowSimulation {
    costs: Costs,
    first: WiredHost,
    recent: RecentHost,
    homes: Homes,
    /// Of the current block.
    delays: Delays,
    /// How many packets make one.
    block: u32,
    strategy: Strategy,
    savings: SavingsLedger,
}

/// The host under [`Strategy::Home`].
#[derive(Clone, Debug)]
enum Homes {
    /// Where packets wait at home.
    Wired(WiredHost),
    /// Where they go elsewhere if their home is busy and another processor is not.
    Stealing(StealingHost),
}

/// Packets, for each processor, after which the choices are compared; and at least. Long enough
/// that at most loads chance moves the *differences* of means, which see the same packets, by
/// little more than a percent; short enough to follow a changing load.
const BLOCK_PER_PROCESSOR: u32 = 128;
pub(super) const BLOCK: u32 = 1_024;

impl ShadowSimulation {
    pub(super) fn new(stacks: StackSharing, processors: u32, costs: Costs) -> Self {
        let limit = DelayCap::from_costs(&costs);
        let wired = |wiring| WiredHost::new(wiring, stacks, processors, limit);
        Self {
            first: wired(Wiring::First),
            recent: RecentHost::new(stacks, processors, limit),
            homes: match stacks {
                StackSharing::Independent => Homes::Wired(wired(Wiring::Homes)),
                _ => Homes::Stealing(StealingHost::new(stacks, processors, limit)),
            },
            costs,
            delays: Delays::default(),
            block: BLOCK.max(processors.saturating_mul(BLOCK_PER_PROCESSOR)),
            strategy: Strategy::default(),
            savings: SavingsLedger::default(),
        }
    }

    pub(super) const fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// A packet arrives.
    #[inline]
    pub(super) fn arrive(&mut self, request: &Request) {
        let (costs, delays) = (&self.costs, &mut self.delays);
        let gathered = self.first.arrive(request, costs);
        let recent = self.recent.arrive(request, costs);
        let packet = ShadowPacket { request: *request, gathered, recent };
        match &mut self.homes {
            Homes::Wired(host) => delays.add(&packet, host.arrive(request, costs)),
            Homes::Stealing(host) => host.arrive(&packet, costs, delays),
        }
        if delays.packets >= self.block {
            self.compare();
        }
    }

    /// A block is over.
    #[cold]
    fn compare(&mut self) {
        let delays = core::mem::take(&mut self.delays);
        self.strategy = self.savings.judge(self.strategy, delays.sums);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{costs, request};
    use super::*;
    use alloc::vec::Vec;
    use warmcore_units::Nanos;

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

    /// Two packets of a stream at once, of every stream in turn: two processors are enough to be hot
    /// for them all.
    pub(crate) fn pairs(packets: u32) -> Vec<(f64, u32)> {
        (0..packets).map(|packet| (f64::from(packet / 2) * 350.0, packet / 2 % 4)).collect()
    }

    fn rehearse(shadow: &mut ShadowSimulation, from: f64, packets: &[(f64, u32)]) -> f64 {
        for &(after, stream) in packets {
            shadow.arrive(&request(Nanos(from + after), stream));
        }
        from + packets.last().map_or(0.0, |&(after, _)| after)
    }

    /// With lines left over from an overload, within two blocks of the change.
    #[test]
    fn the_choice_follows_the_load() {
        let mut shadow = ShadowSimulation::new(StackSharing::PerProcessor, 4, costs());
        assert_eq!(shadow.strategy(), Strategy::Home);
        let mut now = 0.0;
        for _ in 0..3 {
            now = rehearse(&mut shadow, now, &steady(2 * BLOCK));
            assert_eq!(shadow.strategy(), Strategy::Home);
            now = rehearse(&mut shadow, now, &sparse(2 * BLOCK));
            assert_eq!(shadow.strategy(), Strategy::Gather);
        }
    }
}
