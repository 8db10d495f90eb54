//! A place for the result of an event, for which a thread or a task waits.

use crate::caught::{caught, drop_caught};
use crate::error::WaitError;
use crate::slow::{SAYS, SlowWait};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard};
use crate::waits::{self, Place, Waits};
use core::mem::take;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::PoisonError;
use std::time::Instant;

/// A handler that waits looks so often whether its dispatcher was aborted.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

pub(crate) struct Slot<R> {
    state: Mutex<State<R>>,
    told: Condvar,
}

struct State<R> {
    outcome: Outcome<R>,
    waker: Option<Waker>,
    /// Where the event will be handled, if that is known.
    place: Option<Place>,
    /// The worker of that dispatcher which waits, if one does.
    waiter: Option<usize>,
}

#[derive(Default)]
enum Outcome<R> {
    Open,
    Result(R),
    /// It was not handled, or the result was taken.
    #[default]
    None,
}

/// Who is to have the result. One that is dropped says that there is none.
pub(crate) struct Sender<R>(Arc<Slot<R>>);

/// A new slot, and who fills it.
pub(crate) fn new<R>() -> (Sender<R>, Arc<Slot<R>>) {
    let state = State { outcome: Outcome::Open, waker: None, place: None, waiter: None };
    let slot = Arc::new(Slot { state: Mutex::new(state), told: Condvar::new() });
    (Sender(slot.clone()), slot)
}

impl<R> Sender<R> {
    pub(crate) fn send(self, result: R) {
        self.0.fill(Outcome::Result(result));
    }

    /// The event will be handled at `place`; or nobody knows where.
    pub(crate) fn note(&self, place: Option<Place>) {
        crate::lock(&self.0.state).place = place;
    }
}

impl<R> Drop for Sender<R> {
    fn drop(&mut self) {
        self.0.fill(Outcome::None);
    }
}

impl<R> Slot<R> {
    /// Fills the slot, unless it was filled before.
    fn fill(&self, outcome: Outcome<R>) {
        let mut state = crate::lock(&self.state);
        if !matches!(state.outcome, Outcome::Open) {
            return;
        }
        let waits = state.waiter.and(state.place.as_ref()).map(|place| place.waits.clone());
        // A worker that waits is taken out of the table before it can see the result. The lock of the table comes first.
        if let Some(waits) = waits {
            drop(state);
            let mut awaited = waits.lock();
            state = crate::lock(&self.state);
            if let Some(worker) = state.waiter.take() {
                awaited[worker] = None;
            }
            state.outcome = outcome;
        } else {
            state.outcome = outcome;
        }
        let waker = state.waker.take();
        drop(state);
        self.told.notify_all();
        // A waker is a task's own, and may panic.
        drop_caught(waker.map(|waker| caught(|| waker.wake())));
    }

    /// Waits for the result, `longest` at most; `None` if the time is over.
    pub(crate) fn wait(&self, longest: Option<Duration>) -> Option<Result<R, WaitError>> {
        let here = waits::here();
        let mut state = match &here {
            Some((waits, me)) => match self.wait_as_worker(waits, *me, longest.is_none()) {
                Ok(state) => state,
                Err(error) => return Some(Err(error)),
            },
            None => crate::lock(&self.state),
        };
        let since = Instant::now();
        let place = state.place.clone();
        let waits = place.as_ref().map(|place| &*place.waits);
        let slow = SlowWait::begin(waits, || "the result of an event".to_owned());
        loop {
            match take(&mut state.outcome) {
                Outcome::Result(result) => return Some(Ok(result)),
                Outcome::None => return Some(Err(WaitError::NotHandled)),
                Outcome::Open => state.outcome = Outcome::Open,
            }
            if let Some((waits, _)) = here.as_ref().filter(|(waits, _)| waits.is_aborted()) {
                drop(state);
                self.wait_no_longer(waits);
                return Some(Err(WaitError::Aborted));
            }
            let left = longest.map(|longest| longest.saturating_sub(since.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return None;
            }
            if SAYS && slow.left().is_zero() {
                // To describe what the workers do takes the lock of the table, which comes before this one.
                drop(state);
                slow.until(false);
                state = crate::lock(&self.state);
                continue;
            }
            let look_again = here.is_some().then_some(LOOK_AGAIN);
            let say = SAYS.then(|| slow.left());
            state = match left.into_iter().chain(look_again).chain(say).min() {
                Some(longest) => {
                    self.told.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.told.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// The worker `me` is to wait; it is entered into the table if it does so without a limit.
    ///
    /// # Errors
    /// If the event can only be handled when the worker's handler has ended.
    fn wait_as_worker(
        &self,
        waits: &Arc<Waits>,
        me: usize,
        for_ever: bool,
    ) -> Result<MutexGuard<'_, State<R>>, WaitError> {
        let mut awaited = waits.lock();
        let mut state = crate::lock(&self.state);
        if let (Outcome::Open, Some(place)) = (&state.outcome, &state.place)
            && Arc::ptr_eq(&place.waits, waits)
        {
            if waits.is_circle(&awaited, me, place) {
                return Err(WaitError::WaitsForItself);
            }
            if for_ever {
                awaited[me] = Some(place.clone());
                state.waiter = Some(me);
            }
        }
        Ok(state)
    }

    fn wait_no_longer(&self, waits: &Waits) {
        let mut awaited = waits.lock();
        if let Some(worker) = crate::lock(&self.state).waiter.take() {
            awaited[worker] = None;
        }
    }

    /// The result for a task, whose waker is left if it is not there yet.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Option<R>> {
        // What belongs to the task runs without the lock.
        let waker = waker.clone();
        let mut state = crate::lock(&self.state);
        match take(&mut state.outcome) {
            Outcome::Result(result) => Poll::Ready(Some(result)),
            Outcome::None => Poll::Ready(None),
            Outcome::Open => {
                state.outcome = Outcome::Open;
                let former = state.waker.replace(waker);
                drop(state);
                drop(former);
                Poll::Pending
            }
        }
    }
}
