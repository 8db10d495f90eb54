//! What handles events.

use crate::handle::Handle;
use crate::tasks::{AsyncTurn, Running};
use crate::waits::Place;
use core::hash::Hash;
use core::ops::Deref;
use std::vec::Drain;

/// Handles events. Closures of a [`Turn`] and an event are handlers.
pub trait Handler<K, E>: Sync {
    /// Handles `event`. No other event with the same key is handled meanwhile, and those that were
    /// dispatched before it have been.
    fn handle(&self, turn: &Turn<'_, K, E>, event: E);

    /// Whether events of a key that wait at the same time are handled [together](Self::handle_run).
    const RUNS: bool = false;

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

    /// Handles `events`, one or more, which have the same key and are in the order in which they were dispatched.
    fn handle_run(&self, turn: &Turn<'_, K, E>, events: Drain<'_, E>) {
        events.for_each(|event| self.handle(turn, event));
    }
}

/// A handler of runs: it is given all events of a key that wait, as a slice or one by one. What is
/// left of a run when it panics is lost.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::vec::Drain;
/// use warmcore_dispatch::{Dispatcher, Runs, Turn};
///
/// let sum = AtomicU64::new(0);
/// // One look at what the key stands for, for all its events.
/// let add = Runs(|_: &Turn<'_, u32, u64>, events: Drain<'_, u64>| {
///     sum.fetch_add(events.as_slice().iter().sum(), Ordering::Relaxed);
/// });
/// Dispatcher::<u32, u64>::builder().scope(add, |dispatcher| {
///     (0..100).for_each(|number| dispatcher.dispatch(7, number).unwrap());
/// })?;
/// assert_eq!(sum.into_inner(), 4950);
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Runs<F>(
    /// Handles a run.
    pub F,
);

impl<K, E, F: Fn(&Turn<'_, K, E>, Drain<'_, E>) + Sync> Handler<K, E> for Runs<F> {
    const RUNS: bool = true;

    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        self.handle_run(turn, vec![event].drain(..));
    }

    #[inline]
    fn handle_run(&self, turn: &Turn<'_, K, E>, events: Drain<'_, E>) {
        (self.0)(turn, events);
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
