//! The policy that finds out which policy to follow.
//!
//! No fixed policy is best at every load: few packets are quickest on the one processor they keep
//! warm, many need all processors, and whether a packet should rather wait for the processor of
//! its stream than run elsewhere depends on what comes next (Salehi, Kurose & Towsley 1994, §6).
//! Trying policies out on the packets themselves would cost what the worse ones cost, and their
//! delays differ by less than chance moves them.
//!
//! So this policy *rehearses*: what a packet costs in which situation has been measured, and with
//! it the delay of every packet that arrives is worked out as it would be on three imagined hosts,
//! one for each choice. As all three see the packets that really arrive, and always the same ones
//! are compared, chance cancels from the comparison; and nobody pays for the worse ones.
//!
//! | [`Strategy`] | rehearsed as | and then done as |
//! |---|---|---|
//! | `Gather` | one processor for all packets | the same, but others help once the line is long |
//! | `Recent` | the most recently used idle processor (MRU), one line | the same |
//! | `Home`, where packets of a stream need not wait for each other | home; the most recently used idle processor if home is busy; if all are, the line at home, and who is idle takes from the longest line | the same |
//! | `Home` of independent stacks | Wired-Streams | the same, but who is idle takes from lines of two and more |
//!
//! Independent stacks wait at their homes: each would keep the processor it fled to while it has
//! packets, and drive the next stack from its home. What is done is never worse than what was
//! rehearsed by much and sometimes far better, and so the policy is about as good as the best of
//! all static ones, or better (measured in `crates/sim/tests/adaptive.rs`).
//!
//! After each block of packets the choices are compared, and another one is followed once it would
//! have saved a tenth of a block's delays. At few loads chance favours the worse of two choices in a
//! block by more than that; following it then and back again would cost some percent.
//!
//! The rehearsals know what every packet finds in its caches as far as Salehi's Table 2 tells it
//! apart, except for the thread's stack, and they tell 4096 streams apart. Each packet takes
//! constant time in them, but for heaps of busy processors: logarithmic. Under `Home` it may wait
//! there as it would in the real lines, in places that are used again; a packet that would be the
//! 500th to wait for each processor is not followed, so that memory and what is left of an overload are
//! bounded.

mod completions;
mod costs;
mod delay_cap;
mod delays;
mod footprints;
mod queues;
mod recent;
mod shadow;
mod stealing;
mod strategy;
mod wired;

pub use costs::{CacheState, Costs, History, StackSharing};
pub use strategy::Strategy;

use crate::load_order::LoadOrder;
use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;
use shadow::ShadowSimulation;
use warmcore_units::CpuId;

/// Whichever of three ways to choose a processor the packets of late would have fared best under.
#[derive(Clone, Debug)]
pub struct Adaptive {
    shadow: ShadowSimulation,
    loads: LoadOrder,
    /// Whether a packet whose home is busy may go elsewhere.
    may_leave_home: bool,
    /// With so many packets at the one processor, the next is as soon done on the coldest of the
    /// others.
    patience: f64,
}

/// Where packets are gathered; and whose line is the common one for those that may run anywhere,
/// from which the others take.
const FIRST: CpuId = CpuId(0);

impl Adaptive {
    /// For `processors` processors, with stacks like these, on which packets cost this much.
    #[must_use]
    pub fn new(processors: u32, stacks: StackSharing, costs: Costs) -> Self {
        Self {
            patience: costs.cold_to_hot(),
            may_leave_home: stacks != StackSharing::Independent,
            shadow: ShadowSimulation::new(stacks, processors, costs),
            loads: LoadOrder::idle(processors),
        }
    }

    /// What it does for the time being.
    #[must_use]
    pub const fn strategy(&self) -> Strategy {
        self.shadow.strategy()
    }
}

impl Policy for Adaptive {
    const QUEUES: Queues = Queues::PerProcessor;
    const USES_LOAD: bool = true;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        self.shadow.arrive(&request);
        let (cpu, waits) = match self.strategy() {
            Strategy::Gather => (FIRST, f64::from(view.load(FIRST)) < self.patience),
            Strategy::Recent => return recent_or_wait(view, FIRST),
            Strategy::Home => (request.home, !self.may_leave_home),
        };
        if view.is_idle(cpu) {
            Decision::Run(cpu)
        } else if waits {
            Decision::Wait(cpu)
        } else {
            recent_or_wait(view, cpu)
        }
    }

    #[inline]
    fn joined(&mut self, request: Request) {
        self.shadow.arrive(&request);
    }

    #[inline]
    fn steal(&mut self, _cpu: CpuId, _view: &impl View) -> Option<CpuId> {
        let (victim, load) = self.loads.longest();
        // One of them is in service there, and one may wait for its home; more are there from when
        // they were gathered.
        let stay = if self.strategy() == Strategy::Home && !self.may_leave_home { 2 } else { 1 };
        (load > stay).then_some(victim)
    }

    #[inline]
    fn loaded(&mut self, cpu: CpuId, load: u32) {
        self.loads.set(cpu, load);
    }
}

/// The most recently used idle processor, or else the line of `cpu`.
#[inline]
fn recent_or_wait(view: &impl View, cpu: CpuId) -> Decision {
    view.most_recent().map_or(Decision::Wait(cpu), Decision::Run)
}

#[cfg(test)]
mod tests {
    use super::shadow::BLOCK;
    use super::shadow::tests::{pairs, sparse, steady};
    use super::*;
    use crate::policies::tests::Processors;
    use alloc::vec::Vec;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;
    use warmcore_units::{Nanos, StackId, StreamId};

    /// Hot packets take 100 ns and cold ones 1000; sessions that come from elsewhere 30 more,
    /// history lines that are written 20, wherever they are.
    pub(super) fn costs() -> Costs {
        Costs::from_fn(|found, idle| {
            let base = if idle.0 < 500.0 { 100.0 } else { 1_000.0 };
            let session = if found.session_here { 0.0 } else { 30.0 };
            let history = if found.history == History::Unwritten { 0.0 } else { 20.0 };
            Nanos(base + session + history)
        })
    }

    /// A packet of a stream that has a stack and a home of its own.
    pub(super) fn request(now: Nanos, stream: u32) -> Request {
        Request { now, stream: StreamId(stream), stack: StackId(stream), home: CpuId(stream), last: None }
    }

    /// The policy after four blocks of `traffic`, all waiting at their stacks.
    fn after(traffic: fn(u32) -> Vec<(f64, u32)>, stacks: StackSharing) -> Adaptive {
        let mut policy = Adaptive::new(4, stacks, costs());
        let packets = traffic(4 * BLOCK);
        packets.into_iter().for_each(|(now, stream)| policy.joined(request(Nanos(now), stream)));
        policy
    }

    /// Where a packet goes whose home is the processor 2.
    fn place(policy: &Adaptive, loads: &[u32], idle: &[u32]) -> Decision {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        policy.clone().place(request(Nanos(1e9), 2), &Processors::new(loads, idle), &mut random)
    }

    #[test]
    fn gathered_packets_wait_for_the_first_processor_until_its_line_is_long() {
        let policy = after(sparse, StackSharing::PerProcessor);
        assert_eq!(policy.strategy(), Strategy::Gather);
        assert_eq!(place(&policy, &[0; 4], &[0, 2, 1, 3]), Decision::Run(FIRST));
        assert_eq!(place(&policy, &[9, 0, 0, 0], &[2, 1, 3]), Decision::Wait(FIRST));
        assert_eq!(place(&policy, &[10, 0, 0, 0], &[2, 1, 3]), Decision::Run(CpuId(3)));
        assert_eq!(place(&policy, &[10, 1, 1, 1], &[]), Decision::Wait(FIRST));
    }

    #[test]
    fn packets_go_home_and_elsewhere_only_if_it_is_busy() {
        let policy = after(steady, StackSharing::PerProcessor);
        assert_eq!(policy.strategy(), Strategy::Home);
        assert_eq!(place(&policy, &[0; 4], &[0, 2, 1, 3]), Decision::Run(CpuId(2)));
        assert_eq!(place(&policy, &[0, 0, 1, 0], &[0, 1, 3]), Decision::Run(CpuId(3)));
        assert_eq!(place(&policy, &[1; 4], &[]), Decision::Wait(CpuId(2)));
    }

    #[test]
    fn independent_stacks_wait_for_their_homes() {
        let mut policy = after(steady, StackSharing::Independent);
        assert_eq!(policy.strategy(), Strategy::Home);
        assert_eq!(place(&policy, &[0, 0, 1, 0], &[0, 1, 3]), Decision::Wait(CpuId(2)));
        let view = Processors::new(&[0, 0, 3, 0], &[0, 1, 3]);
        (1..=2).for_each(|load| policy.loaded(CpuId(2), load));
        assert_eq!(policy.steal(CpuId(3), &view), None);
        policy.loaded(CpuId(2), 3);
        assert_eq!(policy.steal(CpuId(3), &view), Some(CpuId(2)));
    }

    #[test]
    fn the_most_recently_used_processor_has_the_common_line_beside_it() {
        let policy = after(pairs, StackSharing::PerProcessor);
        assert_eq!(policy.strategy(), Strategy::Recent);
        assert_eq!(place(&policy, &[0; 4], &[0, 2, 1, 3]), Decision::Run(CpuId(3)));
        assert_eq!(place(&policy, &[1; 4], &[]), Decision::Wait(FIRST));
    }

    #[test]
    fn who_is_idle_takes_from_the_longest_line() {
        let mut policy = after(|_| Vec::new(), StackSharing::PerProcessor);
        let view = Processors::new(&[2, 1, 3, 0], &[3]);
        for (cpu, load) in [(0, 1), (0, 2), (1, 1), (2, 1)] {
            policy.loaded(CpuId(cpu), load);
        }
        assert_eq!(policy.steal(CpuId(3), &view), Some(CpuId(0)));
        policy.loaded(CpuId(0), 1);
        assert_eq!(policy.steal(CpuId(3), &view), None);
    }
}
