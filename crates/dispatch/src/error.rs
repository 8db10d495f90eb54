//! What can go wrong.

/// An event was not taken in; here it is again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DispatchError<E> {
    /// There is no room, and the dispatcher [rejects](crate::Overload::Reject) what there is none for.
    #[error("the queue is full; expected to dispatch slower, or a dispatcher with a larger capacity")]
    Full(E),
    /// The dispatcher is closed.
    #[error("the dispatcher is closed")]
    Closed(E),
}

impl<E> DispatchError<E> {
    /// The event.
    pub fn into_event(self) -> E {
        match self {
            Self::Full(event) | Self::Closed(event) => event,
        }
    }
}

/// A dispatcher cannot be built so.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// There is nobody to handle events.
    #[error("a dispatcher of no workers; expected at least one")]
    NoWorkers,
    /// Queues need some room.
    #[error("queues for {0} events; expected at least 2, and at most 2^31")]
    Capacity(usize),
    /// A key is told apart by some bits.
    #[error("keys told apart by {0} bits; expected 1 to 30")]
    PartitionBits(u32),
    /// The system has no thread to give.
    #[error("cannot start a worker: {0}")]
    NoThread(String),
}
