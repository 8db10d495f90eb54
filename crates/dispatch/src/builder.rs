//! How a dispatcher is built, and how its workers start.

use crate::caught::caught;
use crate::dispatcher::Dispatcher;
use crate::error::BuildError;
use crate::handle::Handle;
use crate::handler::Handler;
use crate::options::{Binding, Idle, OnPanic, Overload};
use crate::report::message_of;
use crate::shared::{Settings, Shared};
use crate::sync::{Arc, Scope, scope, spawn, spawn_scoped};
use crate::trace::tell;
use crate::worker::Worker;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// How a dispatcher of events `E` with keys `K` is to be.
pub struct Builder<K, E> {
    workers: usize,
    settings: Settings,
    name: String,
    on_start: OnStart,
    types: PhantomData<fn(K, E)>,
}

impl<K, E> Clone for Builder<K, E> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), on_start: self.on_start.clone(), ..*self }
    }
}

impl<K, E> fmt::Debug for Builder<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workers, settings, name, on_start, .. } = self;
        f.debug_struct("Builder")
            .field("workers", workers)
            .field("settings", settings)
            .field("name", name)
            .field("on_start", on_start)
            .finish()
    }
}

/// What a worker does first.
#[derive(Clone, Default)]
struct OnStart(Option<std::sync::Arc<dyn Fn(usize) + Send + Sync>>);

impl fmt::Debug for OnStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// Room for events, if nothing is said.
const CAPACITY: usize = 8_192;
/// Room for what handlers dispatch beyond that, likewise.
const FOLLOW_UPS: usize = 65_536;
/// The most strands.
const MOST_STRANDS: usize = 1 << 20;
/// The most workers: what a mask of workers and the ready bits are sized for.
const MOST_WORKERS: usize = 4_096;

impl<K, E> Default for Builder<K, E> {
    fn default() -> Self {
        Self {
            workers: available_parallelism().map_or(1, NonZeroUsize::get),
            settings: Settings {
                binding: Binding::default(),
                strands: None,
                capacity: CAPACITY,
                overload: Overload::default(),
                on_panic: OnPanic::default(),
                idle: Idle::default(),
                key_limit: None,
                follow_ups: FOLLOW_UPS,
            },
            name: "dispatch".to_owned(),
            on_start: OnStart::default(),
            types: PhantomData,
        }
    }
}

impl<K, E> Builder<K, E> {
    /// Threads that handle events; by default, as many as can run at once.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// Which worker may handle the events of a key.
    #[must_use]
    pub fn binding(self, binding: Binding) -> Self {
        Self { settings: Settings { binding, ..self.settings }, ..self }
    }

    /// Ordered queues to which keys hash, rounded up to a power of two; by default 64 for each worker, and at least 256.
    /// Keys that share one wait for each other's events while all workers are busy.
    #[must_use]
    pub fn strands(self, strands: usize) -> Self {
        Self { settings: Settings { strands: Some(strands), ..self.settings }, ..self }
    }

    /// Events that there is room for, all in all; 8,192 by default. Producers can fill a quarter of it, or 16 places if
    /// that is more, with events of one strand: a key that is stuck does not take the room of all others.
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

    /// Of each key, so many events may wait at most, so that one that comes too often does not take all
    /// the room; the rule for [`Overload`] holds for more. Those of several keys, or none, do not count.
    /// By default there is no such limit. With one, keys of waiting events are looked up.
    #[must_use]
    pub fn key_limit(self, events: u64) -> Self {
        Self { settings: Settings { key_limit: Some(events), ..self.settings }, ..self }
    }

    /// Under [`Overload::Block`], handlers may dispatch so many events beyond the capacity; 65,536 by default. More are given back as
    /// [full](crate::DispatchError::Full).
    #[must_use]
    pub fn follow_ups(self, events: usize) -> Self {
        Self { settings: Settings { follow_ups: events, ..self.settings }, ..self }
    }

    /// What its threads are called.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// What each worker does first, on its thread: it is told its number, from 0. The place to pin a
    /// thread to a processor; this crate pins nothing itself. If it panics, the dispatcher stops.
    #[must_use]
    pub fn on_start(self, on_start: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { on_start: OnStart(Some(std::sync::Arc::new(on_start))), ..self }
    }

    /// Starts the workers, which call `handler`.
    ///
    /// # Errors
    /// If something that was chosen is impossible, or a thread cannot be started.
    pub fn build<H>(self, handler: H) -> Result<Dispatcher<K, E>, BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync + 'static,
        E: Send + 'static,
        H: Handler<K, E> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let mut dispatcher = Dispatcher { handle: self.handle::<H>()?, threads: Vec::new() };
        for me in 0..self.workers {
            let (handle, handler) = (dispatcher.handle.clone(), handler.clone());
            let on_start = self.on_start.clone();
            let run = move || work(me, &handle, &*handler, &on_start);
            // Those that were started end with the dispatcher.
            let thread = spawn(format!("{}-{me}", self.name), run);
            dispatcher.threads.push(thread.map_err(|error| BuildError::NoThread(error.to_string()))?);
        }
        Ok(dispatcher)
    }

    /// Starts workers whose events and handler may borrow from around, calls `body` with the
    /// dispatcher, and waits until everything that was dispatched has been handled.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn scope<H, R>(self, handler: H, body: impl FnOnce(&Handle<K, E>) -> R) -> Result<R, BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync,
        E: Send,
        H: Handler<K, E>,
    {
        let handle = self.handle::<H>()?;
        scope(|scope| {
            let open = Open(&handle);
            for me in 0..self.workers {
                self.start(scope, me, &handle, &handler)?;
            }
            let result = body(&handle);
            drop(open);
            Ok(result)
        })
    }

    fn start<'scope, H>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        me: usize,
        handle: &'scope Handle<K, E>,
        handler: &'scope H,
    ) -> Result<(), BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync,
        E: Send,
        H: Handler<K, E>,
    {
        let on_start = self.on_start.clone();
        let run = move || work(me, handle, handler, &on_start);
        let thread = spawn_scoped(scope, format!("{}-{me}", self.name), run);
        thread.map_err(|error| BuildError::NoThread(error.to_string()))
    }

    fn handle<H: Handler<K, E>>(&self) -> Result<Handle<K, E>, BuildError> {
        let Settings { capacity, strands, key_limit, .. } = self.settings;
        if !(1..=MOST_WORKERS).contains(&self.workers) {
            return Err(BuildError::Workers(self.workers));
        }
        if !(1..=1 << 31).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        if let Some(strands) = strands.filter(|strands| !(1..=MOST_STRANDS).contains(strands)) {
            return Err(BuildError::Strands(strands));
        }
        if self.name.contains('\0') {
            return Err(BuildError::Name(self.name.clone()));
        }
        if key_limit == Some(0) {
            return Err(BuildError::KeyLimit);
        }
        let settings = Settings { strands: strands.map(usize::next_power_of_two), ..self.settings };
        tell!(DEBUG, workers = self.workers, capacity, name = %self.name, "a dispatcher is built");
        let shared = Shared { note: H::NOTE, asynchronous: H::ASYNC, ..Shared::new(self.workers, settings) };
        Ok(Handle(Arc::new(shared)))
    }
}

/// The life of the worker `me`. One that cannot even start ends all: the others may not be enough.
fn work<K, E, H>(me: usize, handle: &Handle<K, E>, handler: &H, on_start: &OnStart)
where
    K: Eq + Hash + Clone,
    H: Handler<K, E>,
{
    handle.0.work_here(me);
    match caught(|| on_start.call(me)) {
        Ok(()) => Worker::new(me, handle, handler).run(),
        Err(panic) => {
            handle.0.report(&[], message_of(panic));
            handle.0.abort();
        }
    }
    handle.0.end_worker();
}

/// Closes a dispatcher at the end of a scope, however it ends.
struct Open<'a, K: Eq + Hash + Clone, E>(&'a Handle<K, E>);

impl<K: Eq + Hash + Clone, E> Drop for Open<'_, K, E> {
    fn drop(&mut self) {
        // What handlers dispatch meanwhile belongs to it.
        let _ = self.0.wait_idle();
        self.0.close();
    }
}
