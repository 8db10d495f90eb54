//! By which events are dispatched, from wherever that is.

use crate::arrival::Arrival;
use crate::batch::Batch;
use crate::counters::Stats;
use crate::error::{DispatchError, WaitsForItself};
use crate::future::Dispatching;
use crate::report::PanicReport;
use crate::shared::Shared;
use crate::slow::SlowWait;
use crate::sync::{Arc, Ordering};
use core::hash::Hash;
use core::time::Duration;
use std::time::Instant;

/// Dispatches events. It can be cloned and sent anywhere; it does not keep the dispatcher open.
///
/// A handler that dispatches never waits for room, in whichever dispatcher: what it dispatches comes in beyond
/// the capacity, up to [`Builder::follow_ups`](crate::Builder::follow_ups) events.
pub struct Handle<K, E>(pub(crate) Arc<Shared<K, E>>);

/// What came of a wait for the end of all events, [closed](Handle::drain) or [not](Handle::wait_idle_timeout), within some
/// time.
#[must_use = "something may be left"]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drained {
    /// Events that were not handled when the time had passed.
    pub left: u64,
}

impl<K, E> Clone for Handle<K, E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, E> core::fmt::Debug for Handle<K, E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Handle")
            .field("workers", &self.0.attended.len())
            .field("events", &self.0.depth())
            .finish_non_exhaustive()
    }
}

impl<K: Eq + Hash + Clone, E> Handle<K, E> {
    /// Dispatches `event`, which touches what `key` stands for.
    ///
    /// # Errors
    /// If the dispatcher is closed; or if there is no room and it [rejects](crate::Overload::Reject).
    #[inline]
    pub fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch_keyed(key, event)
    }

    /// The same, but never waits: where there is no room, the event is given back, whatever
    /// [`Overload`](crate::Overload) says.
    ///
    /// # Errors
    /// If the dispatcher is closed, or there is no room.
    #[inline]
    pub fn try_dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.0.try_dispatch(self.0.keyed(key, event)).map_err(|(why, arrival)| arrival.refused(why))
    }

    /// The same, but waits for room for `longest` at most.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch); [full](DispatchError::Full) too, if the time is over.
    pub fn dispatch_timeout(&self, key: K, event: E, longest: Duration) -> Result<(), DispatchError<E>> {
        self.0.dispatch_within(self.0.keyed(key, event), longest)
    }

    /// The same for an asynchronous task, which waits for room without blocking its thread.
    pub fn dispatch_async(&self, key: K, event: E) -> Dispatching<'_, K, E> {
        Dispatching::new(&self.0, self.0.keyed(key, event))
    }

    /// Dispatches `event`, which touches what `key` stands for, and of which only the freshest counts: if
    /// another that was dispatched in this way waits for the same key, this one takes its place, and
    /// the other is dropped and [counted](Stats::superseded).
    ///
    /// The place is that of the first: it is before what was dispatched otherwise for this key since
    /// then. Where all events of a key are of this kind, they are handled in order.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_freshest(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch(self.0.freshest(key, event))
    }

    /// Dispatches `event`, which touches nothing that others touch.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch(Arrival::Unordered { event })
    }

    /// Dispatches `event`, which touches all of `keys`: it runs when all events before it that touch any
    /// of them have, and those after it wait for it. Such events cannot wait for each other in a circle. A key that is given
    /// twice counts once.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_keys(&self, keys: impl IntoIterator<Item = K>, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch(self.0.several(keys, event))
    }

    /// The same for an asynchronous task, which waits for room without blocking its thread.
    pub fn dispatch_keys_async(&self, keys: impl IntoIterator<Item = K>, event: E) -> Dispatching<'_, K, E> {
        Dispatching::new(&self.0, self.0.several(keys, event))
    }

    /// Dispatches `event`, which runs alone: everything that was dispatched before has finished, and
    /// nothing that is dispatched after has begun. Events that other threads dispatch at the same time
    /// may be on either side, each for itself.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.0.dispatch(Arrival::Sequential { event })
    }

    /// Collects events, to dispatch `size` of them together.
    pub fn batch(&self, size: usize) -> Batch<'_, K, E> {
        Batch::new(self, size)
    }
}

impl<K, E> Handle<K, E> {
    /// Waits until everything that was dispatched has been handled, or dropped after an abort, and everything that handlers have
    /// dispatched. Others may go on dispatching; the wait ends when there is a moment in which nothing is in.
    ///
    /// # Errors
    /// If a handler of this dispatcher calls it, or a future of one, which would wait for itself.
    pub fn wait_idle(&self) -> Result<(), WaitsForItself> {
        self.wait_until_quiet(None)
    }

    /// The same, for `longest` at most.
    ///
    /// # Errors
    /// As [`wait_idle`](Self::wait_idle).
    pub fn wait_idle_timeout(&self, longest: Duration) -> Result<Drained, WaitsForItself> {
        self.wait_until_quiet(Some(longest))?;
        Ok(Drained { left: self.0.depth() })
    }

    /// Nothing more can be dispatched, not by handlers either. What was dispatched is handled.
    pub fn close(&self) {
        self.0.close();
    }

    /// Closes, and waits until everything has been handled, but not for longer than `longest`.
    ///
    /// # Errors
    /// If a handler of this dispatcher calls it, or a future of one, which would wait for itself.
    pub fn drain(&self, longest: Duration) -> Result<Drained, WaitsForItself> {
        self.close();
        self.wait_until_quiet(Some(longest))?;
        Ok(Drained { left: self.0.depth() })
    }

    /// Closes, and lets what runs finish: nothing else is handled. What waits is dropped by the last worker, and
    /// [counted](Stats::discarded). Whoever drops the dispatcher, or [waits](Self::wait_idle), waits for both. What other threads
    /// dispatch at this moment is refused, or dropped and counted too.
    pub fn abort(&self) {
        self.0.abort();
    }

    /// What has happened so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let discarded = self.0.discarded.load(Ordering::SeqCst);
        let (depth, events) = (self.0.depth(), self.0.bound.finished_by_workers());
        let mut stats = Stats { depth, events, discarded, ..Stats::default() };
        self.0.counters.iter().for_each(|counters| counters.add_to(&mut stats));
        crate::lock(&self.0.outside).add_to(&mut stats);
        stats
    }

    /// The handlers that have panicked since the last time, and futures that were dropped early, oldest first; the last 64 of
    /// them.
    #[must_use]
    pub fn panics(&self) -> Vec<PanicReport<K>> {
        self.0.reports.take()
    }

    fn wait_until_quiet(&self, longest: Option<Duration>) -> Result<(), WaitsForItself> {
        let shared = &self.0;
        if shared.handles_here() {
            return Err(WaitsForItself);
        }
        let since = Instant::now();
        let left = || longest.map(|longest| longest.saturating_sub(since.elapsed()));
        let slow = SlowWait::begin(Some(&shared.waits), || shared.describe_end());
        shared.quiet.wait_for(left, || slow.until(shared.is_quiet()));
        Ok(())
    }
}
