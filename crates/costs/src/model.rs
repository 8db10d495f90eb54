//! The interface of a cost model: how long a packet takes that finds the caches in some state.
//!
//! [`ExecutionModel`] is the one of Salehi, Kurose & Towsley 1994. Another one needs [`CostModel::receive`] only.

use crate::execution::ExecutionModel;
use crate::situation::Situation;
use warmcore_units::{CpuId, Nanos, StreamId};

/// A packet whose service starts, and what it finds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    /// Which parts of its working set were last written on its processor.
    pub situation: Situation,
    /// The packet's stream.
    pub stream: StreamId,
    /// The processor that works on it.
    pub cpu: CpuId,
    /// The packet's size in bytes; 0 where no size is modelled.
    pub bytes: u16,
}

/// What processing a packet costs.
///
/// A model is a pure function: it keeps no state, so that the same packets always cost the same. It returns times that are
/// finite and not negative.
pub trait CostModel {
    /// The time to receive a packet that finds `found`, where `idle(k)` is the time since cache level `k` (0 is the
    /// nearest) of its processor last saw protocol processing: infinite if it never did.
    ///
    /// Without [shared levels](Self::sharers), that time is the same for all levels.
    fn receive(&self, found: &Found, idle: impl Fn(usize) -> Nanos) -> Nanos;

    /// The time to receive a packet right after another: nothing is flushed.
    #[inline]
    fn receive_hot(&self, found: &Found) -> Nanos {
        self.receive(found, |_| Nanos::ZERO)
    }

    /// The time to receive a packet when every level was idle for `x`.
    #[inline]
    fn receive_after(&self, found: &Found, x: Nanos) -> Nanos {
        self.receive(found, |_| x)
    }

    /// How many neighbouring processors share each cache level, nearest level first; levels that are left out are not
    /// shared.
    #[must_use]
    fn sharers(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether no processors share a cache level, so that [`receive_after`](Self::receive_after) suffices.
    #[must_use]
    #[inline]
    fn is_private(&self) -> bool {
        self.sharers().iter().all(|&sharers| sharers <= 1)
    }

    /// The extra time to acquire memory of a global pool when its lines were last written elsewhere.
    #[must_use]
    #[inline]
    fn acquire_overhead(&self) -> Nanos {
        Nanos::ZERO
    }

    /// The extra time to release memory to a global pool when its lines were last written elsewhere.
    #[must_use]
    #[inline]
    fn release_overhead(&self) -> Nanos {
        Nanos::ZERO
    }
}

impl CostModel for ExecutionModel {
    #[inline]
    fn receive(&self, found: &Found, idle: impl Fn(usize) -> Nanos) -> Nanos {
        Self::receive(self, found.situation, idle)
    }

    #[inline]
    fn receive_hot(&self, found: &Found) -> Nanos {
        Self::receive_hot(self, found.situation)
    }

    #[inline(always)]
    fn receive_after(&self, found: &Found, x: Nanos) -> Nanos {
        Self::receive_after(self, found.situation, x)
    }

    fn sharers(&self) -> Vec<u32> {
        Self::sharers(self).collect()
    }

    #[inline]
    fn is_private(&self) -> bool {
        Self::is_private(self)
    }

    #[inline]
    fn acquire_overhead(&self) -> Nanos {
        Self::acquire_overhead(self)
    }

    #[inline]
    fn release_overhead(&self) -> Nanos {
        Self::release_overhead(self)
    }
}

/// The same time for every packet, whatever it finds: the service time of a queue of theory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConstantCost(
    /// That time.
    pub Nanos,
);

impl CostModel for ConstantCost {
    #[inline]
    fn receive(&self, _found: &Found, _idle: impl Fn(usize) -> Nanos) -> Nanos {
        self.0
    }
}
