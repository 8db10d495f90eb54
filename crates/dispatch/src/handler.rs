//! What is done with events.

use crate::error::DispatchError;
use crate::label::Tagged;
use crate::shared::Shared;
use core::hash::Hash;

/// What is done with events. Closures of a [`Turn`] and an event are handlers.
pub trait Handler<K, E>: Sync {
    /// Handles `event`. No other event with the same key is handled meanwhile, and those that were
    /// dispatched before it have been.
    fn handle(&self, turn: &Turn<'_, K, E>, event: E);
}

impl<K, E, F: Fn(&Turn<'_, K, E>, E) + Sync> Handler<K, E> for F {
    #[inline]
    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        self(turn, event);
    }
}

/// What a handler knows of the event it handles.
pub struct Turn<'a, K, E> {
    pub(crate) shared: &'a Shared<K, E>,
    pub(crate) keys: &'a [Tagged<K>],
    pub(crate) worker: usize,
}

impl<K: Eq + Hash + Clone, E> Turn<'_, K, E> {
    /// The event's key; `None` if it has none or several.
    #[must_use]
    pub fn key(&self) -> Option<&K> {
        match self.keys {
            [key] => Some(&key.key),
            _ => None,
        }
    }

    /// All keys that the event touches.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter().map(|key| &key.key)
    }

    /// The worker, counted from 0.
    #[must_use]
    pub const fn worker(&self) -> usize {
        self.worker
    }

    /// Dispatches a further event. It never waits: where there is no room and the dispatcher
    /// [blocks](crate::Overload::Block), the event is kept aside and put in later, in order.
    ///
    /// # Errors
    /// If there is no room and the dispatcher rejects, or if it is closed.
    pub fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch(key, event)
    }

    /// The same with an event that touches nothing.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_unordered(event)
    }

    /// The same with an event that touches several keys.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_keys(&self, keys: impl IntoIterator<Item = K>, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_keys(keys, event)
    }

    /// The same with an event that runs alone.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_sequential(event)
    }
}
