//! The handle by which events are dispatched, and how it is built.

use crate::counters::Metrics;
use crate::error::{BuildError, DispatchError};
use crate::future::Dispatching;
use crate::handler::Handler;
use crate::options::{Idle, OnPanic, Overload, Rule};
use crate::report::PanicReport;
use crate::shared::{Settings, Shared};
use crate::sync::{Arc, Ordering};
use crate::worker::Worker;
use core::hash::Hash;
use core::time::Duration;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle, Scope};
use std::time::Instant;

/// How a dispatcher is to be.
#[derive(Clone, Debug)]
pub struct Builder {
    workers: usize,
    settings: Settings,
    name: String,
    on_start: OnStart,
}

/// What a worker does first.
#[derive(Clone, Default)]
struct OnStart(Option<std::sync::Arc<dyn Fn(usize) + Send + Sync>>);

impl core::fmt::Debug for OnStart {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.0.is_some() { "a function" } else { "nothing" })
    }
}

impl OnStart {
    fn call(&self, worker: usize) {
        if let Some(start) = &self.0 {
            start(worker);
        }
    }
}

/// Dispatches events with keys of type `K` to handlers: those with the same key one after the other,
/// in order, and all others in parallel. See the [crate's documentation](crate).
///
/// It can be shared between threads. Events that one thread dispatches, or that are dispatched one
/// after the other, are in that order; events with different keys never wait for each other.
///
/// When it is dropped, it is [closed](Self::close), and what was dispatched before is handled.
pub struct Dispatcher<K: Eq + Hash + Clone, E> {
    shared: Arc<Shared<K, E>>,
    threads: Vec<JoinHandle<()>>,
}

/// A dispatcher whose events and handlers may borrow from around a [scope](Builder::scope).
pub struct Scoped<'a, K, E> {
    shared: &'a Shared<K, E>,
}

/// What came of an attempt to [drain](Dispatcher::drain) within some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drained {
    /// Events that were not handled when the time had passed; those that stand in several queues are
    /// counted once for each.
    pub left: u64,
}

/// Room in a queue, if nothing is said.
const CAPACITY: usize = 4096;

impl Default for Builder {
    fn default() -> Self {
        Self {
            workers: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            settings: Settings {
                rule: Rule::default(),
                capacity: CAPACITY,
                overload: Overload::default(),
                on_panic: OnPanic::default(),
                idle: Idle::default(),
                partition_bits: None,
            },
            name: "dispatch".to_owned(),
            on_start: OnStart::default(),
        }
    }
}

impl Builder {
    /// Threads that handle events; by default, as many as can run at once.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// How events come to queues, and queues to workers.
    #[must_use]
    pub fn rule(self, rule: Rule) -> Self {
        Self { settings: Settings { rule, ..self.settings }, ..self }
    }

    /// Events that each queue has room for, rounded up to a power of two; 4,096 by default.
    #[must_use]
    pub fn capacity(self, capacity: usize) -> Self {
        Self { settings: Settings { capacity, ..self.settings }, ..self }
    }

    /// What happens to events for which there is no room.
    #[must_use]
    pub fn overload(self, overload: Overload) -> Self {
        Self { settings: Settings { overload, ..self.settings }, ..self }
    }

    /// What follows when a handler panics.
    #[must_use]
    pub fn on_panic(self, on_panic: OnPanic) -> Self {
        Self { settings: Settings { on_panic, ..self.settings }, ..self }
    }

    /// What workers do that find nothing to do.
    #[must_use]
    pub fn idle(self, idle: Idle) -> Self {
        Self { settings: Settings { idle, ..self.settings }, ..self }
    }

    /// Keys are told apart by so many bits of their hash only, as hardware would: some different keys
    /// then run one after the other, which is counted as
    /// [false conflicts](Metrics::false_conflicts). By default all keys are told apart.
    #[must_use]
    pub fn partition_bits(self, bits: u32) -> Self {
        Self { settings: Settings { partition_bits: Some(bits), ..self.settings }, ..self }
    }

    /// What its threads are called.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// What each worker does first, on its thread: it is told its number, from 0. The place to pin a
    /// thread to a processor; this crate makes no system calls of its own but to park. If it panics, the
    /// dispatcher stops.
    #[must_use]
    pub fn on_start(self, on_start: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { on_start: OnStart(Some(std::sync::Arc::new(on_start))), ..self }
    }

    /// Starts the workers, which call `handler`.
    ///
    /// # Errors
    /// If something that was chosen is impossible, or a thread cannot be started.
    pub fn build<K, E, H>(self, handler: H) -> Result<Dispatcher<K, E>, BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync + 'static,
        E: Send + 'static,
        H: Handler<K, E> + Send + 'static,
    {
        let shared = Arc::new(self.shared()?);
        let handler = Arc::new(handler);
        let mut dispatcher = Dispatcher { shared, threads: Vec::new() };
        for me in 0..self.workers {
            let (shared, handler) = (dispatcher.shared.clone(), handler.clone());
            let on_start = self.on_start.clone();
            let run = move || work(me, &*shared, &*handler, &on_start);
            // Those that were started end with the dispatcher.
            let thread = thread::Builder::new().name(format!("{}-{me}", self.name)).spawn(run);
            dispatcher.threads.push(thread.map_err(|error| BuildError::NoThread(error.to_string()))?);
        }
        Ok(dispatcher)
    }

    /// Starts workers whose events and handler may borrow from around, calls `body` with the
    /// dispatcher, and waits until everything that was dispatched has been handled.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn scope<K, E, H, R>(
        self,
        handler: H,
        body: impl FnOnce(&Scoped<'_, K, E>) -> R,
    ) -> Result<R, BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync,
        E: Send,
        H: Handler<K, E>,
    {
        let shared = self.shared()?;
        thread::scope(|scope| {
            let open = Open(&shared);
            for me in 0..self.workers {
                self.start(scope, me, &shared, &handler)?;
            }
            let result = body(&Scoped { shared: &shared });
            drop(open);
            Ok(result)
        })
    }

    fn start<'scope, K, E, H>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        me: usize,
        shared: &'scope Shared<K, E>,
        handler: &'scope H,
    ) -> Result<(), BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync,
        E: Send,
        H: Handler<K, E>,
    {
        let named = thread::Builder::new().name(format!("{}-{me}", self.name));
        let on_start = self.on_start.clone();
        let thread = named.spawn_scoped(scope, move || work(me, shared, handler, &on_start));
        thread.map(drop).map_err(|error| BuildError::NoThread(error.to_string()))
    }

    fn shared<K: Eq + Hash + Clone, E>(&self) -> Result<Shared<K, E>, BuildError> {
        let Settings { capacity, partition_bits, .. } = self.settings;
        if self.workers == 0 {
            return Err(BuildError::NoWorkers);
        }
        if !(2..=1 << 31).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        if let Some(bits) = partition_bits.filter(|bits| !(1..=30).contains(bits)) {
            return Err(BuildError::PartitionBits(bits));
        }
        let settings = Settings { capacity: capacity.next_power_of_two(), ..self.settings };
        Ok(Shared::new(self.workers, settings))
    }
}

/// The life of the worker `me`. One that cannot even start ends all: the others may not be enough.
fn work<K, E, H>(me: usize, shared: &Shared<K, E>, handler: &H, on_start: &OnStart)
where
    K: Eq + Hash + Clone,
    H: Handler<K, E>,
{
    match catch_unwind(AssertUnwindSafe(|| on_start.call(me))) {
        Ok(()) => Worker::new(me, shared, handler).run(),
        Err(panic) => {
            shared.reports.add(PanicReport::new(Vec::new(), &*panic));
            shared.abort();
        }
    }
}

/// Closes a dispatcher at the end of a scope, however it ends.
struct Open<'a, K: Eq + Hash + Clone, E>(&'a Shared<K, E>);

impl<K: Eq + Hash + Clone, E> Drop for Open<'_, K, E> {
    fn drop(&mut self) {
        // What handlers dispatch meanwhile belongs to it.
        wait_until_quiet(self.0, None);
        self.0.close();
    }
}

impl<K: Eq + Hash + Clone, E> Dispatcher<K, E> {
    /// What a dispatcher is built with.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Dispatches `event`, which touches what `key` stands for.
    ///
    /// # Errors
    /// If the dispatcher is closed; or if there is no room and it [rejects](Overload::Reject).
    #[inline]
    pub fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch(key, event)
    }

    /// The same for an asynchronous task, which waits for room without blocking its thread.
    pub fn dispatch_async(&self, key: K, event: E) -> Dispatching<'_, K, E> {
        Dispatching::new(&self.shared, self.shared.entry(key, event))
    }

    /// Dispatches `event`, which touches nothing that others touch.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_unordered(event)
    }

    /// Dispatches `event`, which touches all of `keys`: it runs when all events before it that touch any
    /// of them have, and those after it wait for it. Such events cannot wait for each other in a circle.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_keys(&self, keys: impl IntoIterator<Item = K>, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_keys(keys, event)
    }

    /// Dispatches `event`, which runs alone: everything that was dispatched before has finished, and
    /// nothing that is dispatched after has begun. Events that other threads dispatch at the same time
    /// may be on either side, each for itself.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_sequential(event)
    }

    /// Waits until everything that was dispatched has been handled, and everything that handlers have
    /// dispatched. Others may go on dispatching.
    ///
    /// # Panics
    /// If a handler calls it, which would wait for itself.
    pub fn wait_idle(&self) {
        wait_until_quiet(&self.shared, None);
    }

    /// Nothing more can be dispatched, not by handlers either. What was dispatched is handled.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Closes, and waits until everything has been handled, but not for longer than `longest`.
    ///
    /// # Panics
    /// If a handler calls it, which would wait for itself.
    pub fn drain(&self, longest: Duration) -> Drained {
        self.close();
        wait_until_quiet(&self.shared, Some(longest));
        Drained { left: self.shared.pending() }
    }

    /// Closes, lets what runs finish, and drops everything else; how many events that were.
    pub fn abort(mut self) -> u64 {
        self.shared.abort();
        self.join();
        self.shared.discard()
    }

    /// What has happened so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        metrics(&self.shared)
    }

    /// The handlers that have panicked since the last time, oldest first; the last 64 of them.
    #[must_use]
    pub fn panics(&self) -> Vec<PanicReport<K>> {
        self.shared.reports.take()
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // Handlers that panic are caught.
            let _ = thread.join();
        }
    }
}

impl<K: Eq + Hash + Clone, E> Drop for Dispatcher<K, E> {
    fn drop(&mut self) {
        self.close();
        self.join();
    }
}

impl<K: Eq + Hash + Clone, E> Scoped<'_, K, E> {
    /// As [`Dispatcher::dispatch`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch(key, event)
    }

    /// As [`Dispatcher::dispatch_async`].
    pub fn dispatch_async(&self, key: K, event: E) -> Dispatching<'_, K, E> {
        Dispatching::new(self.shared, self.shared.entry(key, event))
    }

    /// As [`Dispatcher::dispatch_unordered`].
    ///
    /// # Errors
    /// As there.
    pub fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_unordered(event)
    }

    /// As [`Dispatcher::dispatch_keys`].
    ///
    /// # Errors
    /// As there.
    pub fn dispatch_keys(&self, keys: impl IntoIterator<Item = K>, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_keys(keys, event)
    }

    /// As [`Dispatcher::dispatch_sequential`].
    ///
    /// # Errors
    /// As there.
    pub fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.shared.dispatch_sequential(event)
    }

    /// As [`Dispatcher::wait_idle`].
    pub fn wait_idle(&self) {
        wait_until_quiet(self.shared, None);
    }

    /// As [`Dispatcher::metrics`].
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        metrics(self.shared)
    }

    /// As [`Dispatcher::panics`].
    #[must_use]
    pub fn panics(&self) -> Vec<PanicReport<K>> {
        self.shared.reports.take()
    }
}

fn metrics<K, E>(shared: &Shared<K, E>) -> Metrics
where
    K: Eq + Hash + Clone,
{
    let mut metrics = Metrics { depth: shared.pending(), ..Metrics::default() };
    shared.counters.iter().for_each(|counters| counters.add_to(&mut metrics));
    metrics
}

fn wait_until_quiet<K: Eq + Hash + Clone, E>(shared: &Shared<K, E>, longest: Option<Duration>) {
    assert!(shared.handler_here().is_none(), "a handler cannot wait until all handlers have ended");
    let since = Instant::now();
    let left = || longest.map(|longest| longest.saturating_sub(since.elapsed()));
    shared.quiet.wait_for(left, || shared.is_quiet() || shared.aborted.load(Ordering::SeqCst));
}
