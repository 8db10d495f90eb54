//! Keys whose events are not handled any more.

use crate::sync::{AtomicBool, Mutex, Ordering};
use core::hash::Hash;
use hashbrown::HashSet;

/// Keys whose events are not handled any more.
pub(crate) struct Poisoned<K> {
    any: AtomicBool,
    keys: Mutex<HashSet<K>>,
}

impl<K> Poisoned<K> {
    pub(crate) fn none() -> Self {
        Self { any: AtomicBool::new(false), keys: Mutex::new(HashSet::new()) }
    }
}

impl<K: Eq + Hash + Clone> Poisoned<K> {
    /// Events that touch `keys` are not handled any more.
    pub(crate) fn add<'k>(&self, keys: impl Iterator<Item = &'k K>)
    where
        K: 'k,
    {
        crate::lock(&self.keys).extend(keys.cloned());
        self.any.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        crate::lock(&self.keys).contains(key)
    }
}
