//! What became of an event, for whoever waits for it.

use crate::error::WaitError;
use crate::handler::{Handler, Turn};
use crate::slot::{self, Sender, Slot};
use crate::sync::Arc;
use crate::waits::Place;
use core::fmt;
use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

/// The result of an event: to be [waited](Self::wait) for by a thread, or awaited by a task.
#[must_use = "the result is for whoever waits for it"]
pub struct Completion<R>(Arc<Slot<R>>);

impl<R> fmt::Debug for Completion<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}

/// The event was not handled: its handler panicked, or it was refused, shed, discarded, or replaced by a
/// fresher one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the event was not handled")]
pub struct NotHandled;

impl<R> Completion<R> {
    /// A place for a result, and who puts it there.
    pub(crate) fn new() -> (Sender<R>, Self) {
        let (sender, slot) = slot::new();
        (sender, Self(slot))
    }

    /// Waits for the result, blocking the thread.
    ///
    /// A handler may wait for an event of its own dispatcher, if another worker can handle that: it keeps its worker busy
    /// meanwhile.
    ///
    /// # Errors
    /// * [`WaitError::NotHandled`] if the event was not handled.
    /// * [`WaitError::WaitsForItself`] if a handler waits for an event of its own dispatcher that cannot run before it has
    ///   ended: one with a key of its own, or any while all other workers wait too. This is known of what was dispatched by
    ///   [`submit`](crate::Handle::submit), and of requests where [`Request::answered_by`] is the handler.
    /// * [`WaitError::Aborted`] if a handler waits, and its own dispatcher was aborted.
    pub fn wait(self) -> Result<R, WaitError> {
        self.0.wait(None).unwrap_or(Err(WaitError::NotHandled))
    }

    /// The same, for `longest` at most: `None` if the time is over. The result can be waited for again then, also after
    /// an error but [`WaitError::NotHandled`].
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_timeout(&mut self, longest: Duration) -> Option<Result<R, WaitError>> {
        self.0.wait(Some(longest))
    }
}

impl<R> IntoFuture for Completion<R> {
    type Output = Result<R, NotHandled>;
    type IntoFuture = Completing<R>;

    fn into_future(self) -> Completing<R> {
        Completing(self.0)
    }
}

/// A task's wait for a [`Completion`].
pub struct Completing<R>(Arc<Slot<R>>);

impl<R> fmt::Debug for Completing<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completing").finish_non_exhaustive()
    }
}

impl<R> Future for Completing<R> {
    type Output = Result<R, NotHandled>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context.waker()).map(|result| result.ok_or(NotHandled))
    }
}

/// An event whose handler has a result.
///
/// ```
/// use warmcore_dispatch::{Dispatcher, Request, Turn};
///
/// let double = |_: &Turn<'_, u32, Request<u64, u64>>, number: u64| 2 * number;
/// let dispatcher = Dispatcher::<u32, Request<u64, u64>>::builder().build(Request::answered_by(double))?;
/// let (request, answer) = Request::new(21);
/// dispatcher.dispatch(7, request).unwrap();
/// assert_eq!(answer.wait(), Ok(42));
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
pub struct Request<E, R> {
    event: E,
    answer: Sender<R>,
}

impl<E: fmt::Debug, R> fmt::Debug for Request<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("event", &self.event).finish_non_exhaustive()
    }
}

impl<E, R> Request<E, R> {
    /// `event`, and what will become of it.
    pub fn new(event: E) -> (Self, Completion<R>) {
        let (answer, result) = Completion::new();
        (Self { event, answer }, result)
    }

    /// Handles its event by `answer`, whose result is that of the request: for handlers that are none of
    /// [`answered_by`](Self::answered_by), as those with state are.
    pub fn answer_with(self, answer: impl FnOnce(E) -> R) {
        self.answer.send(answer(self.event));
    }

    /// A handler of requests, from a function of their events.
    pub fn answered_by<K, F>(answer: F) -> impl Handler<K, Self> + use<K, E, R, F>
    where
        F: Fn(&Turn<'_, K, Self>, E) -> R + Sync,
    {
        Answers(answer)
    }
}

/// A handler of requests. None leaves it unanswered, so it is known where each will be answered.
struct Answers<F>(F);

impl<K, E, R, F> Handler<K, Request<E, R>> for Answers<F>
where
    F: Fn(&Turn<'_, K, Request<E, R>>, E) -> R + Sync,
{
    const NOTE: Option<fn(&Request<E, R>, Option<Place>)> = Some(|request, place| request.answer.note(place));

    fn handle(&self, turn: &Turn<'_, K, Request<E, R>>, request: Request<E, R>) {
        request.answer_with(|event| (self.0)(turn, event));
    }
}
