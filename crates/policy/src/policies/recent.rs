//! The two ways to choose among idle processors in Salehi, Kurose & Towsley 1994, §2.3.

use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;
use warmcore_units::CpuId;

/// The idle processor that most recently executed protocol code, which likely still holds it in cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MostRecentlyUsed;

/// The idle processor least likely to hold protocol code: the worst case of scheduling that ignores
/// caches.
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
