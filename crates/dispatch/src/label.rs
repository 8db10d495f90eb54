//! What an event says of what it touches.

use crate::joint::{Barrier, KeySet};
use crate::sync::Arc;

/// What stands before an event in a queue.
#[derive(Debug)]
pub(crate) enum Label<K, E> {
    /// It touches the partition with this key.
    Key(Tagged<K>),
    /// It touches nothing that others touch.
    Unordered,
    /// It touches these partitions, which may lie in several queues. The event is with them.
    Keys(Arc<KeySet<K, E>>),
    /// It runs alone. The event is with it.
    Sequential(Arc<Barrier<E>>),
}

/// A key and some bits of its hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tagged<K> {
    pub(crate) tag: u32,
    pub(crate) key: K,
}

impl<K: Eq> Tagged<K> {
    /// Whether both name the same partition. Tags tell most that do not.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.tag == other.tag && self.key == other.key
    }
}

impl<K, E> Label<K, E> {
    /// Whether the event itself is in the queue.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        matches!(self, Self::Key(_) | Self::Unordered)
    }

    /// Whether it belongs to an event that could not be put into all its queues.
    pub(crate) fn is_withdrawn(&self) -> bool {
        matches!(self, Self::Keys(set) if set.is_withdrawn())
    }
}
