//! A single stack, as in Salehi 1994, figure 2, under either discipline.

use crate::Config;
use crate::counters::Counters;
use crate::directory::{CloseError, Directory, OpenError};
use crate::discipline::{Discipline, SpinLocked, Unshared};
use crate::drop_reason::DropReason;
use crate::flow::{Flow, FlowKey};
use crate::layers::{Layers, References, StreamState};
use crate::message::Delivery;
use crate::pool::Pool;
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

impl<D: Discipline> Stack<D> {
    /// A stack without streams.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { layers: Layers::new(config), streams: Directory::new() }
    }

    /// Opens a stream, with a session for `flow` at every layer unless another stream has it open
    /// already. Its identifier was not used before in this stack.
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
