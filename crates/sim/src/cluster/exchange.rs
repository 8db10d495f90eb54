//! Active messages outside Stache: a request to another node and its reply, as the microbenchmarks of chapter 4 use them
//! (Falsafi 1998, §4.3.2).
//!
//! ```text
//!  processor      its node's protocol thread            the other node's
//!  submits ─────► get the request, send ──── 100 ────► dispatch; for fetch-block: look up the
//!                                                      block, read it into the cache, copy it out
//!  goes on ◄───── dispatch; copy the block ◄── 100 ──── send the reply
//!                 into memory; resume
//! ```
//!
//! The steps are those of Table 5.1 where it has them. *Fetch-block* does not use the block buffer: the protocol thread reads
//! the block into its cache and copies it to and from the device by itself.

use super::agenda::Event;
use super::device::{Cause, ProtocolEvent};
use super::error::Error;
use super::memory::Block;
use super::node::Node;
use super::system::{State, System};
use warmcore_coherence::{Access, Step};

/// What the handlers of a request do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// Nothing but sending the reply: the lightest protocol.
    NullHandler,
    /// Fetch a block of the other node.
    FetchBlock,
}

/// How far a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// The processor has submitted it to its node.
    Submit,
    /// It has got to the other node.
    Serve,
    /// The reply has come back.
    Complete,
}

/// A request under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ActiveMessage {
    pub(super) exchange: Exchange,
    pub(super) stage: Stage,
    /// The requesting processor's node, and its place there.
    pub(super) node: u32,
    pub(super) cpu: u32,
    /// The node that is asked.
    pub(super) to: u32,
    /// Which block is fetched there.
    pub(super) block: Block,
    /// Where it goes.
    pub(super) into: Block,
}

impl System {
    /// A processor submits a request at `clock`.
    pub(super) fn submit(&mut self, clock: u64, number: usize, message: ActiveMessage) {
        self.processors[number].state = State::Requesting { since: clock };
        let cause = Cause::Exchange(message);
        let event = ProtocolEvent { block: message.block, cause, data: None, arrived: clock };
        let event = self.in_flight.put(event);
        self.agenda.push(clock.max(self.now), Event::Arrive { node: message.node, event });
        self.begin_polling(clock, number);
    }

    /// A request's step has ended on the node `at`: sends it on, or lets the processor go on.
    pub(super) fn pass_on(
        &mut self,
        now: u64,
        at: usize,
        mut message: ActiveMessage,
        data: Option<Box<[u64]>>,
    ) -> Result<(), Error> {
        let memory = self.nodes[at].memory.clone();
        let (to, stage, data) = match message.stage {
            Stage::Submit => (message.to, Stage::Serve, None),
            Stage::Serve => {
                let fetched = message.exchange == Exchange::FetchBlock;
                let fetch = || {
                    let mut data = self.in_flight.buffer(self.layout.block_words());
                    memory.fetch(message.block, &mut data);
                    data
                };
                (message.node, Stage::Complete, fetched.then(fetch))
            }
            Stage::Complete => {
                if let Some(data) = data {
                    memory.place(message.into, &data);
                    self.in_flight.recycle(data);
                }
                self.complete(now, at, message.cpu as usize);
                return self.wake(now, at);
            }
        };
        message.stage = stage;
        let payload = data.as_ref().map_or(0, |data| 8 * data.len() as u64);
        let arrival = self.network.send(now, at, to as usize, payload);
        let cause = Cause::Exchange(message);
        let event = self.in_flight.put(ProtocolEvent { block: message.block, cause, data, arrived: arrival });
        self.agenda.push(arrival, Event::Arrive { node: to, event });
        self.wake(now, at)
    }

    fn complete(&mut self, now: u64, at: usize, cpu: usize) {
        let number = at * self.per_node + cpu;
        let processor = &mut self.processors[number];
        if let State::Requesting { since } = processor.state {
            processor.remote_misses.add(now - since);
        }
        processor.state = State::Running;
        if !self.keeps_acting(now, at, cpu) {
            self.agenda.push(now, Event::Continue(number as u32));
        }
    }
}

impl Node {
    /// The block whose tag denies an access that the handler of `message` makes. A handler runs to its end: it cannot wait for
    /// a block of another node, as a processor does.
    pub(super) fn denied(&self, message: ActiveMessage) -> Option<Block> {
        let (block, access) = match (message.exchange, message.stage) {
            (Exchange::NullHandler, _) | (_, Stage::Submit) => return None,
            (Exchange::FetchBlock, Stage::Serve) => (message.block, Access::Read),
            (Exchange::FetchBlock, Stage::Complete) => (message.into, Access::Write),
        };
        (!self.memory.tag(block).permits(access)).then_some(block)
    }

    /// What the handler of `message` takes from `now` on.
    pub(super) fn exchange(&mut self, thread: usize, message: ActiveMessage, now: u64) -> u64 {
        let rows = self.device.occupancy;
        let cache = self.device.threads[thread].cache;
        let fetches = message.exchange == Exchange::FetchBlock;
        let copy = self.sizes.block_bytes / super::occupancy::BUS_WIDTH * self.timing.copy_32_bytes;
        let itself = self.acts_for(thread, message.cpu as usize);
        let wait = self.bus.uncached(now, 1);
        let own = self.refer_to_thread(thread, now);
        wait + own
            + match message.stage {
                // The request is in the submitter's cache.
                Stage::Submit if itself => rows.send_request.saturating_sub(self.timing.fill),
                Stage::Submit => rows.send_request,
                Stage::Serve => {
                    let mut cycles = rows.dispatch_at_home + self.timing.send;
                    if fetches {
                        cycles += rows.cycles(Step::LookUpDirectory, self.sizes.block_bytes) + copy;
                        cycles += self.touch(cache, message.block, Access::Read, now);
                    }
                    cycles
                }
                Stage::Complete => {
                    let saved = if itself { 2 * self.timing.fill } else { 0 };
                    let mut cycles = rows.dispatch_at_cacher + rows.resume.saturating_sub(saved);
                    if fetches {
                        cycles += rows.reverse_translate + copy;
                        cycles += self.touch(cache, message.into, Access::Write, now);
                    }
                    cycles
                }
            }
    }

    /// Refers to a block's lines and its entry of the protocol's table: what the misses take.
    fn touch(&mut self, cache: Option<usize>, block: Block, access: Access, now: u64) -> u64 {
        let Some(cache) = cache else { return 0 };
        let table = self.refer_to_state(cache, self.entry_line(block), Access::Write, now);
        table + self.sizes.lines(block).map(|line| self.refer_to_state(cache, line, access, now)).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::processor::{Processor, Yield};
    use crate::cluster::run::build;
    use crate::cluster::{Device, Machine, Options};
    use std::rc::Rc;
    use warmcore_workload::programs::{Home, Image, SharedMemory};

    #[test]
    fn a_handler_that_would_wait_for_a_block_is_refused() {
        let machine = Machine::chapter_4(2, 1, Device::FIXED);
        let mut image = Image::new();
        let mine = image.allocate(machine.block_bytes, Home::Processor(0));
        let block = (mine.0 / machine.block_bytes) as Block;
        // The other node is asked for a block that is at home here, and that it has no copy of.
        let stages = ActiveMessage {
            exchange: Exchange::FetchBlock,
            stage: Stage::Submit,
            node: 0,
            cpu: 0,
            to: 1,
            block,
            into: block,
        };
        let body = move |processor: &Processor<'_>| {
            if processor.processor() == 0 {
                processor.suspend(Yield::Exchange(stages));
            }
        };
        let mut system = build(&machine, image, &Rc::new(body)).expect("a machine");
        let error = system.run(&Options::default()).expect_err("it would block");
        assert_eq!(error, Error::WouldBlock { node: 1, block, home: 0 });
        assert_eq!(
            error.to_string(),
            format!(
                "on node 1, a handler would have to wait for block {block} of node 0, and handlers run to their end"
            )
        );
    }
}
