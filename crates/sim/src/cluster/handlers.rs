//! Protocol threads at work: how a handler runs, step by step, and what each action does to the node (Falsafi 1998, §5.3.2).
//!
//! The protocol itself is [`warmcore_coherence`]: a handler's transition gives its actions, and each action happens when its
//! step has ended. What a step takes in addition to Table 5.1's cycles is found out as it begins: misses on the
//! protocol's data, which migrate between the caches of the node, and waits for the bus.

use super::agenda::Event;
use super::bus::Supplier;
use super::control_registers;
use super::device::{Cause, Kind, ProtocolEvent, Run};
use super::error::Error;
use super::exchange::ActiveMessage;
use super::memory::{Block, BlockState};
use super::node::Node;
use super::scheduling::Role;
use super::system::System;
use std::collections::VecDeque;
use warmcore_coherence::{Access, Action, CpuSet, Handler, Message as StacheMessage};
use warmcore_units::{NodeId, ThreadId};

impl System {
    /// A block access fault or a message has got to the device of `node`.
    pub(super) fn arrive(&mut self, now: u64, node: usize, mut event: ProtocolEvent) -> Result<(), Error> {
        event.arrived = now;
        let device = &mut self.nodes[node].device;
        device.pdq.arrive(event.label(), event);
        device.tally.longest = device.tally.longest.max(device.pdq.waiting());
        self.dispatch(now, node)
    }

    /// Lets idle protocol threads of `node` poll.
    pub(super) fn dispatch(&mut self, now: u64, node: usize) -> Result<(), Error> {
        if self.nodes[node].device.multiplexing.is_some() {
            return self.dispatch_multiplexed(now, node);
        }
        for thread in 0..self.nodes[node].device.threads.len() {
            let device = &mut self.nodes[node].device;
            if device.pdq.waiting() == 0 {
                break;
            }
            if device.threads[thread].run.is_none()
                && let Some(event) = device.pdq.dispatch(ThreadId(thread as u32))
            {
                self.start(now, node, thread, event)?;
            }
        }
        Ok(())
    }

    /// Begins the handler of `event`.
    pub(super) fn start(
        &mut self,
        now: u64,
        at: usize,
        thread: usize,
        event: ProtocolEvent,
    ) -> Result<(), Error> {
        let block = event.block;
        let cause = match event.cause {
            Cause::Stache(cause) => cause,
            Cause::Exchange(message) => return self.start_exchange(now, at, thread, message, event),
        };
        let home = self.layout.home_of_block(block);
        let node = &mut self.nodes[at];
        let cell = node.memory.state(block);
        let mut state = cell.get();
        let mut actions = core::mem::take(&mut node.device.threads[thread].spare);
        let sink = |action| match action {
            Action::Resume(cpus) => actions.extend(cpus.iter().map(|cpu| Action::Resume(CpuSet::just(cpu)))),
            other => actions.push_back(other),
        };
        let handler = match &mut state {
            BlockState::Home(entry) => entry.handle(home, cause, sink),
            BlockState::Cached(cached) => cached.handle(home, cause, sink),
        };
        let handler = handler.map_err(|unexpected| Error::Protocol { node: at as u32, block, unexpected })?;
        cell.set(state);
        node.device.tally.waited += now - event.arrived;
        node.device.threads[thread].run = Some(Run {
            block,
            kind: Kind::Stache(handler),
            data: event.data,
            overhead: handler.steps(),
            acting: false,
            actions,
            started: now,
        });
        self.step(now, at, thread)
    }

    /// Begins the handler of a request outside Stache, which is one step.
    fn start_exchange(
        &mut self,
        now: u64,
        at: usize,
        thread: usize,
        message: ActiveMessage,
        event: ProtocolEvent,
    ) -> Result<(), Error> {
        let node = &mut self.nodes[at];
        if let Some(block) = node.denied(message) {
            return Err(Error::WouldBlock {
                node: at as u32,
                block,
                home: self.layout.home_of_block(block).0,
            });
        }
        node.device.tally.waited += now - event.arrived;
        let cycles = node.exchange(thread, message, now);
        node.device.threads[thread].run = Some(Run {
            block: event.block,
            kind: Kind::Exchange(message),
            data: event.data,
            overhead: &[],
            acting: false,
            actions: VecDeque::new(),
            started: now,
        });
        self.agenda.push(now + cycles, Event::Step { node: at as u32, thread: thread as u32 });
        self.wake(now, at)
    }

    /// A step has ended: does its action, if it has one, and begins the next step.
    pub(super) fn step(&mut self, now: u64, at: usize, thread: usize) -> Result<(), Error> {
        let Some(run) = &mut self.nodes[at].device.threads[thread].run else { return Ok(()) };
        let block = run.block;
        if let Kind::Exchange(message) = run.kind {
            let data = run.data.take();
            self.pass_on(now, at, message, data)?;
            return self.finish(now, at, thread);
        }
        if run.acting
            && let Some(action) = run.actions.pop_front()
        {
            self.act(now, at, thread, block, action)?;
        }
        if let Some(cycles) = self.nodes[at].begin_step(thread, now) {
            self.agenda.push(now + cycles, Event::Step { node: at as u32, thread: thread as u32 });
            return Ok(());
        }
        self.finish(now, at, thread)
    }

    fn finish(&mut self, now: u64, at: usize, thread: usize) -> Result<(), Error> {
        let device = &mut self.nodes[at].device;
        let mut unmaps = false;
        if let Some(run) = device.threads[thread].run.take() {
            let count = match run.kind {
                Kind::Stache(handler) => &mut device.handlers[handler as usize],
                Kind::Exchange(_) => &mut device.tally.exchanges,
            };
            count.add(now - run.started);
            unmaps = matches!(run.kind, Kind::Stache(Handler::Unmap));
            device.threads[thread].spare = run.actions;
        }
        device.pdq.finish(ThreadId(thread as u32));
        if device.multiplexing.is_some() {
            self.end_acting(now, at, thread)?;
        }
        if unmaps {
            self.end_unmap(now, at)?;
        }
        self.dispatch(now, at)
    }

    fn act(&mut self, now: u64, at: usize, thread: usize, block: Block, action: Action) -> Result<(), Error> {
        match action {
            Action::Send { to, message } => self.send(now, at, to, block, message, None),
            Action::SendBlock { to, message, tag } => {
                let node = &mut self.nodes[at];
                let mut data = self.in_flight.buffer(self.layout.block_words());
                node.memory.fetch(block, &mut data);
                node.set_tag(block, tag);
                self.send(now, at, to, block, message, Some(data));
            }
            Action::PlaceBlock { tag } => {
                let node = &mut self.nodes[at];
                let data = node.device.threads[thread].run.as_mut().and_then(|run| run.data.take());
                if let Some(data) = data {
                    node.memory.place(block, &data);
                    self.in_flight.recycle(data);
                }
                node.set_tag(block, tag);
                node.put_into_buffer(thread, block, now);
            }
            Action::SetTag(tag) => self.nodes[at].set_tag(block, tag),
            Action::Resume(cpus) => {
                for cpu in cpus.iter() {
                    self.resume_faulted(now, at, cpu.index())?;
                }
            }
        }
        self.wake(now, at)
    }

    fn send(
        &mut self,
        now: u64,
        from: usize,
        to: NodeId,
        block: Block,
        message: StacheMessage,
        data: Option<Box<[u64]>>,
    ) {
        let payload = if data.is_some() { self.nodes[from].sizes.block_bytes } else { 0 };
        let arrival = self.network.send(now, from, to.index(), payload);
        #[cfg(test)]
        let Some((arrival, from, to, message)) = self.with_defect(arrival, from, to, message) else { return };
        self.messages[message as usize] += 1;
        let event = warmcore_coherence::Event::Message { from: NodeId(from as u32), message };
        let event =
            self.in_flight.put(ProtocolEvent { block, cause: Cause::Stache(event), data, arrived: arrival });
        self.agenda.push(arrival, Event::Arrive { node: to.0, event });
    }
}

impl Node {
    /// Begins the next step of what `thread` executes: how long that takes; `None`, if there is no further one.
    fn begin_step(&mut self, thread: usize, now: u64) -> Option<u64> {
        let across_bus = self.device.across_bus;
        let run = self.device.threads[thread].run.as_mut()?;
        let block = run.block;
        // Steps that do not use the bus are one.
        let count = if across_bus { 1 } else { run.overhead.len() };
        let (begun, rest) = run.overhead.split_at(count.min(run.overhead.len()));
        run.overhead = rest;
        if begun.is_empty() {
            run.acting = true;
            let action = run.actions.front().copied()?;
            return Some(self.action(thread, block, action, now));
        }
        let is_last = rest.is_empty();
        let mut cycles =
            begun.iter().map(|&step| self.device.occupancy.cycles(step, self.sizes.block_bytes)).sum();
        let missed = if is_last { self.refer_to_entry(thread, block, now) } else { 0 };
        let transactions = begun.iter().map(|&step| control_registers::transactions(step, across_bus)).sum();
        let waited = self.bus.uncached(now, transactions);
        cycles += if missed > 0 { missed } else { waited };
        Some(cycles)
    }

    /// What the step of `action` takes from `now` on.
    fn action(&mut self, thread: usize, block: Block, action: Action, now: u64) -> u64 {
        let step = action.step();
        let cycles = self.device.occupancy.cycles(step, self.sizes.block_bytes);
        match action {
            Action::SendBlock { .. } => {
                let supplier = if self.is_cached(block) { Supplier::Cache } else { Supplier::Memory };
                cycles + self.bus.move_block(now, self.sizes.block_bytes, supplier)
            }
            Action::Resume(cpus) if cpus.iter().any(|cpu| self.acts_for(thread, cpu.index())) => {
                // Neither the write to its flag nor the read of it misses (§5.3.3).
                cycles.saturating_sub(2 * self.timing.fill)
            }
            _ => {
                let transactions = control_registers::transactions(step, self.device.across_bus);
                cycles + self.bus.uncached(now, transactions)
            }
        }
    }

    /// Whether `thread` is executed by the compute processor `cpu`.
    pub(super) fn acts_for(&self, thread: usize, cpu: usize) -> bool {
        let Some(multiplexing) = &self.device.multiplexing else { return false };
        matches!(multiplexing.roles.get(cpu), Some(&Role::Acting { thread: acting, .. }) if acting as usize == thread)
    }

    /// What it takes `thread` to have its own data in the cache of who executes it. A processor of its own always has them.
    pub(super) fn refer_to_thread(&mut self, thread: usize, now: u64) -> u64 {
        let Some(cache) = self.device.threads[thread].cache.filter(|_| self.device.multiplexing.is_some())
        else {
            return 0;
        };
        self.thread_lines(thread)
            .fold(0, |cycles, line| cycles + self.refer_to_state(cache, line, Access::Write, now + cycles))
    }

    /// What it takes `thread` to have the protocol's data about `block` in its cache.
    fn refer_to_entry(&mut self, thread: usize, block: Block, now: u64) -> u64 {
        let Some(cache) = self.device.threads[thread].cache else { return 0 };
        let mut cycles = self.refer_to_thread(thread, now);
        if self.device.across_bus {
            cycles += self.refer_to_state(cache, self.translation_line(block), Access::Read, now);
        }
        cycles += self.refer_to_state(cache, self.entry_line(block), Access::Write, now);
        if cycles > 0 {
            self.device.tally.state_misses.add(cycles);
        }
        cycles
    }

    fn put_into_buffer(&mut self, thread: usize, block: Block, now: u64) {
        let lines = self.sizes.lines(block);
        lines.clone().for_each(|line| self.device.buffers_forget(line));
        let displaced = self.device.threads[thread].buffer.take(lines);
        self.device.tally.buffer_write_backs += u64::from(displaced > 0);
        (0..displaced).for_each(|_| self.bus.write_back(now));
    }
}
