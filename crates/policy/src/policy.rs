//! The interface of a policy: its requests, its view of the processors and its decisions.

use rand_core::Rng;
use warmcore_units::{CpuId, Nanos, StackId, StreamId};

/// What a policy may see of the processors. A simulator's view is exact unless it models
/// staleness; a live one is always a little old.
pub trait View {
    /// How many processors there are.
    fn processors(&self) -> u32;
    /// Whether `cpu` is running no protocol code.
    fn is_idle(&self, cpu: CpuId) -> bool;
    /// The idle processor that ran protocol code last.
    fn most_recent(&self) -> Option<CpuId>;
    /// The idle processor that has run no protocol code for the longest time.
    fn least_recent(&self) -> Option<CpuId>;
    /// How many processors are running protocol code.
    fn busy(&self) -> u32;
    /// How many packets (under IPS: stacks with a packet) are at `cpu`, in service or in its queue. Only
    /// for a policy that [uses loads](Policy::USES_LOAD).
    fn load(&self, cpu: CpuId) -> u32;
    /// How many packets wait in all queues together.
    fn waiting(&self) -> u32;
}

/// A packet (under IPS: a stack that has one) that needs a processor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request {
    /// When it arrived.
    pub now: Nanos,
    /// The packet's stream.
    pub stream: StreamId,
    /// The stack that processes it if it runs at home.
    pub stack: StackId,
    /// The processor its stream (or stack) is assigned to.
    pub home: CpuId,
    /// The processor that last wrote its session lines.
    pub last: Option<CpuId>,
}

/// What to do with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Run it now, on this idle processor.
    Run(CpuId),
    /// Let it wait in this processor's queue, or in the common one under [`Queues::Common`].
    Wait(CpuId),
}

/// Which queues packets wait in, and so which packet a processor takes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queues {
    /// One queue for all processors: the first to finish takes its head.
    Common,
    /// A queue for each processor.
    PerProcessor,
}

impl Queues {
    /// How many queues there are on a host of so many `processors`.
    #[must_use]
    pub const fn count(self, processors: u32) -> u32 {
        match self {
            Self::Common => 1,
            Self::PerProcessor => processors,
        }
    }
}

/// A rule for choosing a processor.
///
/// A driver asks [`place`](Policy::place) once for each packet, and [`steal`](Policy::steal) when
/// a processor has finished and its own queue is empty. Reports do nothing by default, and then cost
/// nothing.
pub trait Policy: Clone + Send {
    /// Where packets wait under this policy.
    const QUEUES: Queues;

    /// Whether decisions depend on a packet's home only, so that no processor needs to know the state of
    /// another.
    const HOME_ONLY: bool = false;

    /// Whether the policy uses [`View::load`] or [`loaded`](Policy::loaded). If not, a driver need not
    /// count loads.
    const USES_LOAD: bool = false;

    /// Decides where a packet that has just arrived goes.
    fn place(&mut self, request: Request, view: &impl View, random: &mut impl Rng) -> Decision;

    /// The processor from whose queue `cpu` steals when its own queue is empty; `None` to steal from
    /// none. The queue must not be empty.
    #[inline]
    fn steal(&mut self, _cpu: CpuId, _view: &impl View) -> Option<CpuId> {
        None
    }

    /// The idle processor that should poll for packets: the one to which most of them go.
    #[inline]
    fn poller(&self, view: &impl View) -> Option<CpuId> {
        view.most_recent()
    }

    /// Report: a packet has joined a stack that is busy or already queued, so it needs no processor of its
    /// own. (Only under IPS.)
    #[inline]
    fn joined(&mut self, _request: Request) {}

    /// Report, to a policy that [uses loads](Policy::USES_LOAD): `cpu` now has `load` packets, one more or
    /// one less than before.
    #[inline]
    fn loaded(&mut self, _cpu: CpuId, _load: u32) {}

    /// Report: a packet has been finished at `now`, `sojourn` after it arrived.
    #[inline]
    fn finished(&mut self, _now: Nanos, _sojourn: Nanos) {}
}
