//! The processors that stacks wait for: any of a few, or each its own.

use super::order::Order;
use super::processors::Processors;
use super::service::UNUSED;
use super::stacks::Queues;
use core::marker::PhantomData;
use warmcore_units::{CpuId, Nanos};

/// One queue for a few processors, of which `O` chooses an idle one.
pub(super) struct Shared<O> {
    processors: Processors,
    order: PhantomData<O>,
}

impl<O> Shared<O> {
    pub(super) fn unused(processors: u32) -> Self {
        Self { processors: Processors::unused(processors), order: PhantomData }
    }
}

impl<O: Order> Queues for Shared<O> {
    #[inline(always)]
    fn queue(_home: CpuId) -> usize {
        0
    }

    #[inline(always)]
    fn next(&self, _queue: usize) -> (CpuId, Nanos) {
        let key = self.processors.first();
        (key.cpu(), key.free())
    }

    #[inline(always)]
    fn choose(&self, home: CpuId, now: Nanos) -> (CpuId, Nanos) {
        let key = O::choose(&self.processors, home, now);
        (key.cpu(), key.free())
    }

    #[inline(always)]
    fn free(&self, cpu: CpuId) -> Nanos {
        self.processors.key(cpu).free()
    }

    #[inline(always)]
    fn set(&mut self, cpu: CpuId, free: Nanos) {
        self.processors.set(cpu, free);
    }

    fn all_free(&self) -> impl Iterator<Item = Nanos> {
        self.processors.free()
    }
}

/// A queue for each processor.
pub(super) struct Own(Vec<Nanos>);

impl Own {
    pub(super) fn unused(processors: u32) -> Self {
        Self(vec![UNUSED; processors as usize])
    }
}

impl Queues for Own {
    #[inline(always)]
    fn queue(home: CpuId) -> usize {
        home.index()
    }

    #[inline(always)]
    fn next(&self, queue: usize) -> (CpuId, Nanos) {
        (CpuId::from(queue), self.0[queue])
    }

    #[inline(always)]
    fn choose(&self, home: CpuId, _now: Nanos) -> (CpuId, Nanos) {
        (home, self.free(home))
    }

    #[inline(always)]
    fn free(&self, cpu: CpuId) -> Nanos {
        self.0[cpu.index()]
    }

    #[inline(always)]
    fn set(&mut self, cpu: CpuId, free: Nanos) {
        self.0[cpu.index()] = free;
    }

    fn all_free(&self) -> impl Iterator<Item = Nanos> {
        self.0.iter().copied()
    }
}
