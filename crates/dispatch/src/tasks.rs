//! Events that futures handle, on an executor of the user's.
//!
//! A worker claims an event and spawns its future; the keys stay held until the future has ended, or is dropped. Whoever
//! ends it releases them and finishes the event, on whichever thread that is: see [`Running`].

use crate::builder::Builder;
use crate::caught::{caught, drop_caught};
use crate::dispatcher::Dispatcher;
use crate::error::BuildError;
use crate::handle::Handle;
use crate::handler::{Handler, Turn};
use crate::joint::Joint;
use crate::sync::Arc;
use crate::trace::Span;
use core::any::Any;
use core::fmt;
use core::future::{Future, poll_fn};
use core::hash::Hash;
use core::ops::Deref;
use core::pin::{Pin, pin};
use core::slice::from_ref;
use core::task::Poll;

/// A future to be spawned: it handles one event.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What an asynchronous handler knows about the event it handles. It also dispatches further events.
pub struct AsyncTurn<K, E> {
    handle: Handle<K, E>,
    held: Arc<Held<K, E>>,
}

impl<K, E> AsyncTurn<K, E> {
    pub(crate) const fn new(handle: Handle<K, E>, held: Arc<Held<K, E>>) -> Self {
        Self { handle, held }
    }

    /// The event's key; `None` if it has none or several.
    #[must_use]
    pub fn key(&self) -> Option<&K> {
        match self.held.keys() {
            [key] => Some(key),
            _ => None,
        }
    }

    /// All keys that the event touches.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.held.keys().iter()
    }
}

impl<K, E> Deref for AsyncTurn<K, E> {
    type Target = Handle<K, E>;

    fn deref(&self) -> &Handle<K, E> {
        &self.handle
    }
}

impl<K, E> fmt::Debug for AsyncTurn<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncTurn").field("keys", &self.held.keys().len()).finish_non_exhaustive()
    }
}

impl<K, E> Builder<K, E> {
    /// Starts the workers, which handle each event by a future: `handler` makes it, and `spawn` gives it to an executor.
    /// The futures of events with a key in common run one at a time, in order; that of a
    /// [sequential](Handle::dispatch_sequential) event runs alone. A key is held until the future has ended or is dropped.
    ///
    /// ```
    /// use warmcore_dispatch::{AsyncTurn, Dispatcher};
    ///
    /// let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    /// let executor = runtime.handle().clone();
    /// let greet = |turn: AsyncTurn<&'static str, u64>, number: u64| async move {
    ///     tokio::task::yield_now().await;
    ///     println!("{:?}: {number}", turn.key());
    /// };
    /// let spawn = move |task| drop(executor.spawn(task));
    /// let greetings = Dispatcher::<&'static str, u64>::builder().build_async(spawn, greet)?;
    /// greetings.dispatch("alice", 1).unwrap();
    /// drop(greetings);
    /// # Ok::<(), warmcore_dispatch::BuildError>(())
    /// ```
    ///
    /// `spawn` is called on a worker's thread, which is none of your runtime's: let it keep a handle of the runtime, as above.
    ///
    /// What is dispatched while such a future is polled comes in as a handler's events do: beyond the capacity, and without a
    /// wait. A panic of a future is that of a handler. A future that is dropped before it has ended, as by an executor that is
    /// shut down or a `spawn` that panics, is [counted](crate::Stats::cancelled) and [reported](Handle::panics).
    ///
    /// Whoever waits until nothing is left waits for the futures too, and so does who drops or aborts the dispatcher. Do not
    /// wait on the only thread of their executor.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_async<S, H, F>(self, spawn: S, handler: H) -> Result<Dispatcher<K, E>, BuildError>
    where
        K: Eq + Hash + Clone + Send + Sync + 'static,
        E: Send + 'static,
        S: Fn(Task) + Send + Sync + 'static,
        H: Fn(AsyncTurn<K, E>, E) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        self.build(Spawns { spawn, handler: Arc::new(handler) })
    }
}

/// A handler that spawns a future for each event.
struct Spawns<S, H> {
    spawn: S,
    handler: Arc<H>,
}

impl<K, E, S, H, F> Handler<K, E> for Spawns<S, H>
where
    K: Eq + Hash + Clone + Send + Sync + 'static,
    E: Send + 'static,
    S: Fn(Task) + Sync,
    H: Fn(AsyncTurn<K, E>, E) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    const ASYNC: bool = true;

    fn handle(&self, _: &Turn<'_, K, E>, _: E) {
        unreachable!("it starts events");
    }

    fn start(&self, running: Running<K, E>, turn: AsyncTurn<K, E>, event: E) {
        (self.spawn)(Box::pin(run(self.handler.clone(), Start { event, turn, running })));
    }
}

/// An event whose future was not polled yet. The fields are dropped in this order.
struct Start<K: Eq + Hash + Clone, E> {
    event: E,
    turn: AsyncTurn<K, E>,
    running: Running<K, E>,
}

/// Handles an event to its end.
async fn run<K, E, H, F>(handler: Arc<H>, start: Start<K, E>)
where
    K: Eq + Hash + Clone,
    H: Fn(AsyncTurn<K, E>, E) -> F,
    F: Future<Output = ()>,
{
    let Start { event, turn, running } = start;
    let mut running = Some(running);
    let mut begin = Some((turn, event));
    // Dropped before `running`, as what it handles belongs to it until then.
    let mut future = pin!(None);
    let polled = poll_fn(|context| {
        let Some(now) = &running else { return Poll::Ready(()) };
        let _here = now.handle.0.poll_here();
        let polled = caught(|| {
            let _entered = now.span.enter();
            if let Some((turn, event)) = begin.take() {
                future.set(Some(handler(turn, event)));
            }
            future.as_mut().as_pin_mut().map_or(Poll::Ready(()), |future| future.poll(context))
        });
        let result = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(())) => Ok(()),
            Err(panic) => Err(panic),
        };
        let dropped = caught(|| future.set(None));
        if let Some(now) = running.take() {
            now.end(result);
            drop_caught(dropped);
        }
        Poll::Ready(())
    });
    polled.await;
}

/// What an event holds while its future runs.
pub(crate) enum Held<K, E> {
    Key(K, u64),
    /// An unordered event has a hash of its own.
    Hash(u64),
    Several(Arc<Joint<K, E>>),
    /// A sequential event.
    All,
}

impl<K, E> Held<K, E> {
    pub(crate) fn keys(&self) -> &[K] {
        match self {
            Self::Key(key, _) => from_ref(key),
            Self::Several(joint) => &joint.keys,
            Self::Hash(_) | Self::All => &[],
        }
    }

    fn hashes(&self) -> &[u64] {
        match self {
            Self::Key(_, hash) | Self::Hash(hash) => from_ref(hash),
            Self::Several(joint) => &joint.hashes,
            Self::All => &[],
        }
    }
}

/// An event whose future runs. When it is dropped, the event has ended: its keys are released.
pub struct Running<K: Eq + Hash + Clone, E> {
    handle: Handle<K, E>,
    /// Until it is dropped.
    held: Option<Arc<Held<K, E>>>,
    /// When the event came and began, if it is one of the sample; otherwise 0.
    came: u64,
    began: u64,
    has_ended: bool,
    span: Span,
}

impl<K: Eq + Hash + Clone, E> Running<K, E> {
    pub(crate) fn new(handle: Handle<K, E>, held: Arc<Held<K, E>>, came: u64, span: Span) -> Self {
        let began = if came == 0 { 0 } else { handle.0.clock.raw() };
        Self { handle, held: Some(held), came, began, has_ended: false, span }
    }

    /// The event is not handled, as its key is poisoned.
    pub(crate) fn skip(mut self) {
        self.has_ended = true;
    }

    /// The future has ended, or panicked.
    fn end(mut self, result: Result<(), Box<dyn Any + Send>>) {
        let shared = &self.handle.0;
        self.has_ended = true;
        if self.came != 0 {
            let (clock, now) = (&shared.clock, shared.clock.raw());
            let wait = clock.delta_as_nanos(self.came.min(self.began), self.began);
            let service = clock.delta_as_nanos(self.began.min(now), now);
            crate::lock(&shared.outside).timed(wait, service);
        }
        if let (Err(panic), Some(held)) = (result, &self.held) {
            crate::lock(&shared.outside).panicked();
            shared.handler_panicked(held.keys(), panic);
        }
    }
}

impl<K: Eq + Hash + Clone, E> Drop for Running<K, E> {
    fn drop(&mut self) {
        let (shared, Some(held)) = (&self.handle.0, self.held.take()) else { return };
        if !self.has_ended {
            crate::lock(&shared.outside).cancelled();
            shared.report(held.keys(), "a future was dropped before it had ended".to_owned());
        }
        let is_alone = matches!(*held, Held::All);
        if is_alone {
            shared.open_gate(None);
        } else {
            shared.release_keys(held.hashes());
        }
        // Nobody is told that nothing is left before the keys are gone.
        drop_caught(held);
        if is_alone {
            shared.end_alone_elsewhere();
        } else {
            shared.finish_elsewhere(1);
        }
    }
}
