//! Dispatching where there may be no room, without blocking a thread.

use crate::entry::{Entry, Why};
use crate::error::DispatchError;
use crate::options::Overload;
use crate::shared::Shared;
use core::future::Future;
use core::hash::Hash;
use core::pin::Pin;
use core::task::{Context, Poll};

/// An event on its way: a future that is ready when the event is in, or cannot come in. If it is dropped
/// before, so is the event. Under [`Overload::Block`] it waits for room.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Dispatching<'a, K, E> {
    shared: &'a Shared<K, E>,
    entry: Option<Entry<K, E>>,
}

impl<'a, K, E> Dispatching<'a, K, E> {
    pub(crate) const fn new(shared: &'a Shared<K, E>, entry: Entry<K, E>) -> Self {
        Self { shared, entry: Some(entry) }
    }
}

// Nothing in it is ever pinned: the event moves out.
impl<K, E> Unpin for Dispatching<'_, K, E> {}

impl<K: Eq + Hash + Clone, E> Future for Dispatching<'_, K, E> {
    type Output = Result<(), DispatchError<E>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = self.shared;
        loop {
            let entry = self.entry.take().expect("it is not polled after it was ready");
            let (why, entry) = match shared.try_put(entry) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(refused) => refused,
            };
            let (queue, overload) = match why {
                Why::Full(queue) | Why::KeyFull(queue) => (queue, shared.settings.overload),
                Why::Closed => return Poll::Ready(Err(entry.refused(why))),
            };
            match overload {
                Overload::Reject => return Poll::Ready(Err(entry.refused(why))),
                Overload::Shed => {
                    shared.shed_at(queue);
                    return Poll::Ready(Ok(()));
                }
                Overload::Block if !shared.room_comes(queue, why, &entry, context.waker()) => {
                    self.entry = Some(entry);
                    return Poll::Pending;
                }
                Overload::Block => self.entry = Some(entry),
            }
        }
    }
}
