//! A worker: one thread on one processor. It receives packets, processes those assigned to it, and does
//! other work in between.
//!
//! ```text
//!        ┌── poll: mailbox, then the queue ◄──┐
//!   batch│                                    │nothing
//!        ▼                                    │
//!   span: stack and handler ──► finish ────► idle: other work, poll or sleep
//!     ▲ │ for each packet         │
//!     └─┘                         │
//!     ▲                           │
//!     └── go on with the next ────┘
//! ```
//!
//! A worker gets a *batch* of packets with one look at the scheduler, and processes it in *spans*: the clock is
//! read, the stack locked and the thread's stack entered once for each. After a batch it first receives what has arrived
//! meanwhile, so that the policy sees those arrivals before the completion, in the order in which they happened. Where
//! a policy looks at a packet's home only, there is nothing to decide: packets go from the queue into the batch.
//!
//! | module | what it does |
//! |---|---|
//! | [`intake`] | receives packets and assigns them |
//! | [`batch`] | the packets that it holds |
//! | [`span`] | processes them, and counts them once a span |
//! | [`conversation`] | takes packets of conversations up, sends their answers, and tells them the time |
//! | [`idle`] | idles, sleeps, pauses and drains |

pub(crate) mod batch;
mod conversation;
mod idle;
pub(crate) mod intake;
mod span;

use crate::control::Order;
use crate::failure::Cause;
use crate::handler::AfterPanic;
use crate::options::Idle;
use crate::packet::{Buffer, Frame, Packet};
use crate::protocol::Protocol;
use crate::shared::Shared;
use crate::tally::Tally;
use crate::work::Work;
use batch::{Batch, MAX_BATCH};
use span::Pace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{PoisonError, RwLockReadGuard};
use warmcore_linux::current_cpu;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::wire::vlan::MAX_TAGS;
use warmcore_stack::{Exchange, Flow};
use warmcore_units::{CpuId, Nanos, StreamId};

/// Most packets of a batch where other workers could take them too and it is not known how quick they are.
const MAX_SHARED_BATCH: usize = 9;
/// Publishing a block takes less than this unless the worker is interrupted.
const MAX_PUBLISH_TIME: Nanos = Nanos(30e3);
/// Most free buffers that a worker keeps.
const MAX_FREE_BUFFERS: usize = 256;

pub(crate) struct Worker<'f, 'a, P, W> {
    id: CpuId,
    /// The processor it should run on.
    cpu: CpuId,
    /// Whether it has reported that it stopped receiving.
    closed: bool,
    shared: &'f Shared<'a, P, W>,
    protocol: Option<RwLockReadGuard<'f, Protocol>>,
    batch: Batch,
    /// The batch that was over last: not empty while the next one is got.
    over: Batch,
    /// Most packets of a batch.
    most: usize,
    pace: Pace,
    /// Whether batches are only as long as their packets are quick, because other workers could take them too.
    takes_by_pace: bool,
    /// Whether the clock is read after each packet.
    reads_for_each: bool,
    tally: Tally,
    /// The last reading of the clock.
    last_reading: Nanos,
    /// When the span before the current one ended, if nothing else was done in between.
    last_ended: Option<Nanos>,
    /// Whether the next packet is of the same batch as the one before, so that it starts when that ended.
    is_back_to_back: bool,
    polls: u32,
    /// Packets since the last timed one.
    untimed: u32,
    #[expect(clippy::vec_box, reason = "buffers go with packets, which are small")]
    buffers: Vec<Box<Buffer>>,
    /// Other workers to wake because they were given work.
    to_wake: Vec<CpuId>,
    reply: Vec<u8>,
    outgoing: Vec<u8>,
    exchange: Exchange,
    /// When the timers of conversations are looked at next.
    next_tick: Nanos,
    work: Option<Box<dyn Work>>,
}

impl<'f, 'a, P: Policy, W: Waiting<Job = Packet>> Worker<'f, 'a, P, W> {
    /// The worker `id`, on the processor `cpu`.
    pub(crate) fn new(id: CpuId, cpu: CpuId, shared: &'f Shared<'a, P, W>) -> Self {
        let work = match shared.idle {
            Idle::Work(make) => Some(make(id.0)),
            Idle::Poll | Idle::Sleep => None,
        };
        // A stopwatch asks what one packet costs, and a conversation what time it is.
        let reads_for_each = shared.converses || shared.stopwatch.is_some();
        Self {
            id,
            cpu,
            closed: false,
            shared,
            protocol: None,
            batch: Batch::new(),
            over: Batch::new(),
            most: if P::HOME_ONLY { MAX_BATCH } else { MAX_SHARED_BATCH },
            pace: Pace::new(),
            takes_by_pace: !P::HOME_ONLY && !reads_for_each,
            reads_for_each,
            tally: Tally::new(),
            last_reading: shared.clock.now(),
            last_ended: None,
            is_back_to_back: false,
            polls: 0,
            untimed: 0,
            buffers: Vec::with_capacity(MAX_FREE_BUFFERS),
            to_wake: Vec::new(),
            reply: Vec::new(),
            outgoing: Vec::new(),
            exchange: Exchange::default(),
            next_tick: if shared.converses { Nanos::ZERO } else { Nanos(f64::INFINITY) },
            work,
        }
    }

    /// Runs the worker until it is told to leave.
    pub(crate) fn run(mut self) {
        self.shared.mailboxes[self.id.index()].register();
        self.last_reading = self.shared.clock.now();
        loop {
            if !self.batch.is_empty() {
                self.serve();
            }
            match self.shared.control.order() {
                Order::Run | Order::Drain if !self.batch.is_empty() => {}
                Order::Run => self.poll_or_idle(),
                Order::Pause => self.pause(),
                Order::Drain if self.is_drained() => break,
                Order::Drain => self.drain_step(),
                Order::Leave => break,
            }
        }
        self.leave();
    }

    /// Reports the packets that were processed, and publishes the last block.
    fn leave(&mut self) {
        let now = self.shared.clock.now();
        let mut scheduler = self.shared.scheduler(self.id).lock();
        self.batch.processed().for_each(|(done, at)| scheduler.finish_and_continue(&done.packet, at));
        drop(scheduler);
        self.publish_block(now);
    }

    /// Reports the packets of the batch, which is over, and gets the next batch.
    #[inline]
    fn finish(&mut self, now: Nanos) {
        let shared = self.shared;
        core::mem::swap(&mut self.batch, &mut self.over);
        let mut scheduler = shared.scheduler(self.id).lock();
        scheduler.report(self.over.processed());
        self.receive_arrived(&mut scheduler, now);
        if let Some(last) = self.over.last() {
            let most = if self.takes_by_pace { self.pace.packets() } else { self.most };
            scheduler.next_batch(self.id, last, now, most, self.batch.assignments_mut());
        }
        shared.queue(self.id).set_lookout(scheduler.lookout());
        drop(scheduler);
        let Self { over, buffers, .. } = self;
        over.clear(|packet| recycle(buffers, packet.frame));
        self.wake_others();
    }

    /// Sends the handler's answer to the sender of an upcoming packet.
    fn answer(&mut self, upcoming: u32) {
        let shared = self.shared;
        let Some(assignment) = self.batch.upcoming().get(upcoming as usize) else { return };
        let frame = shared.bytes(&assignment.packet.frame);
        let link = shared.link;
        let Ok(flow) = Flow::parse(link, frame) else { return };
        let builder = FrameBuilder { tags: link.tags(frame), ..FrameBuilder::new(link, flow.reversed()) };
        self.outgoing.resize(builder.frame_length(self.reply.len()) + MAX_TAGS, 0);
        let sent = match builder.write(&self.reply, &mut self.outgoing) {
            Ok(answer) => shared.queue(self.id).lock().send(answer).is_ok(),
            Err(_) => false,
        };
        if !sent {
            self.tally.unanswered();
        }
    }

    /// Handles a panic of the handler on a packet of `stream`.
    #[cold]
    fn panicked(&mut self, stream: StreamId, message: &str) {
        if self.shared.streams.has_failed(stream) {
            return;
        }
        let handler = self.shared.handler;
        // A handler that panics again here ends the run.
        let after = catch_unwind(AssertUnwindSafe(|| handler.panicked(stream, message)));
        match after.unwrap_or(AfterPanic::EndRun) {
            AfterPanic::Skip => {}
            AfterPanic::EndStream => self.shared.streams.fail(stream),
            AfterPanic::EndRun => self.shared.fail(Cause::Handler),
        }
    }

    /// Publishes the block that ends at `now`.
    #[cold]
    fn publish_block(&mut self, now: Nanos) {
        let here = current_cpu();
        if here != self.cpu {
            self.tally.moved(here);
        }
        let block = self.tally.finish_block(now);
        self.shared.blocks[self.id.index()].lock().unwrap_or_else(PoisonError::into_inner).push(block);
        // This time is our own, unless it was so long that the worker was interrupted.
        let over = self.shared.clock.now();
        if over - now < MAX_PUBLISH_TIME {
            self.last_reading = over;
        }
        self.last_ended = None;
    }

    /// Reads the clock. If the last reading is too long ago, this worker was not running.
    #[inline]
    fn read_clock(&mut self) -> Nanos {
        let now = self.shared.clock.now();
        let since = now - self.last_reading;
        if since > self.shared.stall {
            self.tally.stalled(since);
            self.shared.stalled.record(self.last_reading, now);
        }
        self.last_reading = now;
        now
    }

    #[inline]
    fn recycle(&mut self, frame: Frame) {
        recycle(&mut self.buffers, frame);
    }

    #[inline]
    fn wake_others(&mut self) {
        while let Some(cpu) = self.to_wake.pop() {
            self.shared.wake(cpu);
        }
    }
}

/// The protocol stack; locks it for reading if it was released.
#[inline]
fn protocol<'g, 'f, P, W>(
    held: &'g mut Option<RwLockReadGuard<'f, Protocol>>,
    shared: &'f Shared<'_, P, W>,
) -> &'g Protocol {
    held.get_or_insert_with(|| shared.protocol.read().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps the buffer of `frame` for another one.
#[inline]
#[expect(clippy::vec_box, reason = "buffers go with packets, which are small")]
fn recycle(buffers: &mut Vec<Box<Buffer>>, frame: Frame) {
    if let Frame::Held(buffer) = frame
        && buffers.len() < MAX_FREE_BUFFERS
    {
        buffers.push(buffer);
    }
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn core::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    said.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
