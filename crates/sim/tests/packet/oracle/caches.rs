//! The cache contents that a packet finds, found by searching the log of everything that ran before (Salehi,
//! Kurose & Towsley 1994, §2.3, §4 and §5).

use warmcore_costs::{Experiment, Situation, ThreadStack};
use warmcore_scenario::Parallelism;
use warmcore_sim::packet::{Packet, SimulatedHost};
use warmcore_units::{CpuId, Nanos, StackId, ThreadId};
use warmcore_workload::Direction;

/// The start of a packet's service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub packet: Packet,
    pub stack: StackId,
    pub thread: ThreadId,
    pub cpu: CpuId,
}

/// What ran on which processor, in order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    starts: Vec<Start>,
    /// Processors that turned from protocol code to other work, and the times.
    stops: Vec<(CpuId, Nanos)>,
    /// Accesses to the global free-memory pool.
    pool: Vec<CpuId>,
}

impl Log {
    pub(crate) fn stop(&mut self, cpu: CpuId, now: Nanos) {
        self.stops.push((cpu, now));
    }

    /// The processor that last processed a packet of the stream of `packet`.
    pub(crate) fn last_of_stream(&self, packet: &Packet) -> Option<CpuId> {
        self.last(|start| start.packet.stream == packet.stream).map(|start| start.cpu)
    }

    /// Records `start` and returns the situation that it finds.
    pub(crate) fn start(&mut self, host: &SimulatedHost, start: Start) -> Situation {
        let here = |last: Option<CpuId>| is_here(host, start.cpu, last);
        // A multiple-open stream has a session in each stack, and each stack has its own processor (§6.5).
        let session_here =
            host.scheduling.approach == Parallelism::Hybrid || here(self.last_of_stream(&start.packet));
        let thread_here = here(self.last(|other| other.thread == start.thread).map(|last| last.cpu));
        let history_here = self.writes_history(&start).then(|| here(self.last_history_writer(start.stack)));
        self.starts.push(start);
        Situation {
            experiment: Experiment::from_caches(session_here, history_here),
            thread_stack: if thread_here { ThreadStack::Cached } else { ThreadStack::Migrates },
        }
    }

    /// Whether `start` writes the history lines of its stack's active maps: if the packet is received, and
    /// belongs to another stream than the packet received there before.
    fn writes_history(&self, start: &Start) -> bool {
        let last = self.last(|other| is_received(other) && other.stack == start.stack);
        is_received(start) && last.is_none_or(|last| last.packet.stream != start.packet.stream)
    }

    /// The processor that last wrote them: the one that began the latest run of packets of one stream.
    fn last_history_writer(&self, stack: StackId) -> Option<CpuId> {
        let received: Vec<&Start> =
            self.starts.iter().filter(|start| is_received(start) && start.stack == stack).collect();
        let stream = received.last()?.packet.stream;
        let run = received.iter().rev().take_while(|start| start.packet.stream == stream);
        run.last().map(|start| start.cpu)
    }

    fn last(&self, like: impl Fn(&Start) -> bool) -> Option<&Start> {
        self.starts.iter().rev().find(|start| like(start))
    }

    /// How long none of `cpus` has run protocol code by `now`, if none runs it now; infinite if none ever
    /// has.
    pub(crate) fn idle(&self, cpus: &[CpuId], now: Nanos) -> Nanos {
        let last = self.stops.iter().rev().find(|(cpu, _)| cpus.contains(cpu));
        last.map_or(Nanos::INFINITY, |&(_, stopped)| now - stopped)
    }

    /// Records that `cpu` accesses the pool. Returns whether the pool's lines must migrate.
    pub(crate) fn access_pool(&mut self, host: &SimulatedHost, cpu: CpuId) -> bool {
        let here = is_here(host, cpu, self.pool.last().copied());
        self.pool.push(cpu);
        !here
    }
}

const fn is_received(start: &Start) -> bool {
    matches!(start.packet.direction, Direction::Receive)
}

/// Whether data last written by `last` is in the cache of `cpu`. Data that nobody has written yet counts as
/// elsewhere, unless there is only one processor.
fn is_here(host: &SimulatedHost, cpu: CpuId, last: Option<CpuId>) -> bool {
    match last {
        Some(last) => last == cpu,
        None => host.shape.processors == 1,
    }
}
