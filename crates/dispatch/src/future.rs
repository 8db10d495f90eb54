//! Dispatching where there may be no room, without blocking a thread.

use crate::arrival::{Arrival, Why};
use crate::error::DispatchError;
use crate::options::Overload;
use crate::shared::{Shared, is_worker};
use crate::waiters::WaiterId;
use core::future::Future;
use core::hash::Hash;
use core::pin::Pin;
use core::task::{Context, Poll};

/// An event on its way: a future that is ready when the event is in, or cannot come in. If it is dropped
/// before, so is the event. Under [`Overload::Block`] it waits for room, unless a handler polls it, or a handler's future.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Dispatching<'a, K, E> {
    shared: &'a Shared<K, E>,
    arrival: Option<Arrival<K, E>>,
    /// Where its task waits: for what, and as which of those who do.
    waits: Option<(Why, WaiterId)>,
}

impl<'a, K, E> Dispatching<'a, K, E> {
    pub(crate) const fn new(shared: &'a Shared<K, E>, arrival: Arrival<K, E>) -> Self {
        Self { shared, arrival: Some(arrival), waits: None }
    }

    /// The task waits no longer.
    fn forget(&mut self) {
        if let Some((why, place)) = self.waits.take() {
            self.shared.room_of(why).forget(place);
        }
    }
}

impl<K, E> core::fmt::Debug for Dispatching<'_, K, E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Dispatching").field("waits", &self.waits.map(|(why, _)| why)).finish_non_exhaustive()
    }
}

// Nothing in it is ever pinned: the event moves out.
impl<K, E> Unpin for Dispatching<'_, K, E> {}

impl<K, E> Drop for Dispatching<'_, K, E> {
    fn drop(&mut self) {
        self.forget();
    }
}

impl<K: Eq + Hash + Clone, E> Future for Dispatching<'_, K, E> {
    type Output = Result<(), DispatchError<E>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = self.shared;
        loop {
            let arrival = self.arrival.take().expect("it is not polled after it was ready");
            let (why, arrival) = match shared.try_dispatch(arrival) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(refused) => refused,
            };
            match shared.settings.overload {
                _ if why == Why::Closed => return Poll::Ready(Err(arrival.refused(why))),
                Overload::Reject => return Poll::Ready(Err(arrival.refused(why))),
                // A handler never waits for room.
                Overload::Block if is_worker() => return Poll::Ready(Err(arrival.refused(why))),
                Overload::Shed => {
                    shared.shed();
                    return Poll::Ready(Ok(()));
                }
                Overload::Block => {}
            }
            // Another reason is another place.
            if self.waits.is_some_and(|(before, _)| before != why) {
                self.forget();
            }
            let mut place = self.waits.map(|(_, place)| place);
            let is_so =
                shared.room_of(why).leave(&mut place, context.waker(), || shared.may_try(why, &arrival));
            self.waits = place.map(|place| (why, place));
            self.arrival = Some(arrival);
            if !is_so {
                return Poll::Pending;
            }
        }
    }
}
