//! What ended a run early. The first failure counts: others follow from it. Whoever waits for the run learns of it
//! at once.

use crate::control::{Control, Order};
use crate::driver::QueueError;
use crate::run_error::RunError;
use core::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why a run ended early.
pub(crate) enum Cause {
    /// A handler panicked and asked for the end.
    Handler,
    /// A queue receives nothing any more.
    Queue(QueueError),
    /// A worker could not start, or panicked.
    Worker(RunError),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handler => RunError::Handler.fmt(f),
            Self::Queue(error) => error.fmt(f),
            Self::Worker(error) => error.fmt(f),
        }
    }
}

/// The first failure of a run, if there was one.
#[derive(Default)]
pub(crate) struct Failure {
    first: Mutex<Option<Cause>>,
    failed: Condvar,
}

impl Failure {
    /// Ends the run because of `cause`.
    pub(crate) fn record(&self, cause: Cause, control: &Control) {
        let mut first = self.lock();
        first.get_or_insert(cause);
        // With the lock held, so that nobody misses it between the check and the wait.
        control.give(Order::Leave);
        drop(first);
        self.failed.notify_all();
    }

    /// Waits for up to `longest`, or until the run has failed. Returns whether workers are to leave.
    pub(crate) fn wait(&self, control: &Control, longest: Duration) -> bool {
        let goes_on = |_: &mut Option<Cause>| control.order() != Order::Leave;
        drop(self.failed.wait_timeout_while(self.lock(), longest, goes_on));
        control.order() == Order::Leave
    }

    /// What ended the run early, in words.
    pub(crate) fn message(&self) -> Option<String> {
        self.lock().as_ref().map(Cause::to_string)
    }

    /// What ended the run early.
    pub(crate) fn take(&self) -> Option<Cause> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Cause>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
