//! Accesses and misses by owner.

use super::{Lookup, Observer};
use crate::{CacheId, Cause, Owner};
use std::collections::BTreeMap;

/// How often each owner asked each cache, and how often it missed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ByOwner {
    counts: BTreeMap<(CacheId, Owner), OwnerCounts>,
}

/// What one owner asked of one cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnerCounts {
    accesses: [u64; Cause::COUNT],
    misses: [u64; Cause::COUNT],
}

impl OwnerCounts {
    /// Lines it asked for because of `cause`.
    #[must_use]
    pub const fn accesses(&self, cause: Cause) -> u64 {
        self.accesses[cause.index()]
    }

    /// Lines of these that were not there.
    #[must_use]
    pub const fn misses(&self, cause: Cause) -> u64 {
        self.misses[cause.index()]
    }
}

impl ByOwner {
    /// What `owner` asked of `cache`.
    #[must_use]
    pub fn get(&self, cache: CacheId, owner: Owner) -> OwnerCounts {
        self.counts.get(&(cache, owner)).copied().unwrap_or_default()
    }

    /// All that was asked, by cache and then by owner.
    pub fn iter(&self) -> impl Iterator<Item = (CacheId, Owner, &OwnerCounts)> {
        self.counts.iter().map(|(&(cache, owner), counts)| (cache, owner, counts))
    }
}

impl Observer for ByOwner {
    fn looked_up(&mut self, lookup: &Lookup) {
        let counts = self.counts.entry((lookup.cache, lookup.owner)).or_default();
        counts.accesses[lookup.cause.index()] += 1;
        counts.misses[lookup.cause.index()] += u64::from(!lookup.hit);
    }
}
