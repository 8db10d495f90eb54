//! The Independent Protocol Stacks form (IPS): N serial stacks, each with one lock (Salehi 1994, §2.2).

use crate::Config;
use crate::conversation::{Conversations, Exchange};
use crate::counters::Counters;
use crate::directory::{CloseError, Directory, OpenError};
use crate::discipline::Unshared;
use crate::drop_reason::DropReason;
use crate::entered::Entered;
use crate::flow::{Flow, FlowKey};
use crate::layers::{Layers, References, StreamState, protocol};
use crate::message::{Delivery, Message};
use crate::pool::Pool;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use crossbeam_utils::CachePadded;
use warmcore_units::{StackId, StreamId};

/// A serial stack and the lock that serialises its processing, on cache lines of their own.
type LockedStack = CachePadded<spin::Mutex<Layers<Unshared>>>;

/// In which stacks a stream has sessions, and so can be received.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Home {
    /// In one stack.
    Stack(StackId),
    /// In every stack: a multiple-open stream.
    EveryStack,
}

impl Home {
    /// Whether the stream can be received in `stack`, which must exist.
    #[must_use]
    pub fn includes(self, stack: StackId) -> bool {
        match self {
            Self::Stack(home) => home == stack,
            Self::EveryStack => true,
        }
    }
}

/// N serial stacks, each behind one spin lock that is held while a packet is inside.
///
/// A stream is [open](Self::open) in one stack, or [in all](Self::open_everywhere). Threads can receive
/// in different stacks at once, but in one stack only one after the other. Packets of a stream that is
/// open in all stacks may overtake each other.
pub struct IndependentStacks {
    stacks: Box<[LockedStack]>,
    streams: Directory<Home>,
    has_conversations: bool,
}

impl IndependentStacks {
    /// `stacks` stacks without streams, numbered from 0.
    #[must_use]
    pub fn new(stacks: usize, config: Config) -> Self {
        Self::with(stacks, config, None)
    }

    /// `stacks` stacks without streams, which will have these conversations.
    #[must_use]
    pub fn conversing(stacks: usize, config: Config, conversations: Conversations) -> Self {
        Self::with(stacks, config, Some(conversations))
    }

    fn with(stacks: usize, config: Config, conversations: Option<Conversations>) -> Self {
        let new_stack = |_| CachePadded::new(spin::Mutex::new(Layers::new(config, conversations)));
        Self {
            stacks: (0..stacks).map(new_stack).collect(),
            streams: Directory::new(protocol(conversations.as_ref())),
            has_conversations: conversations.is_some(),
        }
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
        let stream = self.streams.open(flow, Home::Stack(stack))?;
        layers.get_mut().open(flow, stream);
        Ok(stream)
    }

    /// Opens one stream in every stack: a multiple-open stream of the Hybrid of Locking and IPS
    /// (Salehi 1994, §6.5). Its packets may be received in whichever stack is free, at the price
    /// of session lines in each.
    ///
    /// # Errors
    /// A stream with the same 5-tuple is open in any stack, the flow cannot exist, or the stacks have
    /// conversations.
    pub fn open_everywhere(&mut self, flow: &Flow) -> Result<StreamId, OpenError> {
        if self.has_conversations {
            return Err(OpenError::OneState);
        }
        let stream = self.streams.open(flow, Home::EveryStack)?;
        for layers in &mut self.stacks {
            layers.get_mut().open(flow, stream);
        }
        Ok(stream)
    }

    /// Closes a stream wherever it is open; sessions it shares with others stay open.
    ///
    /// # Errors
    /// The stream is not open.
    pub fn close(&mut self, stream: StreamId) -> Result<(), CloseError> {
        let (flow, home) = self.streams.close(stream)?;
        for (layers, stack) in self.stacks.iter_mut().zip(0..) {
            if home.includes(StackId(stack)) {
                layers.get_mut().close(&flow);
            }
        }
        Ok(())
    }

    /// Receives one frame in `stack`. Acquires a segment of `pool` and builds a message; then, under
    /// the stack's lock, passes it up the layers, calls `deliver` at the top and unwinds. Finally
    /// releases lock and segment and returns what `deliver` returned.
    ///
    /// `deliver` must not receive in the same stack: its lock is held.
    ///
    /// # Errors
    /// If the frame was dropped. Drops are counted, and `deliver` is not called. A stack that does not
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

    /// Enters `stack` for several frames, with a segment of `pool`. The stack is locked until that is dropped.
    ///
    /// # Errors
    /// There is no such stack, and so no session for any frame.
    #[inline]
    pub fn enter<'a>(&'a self, stack: StackId, pool: &'a Pool) -> Result<Entered<'a>, DropReason> {
        let stack = self.stacks.get(stack.index()).ok_or(DropReason::LinkNoSession)?;
        Ok(Entered::independent(stack.lock(), pool))
    }

    /// Receives one frame of a conversation in `stack`, which is locked meanwhile. See
    /// [`Stack::converse`](crate::Stack::converse).
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    #[inline]
    pub fn converse(
        &self,
        now: Duration,
        stack: StackId,
        pool: &Pool,
        frame: &[u8],
        exchange: &mut Exchange,
        deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        let stack = self.stacks.get(stack.index()).ok_or(DropReason::LinkNoSession)?;
        let converse = |message: &mut Message<'_, '_>| stack.lock().converse(now, message, exchange, deliver);
        pool.lend(|segment| converse(&mut Message::new(frame, segment)))
            .unwrap_or_else(|| Err(stack.lock().dropped(DropReason::PoolExhausted)))
    }

    /// Tells the conversations that time has come to `now`: of every `parts` stacks, those of number `part`.
    pub fn time_passes(&self, now: Duration, part: usize, parts: usize, exchange: &mut Exchange) {
        for stack in self.stacks.iter().skip(part).step_by(parts.max(1)) {
            stack.lock().time_passes(now, 0, 1, exchange);
        }
    }

    /// Whether the stream's connection is over, or was never opened by its peer; true for streams without
    /// connection.
    #[must_use]
    pub fn is_idle(&self, stream: StreamId) -> bool {
        match self.streams.stream(stream) {
            Some((flow, Home::Stack(stack))) => {
                self.stacks.get(stack.index()).is_none_or(|stack| stack.lock().is_idle(flow))
            }
            _ => true,
        }
    }

    /// The identifier that the next stream gets: a [preferred](Self::prefer) one, that of the stream closed last, or a
    /// new one.
    #[must_use]
    pub fn next_stream(&self) -> StreamId {
        self.streams.next()
    }

    /// Lets the next stream get a free identifier below `limit` that `fits`, if there is one.
    pub fn prefer(&mut self, limit: usize, fits: impl Fn(StreamId) -> bool) {
        self.streams.prefer(limit, fits);
    }

    /// The open stream that has this 5-tuple, and where it can be received.
    #[must_use]
    pub fn find(&self, key: &FlowKey) -> Option<(Home, StreamId)> {
        let stream = self.streams.find(key)?;
        Some((self.stack_of(stream)?, stream))
    }

    /// Where a stream is open, in one stack or in all; `None` if it is not open.
    #[must_use]
    pub fn stack_of(&self, stream: StreamId) -> Option<Home> {
        self.streams.stream(stream).map(|(_, home)| *home)
    }

    /// The records of the stream's sessions, summed over all stacks if it is open in all; `None` if it
    /// is not open.
    #[must_use]
    pub fn stream_state(&self, stream: StreamId) -> Option<StreamState> {
        let (flow, home) = self.streams.stream(stream)?;
        match home {
            Home::Stack(stack) => self.stacks.get(stack.index())?.lock().stream_state(flow),
            Home::EveryStack => {
                let states = self.stacks.iter().filter_map(|stack| stack.lock().stream_state(flow));
                let delivered = states.map(|state| state.delivered).sum();
                Some(StreamState { delivered, last_identification: None })
            }
        }
    }

    /// Frames received so far in `stack`, by outcome; `None` if it does not exist.
    #[must_use]
    pub fn counters(&self, stack: StackId) -> Option<Counters> {
        Some(self.stacks.get(stack.index())?.lock().counters())
    }

    /// Packets now inside `stack`, by layer; `None` if it does not exist.
    ///
    /// This waits for a packet that is inside, so it finds only references that were left behind; all
    /// counts should be zero.
    #[must_use]
    pub fn references(&self, stack: StackId) -> Option<References> {
        Some(self.stacks.get(stack.index())?.lock().references())
    }
}
