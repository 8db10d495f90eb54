//! What is done with events.

use crate::handle::Handle;
use core::ops::Deref;
use std::vec::Drain;

/// What is done with events. Closures of a [`Turn`] and an event are handlers.
pub trait Handler<K, E>: Sync {
    /// Handles `event`. No other event with the same key is handled meanwhile, and those that were
    /// dispatched before it have been.
    fn handle(&self, turn: &Turn<'_, K, E>, event: E);

    /// Whether events of a key that are there at the same time are handled
    /// [together](Self::handle_run).
    const RUNS: bool = false;

    /// Handles `events`, all of which have the same key, or none. They are in the order in which they were
    /// dispatched, and are one at least.
    fn handle_run(&self, turn: &Turn<'_, K, E>, events: Drain<'_, E>) {
        events.for_each(|event| self.handle(turn, event));
    }

    /// Whether [`prepare`](Self::prepare) is called.
    const PREPARES: bool = false;

    /// Shown an event, and its key if it has one, some events before it is handled, by the same worker: to
    /// [ask](crate::prefetch) for memory that will be needed. Events of the key that come before it may still be
    /// waiting; it may be shown again, or not at all. If this panics, the event is handled all the same.
    fn prepare(&self, key: Option<&K>, event: &E) {
        let _ = (key, event);
    }
}

/// A handler of runs: it is given all events of a key that are there, as a slice or one by one. What is
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
    /// What is done with a run.
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

/// A handler that is shown events, by the first of the two, some events before it handles them: while one is
/// handled, memory that the next ones need comes near. That pays where the state of keys does not fit into caches.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use warmcore_dispatch::{Dispatcher, LookAhead, Turn, prefetch};
///
/// let seen: Vec<AtomicU32> = (0..1_000_000).map(|_| AtomicU32::new(0)).collect();
/// let of = |key: &u32| &seen[*key as usize];
/// let ask = |key: Option<&u32>, _: &()| key.into_iter().for_each(|key| prefetch(of(key)));
/// let count = |turn: &Turn<'_, u32, ()>, ()| {
///     for key in turn.keys() {
///         of(key).fetch_add(1, Ordering::Relaxed);
///     }
/// };
/// Dispatcher::<u32, ()>::builder().scope(LookAhead(ask, count), |dispatcher| {
///     (0..10_000).for_each(|number| dispatcher.dispatch(number * 97 % 1_000_000, ()).unwrap());
/// })?;
/// assert_eq!(seen.into_iter().map(AtomicU32::into_inner).sum::<u32>(), 10_000);
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LookAhead<P, H>(
    /// What is done with events that come soon: see [`Handler::prepare`].
    pub P,
    /// What is done with them in their turn.
    pub H,
);

impl<K, E, P: Fn(Option<&K>, &E) + Sync, H: Handler<K, E>> Handler<K, E> for LookAhead<P, H> {
    #[inline]
    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        self.1.handle(turn, event);
    }

    const RUNS: bool = H::RUNS;

    #[inline]
    fn handle_run(&self, turn: &Turn<'_, K, E>, events: Drain<'_, E>) {
        self.1.handle_run(turn, events);
    }

    const PREPARES: bool = true;

    #[inline]
    fn prepare(&self, key: Option<&K>, event: &E) {
        (self.0)(key, event);
    }
}

impl<K, E, F: Fn(&Turn<'_, K, E>, E) + Sync> Handler<K, E> for F {
    #[inline]
    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        self(turn, event);
    }
}

/// What a handler knows of the event it handles.
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
