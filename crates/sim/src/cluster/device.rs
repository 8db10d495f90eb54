//! The custom device of a node: the protocol event queue, the protocol threads with their dispatch registers, and the block
//! buffers (Falsafi 1998, Figures 4-1, 5-3 and 5-4).
//!
//! ```text
//!   block access faults          messages
//!  (from snooping the bus)   (from the network)
//!           └──────┬──────────────┘
//!         ┌────────▼────────┐
//!         │  policy::pdq    │   which event may run beside which
//!         └──┬──────────┬───┘
//!          PDR 0      PDR 1  …  one for each protocol thread
//!        handler    handler     coherence::{DirectoryEntry, CachedBlock}::handle
//! ```
//!
//! The devices differ in who executes a thread, which the [machine](super::machine::Device) says: a finite-state machine, an
//! embedded processor, a dedicated processor of the SMP, or one that would otherwise compute.

use super::block_buffer::BlockBuffer;
use super::cache::Line;
use super::exchange::{ActiveMessage, Exchange};
use super::memory::Block;
use super::occupancy::Occupancy;
use super::scheduling::Multiplexing;
use super::tally::{Count, DeviceTally};
use std::collections::VecDeque;
use warmcore_coherence::{Action, Event, Handler, Object, Step};
use warmcore_policy::pdq::{Label, Pdq};

/// All handlers of Stache, by their number.
pub(super) const HANDLERS: [Handler; 7] = [
    Handler::Fault,
    Handler::HomeFault,
    Handler::Request,
    Handler::Answer,
    Handler::Response,
    Handler::Demand,
    Handler::Unmap,
];

/// Why a handler is to run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause {
    /// An event of Stache.
    Stache(Event),
    /// A request outside Stache, or its reply.
    Exchange(ActiveMessage),
}

/// A protocol event that waits for its handler.
#[derive(Clone, Debug)]
pub(super) struct ProtocolEvent {
    pub(super) block: Block,
    pub(super) cause: Cause,
    /// The block that came with a message.
    pub(super) data: Option<Box<[u64]>>,
    /// When it got to the device.
    pub(super) arrived: u64,
}

impl ProtocolEvent {
    /// Beside which others it may run.
    pub(super) fn label(&self) -> Label {
        let object = match self.cause {
            Cause::Stache(event) => event.object(u64::from(self.block)),
            Cause::Exchange(ActiveMessage { exchange: Exchange::NullHandler, .. }) => Object::Unrestricted,
            Cause::Exchange(ActiveMessage { exchange: Exchange::FetchBlock, .. }) => {
                Object::Block(u64::from(self.block))
            }
        };
        match object {
            Object::Block(block) => Label::Partition(block),
            Object::Sequential => Label::Sequential,
            Object::Unrestricted => Label::Unrestricted,
        }
    }
}

/// What kind of handler runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Stache(Handler),
    Exchange(ActiveMessage),
}

/// A handler that a thread executes.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) block: Block,
    pub(super) kind: Kind,
    pub(super) data: Option<Box<[u64]>>,
    /// Steps before the first action that have not begun.
    pub(super) overhead: &'static [Step],
    /// Whether the first action's step has begun.
    pub(super) acting: bool,
    /// What is still to be done; the first when its step ends.
    pub(super) actions: VecDeque<Action>,
    pub(super) started: u64,
}

/// A protocol thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// The cache of who executes it, among those of the node; `None`: a finite-state machine with memory of its own.
    pub(super) cache: Option<usize>,
    pub(super) run: Option<Run>,
    pub(super) buffer: BlockBuffer,
    /// An empty list of actions for the next handler.
    pub(super) spare: VecDeque<Action>,
}

/// The device of a node.
#[derive(Debug)]
pub(super) struct CustomDevice {
    pub(super) pdq: Pdq<ProtocolEvent>,
    pub(super) threads: Vec<Thread>,
    pub(super) occupancy: Occupancy,
    /// Whether SMP processors execute the threads: they reach the device over the memory bus, and keep the reverse translation
    /// table in their caches.
    pub(super) across_bus: bool,
    /// Who executes the threads if compute processors do.
    pub(super) multiplexing: Option<Multiplexing>,
    /// Handlers, by kind.
    pub(super) handlers: [Count; HANDLERS.len()],
    pub(super) tally: DeviceTally,
}

impl CustomDevice {
    /// Whether a block buffer holds `line`.
    pub(super) fn buffers_hold(&self, line: Line) -> bool {
        self.threads.iter().any(|thread| thread.buffer.holds(line))
    }

    /// Lets block buffers forget `line`.
    pub(super) fn buffers_forget(&mut self, line: Line) {
        self.threads.iter_mut().for_each(|thread| thread.buffer.forget(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_stand_at_their_number() {
        assert!((0..).zip(HANDLERS).all(|(number, handler)| handler as usize == number));
    }
}
