//! What stands in a strand.

use crate::caught::{drop_caught, drop_key};
use crate::joint::Joint;
use crate::sync::Arc;

/// An event on its way, with the hash that orders it. Entries with equal hashes run one after the other.
pub(crate) struct Entry<K, E> {
    pub(crate) hash: u64,
    /// When it was dispatched, by the processor's clock, if it is one of the sample; otherwise 0.
    pub(crate) came: u64,
    pub(crate) work: Work<K, E>,
}

/// What is to be done.
pub(crate) enum Work<K, E> {
    /// An event with one key.
    Keyed(K, E),
    /// The same, counted in this slot of the strand's table of keys.
    Counted(K, E, u32),
    /// The freshest event of a key, which is kept in this slot of that table.
    Freshest(K, u32),
    /// An event without a key.
    Unordered(E),
    /// One of the keys of an event with several.
    Part(Arc<Joint<K, E>>),
}

impl<K, E> Work<K, E> {
    /// Drops it. Key and event may both panic, and two panics at once would end the process.
    pub(crate) fn drop_caught(self) {
        match self {
            Self::Keyed(key, event) | Self::Counted(key, event, _) => {
                drop_key(key);
                drop_caught(event);
            }
            Self::Freshest(key, _) => drop_key(key),
            Self::Unordered(event) => drop_caught(event),
            Self::Part(joint) => drop_caught(joint),
        }
    }
}
