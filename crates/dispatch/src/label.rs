//! What an event says of what it touches.

use crate::joint::{Barrier, KeySet};
use crate::sync::Arc;

/// What is put into a queue before an event.
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

/// A label in its queue.
#[derive(Debug)]
pub(crate) enum Seen<'a, K, E> {
    Key(Tagged<&'a K>),
    Unordered,
    Keys(&'a Arc<KeySet<K, E>>),
    Sequential(&'a Arc<Barrier<E>>),
}

/// A key and some bits of its hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tagged<K> {
    /// Less than 2 to the [`TAG_BITS`], with [`IS_TAG`] set.
    pub(crate) tag: u32,
    /// Whether the event is kept with the [key](crate::keyed), where a newer one may replace it.
    pub(crate) freshest: bool,
    pub(crate) key: K,
}

/// Bits of a tag.
pub(crate) const TAG_BITS: u32 = 28;
/// In the place of a tag: no key.
pub(crate) const NOTHING: u32 = 0;
/// Likewise: several keys, or who knows what.
pub(crate) const MUCH: u32 = 1;
/// Likewise: all there is. An event that runs alone is next.
pub(crate) const ALL: u32 = 4;
/// Set in every tag, and so in none of these.
pub(crate) const IS_TAG: u32 = 2;

impl<K: Eq> Tagged<K> {
    /// Whether both name the same partition. Tags tell most that do not.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.tag == other.tag && self.key == other.key
    }
}

impl<K, E> Label<K, E> {
    /// That of an event that has one key, and stands in its place itself.
    #[inline(always)]
    pub(crate) const fn key(tag: u32, key: K) -> Self {
        Self::Key(Tagged { tag, freshest: false, key })
    }

    /// Whether nothing is left to be done when the label of a plain event is forgotten.
    #[inline]
    pub(crate) const fn is_plain_trivial() -> bool {
        !core::mem::needs_drop::<K>()
    }
}

impl<K, E> Clone for Seen<'_, K, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, E> Copy for Seen<'_, K, E> {}

impl<'a, K, E> Seen<'a, K, E> {
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
    pub(crate) const fn key(&self) -> &'a [K] {
        match self {
            Self::Key(key) => core::slice::from_ref(key.key),
            Self::Unordered | Self::Keys(_) | Self::Sequential(_) => &[],
        }
    }

    /// All keys that the event touches, but for one that touches all there are.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Tagged<&'a K>> {
        let (one, several) = match *self {
            Self::Key(key) => (Some(key), None),
            Self::Keys(set) => (None, Some(set.touched.iter())),
            Self::Unordered | Self::Sequential(_) => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten())
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

/// Several keys.
#[derive(Clone, Debug)]
pub(crate) struct Touched<K> {
    tags: Box<[u32]>,
    pub(crate) keys: Box<[K]>,
}

impl<K> Touched<K> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Tagged<&K>> {
        self.tags.iter().zip(&self.keys).map(|(&tag, key)| Tagged { tag, freshest: false, key })
    }
}

impl<K> FromIterator<Tagged<K>> for Touched<K> {
    fn from_iter<I: IntoIterator<Item = Tagged<K>>>(keys: I) -> Self {
        let (tags, keys): (Vec<u32>, Vec<K>) = keys.into_iter().map(|key| (key.tag, key.key)).unzip();
        Self { tags: tags.into(), keys: keys.into() }
    }
}
