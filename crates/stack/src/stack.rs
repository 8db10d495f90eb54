//! A single stack, as in Salehi 1994, figure 2, under either discipline.

use crate::Config;
use crate::conversation::{Conversations, Exchange};
use crate::counters::Counters;
use crate::directory::{CloseError, Directory, OpenError};
use crate::discipline::{Discipline, SpinLocked, Unshared};
use crate::drop_reason::DropReason;
use crate::entered::Entered;
use crate::flow::{Flow, FlowKey};
use crate::layers::{Layers, References, StreamState, protocol};
use crate::message::{Delivery, Message};
use crate::pool::Pool;
use alloc::vec::Vec;
use core::time::Duration;
use warmcore_units::StreamId;

/// The serial form: no locks. It may move between threads, but not be shared by them.
pub type SerialStack = Stack<Unshared>;

/// The Locking form (Salehi 1994, §2.2): a spin lock on every active map and every session object, held
/// for one access at a time. Any number of threads may receive at once, even packets of one stream.
pub type LockingStack = Stack<SpinLocked>;

/// One stack and its open streams. See [`SerialStack`] and [`LockingStack`].
pub struct Stack<D: Discipline> {
    layers: Layers<D>,
    streams: Directory<()>,
}

impl Stack<SpinLocked> {
    /// Enters the stack for several frames, with a segment of `pool`.
    #[inline]
    #[must_use]
    pub fn enter<'a>(&'a self, pool: &'a Pool) -> Entered<'a> {
        Entered::locking(&self.layers, pool)
    }
}

impl<D: Discipline> Stack<D> {
    /// A stack without streams.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self::with(config, None)
    }

    /// A stack without streams, which will have these conversations.
    #[must_use]
    pub fn conversing(config: Config, conversations: Conversations) -> Self {
        Self::with(config, Some(conversations))
    }

    fn with(config: Config, conversations: Option<Conversations>) -> Self {
        let streams = Directory::new(protocol(conversations.as_ref()));
        Self { layers: Layers::new(config, conversations), streams }
    }

    /// Opens a stream, with a session for `flow` at every layer unless another stream has it open
    /// already. Its identifier is that of the stream closed last, or a new one.
    ///
    /// # Errors
    /// A stream with the same 5-tuple is open, or the flow cannot exist.
    pub fn open(&mut self, flow: &Flow) -> Result<StreamId, OpenError> {
        let stream = self.streams.open(flow, ())?;
        self.layers.open(flow, stream);
        Ok(stream)
    }

    /// Closes a stream; sessions it shares with others stay open.
    ///
    /// # Errors
    /// The stream is not open.
    pub fn close(&mut self, stream: StreamId) -> Result<(), CloseError> {
        let (flow, ()) = self.streams.close(stream)?;
        self.layers.close(&flow);
        Ok(())
    }

    /// Receives one frame: acquires a segment of `pool`, builds a message, passes it up the layers,
    /// calls `deliver` at the top, unwinds, releases the segment, and returns what `deliver` returned.
    ///
    /// # Errors
    /// If the frame was dropped. Drops are counted, and `deliver` is not called.
    #[inline]
    pub fn receive<R>(
        &self,
        pool: &Pool,
        frame: &[u8],
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        self.layers.receive(pool, frame, deliver)
    }

    /// Receives one frame of a conversation: passes it up as [`receive`](Self::receive) does, calls `deliver`
    /// with whatever can be read and an empty buffer for the answer, as often as there is something, and
    /// adds the frames to send to `exchange`.
    ///
    /// # Errors
    /// If the frame was dropped, as all are by a stack without conversations. Drops are counted.
    #[inline]
    pub fn converse(
        &self,
        now: Duration,
        pool: &Pool,
        frame: &[u8],
        exchange: &mut Exchange,
        deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        pool.lend(|segment| self.layers.converse(now, &mut Message::new(frame, segment), exchange, deliver))
            .unwrap_or_else(|| Err(self.layers.dropped(DropReason::PoolExhausted)))
    }

    /// Tells the conversations that time has come to `now`: of every `parts` of them, number `part`, so that
    /// several threads can share them. Frames to send are added to `exchange`.
    pub fn time_passes(&self, now: Duration, part: usize, parts: usize, exchange: &mut Exchange) {
        self.layers.time_passes(now, part, parts.max(1), exchange);
    }

    /// Whether the stream's connection is over, or was never opened by its peer; true for streams without
    /// connection.
    #[must_use]
    pub fn is_idle(&self, stream: StreamId) -> bool {
        self.streams.stream(stream).is_none_or(|(flow, ())| self.layers.is_idle(flow))
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

    /// The open stream that has this 5-tuple.
    #[must_use]
    pub fn find(&self, key: &FlowKey) -> Option<StreamId> {
        self.streams.find(key)
    }

    /// The records of the stream's sessions; `None` if it is not open.
    #[must_use]
    pub fn stream_state(&self, stream: StreamId) -> Option<StreamState> {
        let (flow, ()) = self.streams.stream(stream)?;
        self.layers.stream_state(flow)
    }

    /// Frames received so far, by outcome.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.layers.counters()
    }

    /// Packets now inside the stack, by layer.
    #[must_use]
    pub fn references(&self) -> References {
        self.layers.references()
    }
}
