//! Keys whose events are not handled any more.

use crate::sync::Mutex;
use core::hash::Hash;
use hashbrown::HashSet;

/// Keys whose events are not handled any more.
pub(crate) struct Poisoned<K>(Mutex<HashSet<K>>);

impl<K> Poisoned<K> {
    pub(crate) fn none() -> Self {
        Self(Mutex::new(HashSet::new()))
    }
}

impl<K: Eq + Hash + Clone> Poisoned<K> {
    /// Events that touch `keys` are not handled any more.
    pub(crate) fn add<'k>(&self, keys: impl Iterator<Item = &'k K>)
    where
        K: 'k,
    {
        crate::lock(&self.0).extend(keys.cloned());
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        crate::lock(&self.0).contains(key)
    }
}
