//! What policies see of the processors.

use crate::policy::{Policy, View};
use crate::recency::Recency;
use alloc::vec;
use alloc::vec::Vec;
use warmcore_units::CpuId;

/// The processors as the policy knows them.
#[derive(Clone, Debug)]
pub(super) struct ObservedProcessors {
    idle: Recency,
    /// Packets in service or waiting, by processor.
    loads: Vec<u32>,
    busy: u32,
    /// Packets in all queues.
    waiting: u32,
}

impl ObservedProcessors {
    pub(super) fn idle(processors: u32) -> Self {
        let loads = vec![0; processors as usize];
        Self { idle: Recency::filled(processors), loads, busy: 0, waiting: 0 }
    }

    /// An idle `cpu` starts to run protocol code.
    #[inline]
    pub(super) fn start(&mut self, cpu: CpuId) {
        self.idle.remove(cpu.0);
        self.busy += 1;
    }

    /// `cpu` has gone idle.
    #[inline]
    pub(super) fn stop(&mut self, cpu: CpuId) {
        self.idle.push(cpu.0);
        self.busy -= 1;
    }

    /// A packet has joined a queue.
    #[inline]
    pub(super) fn queued(&mut self) {
        self.waiting += 1;
    }

    /// A packet has been taken from a queue.
    #[inline]
    pub(super) fn taken(&mut self) {
        self.waiting -= 1;
    }

    /// `cpu` has one packet more.
    #[inline]
    pub(super) fn more<P: Policy>(&mut self, cpu: CpuId, policy: &mut P) {
        self.change_load(cpu, policy, |load| load + 1);
    }

    /// `cpu` has one packet less.
    #[inline]
    pub(super) fn less<P: Policy>(&mut self, cpu: CpuId, policy: &mut P) {
        self.change_load(cpu, policy, |load| load - 1);
    }

    /// Keeps the load of `cpu` and reports it to `policy`, if that uses loads.
    #[inline]
    fn change_load<P: Policy>(&mut self, cpu: CpuId, policy: &mut P, change: impl FnOnce(u32) -> u32) {
        if !P::USES_LOAD {
            return;
        }
        let load = &mut self.loads[cpu.index()];
        *load = change(*load);
        policy.loaded(cpu, *load);
    }
}

impl View for ObservedProcessors {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "made for a u32 of processors")]
    fn processors(&self) -> u32 {
        self.loads.len() as u32
    }

    #[inline]
    fn is_idle(&self, cpu: CpuId) -> bool {
        self.idle.contains(cpu.0)
    }

    #[inline]
    fn most_recent(&self) -> Option<CpuId> {
        self.idle.newest().map(CpuId)
    }

    #[inline]
    fn least_recent(&self) -> Option<CpuId> {
        self.idle.oldest().map(CpuId)
    }

    #[inline]
    fn busy(&self) -> u32 {
        self.busy
    }

    #[inline]
    fn load(&self, cpu: CpuId) -> u32 {
        self.loads[cpu.index()]
    }

    #[inline]
    fn waiting(&self) -> u32 {
        self.waiting
    }
}
