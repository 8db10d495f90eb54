//! A dispatcher that owns its workers.

use crate::builder::Builder;
use crate::handle::Handle;
use crate::sync::{Arc, JoinHandle};
use core::hash::Hash;
use core::ops::Deref;

/// Dispatches events with keys of type `K` to handlers: those with the same key one after the other,
/// in order, and all others in parallel. See the [crate's documentation](crate), and [`Handle`] for
/// what it does.
///
/// It can be shared between threads. Events that one thread dispatches, or that are dispatched one
/// after the other, are in that order; events with different keys never wait for each other.
///
/// When it is dropped, it is [closed](Handle::close), and what was dispatched before is handled.
pub struct Dispatcher<K: Eq + Hash + Clone, E> {
    pub(crate) handle: Arc<Handle<K, E>>,
    pub(crate) threads: Vec<JoinHandle<()>>,
}

impl<K: Eq + Hash + Clone, E> Dispatcher<K, E> {
    /// What a dispatcher is built with.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Closes, lets what runs finish, and drops everything else; how many events that were.
    pub fn abort(mut self) -> u64 {
        self.handle.0.abort();
        self.join();
        self.handle.0.discard()
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // Handlers that panic are caught.
            let _ = thread.join();
        }
    }
}

impl<K: Eq + Hash + Clone, E> Deref for Dispatcher<K, E> {
    type Target = Handle<K, E>;

    #[inline]
    fn deref(&self) -> &Handle<K, E> {
        &self.handle
    }
}

impl<K: Eq + Hash + Clone, E> Drop for Dispatcher<K, E> {
    fn drop(&mut self) {
        self.close();
        self.join();
    }
}
