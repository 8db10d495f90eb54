//! What a policy is asked, what it may see, and what it may answer.

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
    /// The idle processor whose last protocol code is longest ago.
    fn least_recent(&self) -> Option<CpuId>;
    /// How many processors are running protocol code.
    fn busy(&self) -> u32;
    /// How many packets (under IPS: stacks that have one) are at `cpu`, in service or in its line,
    /// if the policy [heeds load](Policy::USES_LOAD).
    fn load(&self, cpu: CpuId) -> u32;
    /// How many wait in all lines together.
    fn waiting(&self) -> u32;
}

/// A packet (under IPS: a stack that has one) in want of a processor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request {
    /// When it arrived.
    pub now: Nanos,
    /// The packet's stream.
    pub stream: StreamId,
    /// The stack that it visits if it is processed at home.
    pub stack: StackId,
    /// The processor its stream (or stack) is assigned to.
    pub home: CpuId,
    /// The processor that wrote its session lines last.
    pub last: Option<CpuId>,
}

/// What is to happen to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It runs now, on this idle processor.
    Run(CpuId),
    /// It waits in this processor's line; in the common one, where [`Queues::Common`] is asked for.
    Wait(CpuId),
}

/// Where packets wait, and so which of them a processor takes when it has finished one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queues {
    /// One line for all processors: whoever finishes first serves its head.
    Common,
    /// A line for each processor.
    PerProcessor,
}

/// A rule for choosing a processor.
///
/// A driver asks [`place`](Policy::place) once for each packet, and [`steal`](Policy::steal) when
/// a processor has finished and its own line is empty. The reports have empty defaults, which
/// cost nothing where a policy does not listen.
pub trait Policy: Clone + Send {
    /// Where packets wait under this policy.
    const QUEUES: Queues;

    /// Whether what becomes of a packet depends on its home alone, so that no processor needs to
    /// know of any other.
    const HOME_ONLY: bool = false;

    /// Whether it asks for [`View::load`] or listens to [`loaded`](Policy::loaded); a driver need
    /// not count where it does not.
    const USES_LOAD: bool = false;

    /// Where a packet that has just arrived goes.
    fn place(&mut self, request: Request, view: &impl View, random: &mut impl Rng) -> Decision;

    /// Whose line `cpu`, whose own is empty, takes the next packet from; `None`: from none.
    /// The answer must be a processor with somebody in its line.
    #[inline]
    fn steal(&mut self, _cpu: CpuId, _view: &impl View) -> Option<CpuId> {
        None
    }

    /// The idle processor that is best placed to look out for packets, as most of them go to it.
    #[inline]
    fn poller(&self, view: &impl View) -> Option<CpuId> {
        view.most_recent()
    }

    /// Report: a packet has arrived for a stack that is at work or has a place to wait, and waits
    /// there; no processor is asked for. (Under IPS alone.)
    #[inline]
    fn joined(&mut self, _request: Request) {}

    /// Report, to a policy that [heeds load](Policy::USES_LOAD): there are now `load` packets at `cpu`, one more or one less than before.
    #[inline]
    fn loaded(&mut self, _cpu: CpuId, _load: u32) {}

    /// Report: a packet has been finished at `now`, `sojourn` after it arrived.
    #[inline]
    fn finished(&mut self, _now: Nanos, _sojourn: Nanos) {}
}
