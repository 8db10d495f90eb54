//! What can go wrong.

use core::fmt;

/// An event was not taken in; here it is again. It need not be [`Debug`]: that of the error says why, and not which.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError<E> {
    /// There is no room, and the dispatcher [rejects](crate::Overload::Reject) what there is none for.
    #[error(
        "there is no room in the dispatcher, or in the strand of the key, which may take a quarter of it; expected to \
         fewer events at once, or a larger capacity"
    )]
    Full(E),
    /// The key has as many events waiting as it [may](crate::Builder::key_limit), and the dispatcher
    /// [rejects](crate::Overload::Reject) more.
    #[error(
        "the key has as many events waiting as it may; expected fewer events of it at once, or a higher limit"
    )]
    KeyFull(E),
    /// The dispatcher is closed.
    #[error("the dispatcher is closed")]
    Closed(E),
}

impl<E> fmt::Debug for DispatchError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::KeyFull(_) => "KeyFull(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<E> DispatchError<E> {
    /// The event.
    pub fn into_event(self) -> E {
        match self {
            Self::Full(event) | Self::KeyFull(event) | Self::Closed(event) => event,
        }
    }

    /// The same, of what `change` makes of the event.
    pub(crate) fn map<F>(self, change: impl FnOnce(E) -> F) -> DispatchError<F> {
        match self {
            Self::Full(event) => DispatchError::Full(change(event)),
            Self::KeyFull(event) => DispatchError::KeyFull(change(event)),
            Self::Closed(event) => DispatchError::Closed(change(event)),
        }
    }
}

/// A dispatcher cannot be built so.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// Nobody would handle events, or too many would.
    #[error("a dispatcher of {0} workers; expected 1 to 4096")]
    Workers(usize),
    /// No event could ever come in, or too many.
    #[error("a capacity of {0} events; expected 1 to 2^31")]
    Capacity(usize),
    /// Keys need strands.
    #[error("{0} strands; expected 1 to 2^20")]
    Strands(usize),
    /// No event could ever come in.
    #[error("a limit of 0 events for each key; expected at least 1")]
    KeyLimit,
    /// No thread can be called so.
    #[error("the name {0:?} holds a NUL character; expected none")]
    Name(String),
    /// The system has no thread to give.
    #[error("cannot start a worker: {0}")]
    NoThread(String),
}

/// A handler was to wait for its own end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a handler cannot wait until all handlers of its dispatcher have ended; expected a call from another thread"
)]
pub struct WaitsForItself;

/// The state of a key is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a handler has the state of this key; expected another try, or an event whose handler drops it")]
pub struct InUse;

/// Why there is no result to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WaitError {
    /// The event was not handled: its handler panicked, or it was refused, shed, discarded, or replaced by a fresher one.
    #[error("the event was not handled")]
    NotHandled,
    /// A handler waits for an event of its own dispatcher that cannot be handled before it has ended.
    #[error(
        "a handler cannot wait for an event that is handled after it has ended; expected a wait on another thread, \
         an event of another key, or a worker that is free"
    )]
    WaitsForItself,
    /// A handler waits, and its own dispatcher was aborted meanwhile.
    #[error("the dispatcher whose handler waits was aborted")]
    Aborted,
}

impl From<crate::NotHandled> for WaitError {
    fn from(_: crate::NotHandled) -> Self {
        Self::NotHandled
    }
}
