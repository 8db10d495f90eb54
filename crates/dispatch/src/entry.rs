//! An event on its way into queues.

use crate::error::DispatchError;
use crate::label::{Tagged, Touched};
use crate::ring::Refused;

/// An event on its way into queues.
pub(crate) enum Entry<K, E> {
    /// Into one.
    Plain { queue: usize, label: Plain<K>, event: E },
    /// Into those of several keys.
    Keys { touched: Touched<K>, queues: Box<[usize]>, event: E },
    /// Into all.
    Sequential { event: E },
}

/// What an event touches that stands in one queue.
pub(crate) enum Plain<K> {
    Key(Tagged<K>),
    Unordered,
}

impl<K, E> Entry<K, E> {
    pub(crate) fn into_event(self) -> E {
        match self {
            Self::Plain { event, .. } | Self::Keys { event, .. } | Self::Sequential { event } => event,
        }
    }

    /// It could not be put in, and is given back.
    pub(crate) fn refused(self, why: Why) -> DispatchError<E> {
        let event = self.into_event();
        match why {
            Why::Full(_) => DispatchError::Full(event),
            Why::KeyFull(_) => DispatchError::KeyFull(event),
            Why::Closed => DispatchError::Closed(event),
        }
    }
}

/// Why something could not be put in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// This queue has no room.
    Full(usize),
    /// The key, which belongs to this queue, has as many events as it may.
    KeyFull(usize),
    Closed,
}

impl Why {
    pub(crate) fn of(refused: Refused, queue: usize) -> Self {
        match refused {
            Refused::Full => Self::Full(queue),
            Refused::Closed => Self::Closed,
        }
    }
}
