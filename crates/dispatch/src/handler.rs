//! What handles events.

use crate::handle::Handle;
use crate::tasks::{AsyncTurn, Running};
use crate::waits::Place;
use core::hash::Hash;
use core::ops::Deref;

/// Handles events. Closures of a [`Turn`] and an event are handlers.
pub trait Handler<K, E>: Sync {
    /// Handles `event`. No other event with the same key is handled meanwhile, and those that were
    /// dispatched before it have been.
    fn handle(&self, turn: &Turn<'_, K, E>, event: E);

    /// Tells whoever waits for the result of an event where that will be handled.
    #[doc(hidden)]
    const NOTE: Option<fn(&E, Option<Place>)> = None;

    /// Whether events are [started](Self::start), not handled.
    #[doc(hidden)]
    const ASYNC: bool = false;

    /// Starts the future of `event`, which keeps `running` until it has ended.
    #[doc(hidden)]
    fn start(&self, _running: Running<K, E>, _turn: AsyncTurn<K, E>, _event: E)
    where
        K: Eq + Hash + Clone,
    {
        unreachable!("it handles events");
    }
}

impl<K, E, F: Fn(&Turn<'_, K, E>, E) + Sync> Handler<K, E> for F {
    #[inline]
    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        self(turn, event);
    }
}

/// What a handler knows about the event it handles. It also dispatches further events.
pub struct Turn<'a, K, E> {
    pub(crate) handle: &'a Handle<K, E>,
    pub(crate) keys: &'a [K],
    pub(crate) worker: usize,
}

impl<K, E> Turn<'_, K, E> {
    /// The event's key; `None` if it has none or several.
    #[must_use]
    pub fn key(&self) -> Option<&K> {
        match self.keys {
            [key] => Some(key),
            _ => None,
        }
    }

    /// All keys that the event touches.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter()
    }

    /// The worker, counted from 0.
    #[must_use]
    pub const fn worker(&self) -> usize {
        self.worker
    }
}

/// Handlers dispatch further events by their turn.
impl<K, E> Deref for Turn<'_, K, E> {
    type Target = Handle<K, E>;

    #[inline]
    fn deref(&self) -> &Handle<K, E> {
        self.handle
    }
}
