//! The adaptive policy: it simulates three strategies on the arriving packets and uses the best.
//!
//! No fixed policy is best at every load. With few packets, the processor that they keep warm is
//! quickest; with many, all processors are needed; and whether a packet should wait for the processor of
//! its stream or run elsewhere depends on what arrives next (Salehi, Kurose & Towsley 1994, §6). Trying
//! strategies on the packets themselves would cost the delays of the worse ones, and chance moves delays
//! by more than the strategies differ.
//!
//! So the policy runs a *shadow simulation*. The cost of a packet in each situation has been measured.
//! With these costs the policy computes the delay of every arriving packet on three simulated hosts, one
//! for each strategy. All three see the real arrivals, and the same packets are always compared: so
//! chance cancels from the comparison, and no packet suffers from a worse strategy.
//!
//! | [`Strategy`] | simulated as | carried out as |
//! |---|---|---|
//! | `Gather` | one processor for all packets | the same, but others help once its queue is long |
//! | `Recent` | the most recently used idle processor (MRU), one queue | the same |
//! | `Home`, where packets of a stream need not wait for each other | home; the most recently used idle processor if home is busy; the queue at home if all are busy; an idle processor takes from the longest queue | the same |
//! | `Home` of independent stacks | Wired-Streams | the same, but an idle processor takes from queues of two or more |
//!
//! Independent stacks wait at their homes: a stack that ran elsewhere would occupy that processor while
//! it has packets, and drive the next stack from its home. What is carried out is never much worse than
//! what was simulated and sometimes far better, so the policy is about as good as the best static
//! policy, or better (measured in `crates/sim/tests/adaptive.rs`).
//!
//! After each block of packets the strategies are compared. The policy switches to another once that
//! would have saved a tenth of a block's delays. At a few loads chance favours the worse of two strategies in a
//! block by more than that; switching there and back costs some percent.
//!
//! The shadow simulation distinguishes cache states as Salehi's Table 2 does, except for the thread's
//! stack, and it distinguishes 4096 streams. Each packet takes constant time, except for heaps of busy
//! processors, which take logarithmic time. Under `Home` a packet may wait in a simulated queue, in slots
//! that are reused. At most 500 packets per processor wait there: so memory, and the backlog left by an
//! overload, are bounded.

mod completions;
mod delay_cap;
mod delays;
mod footprints;
mod queues;
mod recent;
mod service_times;
mod shadow;
mod stealing;
mod strategy;
mod wired;

pub use service_times::{CacheState, History, ServiceTimes, StackSharing};
pub use strategy::Strategy;

use crate::load_order::LoadOrder;
use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;
use shadow::ShadowSimulation;
use warmcore_units::CpuId;

/// Uses the strategy, of three, under which recent packets would have had the shortest delays.
#[derive(Clone, Debug)]
pub struct Adaptive {
    shadow: ShadowSimulation,
    loads: LoadOrder,
    /// Whether a packet whose home is busy may go elsewhere.
    may_leave_home: bool,
    /// From this many packets at the first processor on, another processor, even a fully cold one,
    /// finishes the next packet as soon.
    gather_limit: f64,
}

/// The processor where packets are gathered. Its queue is also the common queue of packets that may run
/// anywhere.
const FIRST: CpuId = CpuId(0);

impl Adaptive {
    /// A policy for `processors` processors with such `stacks` and service `times`.
    #[must_use]
    pub fn new(processors: u32, stacks: StackSharing, times: ServiceTimes) -> Self {
        Self {
            gather_limit: times.cold_to_hot(),
            may_leave_home: stacks != StackSharing::Independent,
            shadow: ShadowSimulation::new(stacks, processors, times),
            loads: LoadOrder::idle(processors),
        }
    }

    /// The strategy in use.
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
            Strategy::Gather => (FIRST, f64::from(view.load(FIRST)) < self.gather_limit),
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
        let (victim, load) = self.loads.most_loaded();
        // One packet is in service there, and one may wait for its home. Any more were left there
        // under `Gather`.
        let leave = if self.strategy() == Strategy::Home && !self.may_leave_home { 2 } else { 1 };
        (load > leave).then_some(victim)
    }

    #[inline]
    fn loaded(&mut self, cpu: CpuId, load: u32) {
        self.loads.set(cpu, load);
    }
}

/// The most recently used idle processor, or the queue of `cpu` if none is idle.
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

    /// Hot packets take 100 ns and cold ones 1000. A session from elsewhere adds 30, and writing history
    /// lines adds 20, wherever they are.
    pub(super) fn service_times() -> ServiceTimes {
        ServiceTimes::from_fn(|found, idle| {
            let base = if idle.0 < 500.0 { 100.0 } else { 1_000.0 };
            let session = if found.session_here { 0.0 } else { 30.0 };
            let history = if found.history == History::Unwritten { 0.0 } else { 20.0 };
            Nanos(base + session + history)
        })
    }

    /// A packet of a stream with its own stack and home.
    pub(super) fn request(now: Nanos, stream: u32) -> Request {
        Request { now, stream: StreamId(stream), stack: StackId(stream), home: CpuId(stream), last: None }
    }

    /// The policy after four blocks of `traffic`, whose packets all join the queues of their stacks.
    fn after(traffic: fn(u32) -> Vec<(f64, u32)>, stacks: StackSharing) -> Adaptive {
        let mut policy = Adaptive::new(4, stacks, service_times());
        let packets = traffic(4 * BLOCK);
        packets.into_iter().for_each(|(now, stream)| policy.joined(request(Nanos(now), stream)));
        policy
    }

    /// The decision on a packet whose home is processor 2.
    fn place(policy: &Adaptive, loads: &[u32], idle: &[u32]) -> Decision {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        policy.clone().place(request(Nanos(1e9), 2), &Processors::new(loads, idle), &mut random)
    }

    #[test]
    fn gathered_packets_wait_for_the_first_processor_until_its_queue_is_long() {
        let policy = after(sparse, StackSharing::PerProcessor);
        assert_eq!(policy.strategy(), Strategy::Gather);
        assert_eq!(place(&policy, &[0; 4], &[0, 2, 1, 3]), Decision::Run(FIRST));
        assert_eq!(place(&policy, &[9, 0, 0, 0], &[2, 1, 3]), Decision::Wait(FIRST));
        assert_eq!(place(&policy, &[10, 0, 0, 0], &[2, 1, 3]), Decision::Run(CpuId(3)));
        assert_eq!(place(&policy, &[10, 1, 1, 1], &[]), Decision::Wait(FIRST));
    }

    #[test]
    fn packets_go_elsewhere_only_if_their_home_is_busy() {
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
    fn with_all_processors_busy_packets_wait_in_the_common_queue() {
        let policy = after(pairs, StackSharing::PerProcessor);
        assert_eq!(policy.strategy(), Strategy::Recent);
        assert_eq!(place(&policy, &[0; 4], &[0, 2, 1, 3]), Decision::Run(CpuId(3)));
        assert_eq!(place(&policy, &[1; 4], &[]), Decision::Wait(FIRST));
    }

    #[test]
    fn an_idle_processor_takes_from_the_longest_queue() {
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
