//! Policies that assign each stream a home processor.

use crate::load_order::LoadOrder;
use crate::policy::{Decision, Policy, Queues, Request, View};
use rand_core::Rng;
use warmcore_units::CpuId;

/// Runs a packet on its stream's home only (Salehi, Kurose & Towsley 1994, §2.3). With homes assigned in
/// turn this is Salehi's Wired-Streams; with hashed homes it is receive-side scaling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WiredStreams;

/// The stream's home if it is idle, or the most recently used idle processor; with all busy, packets
/// wait in a common queue. Work-conserving. Where every processor has a stack in which all streams are
/// open (§6.5), stacks are wired and streams are not, so one stream can use all processors (§6.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HomeFirst;

/// The stream's home if it is idle, or the most recently used idle processor; a processor that runs out
/// of work takes from the longest queue. Work-conserving.
#[derive(Clone, Debug)]
pub struct HomeStealing {
    loads: LoadOrder,
}

impl HomeStealing {
    /// A policy for `processors` processors, all idle.
    #[must_use]
    pub fn new(processors: u32) -> Self {
        Self { loads: LoadOrder::idle(processors) }
    }
}

impl Policy for WiredStreams {
    const HOME_ONLY: bool = true;
    const QUEUES: Queues = Queues::PerProcessor;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        if view.is_idle(request.home) { Decision::Run(request.home) } else { Decision::Wait(request.home) }
    }
}

impl Policy for HomeFirst {
    const QUEUES: Queues = Queues::Common;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        home_or_recent(request, view)
    }
}

impl Policy for HomeStealing {
    const QUEUES: Queues = Queues::PerProcessor;
    const USES_LOAD: bool = true;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl Rng) -> Decision {
        home_or_recent(request, view)
    }

    #[inline]
    fn steal(&mut self, _cpu: CpuId, _view: &impl View) -> Option<CpuId> {
        let (victim, load) = self.loads.most_loaded();
        // One of the packets is in service there.
        (load > 1).then_some(victim)
    }

    #[inline]
    fn loaded(&mut self, cpu: CpuId, load: u32) {
        self.loads.set(cpu, load);
    }
}

#[inline]
fn home_or_recent(request: Request, view: &impl View) -> Decision {
    if view.is_idle(request.home) {
        return Decision::Run(request.home);
    }
    view.most_recent().map_or(Decision::Wait(request.home), Decision::Run)
}
