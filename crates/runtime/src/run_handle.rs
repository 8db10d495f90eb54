//! How the caller follows and controls a run while it lasts.

use crate::calls::Calls;
use crate::clock::Clock;
use crate::control::{Control, Order};
use crate::failure::{Cause, Failure};
use crate::handler::Handler;
use crate::mailbox::Mailbox;
use crate::options::Options;
use crate::protocol::Protocol;
use crate::receive_queue::{ReceiveQueue, wake_all};
use crate::run_error::RunError;
use crate::shared::Shared;
use crate::streams::Streams;
use crate::tally::{Block, Blocks};
use crossbeam_utils::CachePadded;
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_stack::{Flow, OpenError};
use warmcore_units::{CpuId, Nanos, StreamId};

/// A flow that wants a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFlow {
    pub(crate) flow: Flow,
    /// The queue on which its packets arrive, if that is known.
    pub(crate) queue: Option<usize>,
}

/// A handle to a running run.
pub struct RunHandle<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) control: &'a Control,
    pub(crate) failure: &'a Failure,
    pub(crate) handler: &'a dyn Handler,
    pub(crate) calls: &'a Calls,
    pub(crate) cpus: &'a [CpuId],
    /// How long workers may take to pause.
    pub(crate) limit: Duration,
    pub(crate) mailboxes: &'a [Mailbox],
    pub(crate) queues: &'a [CachePadded<ReceiveQueue>],
    pub(crate) blocks: &'a [CachePadded<Mutex<Blocks>>],
    pub(crate) streams: &'a Streams,
    pub(crate) protocol: &'a RwLock<Protocol>,
    pub(crate) ended: &'a Mutex<Vec<StreamId>>,
}

impl<'a> RunHandle<'a> {
    pub(crate) fn new<P, W>(shared: &'a Shared<'a, P, W>, options: &'a Options) -> Self {
        let Shared { clock, control, failure, handler, calls, mailboxes, queues, blocks, .. } = shared;
        let Shared { streams, protocol, ended, .. } = shared;
        let (cpus, limit) = (&options.cpus, options.drain_limit);
        Self {
            clock,
            control,
            failure,
            handler: *handler,
            calls,
            cpus,
            limit,
            mailboxes,
            queues,
            blocks,
            streams,
            protocol,
            ended,
        }
    }

    /// How long the run has lasted.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.clock.now()
    }

    /// Whether the run has ended early: a handler asked for it, a worker panicked, or a queue failed. Nothing is
    /// received any more, and `watch` should return.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.control.order() == Order::Leave
    }

    /// Waits for up to `longest`, or until the run [has ended](Self::has_ended) early. Returns whether it has.
    pub fn wait(&self, longest: Duration) -> bool {
        self.failure.wait(self.control, longest)
    }

    /// What ended the run early, in words; `None` while nothing has. [`run`](crate::run()) returns the error.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.message()
    }

    /// By worker: its finished blocks from number `number` on.
    #[must_use]
    pub fn blocks_since(&self, number: u64) -> Vec<Vec<Block>> {
        let of = |blocks: &CachePadded<Mutex<Blocks>>| {
            let blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.last.iter().filter(|block| block.number >= number).cloned().collect()
        };
        self.blocks.iter().map(of).collect()
    }

    /// By worker: the sum of its finished blocks.
    #[must_use]
    pub fn totals(&self) -> Vec<Block> {
        let of = |blocks: &CachePadded<Mutex<Blocks>>| {
            blocks.lock().unwrap_or_else(PoisonError::into_inner).total.clone()
        };
        self.blocks.iter().map(of).collect()
    }

    /// By worker, by stream: packets processed.
    #[must_use]
    pub fn streams(&self) -> Vec<Vec<u64>> {
        self.streams.counts()
    }

    /// Pauses the run: every worker finishes its current packet and waits. Nothing is received
    /// meanwhile. Returns once all workers wait, or the run has [ended](Self::has_ended). It ends if a worker does not
    /// finish its packet within the [limit](Options::drain_limit).
    pub fn pause(&self) {
        self.pause_workers();
    }

    /// Pauses all workers; false if they were told to end instead.
    fn pause_workers(&self) -> bool {
        self.control.give(Order::Pause);
        wake_all(self.mailboxes, self.queues);
        let is_paused = self.await_paused(self.limit);
        if !is_paused && self.control.order() == Order::Pause {
            if let Some(error) = self.stuck() {
                self.failure.record(Cause::Worker(error), self.control);
            }
            wake_all(self.mailboxes, self.queues);
        }
        is_paused
    }

    /// Blocks for up to `longest` until every worker waits; false if another order was given meanwhile.
    pub(crate) fn await_paused(&self, longest: Duration) -> bool {
        let begun = Instant::now();
        while self.control.order() == Order::Pause && begun.elapsed() < longest {
            if self.control.paused() as usize == self.mailboxes.len() {
                return true;
            }
            thread::sleep(Duration::from_micros(50));
        }
        false
    }

    /// The worker that does not pause or end, as an error.
    pub(crate) fn stuck(&self) -> Option<RunError> {
        let stuck = self.calls.stuck(self.cpus, self.clock.now())?;
        let delivered = self.totals().iter().map(Block::packets).sum();
        Some(RunError::Stuck { stuck, limit: self.limit, delivered })
    }

    /// Ends a [pause](Self::pause).
    pub fn resume(&self) {
        if self.control.order() == Order::Pause {
            self.control.give(Order::Run);
        }
        wake_all(self.mailboxes, self.queues);
    }

    /// Opens a stream. Workers pause for a moment.
    ///
    /// # Errors
    /// If the stream is already open, cannot exist, or exceeds the limit; or if the run has ended.
    pub fn open(&self, flow: &Flow) -> Result<StreamId, OpenStreamError> {
        let opened = self.open_each(&[NewFlow { flow: *flow, queue: None }], &mut || None, &mut Vec::new());
        opened.into_iter().next().unwrap_or(Err(OpenStreamError::Ended))
    }

    /// Opens a stream for each of `flows`, in one pause. When all are in use, streams that `spare` names are closed and
    /// added to `closed`. A flow gets a stream whose home polls the flow's queue, while one is free: its packets need not
    /// be forwarded then. Empty if the run has ended.
    pub(crate) fn open_each(
        &self,
        flows: &[NewFlow],
        spare: &mut dyn FnMut() -> Option<StreamId>,
        closed: &mut Vec<StreamId>,
    ) -> Vec<Result<StreamId, OpenStreamError>> {
        let limit = self.streams.limit();
        let opened = self.change(|protocol| {
            let open = |NewFlow { flow, queue }: &NewFlow| {
                while protocol.next_stream().index() >= limit {
                    let stream = spare().ok_or(OpenStreamError::TooMany { limit })?;
                    if protocol.close_if_idle(stream) == Ok(true) {
                        self.handler.closed(stream);
                        closed.push(stream);
                    }
                }
                if let Some(queue) = *queue {
                    let queues = self.queues.len();
                    protocol.prefer(limit, |stream| self.streams.home(stream).index() % queues == queue);
                }
                let stream = protocol.next_stream();
                self.streams.renew(stream);
                Ok(protocol.open(stream, flow)?)
            };
            flows.iter().map(open).collect()
        });
        opened.unwrap_or_default()
    }

    /// Closes the streams whose connections have ended, unless their peers have opened them again, and returns
    /// those. Workers pause for a moment if there are any.
    pub fn close_ended(&self) -> Vec<StreamId> {
        let mut ended = core::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
        if ended.is_empty() {
            return ended;
        }
        ended.sort_unstable();
        ended.dedup();
        let closed =
            self.change(|protocol| ended.retain(|stream| protocol.close_if_idle(*stream) == Ok(true)));
        if closed.is_none() {
            return Vec::new();
        }
        ended.iter().for_each(|stream| self.handler.closed(*stream));
        ended
    }

    /// Changes the protocol stack while all workers pause; `None` if they were told to end. A worker whose handler
    /// does not return would keep the stack for ever.
    fn change<R>(&self, change: impl FnOnce(&mut Protocol) -> R) -> Option<R> {
        let paused_before = self.control.order() == Order::Pause;
        if !self.pause_workers() {
            return None;
        }
        let mut protocol = self.protocol.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut protocol);
        drop(protocol);
        if !paused_before {
            self.resume();
        }
        Some(changed)
    }
}

/// Why a stream cannot be opened during a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenStreamError {
    /// The stack refused it.
    #[error(transparent)]
    Refused(#[from] OpenError),
    /// As many streams are open as the options allow.
    #[error("all {limit} streams that the options allow are open; allow more streams")]
    TooMany {
        /// How many streams the options allow.
        limit: usize,
    },
    /// The workers have been told to end.
    #[error("the run has ended")]
    Ended,
}
