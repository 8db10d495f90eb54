//! State shared by the workers of a run.

use crate::calls::Calls;
use crate::clock::Clock;
use crate::control::Control;
use crate::driver::Prepared;
use crate::failure::{Cause, Failure};
use crate::handler::Handler;
use crate::mailbox::Mailbox;
use crate::options::{Idle, Overload};
use crate::packet::{Frame, Packet};
use crate::protocol::Protocol;
use crate::receive_queue::{MAX_INTAKE, ReceiveQueue, wake_all};
use crate::scheduler::Scheduler;
use crate::stalls::LastStall;
use crate::stopwatch::Stopwatch;
use crate::streams::Streams;
use crate::tally::Blocks;
use crossbeam_utils::CachePadded;
use std::sync::{Mutex, RwLock};
use warmcore_linux::ProtocolThread;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::Pool;
use warmcore_stack::wire::LinkKind;
use warmcore_units::{CpuId, Nanos, StreamId, ThreadId};

/// Shared by all workers. `P` and `W` decide where packets are processed.
pub(crate) struct Shared<'a, P, W> {
    pub(crate) clock: &'a Clock,
    pub(crate) control: &'a Control,
    pub(crate) failure: &'a Failure,
    pub(crate) calls: Calls,
    pub(crate) handler: &'a dyn Handler,
    /// One for all workers, or one each.
    pub(crate) schedulers: Vec<CachePadded<spin::Mutex<Scheduler<P, W>>>>,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) queues: Vec<CachePadded<ReceiveQueue>>,
    pub(crate) prepared: Vec<Prepared>,
    pub(crate) protocol: RwLock<Protocol>,
    pub(crate) streams: &'a Streams,
    pub(crate) threads: Vec<CachePadded<spin::Mutex<ProtocolThread>>>,
    /// One for all workers, or one each.
    pub(crate) pools: Vec<Pool>,
    pub(crate) blocks: &'a [CachePadded<Mutex<Blocks>>],
    pub(crate) idle: &'a Idle,
    pub(crate) link: LinkKind,
    /// Whether streams are conversations.
    pub(crate) converses: bool,
    /// Streams whose connection ended.
    pub(crate) ended: Mutex<Vec<StreamId>>,
    pub(crate) stopwatch: Option<Stopwatch>,
    pub(crate) overload: Overload,
    /// Most packets that a scheduler admits at a time.
    pub(crate) capacity: u32,
    /// When a worker was last kept from running.
    pub(crate) stalled: CachePadded<LastStall>,
    /// A longer time between two clock readings of a worker is a stall.
    pub(crate) stall: Nanos,
}

impl<P: Policy, W: Waiting<Job = Packet>> Shared<'_, P, W> {
    /// The scheduler of `worker`.
    #[inline]
    pub(crate) fn scheduler(&self, worker: CpuId) -> &spin::Mutex<Scheduler<P, W>> {
        &self.schedulers[worker.index() % self.schedulers.len()]
    }

    /// Ends the run early, at once.
    #[cold]
    pub(crate) fn fail(&self, cause: Cause) {
        self.failure.record(cause, self.control);
        wake_all(&self.mailboxes, &self.queues);
    }

    /// Whether every other worker's mailbox has room for a full intake from each worker.
    #[inline]
    pub(crate) fn can_forward(&self, worker: CpuId) -> bool {
        let needed = MAX_INTAKE * self.mailboxes.len();
        let has_room = |mailbox: &Mailbox| mailbox.forwarded.capacity() - mailbox.forwarded.len() >= needed;
        self.schedulers.len() == 1
            || self
                .mailboxes
                .iter()
                .enumerate()
                .all(|(other, mailbox)| other == worker.index() || has_room(mailbox))
    }

    /// Whether all workers have stopped receiving.
    pub(crate) fn is_closed(&self) -> bool {
        self.control.closed() as usize == self.mailboxes.len()
    }

    /// Whether all workers have stopped receiving and nothing is left to process.
    pub(crate) fn is_drained(&self) -> bool {
        // In the order in which packets move: from a mailbox to a scheduler, which is locked meanwhile.
        self.is_closed()
            && self.mailboxes.iter().all(|mailbox| mailbox.forwarded.is_empty())
            && self.schedulers.iter().all(|scheduler| scheduler.lock().held() == 0)
    }

    /// Whether nothing waits or is in service at `now`.
    #[cold]
    pub(crate) fn is_empty(&self, now: Nanos) -> bool {
        self.queues.iter().all(|queue| queue.due() > now)
            && self.mailboxes.iter().all(|mailbox| mailbox.forwarded.is_empty())
            && self.schedulers.iter().all(|scheduler| scheduler.lock().held() == 0)
    }

    /// The queue that `worker` polls.
    #[inline]
    pub(crate) fn queue(&self, worker: CpuId) -> &ReceiveQueue {
        &self.queues[worker.index() % self.queues.len()]
    }

    #[inline]
    pub(crate) fn pool(&self, worker: CpuId) -> &Pool {
        &self.pools[worker.index() % self.pools.len()]
    }

    #[inline]
    pub(crate) fn thread(&self, thread: ThreadId) -> &spin::Mutex<ProtocolThread> {
        &self.threads[thread.index()]
    }

    /// The bytes of a frame.
    #[inline]
    pub(crate) fn bytes<'f>(&'f self, frame: &'f Frame) -> &'f [u8] {
        match frame {
            Frame::Prepared(index) => &self.prepared[*index as usize].bytes,
            Frame::Held(buffer) => buffer.bytes(),
        }
    }

    /// Wakes `worker` if it sleeps, parked or at its queue.
    #[inline]
    pub(crate) fn wake(&self, worker: CpuId) {
        self.mailboxes[worker.index()].wake();
        self.queue(worker).wake(worker);
    }

    /// The worker whose scheduler owns `stream`; `None` if all share one scheduler.
    #[inline]
    pub(crate) fn owner(&self, stream: StreamId) -> Option<CpuId> {
        (self.schedulers.len() > 1).then(|| self.streams.home(stream))
    }
}
