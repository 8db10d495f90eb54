//! How a run is to be.

use crate::stopwatch::Stopwatch;
use crate::work::Work;
use core::fmt;
use std::sync::Arc;
use warmcore_costs::ExecutionModel;
use warmcore_scenario::Scheduling;
use warmcore_stack::wire::LinkKind;
use warmcore_units::{CpuId, Nanos};

/// Where and how packets are processed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The processors, a worker on each.
    pub cpus: Vec<CpuId>,
    /// Approach, policy and pools.
    pub scheduling: Scheduling,
    /// What processing costs, for policies that weigh costs.
    pub model: Arc<ExecutionModel>,
    /// Streams that can be open at once.
    pub streams: u32,
    /// Independent stacks, under that approach.
    pub stacks: u32,
    /// How frames are laid out.
    pub link: LinkKind,
    /// Whether UDP checksums are verified.
    pub verify_udp_checksum: bool,
    /// What workers do that have no packet.
    pub idle: Idle,
    /// What happens to packets when too many are held.
    pub overload: Overload,
    /// Packets held at most, waiting and in service.
    pub capacity: u32,
    /// What becomes of packets that are held when the run ends.
    pub shutdown: Shutdown,
    /// A worker that did not look at the clock for longer than this was not running: what it
    /// measured then is left out of the statistics.
    pub stall: Nanos,
    /// What some packets' time in stack and handler is read with, if it is to be known.
    pub stopwatch: Option<Stopwatch>,
    /// Seed of a policy's random choices.
    pub seed: u64,
}

/// What a worker does that has no packet.
#[derive(Clone)]
pub enum Idle {
    /// It polls, without end: for processors that are there for protocol work alone (Fixed).
    Poll,
    /// It polls for a short time, then sleeps until something comes.
    Sleep,
    /// It does other work, and looks for packets between two pieces of it (Floating). The function
    /// makes the work of each worker.
    Work(Arc<dyn Fn(u32) -> Box<dyn Work> + Send + Sync>),
}

impl fmt::Debug for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poll => "Poll",
            Self::Sleep => "Sleep",
            Self::Work(_) => "Work",
        })
    }
}

/// What happens when as many packets are held as may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// Further packets are dropped, and counted.
    #[default]
    Drop,
    /// They are left with the driver until there is room.
    HoldBack,
}

/// What becomes of packets that are held when the run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shutdown {
    /// They are processed.
    #[default]
    Drain,
    /// They are given up, and counted.
    Discard,
}
