//! What is to be dispatched, and why it did not come in.

use crate::caught::{drop_caught, drop_key};
use crate::error::DispatchError;
use crate::options::Binding;
use crate::shared::{SHUT, Shared};
use crate::waits::{Holds, Place};
use core::hash::{BuildHasher, Hash};

/// What is to be dispatched.
pub(crate) enum Arrival<K, E> {
    Keyed { hash: u64, key: K, event: E },
    Freshest { hash: u64, key: K, event: E },
    Several { keys: Box<[K]>, hashes: Box<[u64]>, event: E },
    Unordered { event: E },
    Sequential { event: E },
}

/// Why something did not come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// There is no room in the dispatcher.
    Full,
    /// There is no room in this strand.
    StrandFull(usize),
    /// The key, which is in this strand, has as many events waiting as it may.
    KeyFull(usize),
    Closed,
}

impl<K, E> Arrival<K, E> {
    /// The event. Its keys are gone before it is returned, one by one: what is returned while a drop panics is leaked.
    pub(crate) fn into_event(self) -> E {
        match self {
            Self::Keyed { key, event, .. } | Self::Freshest { key, event, .. } => {
                drop_key(key);
                event
            }
            Self::Several { keys, event, .. } => {
                keys.into_iter().for_each(drop_caught);
                event
            }
            Self::Unordered { event } | Self::Sequential { event } => event,
        }
    }

    pub(crate) fn event(&self) -> &E {
        match self {
            Self::Keyed { event, .. }
            | Self::Freshest { event, .. }
            | Self::Several { event, .. }
            | Self::Unordered { event }
            | Self::Sequential { event } => event,
        }
    }

    pub(crate) fn refused(self, why: Why) -> DispatchError<E> {
        match why {
            Why::Full | Why::StrandFull(_) => DispatchError::Full(self.into_event()),
            Why::KeyFull(_) => DispatchError::KeyFull(self.into_event()),
            Why::Closed => DispatchError::Closed(self.into_event()),
        }
    }
}

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    #[inline]
    pub(crate) fn keyed(&self, key: K, event: E) -> Arrival<K, E> {
        Arrival::Keyed { hash: self.hasher.hash_one(&key), key, event }
    }

    pub(crate) fn freshest(&self, key: K, event: E) -> Arrival<K, E> {
        Arrival::Freshest { hash: self.hasher.hash_one(&key), key, event }
    }

    pub(crate) fn several(&self, keys: impl IntoIterator<Item = K>, event: E) -> Arrival<K, E> {
        let mut distinct: Vec<(u64, K)> = Vec::new();
        for key in keys {
            let hash = self.hasher.hash_one(&key);
            if !distinct.iter().any(|(other, same)| *other == hash && *same == key) {
                distinct.push((hash, key));
            }
        }
        if distinct.len() <= 1 {
            return match distinct.pop() {
                Some((hash, key)) => Arrival::Keyed { hash, key, event },
                None => Arrival::Unordered { event },
            };
        }
        let mut hashes: Vec<u64> = distinct.iter().map(|&(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let keys = distinct.into_iter().map(|(_, key)| key).collect();
        Arrival::Several { keys, hashes: hashes.into(), event }
    }

    /// Where what arrives will be handled.
    pub(crate) fn place_of(&self, arrival: &Arrival<K, E>) -> Place {
        let needs = match arrival {
            Arrival::Keyed { hash, .. } | Arrival::Freshest { hash, .. } => Holds::Key(*hash),
            Arrival::Several { hashes, .. } => Holds::Keys(hashes.clone()),
            Arrival::Unordered { .. } => Holds::Nothing,
            Arrival::Sequential { .. } => Holds::All,
        };
        // One that replaces another may have a place before what waits for this handler.
        let is_in_order = !matches!(arrival, Arrival::Freshest { .. });
        self.place_that(if is_in_order { self.with_what_is_before(needs) } else { needs })
    }

    /// Where an event with `key` will be handled.
    pub(crate) fn place_of_key(&self, key: &K) -> Place {
        self.place_that(self.with_what_is_before(Holds::Key(self.hasher.hash_one(key))))
    }

    /// What an event needs that is dispatched now: what the handler on this thread holds, too, if it comes to wait for that.
    fn with_what_is_before(&self, needs: Holds) -> Holds {
        match self.worker_here() {
            // A sequential event that has shut the gate waits for this handler.
            Some(me) if self.has(SHUT) || self.waits.doing(me).is_behind(&needs) => {
                self.waits.doing(me).with_own(&needs)
            }
            _ => needs,
        }
    }

    fn place_that(&self, needs: Holds) -> Place {
        let home = |&hash: &u64| self.ready.home(self.strand_of(hash));
        let workers = match (self.settings.binding, &needs) {
            (Binding::Dynamic, _) => Box::default(),
            (Binding::Static, Holds::Key(hash)) => Box::from([home(hash)]),
            (Binding::Static, Holds::Keys(hashes)) => hashes.iter().map(home).collect(),
            // An unordered event may fall to any worker, and then waits for that one.
            (Binding::Static, Holds::Nothing | Holds::All) => (0..self.attended.len()).collect(),
        };
        Place { waits: self.waits.clone(), needs, workers }
    }
}
