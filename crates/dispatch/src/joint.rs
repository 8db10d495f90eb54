//! Events with several keys.
//!
//! Such an event has a part in the strand of each key, behind all that was dispatched before with this key. A part
//! **arrives** when its key is free, and holds the key from then on. The worker whose part arrives last runs the
//! event and releases all keys.
//!
//! The parts of one event are placed under a lock that only such events take. So any two of them are in the same order
//! at every key that both touch, and cannot wait for each other in a circle.

use crate::caught::drop_caught;
use crate::sync::{AtomicU32, Mutex, Ordering};
use core::mem::take;

/// An event with several keys.
pub(crate) struct Joint<K, E> {
    /// The keys, each once, in the order in which they were given.
    pub(crate) keys: Box<[K]>,
    /// The hashes of the keys, each once.
    pub(crate) hashes: Box<[u64]>,
    pub(crate) came: u64,
    arrived: AtomicU32,
    event: Mutex<Option<E>>,
}

impl<K, E> Joint<K, E> {
    pub(crate) fn new(keys: Box<[K]>, hashes: Box<[u64]>, came: u64, event: E) -> Self {
        Self { keys, hashes, came, arrived: AtomicU32::new(0), event: Mutex::new(Some(event)) }
    }

    /// The key of one more part is held; whether all are.
    pub(crate) fn arrive(&self) -> bool {
        // Whoever arrives last sees what handlers of the other keys did.
        self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.hashes.len() as u32
    }

    /// The event, for the one who asks first.
    pub(crate) fn take(&self) -> Option<E> {
        crate::lock(&self.event).take()
    }
}

/// Each key may panic as it is dropped, and two at once would end the process.
impl<K, E> Drop for Joint<K, E> {
    fn drop(&mut self) {
        take(&mut self.keys).into_iter().for_each(drop_caught);
        drop_caught(self.take());
    }
}
