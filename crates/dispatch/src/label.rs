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
    /// Whether keys are told apart by themselves; by their tags alone, if not. The values that it
    /// cannot have tell the other labels from a key, so that a label is no larger than this.
    pub(crate) exact: bool,
    /// Whether the event is kept with the [key](crate::keyed), where a newer one may replace it.
    pub(crate) freshest: bool,
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
    /// Whether the event itself is in the queue, rather than with its key or its other queues.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        match self {
            Self::Key(key) => !key.freshest,
            Self::Unordered => true,
            Self::Keys(_) | Self::Sequential(_) => false,
        }
    }

    /// The key of an event that has one.
    #[inline]
    pub(crate) const fn key(&self) -> &[Tagged<K>] {
        match self {
            Self::Key(key) => core::slice::from_ref(key),
            Self::Unordered | Self::Keys(_) | Self::Sequential(_) => &[],
        }
    }

    /// Whether nothing is left to be done when the label of a plain event is forgotten.
    #[inline]
    pub(crate) const fn is_plain_trivial() -> bool {
        !core::mem::needs_drop::<K>()
    }

    /// Whether it belongs to an event that could not be put into all its queues.
    pub(crate) fn is_withdrawn(&self) -> bool {
        match self {
            Self::Keys(set) => set.is_withdrawn(),
            Self::Sequential(barrier) => barrier.is_withdrawn(),
            Self::Key(_) | Self::Unordered => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_no_larger_than_a_tagged_key() {
        assert_eq!(size_of::<Label<u64, u64>>(), 16);
        assert_eq!(size_of::<Label<u64, u64>>(), size_of::<Tagged<u64>>());
    }
}
