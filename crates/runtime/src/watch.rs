//! What whoever started a run can see of it and do to it while it lasts.

use crate::clock::Clock;
use crate::control::{Control, Order};
use crate::mailbox::Mailbox;
use crate::protocol::Protocol;
use crate::receive_queue::{ReceiveQueue, wake_all};
use crate::shared::Shared;
use crate::streams::Streams;
use crate::tally::{Block, Blocks};
use crossbeam_utils::CachePadded;
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;
use warmcore_stack::{Flow, OpenError};
use warmcore_units::{Nanos, StreamId};

/// A run, from outside.
pub struct Watch<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) control: &'a Control,
    pub(crate) mailboxes: &'a [Mailbox],
    pub(crate) queues: &'a [CachePadded<ReceiveQueue>],
    pub(crate) blocks: &'a [CachePadded<Mutex<Blocks>>],
    pub(crate) streams: &'a Streams,
    pub(crate) protocol: &'a RwLock<Protocol>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new<P, W, H>(shared: &'a Shared<'a, P, W, H>) -> Self {
        let Shared { clock, control, mailboxes, queues, blocks, streams, protocol, .. } = shared;
        Self { clock, control, mailboxes, queues, blocks, streams, protocol }
    }

    /// How long the run has lasted.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.clock.now()
    }

    /// Whether the run has ended before its time: a handler has asked for it, or a worker has failed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.control.order() == Order::Leave
    }

    /// By worker: its finished blocks from `number` on.
    #[must_use]
    pub fn blocks_since(&self, number: u64) -> Vec<Vec<Block>> {
        let of = |blocks: &CachePadded<Mutex<Blocks>>| {
            let blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.last.iter().filter(|block| block.number >= number).cloned().collect()
        };
        self.blocks.iter().map(of).collect()
    }

    /// By worker: everything up to its last finished block.
    #[must_use]
    pub fn totals(&self) -> Vec<Block> {
        let of = |blocks: &CachePadded<Mutex<Blocks>>| {
            blocks.lock().unwrap_or_else(PoisonError::into_inner).total.clone()
        };
        self.blocks.iter().map(of).collect()
    }

    /// By worker, by stream: packets processed.
    #[must_use]
    pub fn streams(&self) -> Vec<Vec<u64>> {
        self.streams.counts()
    }

    /// Lets every worker finish what it has in hand, and wait. Nothing is taken in meanwhile. It
    /// is so when this returns.
    pub fn pause(&self) {
        self.control.give(Order::Pause);
        wake_all(self.mailboxes, self.queues);
        self.await_paused();
    }

    /// Waits until every worker waits; false if they were told otherwise meanwhile.
    pub(crate) fn await_paused(&self) -> bool {
        while self.control.order() == Order::Pause {
            if self.control.paused() as usize == self.mailboxes.len() {
                return true;
            }
            thread::sleep(Duration::from_micros(50));
        }
        false
    }

    /// Ends a [pause](Self::pause).
    pub fn resume(&self) {
        if self.control.order() == Order::Pause {
            self.control.give(Order::Run);
        }
        wake_all(self.mailboxes, self.queues);
    }

    /// Opens a stream; workers are paused for a moment.
    ///
    /// # Errors
    /// If it is open, cannot exist, or is one too many.
    pub fn open(&self, flow: &Flow) -> Result<StreamId, OpenStreamError> {
        let number = self.streams.opened();
        if number >= self.streams.limit() {
            return Err(OpenStreamError::TooMany { limit: self.streams.limit() });
        }
        let paused_before = self.control.order() == Order::Pause;
        self.pause();
        let mut protocol = self.protocol.write().unwrap_or_else(PoisonError::into_inner);
        let opened = protocol.open(StreamId::from(number), flow);
        drop(protocol);
        if !paused_before {
            self.resume();
        }
        let stream = opened?;
        self.streams.set_opened(stream.index() + 1);
        Ok(stream)
    }
}

/// A stream cannot be opened while a run lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenStreamError {
    /// The stack refuses it.
    #[error(transparent)]
    Refused(#[from] OpenError),
    /// There is no room for more.
    #[error("all {limit} streams that the options allow are open; allow more streams")]
    TooMany {
        /// How many streams the options allow.
        limit: usize,
    },
}
