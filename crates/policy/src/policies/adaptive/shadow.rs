//! The shadow simulation: what delay the arriving packets would have under each strategy.

use super::delay_cap::DelayCap;
use super::delays::{Delays, ShadowPacket};
use super::recent::RecentHost;
use super::service_times::{ServiceTimes, StackSharing};
use super::stealing::StealingHost;
use super::strategy::{SavingsLedger, Strategy};
use super::wired::{WiredHost, Wiring};
use crate::policy::Request;

/// Simulates the three strategies on the same packets.
#[derive(Clone, Debug)]
pub(super) struct ShadowSimulation {
    times: ServiceTimes,
    first: WiredHost,
    recent: RecentHost,
    homes: Homes,
    /// Delays in the current block.
    delays: Delays,
    /// Packets in a block.
    block: u32,
    strategy: Strategy,
    savings: SavingsLedger,
}

/// The host under [`Strategy::Home`].
#[derive(Clone, Debug)]
enum Homes {
    /// Packets wait at home.
    Wired(WiredHost),
    /// Packets go elsewhere if their home is busy and another processor is idle.
    Stealing(StealingHost),
}

/// Packets in a block, for each processor, and at least [`BLOCK`]; strategies are compared after each
/// block. Long enough that chance moves the *differences* of mean delays, which are of the same packets,
/// by little more than a percent at most loads; short enough to follow a changing load.
const BLOCK_PER_PROCESSOR: u32 = 128;
pub(super) const BLOCK: u32 = 1_024;

impl ShadowSimulation {
    pub(super) fn new(stacks: StackSharing, processors: u32, times: ServiceTimes) -> Self {
        let limit = DelayCap::from_service_times(&times);
        let wired = |wiring| WiredHost::new(wiring, stacks, processors, limit);
        Self {
            first: wired(Wiring::First),
            recent: RecentHost::new(stacks, processors, limit),
            homes: match stacks {
                StackSharing::Independent => Homes::Wired(wired(Wiring::Homes)),
                _ => Homes::Stealing(StealingHost::new(stacks, processors, limit)),
            },
            times,
            delays: Delays::default(),
            block: BLOCK.max(processors.saturating_mul(BLOCK_PER_PROCESSOR)),
            strategy: Strategy::default(),
            savings: SavingsLedger::default(),
        }
    }

    pub(super) const fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Simulates the arrival of a packet on all three hosts.
    #[inline]
    pub(super) fn arrive(&mut self, request: &Request) {
        let (times, delays) = (&self.times, &mut self.delays);
        let gathered = self.first.arrive(request, times);
        let recent = self.recent.arrive(request, times);
        let packet = ShadowPacket { request: *request, gathered, recent };
        match &mut self.homes {
            Homes::Wired(host) => delays.add(&packet, host.arrive(request, times)),
            Homes::Stealing(host) => host.arrive(&packet, times, delays),
        }
        if delays.packets >= self.block {
            self.compare();
        }
    }

    /// Compares the strategies at the end of a block.
    #[cold]
    fn compare(&mut self) {
        let delays = core::mem::take(&mut self.delays);
        self.strategy = self.savings.judge(self.strategy, delays.sums);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{request, service_times};
    use super::*;
    use alloc::vec::Vec;
    use warmcore_units::Nanos;

    /// More packets than one processor can serve, of four streams in varying order. On a processor of its
    /// own, each stream is warm and finds its own history.
    pub(crate) fn steady(packets: u32) -> Vec<(f64, u32)> {
        let stream = |packet: u32| [0, 1, 2, 3, 1, 0, 3, 2][packet as usize % 8];
        (0..packets).map(|packet| (f64::from(packet) * 60.0, stream(packet))).collect()
    }

    /// Packets frequent enough to keep one processor warm. Each fourth is soon followed by another, for
    /// which a second processor would be cold.
    pub(crate) fn sparse(packets: u32) -> Vec<(f64, u32)> {
        let time = |packet: u32| f64::from(packet / 5 * 4 + packet % 5) * 300.0;
        let soon = |packet: u32| if packet % 5 == 4 { -240.0 } else { 0.0 };
        (0..packets).map(|packet| (time(packet) + soon(packet), packet % 4)).collect()
    }

    /// Two packets of a stream at once, of each stream in turn: two processors serve them all and stay hot.
    pub(crate) fn pairs(packets: u32) -> Vec<(f64, u32)> {
        (0..packets).map(|packet| (f64::from(packet / 2) * 350.0, packet / 2 % 4)).collect()
    }

    fn simulate(shadow: &mut ShadowSimulation, from: f64, packets: &[(f64, u32)]) -> f64 {
        for &(after, stream) in packets {
            shadow.arrive(&request(Nanos(from + after), stream));
        }
        from + packets.last().map_or(0.0, |&(after, _)| after)
    }

    /// Within two blocks of the change, although queues are left over from an overload.
    #[test]
    fn the_strategy_follows_the_load() {
        let mut shadow = ShadowSimulation::new(StackSharing::PerProcessor, 4, service_times());
        assert_eq!(shadow.strategy(), Strategy::Home);
        let mut now = 0.0;
        for _ in 0..3 {
            now = simulate(&mut shadow, now, &steady(2 * BLOCK));
            assert_eq!(shadow.strategy(), Strategy::Home);
            now = simulate(&mut shadow, now, &sparse(2 * BLOCK));
            assert_eq!(shadow.strategy(), Strategy::Gather);
        }
    }
}
