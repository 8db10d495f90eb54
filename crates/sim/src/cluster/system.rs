//! The core of a run: all nodes, what is to happen, and how a processor's references are served.
//!
//! One event after the other, in the order of time; a run is a pure function of its machine and program.

use super::agenda::{Agenda, Event};
use super::cache::Line;
use super::device::{Cause, ProtocolEvent};
use super::error::{Error, Waiting, WaitsFor};
use super::exchange::ActiveMessage;
use super::in_flight::InFlight;
use super::layout::{Layout, PageNumber};
use super::network::Network;
use super::node::{Node, Transaction};
use super::processor::{Local, Wait, Yield};
use super::run::{Moment, Options};
use super::scheduling::Role;
use super::tally::{Breakdown, Count};
use core::ops::ControlFlow;
use corosensei::{Coroutine, CoroutineResult};
use std::rc::Rc;
use warmcore_coherence::{Access, Event as ProtocolCause, Message};
use warmcore_units::CpuId;

/// All messages of Stache, by their number.
pub(super) const MESSAGES: [Message; 12] = [
    Message::ReadRequest,
    Message::WriteRequest,
    Message::UpgradeRequest,
    Message::ReadReply,
    Message::WriteReply,
    Message::UpgradeReply,
    Message::Invalidate,
    Message::Downgrade,
    Message::Recall,
    Message::Acknowledge,
    Message::Return,
    Message::Writeback,
];

/// Cycles that a processor may go on where nothing else is to happen, so that whoever watches is told now and then.
const LONGEST_TURN: u64 = 1 << 16;

/// After how many events whoever watches is told.
const REPORTED: u32 = 1 << 15;

/// What a compute processor is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It will go on with its program.
    Running,
    /// A reference is on its way to the bus.
    Referring { line: Line, access: Access, since: u64, faulted: bool },
    /// It waits for a frame of the page cache.
    Mapping { page: PageNumber, since: u64 },
    /// The device has its block access fault.
    Faulted { line: Line, access: Access, since: u64, trapped_until: u64 },
    /// It computes, and then submits a request outside Stache.
    Submitting(ActiveMessage),
    /// It computes, and then has left the program.
    Leaving,
    /// A request outside Stache is under way.
    Requesting { since: u64 },
    /// A word is to change.
    Watching { since: u64 },
    /// It has left the program.
    Done,
}

/// A compute processor.
pub(super) struct Compute {
    pub(super) local: Rc<Local>,
    pub(super) program: Coroutine<(), Yield, ()>,
    pub(super) state: State,
    pub(super) misses: Count,
    pub(super) remote_misses: Count,
    pub(super) page_waits: Count,
    pub(super) protocol: u64,
    pub(super) interrupts: Count,
    /// Cycles of interrupts that it still has to be late by.
    pub(super) stolen: u64,
    /// What came up for it while it was interrupted, and when.
    pub(super) deferred: Option<(u64, Event)>,
}

/// All that takes part in a run.
pub(super) struct System {
    pub(super) layout: Rc<Layout>,
    pub(super) nodes: Vec<Node>,
    pub(super) processors: Vec<Compute>,
    pub(super) per_node: usize,
    /// Whether compute processors execute the protocol.
    pub(super) multiplexed: bool,
    pub(super) network: Network,
    /// Messages sent, by kind.
    pub(super) messages: [u64; MESSAGES.len()],
    pub(super) agenda: Agenda,
    pub(super) in_flight: InFlight,
    pub(super) run_ahead: u64,
    pub(super) now: u64,
    /// What is broken, to see that tests find it.
    #[cfg(test)]
    pub(super) defect: Option<super::defects::Defect>,
}

impl System {
    /// Runs until all processors have left the program and nothing is under way.
    ///
    /// # Errors
    /// If the program cannot end, not within the limit, or whoever watches stops it.
    pub(super) fn run(&mut self, options: &Options<'_>) -> Result<(), Error> {
        self.report(options)?;
        for processor in 0..self.processors.len() as u32 {
            self.agenda.push(0, Event::Continue(processor));
        }
        let mut handled: u32 = 0;
        while let Some((now, event)) = self.agenda.pop() {
            if now > options.limit {
                return Err(Error::TooLong { cycles: options.limit, waiting: self.all_waiting() });
            }
            self.now = now;
            self.handle(now, event)?;
            handled = handled.wrapping_add(1);
            if handled.is_multiple_of(REPORTED) {
                self.report(options)?;
            }
        }
        self.report(options)?;
        let waiting = self.all_waiting();
        if waiting.is_empty() { Ok(()) } else { Err(Error::Deadlock { cycles: self.now, waiting }) }
    }

    fn report(&self, options: &Options<'_>) -> Result<(), Error> {
        let references = self.processors.iter().map(|processor| processor.local.references.get()).sum();
        match (options.watch)(Moment { cycles: self.now, references }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped { cycles: self.now }),
        }
    }

    /// Who has not left the program, and waits for what.
    fn all_waiting(&self) -> Vec<Waiting> {
        self.processors.iter().filter_map(|processor| self.waiting(processor)).collect()
    }

    fn handle(&mut self, now: u64, event: Event) -> Result<(), Error> {
        match event {
            Event::Continue(processor) | Event::Reference(processor)
                if self.is_late(now, processor, event) =>
            {
                Ok(())
            }
            Event::Continue(processor) => self.go_on(now, processor as usize),
            Event::Reference(processor) => self.issue(now, processor as usize, 0),
            Event::Arrive { node, event } => {
                let Some(event) = self.in_flight.take(event) else { return Ok(()) };
                self.arrive(now, node as usize, event)
            }
            Event::FindFrame { node } => self.look_again(now, node as usize),
            Event::Step { node, thread } => self.step(now, node as usize, thread as usize),
            Event::Poll { node, cpu } => self.poll(now, node as usize, cpu as usize),
        }
    }

    /// Runs a processor's program from `now` on until it leaves its stack.
    pub(super) fn go_on(&mut self, now: u64, number: usize) -> Result<(), Error> {
        // Who executes a handler makes the reference that it has waited for, and no further one.
        let acts = self.multiplexed && self.is_acting(number);
        let next = self.agenda.next_time().min(now + LONGEST_TURN);
        let limit = if acts { 0 } else { next.saturating_add(self.run_ahead) };
        let processor = &mut self.processors[number];
        let local = &processor.local;
        local.clock.set(now.max(local.clock.get()));
        if let State::Watching { since } = processor.state
            && local.synchronizing.get().is_none()
        {
            local.synchronized.set(local.synchronized.get() + local.clock.get() - since);
        }
        if let State::Mapping { since, .. } = processor.state
            && local.synchronizing.get().is_none()
        {
            processor.page_waits.add(local.clock.get() - since);
        }
        local.limit.set(limit);
        processor.state = State::Running;
        let result = processor.program.resume(());
        let clock = processor.local.clock.get();
        match result {
            CoroutineResult::Yield(Yield::Ahead | Yield::Pending) if acts => {
                processor.deferred = Some((clock, Event::Continue(number as u32)));
            }
            CoroutineResult::Yield(Yield::Ahead) => self.agenda.push(clock, Event::Continue(number as u32)),
            CoroutineResult::Yield(Yield::Reference { line, access }) => {
                processor.state = State::Referring { line, access, since: clock, faulted: false };
                self.agenda.push(clock, Event::Reference(number as u32));
            }
            CoroutineResult::Yield(Yield::Map { page }) => {
                processor.state = State::Mapping { page, since: clock };
                self.agenda.push(clock, Event::Reference(number as u32));
            }
            CoroutineResult::Yield(Yield::Pending) => self.turn_to_device(clock, number),
            CoroutineResult::Yield(Yield::Watch { line }) => {
                processor.state = State::Watching { since: clock };
                self.nodes[number / self.per_node].watched[number % self.per_node] = line;
                self.begin_polling(clock, number);
            }
            // It may have computed for long, and can be interrupted until then.
            CoroutineResult::Yield(Yield::Exchange(message)) => {
                processor.state = State::Submitting(message);
                self.come_back(clock, number, acts);
            }
            CoroutineResult::Yield(Yield::NoSpace { bytes }) => return Err(Error::TooManyLocks { bytes }),
            CoroutineResult::Yield(Yield::Stray { at }) => {
                return Err(Error::Stray { processor: number as u32, at });
            }
            CoroutineResult::Return(()) => {
                processor.state = State::Leaving;
                self.come_back(clock, number, acts);
            }
        }
        Ok(())
    }

    /// A processor turns to the core again at `clock`, after the handler that it executes, if it `acts`.
    fn come_back(&mut self, clock: u64, number: usize, acts: bool) {
        let (time, event) = (clock.max(self.now), Event::Reference(number as u32));
        if acts {
            self.processors[number].deferred = Some((time, event));
        } else {
            self.agenda.push(time, event);
        }
    }

    /// A processor's reference gets to the bus; it goes on `late` cycles later than it could.
    fn issue(&mut self, now: u64, number: usize, late: u64) -> Result<(), Error> {
        let (line, access, since, faulted) = match self.processors[number].state {
            State::Referring { line, access, since, faulted } => (line, access, since, faulted),
            State::Mapping { page, .. } => return self.map(now, number, page),
            State::Submitting(message) => {
                self.submit(now, number, message);
                return Ok(());
            }
            State::Leaving => {
                self.processors[number].state = State::Done;
                self.begin_polling(now, number);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let at = number / self.per_node;
        let cpu = number % self.per_node;
        let node = &mut self.nodes[at];
        let issue = if faulted { 0 } else { node.timing.issue };
        match node.refer(cpu, line, access, now) {
            Transaction::Done(done) => {
                let done = done + issue + late;
                let processor = &mut self.processors[number];
                if processor.local.synchronizing.get().is_none() {
                    let count = if faulted { &mut processor.remote_misses } else { &mut processor.misses };
                    count.add(done - since);
                }
                processor.local.clock.set(done);
                self.go_on(now, number)?;
                self.wake(now, at)
            }
            Transaction::Fault(known) => {
                let known = known + issue;
                let trap = if node.device.across_bus { node.timing.trap } else { 0 };
                let trapped_until = known + trap;
                self.processors[number].state = State::Faulted { line, access, since, trapped_until };
                let block = node.sizes.block(line);
                let cause = Cause::Stache(ProtocolCause::Fault { cpu: CpuId(cpu as u32), access });
                let event = self.in_flight.put(ProtocolEvent { block, cause, data: None, arrived: known });
                self.agenda.push(known, Event::Arrive { node: at as u32, event });
                self.begin_trap(known, number);
                Ok(())
            }
        }
    }

    /// The protocol lets a processor try its reference again. It does so at once, even if it is still on its way into the trap or
    /// executes a handler, and goes on when it can: otherwise the block could be taken away before, again and again.
    pub(super) fn resume_faulted(&mut self, now: u64, at: usize, cpu: usize) -> Result<(), Error> {
        let number = at * self.per_node + cpu;
        let State::Faulted { line, access, since, trapped_until } = self.processors[number].state else {
            return Ok(());
        };
        self.processors[number].state = State::Referring { line, access, since, faulted: true };
        self.keeps_acting(now, at, cpu);
        self.issue(now, number, trapped_until.saturating_sub(now))
    }

    /// Lets processors of a node go on whose watched line has gone.
    pub(super) fn wake(&mut self, now: u64, at: usize) -> Result<(), Error> {
        while let Some(cpu) = self.nodes[at].woken.pop() {
            let number = at * self.per_node + cpu as usize;
            if !self.keeps_acting(now, at, cpu as usize) {
                let time = now.max(self.processors[number].local.clock.get());
                self.agenda.push(time, Event::Continue(number as u32));
            }
        }
        Ok(())
    }

    fn waiting(&self, processor: &Compute) -> Option<Waiting> {
        let wait = match (processor.local.synchronizing.get(), processor.state) {
            (Some(Wait::Lock(lock)), _) => WaitsFor::Lock(lock),
            (Some(Wait::Barrier(barrier)), _) => WaitsFor::Barrier(barrier),
            (None, State::Faulted { line, .. } | State::Referring { line, .. }) => {
                let block = self.nodes[0].sizes.block(line);
                WaitsFor::Block { block, home: self.layout.home_of_block(block).0 }
            }
            (None, State::Mapping { page, .. }) => WaitsFor::Frame { page },
            (None, State::Requesting { .. }) => WaitsFor::Reply,
            (None, State::Watching { .. }) => WaitsFor::Word,
            (None, State::Running | State::Submitting(_) | State::Leaving) => WaitsFor::Nothing,
            (None, State::Done) => return None,
        };
        Some(Waiting { processor: processor.local.number, wait })
    }

    /// Where the time of each processor went.
    pub(super) fn breakdowns(&self) -> Vec<Breakdown> {
        let breakdown = |processor: &Compute| Breakdown {
            end: processor.local.clock.get(),
            cache_misses: processor.misses,
            remote_misses: processor.remote_misses,
            page_waits: processor.page_waits,
            synchronization: processor.local.synchronized.get(),
            protocol: processor.protocol,
            interrupts: processor.interrupts,
            tlb_misses: processor.local.tlb_misses.get(),
            page_faults: processor.local.page_faults.get(),
            references: processor.local.references.get(),
        };
        self.processors.iter().map(breakdown).collect()
    }

    pub(super) fn role(&mut self, number: usize) -> Option<&mut Role> {
        let multiplexing = self.nodes[number / self.per_node].device.multiplexing.as_mut()?;
        multiplexing.roles.get_mut(number % self.per_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stand_at_their_number() {
        assert!((0..).zip(MESSAGES).all(|(number, message)| message as usize == number));
    }
}
