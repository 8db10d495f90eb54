//! What handlers of a worker dispatched that found no room: they must not wait for other handlers.

use crate::entry::Entry;
use crate::sync::{AtomicBool, Mutex, Ordering};
use std::collections::VecDeque;

/// What handlers of one worker dispatched, oldest first.
pub(crate) struct Aside<K, E> {
    /// Whether there is any: the worker, who alone puts in, looks at it with every claim.
    any: AtomicBool,
    entries: Mutex<VecDeque<Entry<K, E>>>,
}

impl<K, E> Aside<K, E> {
    pub(crate) fn new() -> Self {
        Self { any: AtomicBool::new(false), entries: Mutex::new(VecDeque::new()) }
    }

    /// Whether there is any, for the worker itself.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Whether there is none, for everybody.
    pub(crate) fn is_empty(&self) -> bool {
        crate::lock(&self.entries).is_empty()
    }

    /// Keeps `entry`, which the worker's handler dispatched.
    ///
    /// # Errors
    /// With `entry`, if there are as many as there may be.
    pub(crate) fn keep(&self, entry: Entry<K, E>, most: usize) -> Result<(), Entry<K, E>> {
        let mut entries = crate::lock(&self.entries);
        if entries.len() >= most {
            return Err(entry);
        }
        entries.push_back(entry);
        self.any.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The worker puts in one after the other by `put`, until it gives one back.
    pub(crate) fn put_in(&self, mut put: impl FnMut(Entry<K, E>) -> Option<Entry<K, E>>) {
        let mut entries = crate::lock(&self.entries);
        while let Some(entry) = entries.pop_front() {
            if let Some(again) = put(entry) {
                entries.push_front(again);
                return;
            }
        }
        self.any.store(false, Ordering::Relaxed);
    }

    /// Drops all; how many there were.
    pub(crate) fn discard(&self) -> u64 {
        crate::lock(&self.entries).drain(..).count() as u64
    }
}
