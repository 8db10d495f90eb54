//! A worker: one thread on one processor. It receives packets, processes those assigned to it, and does
//! other work in between.
//!
//! ```text
//!        ┌── poll: mailbox, then the queue ◄──┐
//!  packet│                                    │nothing
//!        ▼                                    │
//!   serve: stack and handler ──► finish ──► idle: other work, poll or sleep
//!        ▲                          │
//!        └── continue with the next ─┘
//! ```
//!
//! After a packet a worker first receives what has arrived meanwhile, so that the policy sees those
//! arrivals before the completion, in the order in which they happened.
//!
//! | module | what it does |
//! |---|---|
//! | [`intake`] | receives packets and assigns them |
//! | [`conversation`] | takes packets of conversations up, sends their answers, and tells them the time |
//! | [`idle`] | idles, sleeps, pauses and drains |

mod conversation;
mod idle;
pub(crate) mod intake;

use crate::control::Order;
use crate::failure::Cause;
use crate::handler::{AfterPanic, Context};
use crate::options::Idle;
use crate::packet::{Buffer, Frame, Packet};
use crate::protocol::Protocol;
use crate::scheduler::Assignment;
use crate::shared::Shared;
use crate::stopwatch::Stopwatch;
use crate::tally::Tally;
use crate::work::Work;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{PoisonError, RwLockReadGuard};
use warmcore_linux::current_cpu;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::wire::vlan::MAX_TAGS;
use warmcore_stack::{Delivery, DropReason, Exchange, Flow};
use warmcore_units::{CpuId, Nanos};

/// Most packets that a worker prefetches from its scheduler.
const MAX_PREFETCHED: usize = 8;
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
    current: Option<Assignment>,
    /// Assignments that follow the current one.
    prefetched: VecDeque<Assignment>,
    /// Packets that were processed, with their end times, and not yet reported to the scheduler.
    unreported: Vec<(Packet, Nanos)>,
    tally: Tally,
    /// The last reading of the clock.
    last_reading: Nanos,
    /// When the packet before the current one finished, if nothing else was done in between.
    last_ended: Option<Nanos>,
    /// Whether the current packet was prefetched, so that it starts when the one before it ended.
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

/// The result of processing a packet.
enum Processed {
    /// With its time in the stack, if it was timed.
    Delivered(Option<Nanos>),
    Refused(DropReason),
    Panicked(String),
}

impl<'f, 'a, P: Policy, W: Waiting<Job = Packet>> Worker<'f, 'a, P, W> {
    /// The worker `id`, on the processor `cpu`.
    pub(crate) fn new(id: CpuId, cpu: CpuId, shared: &'f Shared<'a, P, W>) -> Self {
        let work = match shared.idle {
            Idle::Work(make) => Some(make(id.0)),
            Idle::Poll | Idle::Sleep => None,
        };
        Self {
            id,
            cpu,
            closed: false,
            shared,
            protocol: None,
            current: None,
            prefetched: VecDeque::with_capacity(MAX_PREFETCHED),
            unreported: Vec::with_capacity(MAX_PREFETCHED),
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
            if let Some(assignment) = self.current.take() {
                self.serve(assignment);
            }
            match self.shared.control.order() {
                Order::Run | Order::Drain if self.current.is_some() => {}
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
        for (packet, ended) in self.unreported.drain(..) {
            scheduler.finish_and_continue(&packet, ended);
        }
        drop(scheduler);
        self.publish_block(now);
    }

    /// Processes an assignment and finds the next one.
    #[inline]
    fn serve(&mut self, assignment: Assignment) {
        // A packet that follows another at once starts when that one ended.
        let begun = if self.is_back_to_back { self.last_reading } else { self.read_clock() };
        let outcome = self.process(&assignment);
        let ended = self.read_clock();
        match outcome {
            Processed::Delivered(stack) => {
                self.count(&assignment, begun, ended, stack);
                self.shared.streams.processed(self.id, assignment.packet.stream);
            }
            Processed::Refused(reason) => self.tally.refused(reason),
            Processed::Panicked(message) => self.panicked(&assignment, &message),
        }
        if self.tally.is_full(ended) {
            self.publish_block(ended);
        }
        self.last_ended = Some(ended);
        if ended >= self.next_tick {
            self.tick(ended);
        }
        self.is_back_to_back = !self.prefetched.is_empty();
        if let Some(next) = self.prefetched.pop_front() {
            self.current = Some(next);
            self.unreported.push((assignment.packet, ended));
        } else {
            self.finish(assignment, ended);
        }
    }

    /// Counts a packet with service from `begun` to `ended`, of which it spent `stack` in the stack, if
    /// timed.
    #[inline]
    fn count(&mut self, assignment: &Assignment, begun: Nanos, ended: Nanos, stack: Option<Nanos>) {
        let (arrived, situation) = (assignment.packet.arrived, assignment.situation);
        let reading = stack.and(self.shared.stopwatch).map_or(Nanos::ZERO, |watch| watch.overhead);
        let (delay, service) = (ended - arrived - reading, ended - begun - reading);
        if self.shared.stalled.affects(arrived, ended) {
            self.tally.disturbed(delay, service, situation);
        } else {
            self.tally.finished(delay, service, situation);
            if let Some(stack) = stack {
                let packet_overhead = self.last_ended.map(|last| ended - last - reading - stack);
                self.tally.timed(stack, situation, packet_overhead);
            }
        }
    }

    /// Reports the packets processed since the last call, and gets the next assignments.
    #[inline]
    fn finish(&mut self, last: Assignment, ended: Nanos) {
        let shared = self.shared;
        let mut scheduler = shared.scheduler(self.id).lock();
        for (packet, ended) in &self.unreported {
            scheduler.finish_and_continue(packet, *ended);
        }
        self.receive_arrived(&mut scheduler, ended);
        self.current = scheduler.finish(self.id, last.thread, &last.packet, ended);
        if let Some(current) = &self.current {
            while self.prefetched.len() < MAX_PREFETCHED
                && let Some(next) = scheduler.prefetch(self.id, current)
            {
                self.prefetched.push_back(next);
            }
        }
        shared.queue(self.id).set_lookout(scheduler.lookout());
        drop(scheduler);
        self.recycle(last.packet.frame);
        while let Some((packet, _)) = self.unreported.pop() {
            self.recycle(packet.frame);
        }
        self.wake_others();
    }

    /// Passes the packet up the stack on its protocol thread, calls the handler, and sends the answer.
    #[inline]
    fn process(&mut self, assignment: &Assignment) -> Processed {
        let Assignment { packet, stack, thread, .. } = assignment;
        let shared = self.shared;
        if shared.streams.has_failed(packet.stream) {
            return Processed::Panicked(String::new());
        }
        let watch = self.stopwatch();
        let protocol = protocol(&mut self.protocol, shared);
        let frame = shared.bytes(&packet.frame);
        let mut context =
            Context { cpu: self.cpu, worker: self.id.0, reply: &mut self.reply, replied: false };
        let pool = shared.pool(self.id);
        let mut thread = shared.thread(*thread).lock();
        let start = watch.map(|watch| (watch.read)());
        let now = conversation::since_start(self.last_reading);
        let (exchange, place) = (&mut self.exchange, (self.cpu, self.id.0));
        let receive = || {
            if shared.converses {
                let packet = conversation::Arrived { now, stack: *stack, pool, frame };
                conversation::receive(protocol, shared.handler, &packet, exchange, place)
            } else {
                let deliver = |delivery: Delivery<'_>| shared.handler.deliver(&delivery, &mut context);
                protocol.receive(*stack, pool, frame, deliver)
            }
        };
        shared.calls.begin(self.id, packet.stream, self.last_reading);
        let received = thread.run(|| catch_unwind(AssertUnwindSafe(receive)));
        shared.calls.end(self.id);
        let time = watch.zip(start).map(|(watch, start)| watch.between(start, (watch.read)()));
        drop(thread);
        let replied = context.replied;
        if !self.exchange.is_empty() {
            self.send_exchange();
        }
        match received {
            Ok(Ok(())) => {
                if replied {
                    self.answer(packet);
                }
                Processed::Delivered(time)
            }
            Ok(Err(reason)) => Processed::Refused(reason),
            Err(panic) => Processed::Panicked(panic_message(&*panic)),
        }
    }

    /// The stopwatch, if the next packet is to be timed.
    #[inline]
    fn stopwatch(&mut self) -> Option<Stopwatch> {
        let watch = self.shared.stopwatch?;
        self.untimed += 1;
        if self.untimed < watch.every {
            return None;
        }
        self.untimed = 0;
        Some(watch)
    }

    /// Sends the handler's answer to the sender of `packet`.
    fn answer(&mut self, packet: &Packet) {
        let shared = self.shared;
        let frame = shared.bytes(&packet.frame);
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

    /// Handles a panic of the handler, or a packet of a stream that failed earlier.
    #[cold]
    fn panicked(&mut self, assignment: &Assignment, message: &str) {
        self.tally.failed();
        let stream = assignment.packet.stream;
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
        if let Frame::Held(buffer) = frame
            && self.buffers.len() < MAX_FREE_BUFFERS
        {
            self.buffers.push(buffer);
        }
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

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn core::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    said.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
