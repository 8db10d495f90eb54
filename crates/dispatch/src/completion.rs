//! What became of an event, for whoever waits for it.

use crate::handler::Turn;
use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::task::{Context, Poll};

/// The result of an event: to be [waited](Self::wait) for by a thread, or awaited by a task.
#[must_use = "the result is for whoever waits for it"]
#[derive(Debug)]
pub struct Completion<R>(oneshot::Receiver<R>);

/// The event was not handled: its handler panicked, or it was refused, shed, discarded, or replaced by a
/// fresher one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the event was not handled")]
pub struct NotHandled;

impl<R> Completion<R> {
    /// A place for a result, and who puts it there.
    pub(crate) fn new() -> (impl FnOnce(R), Self) {
        let (sender, receiver) = oneshot::channel();
        // Whoever was to wait may have gone.
        (move |result| drop(sender.send(result)), Self(receiver))
    }

    /// Waits for the result, blocking the thread. A handler that waits for an event which must wait for its
    /// own waits for ever.
    ///
    /// # Errors
    /// If the event was not handled.
    pub fn wait(self) -> Result<R, NotHandled> {
        self.0.recv().map_err(|_| NotHandled)
    }
}

impl<R> IntoFuture for Completion<R> {
    type Output = Result<R, NotHandled>;
    type IntoFuture = Completing<R>;

    fn into_future(self) -> Completing<R> {
        Completing(self.0.into_future())
    }
}

/// A task's wait for a [`Completion`].
#[derive(Debug)]
pub struct Completing<R>(oneshot::AsyncReceiver<R>);

impl<R> Future for Completing<R> {
    type Output = Result<R, NotHandled>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map_err(|_| NotHandled)
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
#[derive(Debug)]
pub struct Request<E, R> {
    event: E,
    answer: oneshot::Sender<R>,
}

impl<E, R> Request<E, R> {
    /// `event`, and what will become of it.
    pub fn new(event: E) -> (Self, Completion<R>) {
        let (answer, result) = oneshot::channel();
        (Self { event, answer }, Completion(result))
    }

    /// A handler of requests, from a function of their events.
    pub fn answered_by<K>(
        answer: impl Fn(&Turn<'_, K, Self>, E) -> R + Sync,
    ) -> impl Fn(&Turn<'_, K, Self>, Self) + Sync {
        move |turn, request| {
            // Whoever was to wait may have gone.
            let _ = request.answer.send(answer(turn, request.event));
        }
    }
}
