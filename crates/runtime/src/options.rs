//! The options of a run.

use crate::run_error::RunError;
use crate::stopwatch::Stopwatch;
use crate::work::Work;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use warmcore_costs::ExecutionModel;
use warmcore_scenario::{Parallelism, Scheduling};
use warmcore_stack::Conversations;
use warmcore_stack::wire::LinkKind;
use warmcore_units::{CpuId, Nanos};

/// Where and how packets are processed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The processors; each has one worker.
    pub cpus: Vec<CpuId>,
    /// Approach, policy and pools.
    pub scheduling: Scheduling,
    /// Processing costs, for policies that use them.
    pub model: Arc<ExecutionModel>,
    /// Streams that can be open at once.
    pub streams: u32,
    /// Number of independent stacks, under that approach.
    pub stacks: u32,
    /// The link type of the frames.
    pub link: LinkKind,
    /// Whether UDP checksums are verified.
    pub verify_udp_checksum: bool,
    /// What is received in place of datagrams.
    pub conversations: Option<Conversations>,
    /// What workers do when they have no packet.
    pub idle: Idle,
    /// What happens to packets when too many are held.
    pub overload: Overload,
    /// Most packets held at a time, waiting and in service.
    pub capacity: u32,
    /// What becomes of packets that are held when the run ends.
    pub shutdown: Shutdown,
    /// How long workers may take to pause, to process what is held at the end, and to end. Then the run
    /// [fails](RunError::Stuck), and packets that are still held are given up.
    pub drain_limit: Duration,
    /// Called when a worker does not end within that time: [`run`](crate::run()) cannot return before it has.
    pub on_stuck: OnStuck,
    /// A worker that did not read the clock for longer than this was not running. Packets affected by
    /// that are left out of the statistics.
    pub stall: Nanos,
    /// Measures the time in stack and handler for some packets; `None` to measure it for none.
    pub stopwatch: Option<Stopwatch>,
    /// Seed of a policy's random choices.
    pub seed: u64,
}

impl Options {
    /// The usual [limit](Self::drain_limit).
    pub const DRAIN_LIMIT: Duration = Duration::from_secs(10);

    /// The number of workers.
    pub(crate) fn workers(&self) -> u32 {
        u32::try_from(self.cpus.len()).unwrap_or(u32::MAX)
    }

    /// Checks the options for a run that opens this many `flows`.
    ///
    /// # Errors
    /// If an option has a value that cannot be used.
    pub(crate) fn check(&self, flows: usize) -> Result<(), RunError> {
        let fault = |field, found: String, expected: &str| {
            Err(RunError::Option { field, found, expected: expected.to_owned() })
        };
        if self.cpus.is_empty() {
            return fault("cpus", "empty".to_owned(), "at least one processor");
        }
        let mut distinct = self.cpus.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < self.cpus.len() {
            return fault("cpus", format!("{:?}", self.cpus), "each processor once");
        }
        if flows > self.streams as usize {
            return fault(
                "streams",
                self.streams.to_string(),
                &format!("at least the {flows} that are opened"),
            );
        }
        if self.stacks == 0 || self.stacks > self.streams {
            let expected = format!("between 1 and {}, the number of streams", self.streams);
            return fault("stacks", self.stacks.to_string(), &expected);
        }
        if self.conversations.is_some() && self.scheduling.approach == Parallelism::Hybrid {
            let expected = "locking or ips with connections or calls: their state is in one place";
            return fault("approach", "hybrid".to_owned(), expected);
        }
        if self.capacity < self.workers() {
            return fault("capacity", self.capacity.to_string(), "at least one packet for each worker");
        }
        if let Err(found) = self.scheduling.check() {
            return Err(RunError::Option {
                field: "scheduling",
                found: found.found,
                expected: found.expected,
            });
        }
        Ok(())
    }
}

/// What is done about a worker that does not end, because a call of the handler, of other work or of the driver does
/// not return.
#[derive(Clone, Default)]
pub struct OnStuck(Option<Arc<OnError>>);

/// A function that is given an error.
type OnError = dyn Fn(&RunError) + Send + Sync;

impl OnStuck {
    /// Calls `notify` with the [error](RunError::Stuck), from the thread that called [`run`](crate::run()). It can let the
    /// handler return, or end the process.
    pub fn new(notify: impl Fn(&RunError) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(notify)))
    }

    pub(crate) fn call(&self, error: &RunError) {
        if let Self(Some(notify)) = self {
            notify(error);
        }
    }
}

impl fmt::Debug for OnStuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "OnStuck(a function)" } else { "OnStuck(nothing)" })
    }
}

/// What a worker does when it has no packet.
#[derive(Clone)]
pub enum Idle {
    /// It polls all the time, for processors reserved for protocol work (Fixed).
    Poll,
    /// It polls for a short time, then sleeps until there is work.
    Sleep,
    /// It does other work and polls for packets between two steps of it (Floating). The function
    /// creates the work of a worker.
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

/// What happens when the limit of held packets is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// Further packets are dropped, and counted.
    #[default]
    Drop,
    /// Further packets stay in the driver until there is room.
    HoldBack,
}

/// What becomes of packets that are held when the run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shutdown {
    /// They are processed first.
    #[default]
    Drain,
    /// They are given up, and counted.
    Discard,
}
