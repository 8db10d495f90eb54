//! Who displaces whom: by line, by owner, and in misses that come of it.

use super::{Lookup, Loss, Observer, Reason};
use crate::{CacheId, Owner};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// Watches which lines make way for which, who brought them, and who misses them later.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Displacements {
    /// Who brought a line that is there.
    brought: HashMap<(CacheId, u64), Owner>,
    /// Who displaced a line that is not there.
    displaced: HashMap<(CacheId, u64), Owner>,
    lines: HashMap<(CacheId, LinePair), u64>,
    owners: BTreeMap<(CacheId, OwnerPair), u64>,
    misses: BTreeMap<(CacheId, OwnerPair), u64>,
}

/// A line that made way for another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinePair {
    /// The line that went: its address divided by the cache's line size.
    pub victim: u64,
    /// The line that came.
    pub by: u64,
}

/// An owner whose line made way for another's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OwnerPair {
    /// Who brought the line that went; of misses, who missed it.
    pub victim: Owner,
    /// On whose behalf the other came.
    pub by: Owner,
}

impl Displacements {
    /// How often lines of each owner made way for lines of each, in `cache`.
    pub fn owners(&self, cache: CacheId) -> impl Iterator<Item = (OwnerPair, u64)> + '_ {
        self.owners.iter().filter(move |&(&(other, _), _)| other == cache).map(|(&(_, pair), &n)| (pair, n))
    }

    /// How often each owner missed a line that was there before each had displaced it, in `cache`.
    pub fn misses(&self, cache: CacheId) -> impl Iterator<Item = (OwnerPair, u64)> + '_ {
        self.misses.iter().filter(move |&(&(other, _), _)| other == cache).map(|(&(_, pair), &n)| (pair, n))
    }

    /// How often each line made way for each, in `cache`: the most frequent first, equal ones by number.
    #[must_use]
    pub fn lines(&self, cache: CacheId) -> Vec<(LinePair, u64)> {
        let here = self.lines.iter().filter(|&(&(other, _), _)| other == cache);
        let mut pairs: Vec<(LinePair, u64)> = here.map(|(&(_, pair), &n)| (pair, n)).collect();
        pairs.sort_unstable_by_key(|&(pair, n)| (std::cmp::Reverse(n), pair));
        pairs
    }
}

impl Observer for Displacements {
    fn looked_up(&mut self, lookup: &Lookup) {
        if lookup.hit || !lookup.present {
            return;
        }
        let line = (lookup.cache, lookup.line);
        self.brought.insert(line, lookup.owner);
        if let Some(by) = self.displaced.remove(&line) {
            let pair = OwnerPair { victim: lookup.owner, by };
            *self.misses.entry((lookup.cache, pair)).or_default() += 1;
        }
    }

    fn lost(&mut self, loss: &Loss) {
        let line = (loss.cache, loss.line);
        let brought = self.brought.remove(&line);
        let Reason::Displaced { by, owner } = loss.reason else { return };
        let lines = LinePair { victim: loss.line, by };
        *self.lines.entry((loss.cache, lines)).or_default() += 1;
        let owners = OwnerPair { victim: brought.unwrap_or_default(), by: owner };
        *self.owners.entry((loss.cache, owners)).or_default() += 1;
        self.displaced.insert(line, owner);
    }
}
