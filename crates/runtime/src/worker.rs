//! A worker: one thread on one processor, that takes packets in, processes those that are assigned
//! to it, and does other work in between.
//!
//! ```text
//!        ┌── look: mailbox, then the queue ◄──┐
//!  packet│                                    │nothing
//!        ▼                                    │
//!   serve: stack and handler ──► finish ──► idle: other work, poll or sleep
//!        ▲                          │
//!        └──── go on with the next ─┘
//! ```
//!
//! Whoever finishes a packet first takes in what has arrived meanwhile, so that the policy decides
//! on arrivals before the completion, as they happened.
//!
//! | module | what it does |
//! |---|---|
//! | [`intake`] | how packets come to it |
//! | [`rest`] | what it does that has no packet |

mod intake;
mod rest;

use crate::control::Order;
use crate::handler::{AfterPanic, Context, Handler};
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
use warmcore_stack::{Delivery, DropReason, Flow};
use warmcore_units::{CpuId, Nanos};

/// Packets that a worker takes ahead at most.
const AHEAD: usize = 8;
/// Frames taken in at once.
pub(crate) const INTAKE: usize = 32;
/// Handing a block over takes less than this by itself.
const HAND_OVER: Nanos = Nanos(30e3);
/// Free buffers that a worker keeps.
const BUFFERS: usize = 256;

pub(crate) struct Worker<'f, 'a, P, W, H> {
    me: CpuId,
    /// The processor it is to run on.
    place: CpuId,
    /// Whether it has said that it takes in nothing more.
    closed: bool,
    shared: &'f Shared<'a, P, W, H>,
    protocol: Option<RwLockReadGuard<'f, Protocol>>,
    hand: Option<Assignment>,
    /// What comes after it in any case.
    ahead: VecDeque<Assignment>,
    /// What was processed, and when, and not reported yet.
    finished: Vec<(Packet, Nanos)>,
    tally: Tally,
    /// The last look at the clock.
    looked: Nanos,
    /// When the packet before the one in hand was finished, if nothing else was done in between.
    last_ended: Option<Nanos>,
    /// Whether the packet in hand was taken ahead, and begins where the one before it has ended.
    goes_on: bool,
    polls: u32,
    /// Packets since the last one that was timed.
    untimed: u32,
    #[expect(clippy::vec_box, reason = "buffers go with packets, which are small")]
    buffers: Vec<Box<Buffer>>,
    /// Others who were given work, to be woken.
    called: Vec<CpuId>,
    reply: Vec<u8>,
    outgoing: Vec<u8>,
    work: Option<Box<dyn Work>>,
}

/// What came of a packet.
enum Outcome {
    /// With its time in the stack, if that was taken.
    Delivered(Option<Nanos>),
    Refused(DropReason),
    Panicked(String),
}

impl<'f, 'a, P: Policy, W: Waiting<Job = Packet>, H: Handler> Worker<'f, 'a, P, W, H> {
    /// The worker `me`, on the processor `place`.
    pub(crate) fn new(me: CpuId, place: CpuId, shared: &'f Shared<'a, P, W, H>) -> Self {
        let work = match shared.idle {
            Idle::Work(make) => Some(make(me.0)),
            Idle::Poll | Idle::Sleep => None,
        };
        Self {
            me,
            place,
            closed: false,
            shared,
            protocol: None,
            hand: None,
            ahead: VecDeque::with_capacity(AHEAD),
            finished: Vec::with_capacity(AHEAD),
            tally: Tally::new(),
            looked: shared.clock.now(),
            last_ended: None,
            goes_on: false,
            polls: 0,
            untimed: 0,
            buffers: Vec::with_capacity(BUFFERS),
            called: Vec::new(),
            reply: Vec::new(),
            outgoing: Vec::new(),
            work,
        }
    }

    /// Works until it is told to leave.
    pub(crate) fn run(mut self) {
        self.shared.mailboxes[self.me.index()].register();
        self.looked = self.shared.clock.now();
        loop {
            if let Some(assignment) = self.hand.take() {
                self.serve(assignment);
            }
            match self.shared.control.order() {
                Order::Run | Order::Drain if self.hand.is_some() => {}
                Order::Run => self.look_or_idle(),
                Order::Pause => self.pause(),
                Order::Drain if self.is_drained() => break,
                Order::Drain => self.look_for_leftovers(),
                Order::Leave => break,
            }
        }
        self.leave();
    }

    /// Gives back what was taken ahead and will not be processed.
    fn leave(&mut self) {
        let now = self.shared.clock.now();
        let mut scheduler = self.shared.scheduler(self.me).lock();
        for (packet, ended) in self.finished.drain(..) {
            scheduler.finish_ahead(&packet, ended);
        }
        drop(scheduler);
        self.hand_over(now);
    }

    /// Processes what is in hand, and finds what comes after it.
    #[inline]
    fn serve(&mut self, assignment: Assignment) {
        // What follows another packet at once begins where that has ended.
        let begun = if self.goes_on { self.looked } else { self.read_clock() };
        let outcome = self.process(&assignment);
        let ended = self.read_clock();
        match outcome {
            Outcome::Delivered(stack) => {
                self.count(&assignment, begun, ended, stack);
                self.shared.streams.processed(self.me, assignment.packet.stream);
            }
            Outcome::Refused(reason) => self.tally.refused(reason),
            Outcome::Panicked(message) => self.panicked(&assignment, &message),
        }
        if self.tally.is_full(ended) {
            self.hand_over(ended);
        }
        self.last_ended = Some(ended);
        self.goes_on = !self.ahead.is_empty();
        if let Some(next) = self.ahead.pop_front() {
            self.hand = Some(next);
            self.finished.push((assignment.packet, ended));
        } else {
            self.finish(assignment, ended);
        }
    }

    /// Counts a packet whose service took from `begun` to `ended`, and `stack` of that in the stack, if it
    /// was timed.
    #[inline]
    fn count(&mut self, assignment: &Assignment, begun: Nanos, ended: Nanos, stack: Option<Nanos>) {
        let (arrived, situation) = (assignment.packet.arrived, assignment.situation);
        let reading = stack.and(self.shared.stopwatch).map_or(Nanos::ZERO, |watch| watch.overhead);
        let (delay, service) = (ended - arrived - reading, ended - begun - reading);
        if self.shared.stalled.met(arrived, ended) {
            self.tally.disturbed(delay, service, situation);
        } else {
            self.tally.finished(delay, service, situation);
            if let Some(stack) = stack {
                let packet_overhead = self.last_ended.map(|last| ended - last - reading - stack);
                self.tally.timed(stack, situation, packet_overhead);
            }
        }
    }

    /// Reports what was processed since the last time, and takes what comes next.
    #[inline]
    fn finish(&mut self, last: Assignment, ended: Nanos) {
        let shared = self.shared;
        let mut scheduler = shared.scheduler(self.me).lock();
        for (packet, ended) in &self.finished {
            scheduler.finish_ahead(packet, *ended);
        }
        self.take_in(&mut scheduler, ended);
        self.hand = scheduler.finish(self.me, last.thread, &last.packet, ended);
        if let Some(hand) = &self.hand {
            while self.ahead.len() < AHEAD
                && let Some(next) = scheduler.ahead(self.me, hand)
            {
                self.ahead.push_back(next);
            }
        }
        shared.queue(self.me).appoint(scheduler.lookout());
        drop(scheduler);
        self.recycle(last.packet.frame);
        while let Some((packet, _)) = self.finished.pop() {
            self.recycle(packet.frame);
        }
        self.wake_called();
    }

    /// The packet's way up the stack on its protocol thread, the handler on top, and the answer.
    #[inline]
    fn process(&mut self, assignment: &Assignment) -> Outcome {
        let Assignment { packet, stack, thread, .. } = assignment;
        let shared = self.shared;
        if shared.streams.has_failed(packet.stream) {
            return Outcome::Panicked(String::new());
        }
        let watch = self.stopwatch();
        let protocol = protocol(&mut self.protocol, shared);
        let frame = shared.bytes(&packet.frame);
        let mut context =
            Context { cpu: self.place, worker: self.me.0, reply: &mut self.reply, replied: false };
        let pool = shared.pool(self.me);
        let mut thread = shared.thread(*thread).lock();
        let start = watch.map(|watch| (watch.read)());
        let received = thread.run(|| {
            let deliver = |delivery: Delivery<'_>| shared.handler.deliver(&delivery, &mut context);
            catch_unwind(AssertUnwindSafe(|| protocol.receive(*stack, pool, frame, deliver)))
        });
        let time = watch.zip(start).map(|(watch, start)| watch.between(start, (watch.read)()));
        drop(thread);
        let replied = context.replied;
        match received {
            Ok(Ok(())) => {
                if replied {
                    self.answer(packet);
                }
                Outcome::Delivered(time)
            }
            Ok(Err(reason)) => Outcome::Refused(reason),
            Err(panic) => Outcome::Panicked(panic_message(&*panic)),
        }
    }

    /// What the next packet is timed with, if it is its turn.
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

    /// Sends the handler's answer to where `packet` came from.
    fn answer(&mut self, packet: &Packet) {
        let shared = self.shared;
        let frame = shared.bytes(&packet.frame);
        let link = shared.link;
        let Ok(flow) = Flow::parse(link, frame) else { return };
        let builder = FrameBuilder { tags: link.tags(frame), ..FrameBuilder::new(link, flow.reversed()) };
        self.outgoing.resize(builder.frame_length(self.reply.len()) + MAX_TAGS, 0);
        let sent = match builder.write(&self.reply, &mut self.outgoing) {
            Ok(answer) => shared.queue(self.me).lock().send(answer).is_ok(),
            Err(_) => false,
        };
        if !sent {
            self.tally.unanswered();
        }
    }

    /// A packet's handler has panicked, or its stream had failed before.
    #[cold]
    fn panicked(&mut self, assignment: &Assignment, message: &str) {
        self.tally.failed();
        let stream = assignment.packet.stream;
        if self.shared.streams.has_failed(stream) {
            return;
        }
        let handler = self.shared.handler;
        // Who panics over a panic cannot go on.
        let verdict = catch_unwind(AssertUnwindSafe(|| handler.panicked(stream, message)));
        match verdict.unwrap_or(AfterPanic::EndRun) {
            AfterPanic::Skip => {}
            AfterPanic::EndStream => self.shared.streams.fail(stream),
            AfterPanic::EndRun => self.shared.control.fail(),
        }
    }

    /// Gives the block up to `now` to whoever looks.
    #[cold]
    fn hand_over(&mut self, now: Nanos) {
        let here = current_cpu();
        if here != self.place {
            self.tally.moved(here);
        }
        let block = self.tally.turn(now);
        self.shared.blocks[self.me.index()].lock().unwrap_or_else(PoisonError::into_inner).push(block);
        // What this took was ours, unless it took so long that somebody else's was among it.
        let over = self.shared.clock.now();
        if over - now < HAND_OVER {
            self.looked = over;
        }
        self.last_ended = None;
    }

    /// The time; if the last look was too long ago, this worker was not running.
    #[inline]
    fn read_clock(&mut self) -> Nanos {
        let now = self.shared.clock.now();
        let since = now - self.looked;
        if since > self.shared.stall {
            self.tally.stalled(since);
            self.shared.stalled.mark(self.looked, now);
        }
        self.looked = now;
        now
    }

    #[inline]
    fn recycle(&mut self, frame: Frame) {
        if let Frame::Held(buffer) = frame
            && self.buffers.len() < BUFFERS
        {
            self.buffers.push(buffer);
        }
    }

    #[inline]
    fn wake_called(&mut self) {
        while let Some(cpu) = self.called.pop() {
            self.shared.wake(cpu);
        }
    }
}

/// The stack, taken hold of again if it was let go.
#[inline]
fn protocol<'g, 'f, P, W, H>(
    held: &'g mut Option<RwLockReadGuard<'f, Protocol>>,
    shared: &'f Shared<'_, P, W, H>,
) -> &'g Protocol {
    held.get_or_insert_with(|| shared.protocol.read().unwrap_or_else(PoisonError::into_inner))
}

/// What a panic says of itself.
pub(crate) fn panic_message(panic: &(dyn core::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    said.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
