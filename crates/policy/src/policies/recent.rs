//! The source's two ways to choose among idle processors (Salehi, Kurose & Towsley 1994, §2.3).

use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;
use warmcore_units::CpuId;

/// The processor that most recently executed protocol code: likely to hold it in cache still.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MostRecentlyUsed;

/// The processor least likely to hold protocol code: what scheduling without a thought for
/// caches can do at worst.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeastRecentlyUsed;

impl Policy for MostRecentlyUsed {
    const QUEUES: Queues = Queues::Common;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        view.most_recent().map_or(Decision::Wait(request.home), Decision::Run)
    }
}

impl Policy for LeastRecentlyUsed {
    const QUEUES: Queues = Queues::Common;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        view.least_recent().map_or(Decision::Wait(request.home), Decision::Run)
    }

    #[inline]
    fn poller(&self, view: &impl View) -> Option<CpuId> {
        view.least_recent()
    }
}
