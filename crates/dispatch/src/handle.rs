//! By which events are dispatched, from wherever that is.

use crate::batch::Batch;
use crate::counters::Metrics;
use crate::error::DispatchError;
use crate::future::Dispatching;
use crate::report::PanicReport;
use crate::shared::Shared;
use crate::sync::Ordering;
use core::hash::Hash;
use core::time::Duration;
use std::time::Instant;

/// Dispatches events: a [`Dispatcher`](crate::Dispatcher) or what a [scope](crate::Builder::scope) has
/// instead of one, and, in handlers, a [`Turn`](crate::Turn).
///
/// A handler that dispatches never waits: where there is no room and the dispatcher
/// [blocks](crate::Overload::Block), the event is kept aside and put in later, in order.
pub struct Handle<K, E>(pub(crate) Shared<K, E>);

/// What came of an attempt to [drain](Handle::drain) within some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drained {
    /// Events that were not handled when the time had passed; those that stand in several queues are
    /// counted once for each.
    pub left: u64,
}

impl<K: Eq + Hash + Clone, E> Handle<K, E> {
    /// Dispatches `event`, which touches what `key` stands for.
    ///
    /// # Errors
    /// If the dispatcher is closed; or if there is no room and it [rejects](crate::Overload::Reject).
    #[inline]
    pub fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch(key, event)
    }

    /// The same for an asynchronous task, which waits for room without blocking its thread.
    pub fn dispatch_async(&self, key: K, event: E) -> Dispatching<'_, K, E> {
        Dispatching::new(&self.0, self.0.entry(key, event))
    }

    /// Dispatches `event`, which touches what `key` stands for, and of which only the freshest counts: if
    /// another that was dispatched in this way waits for the same key, this one takes its place, and
    /// the other is dropped and [counted](Metrics::superseded).
    ///
    /// The place is that of the first: it is before what was dispatched otherwise for this key since
    /// then. Where all events of a key are of this kind, they are handled in order.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_freshest(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch_freshest(key, event)
    }

    /// Collects events that are dispatched together, as soon as there are `size` for the same queue.
    pub fn batch(&self, size: usize) -> Batch<'_, K, E> {
        Batch::new(self, size)
    }

    /// Dispatches `event`, which touches nothing that others touch.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch_unordered(event)
    }

    /// Dispatches `event`, which touches all of `keys`: it runs when all events before it that touch any
    /// of them have, and those after it wait for it. Such events cannot wait for each other in a circle.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_keys(&self, keys: impl IntoIterator<Item = K>, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch_keys(keys, event)
    }

    /// Dispatches `event`, which runs alone: everything that was dispatched before has finished, and
    /// nothing that is dispatched after has begun. Events that other threads dispatch at the same time
    /// may be on either side, each for itself.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch_sequential(event)
    }

    /// Waits until everything that was dispatched has been handled, and everything that handlers have
    /// dispatched. Others may go on dispatching.
    ///
    /// # Panics
    /// If a handler calls it, which would wait for itself.
    pub fn wait_idle(&self) {
        self.wait_until_quiet(None);
    }

    /// Nothing more can be dispatched, not by handlers either. What was dispatched is handled.
    pub fn close(&self) {
        self.0.close();
    }

    /// Closes, and waits until everything has been handled, but not for longer than `longest`.
    ///
    /// # Panics
    /// If a handler calls it, which would wait for itself.
    pub fn drain(&self, longest: Duration) -> Drained {
        self.close();
        self.wait_until_quiet(Some(longest));
        Drained { left: self.0.pending() }
    }

    /// What has happened so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let mut metrics = Metrics { depth: self.0.pending(), ..Metrics::default() };
        self.0.counters.iter().for_each(|counters| counters.add_to(&mut metrics));
        metrics
    }

    /// The handlers that have panicked since the last time, oldest first; the last 64 of them.
    #[must_use]
    pub fn panics(&self) -> Vec<PanicReport<K>> {
        self.0.reports.take()
    }

    fn wait_until_quiet(&self, longest: Option<Duration>) {
        let shared = &self.0;
        assert!(shared.handler_here().is_none(), "a handler cannot wait until all handlers have ended");
        let since = Instant::now();
        let left = || longest.map(|longest| longest.saturating_sub(since.elapsed()));
        shared.quiet.wait_for(left, || shared.is_quiet() || shared.aborted.load(Ordering::SeqCst));
    }
}
