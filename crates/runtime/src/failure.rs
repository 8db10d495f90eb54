//! What ended a run early. The first failure counts: others follow from it.

use crate::control::{Control, Order};
use crate::driver::QueueError;
use crate::run_error::RunError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a run ended early.
pub(crate) enum Cause {
    /// A handler panicked and asked for the end.
    Handler,
    /// A queue receives nothing any more.
    Queue(QueueError),
    /// A worker could not start, or panicked.
    Worker(RunError),
}

/// The first failure of a run, if there was one.
#[derive(Default)]
pub(crate) struct Failure(Mutex<Option<Cause>>);

impl Failure {
    /// Ends the run because of `cause`.
    pub(crate) fn record(&self, cause: Cause, control: &Control) {
        self.lock().get_or_insert(cause);
        control.give(Order::Leave);
    }

    /// What ended the run early.
    pub(crate) fn take(&self) -> Option<Cause> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Cause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
