//! What a user does with packets.

use warmcore_stack::Delivery;
use warmcore_units::{CpuId, StreamId};

/// Takes what comes out of the top of the stack. Any function of a delivery and a [`Context`] is
/// one.
pub trait Handler: Sync {
    /// A packet is delivered. Called by several workers at once, but under independent stacks by
    /// one at a time for each stack, and in the order of arrival for each stream.
    fn deliver(&self, delivery: &Delivery<'_>, context: &mut Context<'_>);

    /// [`deliver`](Self::deliver) panicked, with `message`, on a packet of `stream`: what is to
    /// become of the stream. Other streams are not touched.
    fn panicked(&self, stream: StreamId, message: &str) -> AfterPanic {
        let _ = (stream, message);
        AfterPanic::Skip
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
    /// The packet is lost, and the stream goes on. (The handler, having been told, may set up the
    /// stream's state anew.)
    #[default]
    Skip,
    /// The stream ends: its further packets are dropped and counted.
    EndStream,
    /// The run ends.
    EndRun,
}

/// Where a packet is being handled, and the way to answer it.
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

    /// The worker that runs it, numbered from 0: state of a worker's own can be kept by it.
    #[must_use]
    pub const fn worker(&self) -> usize {
        self.worker as usize
    }

    /// Answers the sender with `payload`; of several answers to one packet the last is sent.
    pub fn reply(&mut self, payload: &[u8]) {
        self.reply.clear();
        self.reply.extend_from_slice(payload);
        self.replied = true;
    }
}
