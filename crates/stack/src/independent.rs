//! The Independent Protocol Stacks form (IPS): N serial stacks, each with one lock (source, §2.2).

use crate::Config;
use crate::counters::Counters;
use crate::directory::{CloseError, Directory, OpenError};
use crate::discipline::Unshared;
use crate::drop_reason::DropReason;
use crate::flow::{Flow, FlowKey};
use crate::layers::{Layers, References, StreamState};
use crate::message::{Delivery, Message};
use crate::pool::Pool;
use crossbeam_utils::CachePadded;
use warmcore_units::{StackId, StreamId};

/// A serial stack and the lock that serialises its processing, on cache lines of their own.
type LockedStack = CachePadded<spin::Mutex<Layers<Unshared>>>;

/// N serial stacks, each behind one spin lock that is held while a packet is inside.
///
/// A stream belongs to one stack. Threads receive in different stacks at once, and in one stack
/// one after the other.
pub struct IndependentStacks {
    stacks: Box<[LockedStack]>,
    streams: Directory<StackId>,
}

impl IndependentStacks {
    /// `stacks` stacks without streams, numbered from 0.
    #[must_use]
    pub fn new(stacks: usize, config: Config) -> Self {
        let new_stack = || CachePadded::new(spin::Mutex::new(Layers::new(config)));
        Self { stacks: (0..stacks).map(|_| new_stack()).collect(), streams: Directory::new() }
    }

    /// Number of stacks.
    #[must_use]
    pub fn stacks(&self) -> usize {
        self.stacks.len()
    }

    /// Opens a stream in `stack`: the sessions of `flow` at every layer.
    ///
    /// # Errors
    /// There is no such stack, a stream with the same 5-tuple is open in any stack, or the flow
    /// cannot exist.
    pub fn open(&mut self, stack: StackId, flow: &Flow) -> Result<StreamId, OpenError> {
        let stacks = self.stacks.len();
        let layers = self.stacks.get_mut(stack.index()).ok_or(OpenError::NoSuchStack { stack, stacks })?;
        let stream = self.streams.open(flow, stack)?;
        layers.get_mut().open(flow, stream);
        Ok(stream)
    }

    /// Closes a stream; sessions it shares with others stay open.
    ///
    /// # Errors
    /// The stream is not open.
    pub fn close(&mut self, stream: StreamId) -> Result<(), CloseError> {
        let (flow, stack) = self.streams.close(stream)?;
        if let Some(layers) = self.stacks.get_mut(stack.index()) {
            layers.get_mut().close(&flow);
        }
        Ok(())
    }

    /// Receives one frame in `stack`: builds a message with a segment of `pool`, and under the
    /// stack's lock goes up the layers, calls `deliver` at the top and unwinds; then releases
    /// lock and segment and returns what `deliver` returned.
    ///
    /// `deliver` must not receive in the same stack: its lock is held.
    ///
    /// # Errors
    /// The frame was dropped and counted, and `deliver` was not called. A stack that does not
    /// exist has no session for any frame, and counts nothing.
    #[inline]
    pub fn receive<R>(
        &self,
        stack: StackId,
        pool: &Pool,
        frame: &[u8],
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        let stack = self.stacks.get(stack.index()).ok_or(DropReason::LinkNoSession)?;
        pool.lend(|segment| stack.lock().ascend(&mut Message::new(frame, segment), deliver))
            .unwrap_or_else(|| Err(stack.lock().dropped(DropReason::PoolExhausted)))
    }

    /// The open stream that has this 5-tuple, and the stack it belongs to.
    #[must_use]
    pub fn find(&self, key: &FlowKey) -> Option<(StackId, StreamId)> {
        let stream = self.streams.find(key)?;
        Some((self.stack_of(stream)?, stream))
    }

    /// The stack an open stream belongs to.
    #[must_use]
    pub fn stack_of(&self, stream: StreamId) -> Option<StackId> {
        self.streams.stream(stream).map(|(_, stack)| *stack)
    }

    /// What the stream's sessions have recorded; `None` if it is not open.
    #[must_use]
    pub fn stream_state(&self, stream: StreamId) -> Option<StreamState> {
        let (flow, stack) = self.streams.stream(stream)?;
        self.stacks.get(stack.index())?.lock().stream_state(flow)
    }

    /// Frames received so far in `stack`, by what became of them; `None` if it does not exist.
    #[must_use]
    pub fn counters(&self, stack: StackId) -> Option<Counters> {
        Some(self.stacks.get(stack.index())?.lock().counters())
    }

    /// Packets now inside `stack`, by layer; `None` if it does not exist.
    ///
    /// Waits for the packet that is inside, if there is one, and so finds only what was left
    /// behind: all zero.
    #[must_use]
    pub fn references(&self, stack: StackId) -> Option<References> {
        Some(self.stacks.get(stack.index())?.lock().references())
    }
}
