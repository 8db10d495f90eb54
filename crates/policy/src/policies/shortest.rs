//! Policies that keep queues short and ignore caches.

use crate::load_order::LoadOrder;
use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;
use warmcore_units::CpuId;

/// Join the shortest queue: the processor with the fewest packets; of equals, the one that has had this
/// load for the longest time.
#[derive(Clone, Debug)]
pub struct JoinShortestQueue {
    loads: LoadOrder,
}

/// The power of two choices (Mitzenmacher 2001): of two processors drawn at random, the one with
/// fewer packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PowerOfTwo;

impl JoinShortestQueue {
    /// A policy for `processors` processors, all idle.
    #[must_use]
    pub fn new(processors: u32) -> Self {
        Self { loads: LoadOrder::idle(processors) }
    }
}

impl Policy for JoinShortestQueue {
    const QUEUES: Queues = Queues::PerProcessor;
    const USES_LOAD: bool = true;

    #[inline]
    fn place(&mut self, _request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        join(self.loads.least_loaded(), view)
    }

    #[inline]
    fn loaded(&mut self, cpu: CpuId, load: u32) {
        self.loads.set(cpu, load);
    }
}

impl Policy for PowerOfTwo {
    const QUEUES: Queues = Queues::PerProcessor;
    const USES_LOAD: bool = true;

    #[inline]
    fn place(&mut self, _request: Request, view: &impl View, random: &mut impl Rng) -> Decision {
        let processors = view.processors();
        let one = below(processors, random);
        if processors == 1 {
            return join(CpuId(one), view);
        }
        // Draw the second among the others.
        let other = below(processors - 1, random);
        let other = if other < one { other } else { other + 1 };
        let [one, other] = [CpuId(one), CpuId(other)];
        join(if view.load(other) < view.load(one) { other } else { one }, view)
    }
}

#[inline]
fn join(cpu: CpuId, view: &impl View) -> Decision {
    if view.is_idle(cpu) { Decision::Run(cpu) } else { Decision::Wait(cpu) }
}

/// A random number below `bound`, by multiplication (Lemire 2019); its bias is below `bound` · 2⁻³².
#[inline]
pub(crate) fn below(bound: u32, random: &mut impl Rng) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(bound)) >> 32) as u32
}
