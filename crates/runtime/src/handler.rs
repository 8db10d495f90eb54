//! The user's function that handles packets.

use warmcore_stack::Delivery;
use warmcore_units::{CpuId, StreamId};

/// Handles the packets that the stack delivers. Any function of a delivery and a [`Context`] is a
/// handler.
pub trait Handler: Sync {
    /// Handles one packet. Several workers call this at once; but with independent stacks, one at a
    /// time for each stack, and in order of arrival for each stream.
    fn deliver(&self, delivery: &Delivery<'_>, context: &mut Context<'_>);

    /// Called when [`deliver`](Self::deliver) panicked with `message` on a packet of `stream`. Returns
    /// what to do with the stream; other streams are not affected.
    fn panicked(&self, stream: StreamId, message: &str) -> AfterPanic {
        let _ = (stream, message);
        AfterPanic::Skip
    }

    /// Called when `stream` has been closed, while all workers pause: its connection has ended, or it was idle and
    /// another sender wants a stream. The next sender may get its number, so forget what is kept for it.
    fn closed(&self, stream: StreamId) {
        let _ = stream;
    }
}

impl<F: Fn(&Delivery<'_>, &mut Context<'_>) + Sync> Handler for F {
    fn deliver(&self, delivery: &Delivery<'_>, context: &mut Context<'_>) {
        self(delivery, context);
    }
}

/// What becomes of a stream whose handler has panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AfterPanic {
    /// The packet is lost and the stream continues. (The handler may reset the stream's state in
    /// [`panicked`](Handler::panicked).)
    #[default]
    Skip,
    /// The stream ends. Its further packets are dropped and counted.
    EndStream,
    /// The run ends.
    EndRun,
}

/// Where a packet is handled, and how to answer it.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) cpu: CpuId,
    pub(crate) worker: u32,
    pub(crate) reply: &'a mut Vec<u8>,
    pub(crate) replied: bool,
}

impl Context<'_> {
    /// The processor that runs the handler.
    #[must_use]
    pub const fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// The worker that runs the handler, numbered from 0. Use it to index per-worker state.
    #[must_use]
    pub const fn worker(&self) -> usize {
        self.worker as usize
    }

    /// Answers the sender with `payload`. If called more than once for a packet, the last answer is
    /// sent.
    pub fn reply(&mut self, payload: &[u8]) {
        self.reply.clear();
        self.reply.extend_from_slice(payload);
        self.replied = true;
    }
}
