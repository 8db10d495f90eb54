//! Misses by kind: the first of a line, those for want of capacity, conflicts (Hill & Smith, "Evaluating associativity
//! in CPU caches", IEEE Trans. Computers 38(12), 1989), and those of lines that were taken away.

use super::associative::Associative;
use super::{Lookup, Loss, Observer, Reason};
use crate::{CacheId, Cause, Description, Owner};
use core::ops::AddAssign;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Why a line was not there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MissKind {
    /// It had never been there.
    First,
    /// It had made way, and would have in a fully associative LRU cache of the same size too.
    Capacity,
    /// It had made way only because its set was full.
    Conflict,
    /// Another processor had written to it.
    Invalidated,
    /// An inclusive cache further away had lost it.
    Excluded,
    /// The cache had been emptied.
    Flushed,
}

impl MissKind {
    /// All kinds, in the order of [`MissCounts`]' table.
    pub const ALL: [Self; 6] =
        [Self::First, Self::Capacity, Self::Conflict, Self::Invalidated, Self::Excluded, Self::Flushed];
}

/// Numbers of misses by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MissCounts([u64; MissKind::ALL.len()]);

impl MissCounts {
    /// Misses of `kind`.
    #[must_use]
    pub const fn get(&self, kind: MissKind) -> u64 {
        self.0[kind as usize]
    }

    /// All misses.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All but first misses: the "replacement misses" of Mosberger et al. 1996, Table 6.
    #[must_use]
    pub fn replacement(&self) -> u64 {
        self.all() - self.get(MissKind::First)
    }
}

impl AddAssign for MissCounts {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(all, one)| *all += one);
    }
}

/// Watches why lines are not there. Counted are lines that come because of a reference or a drained store; stores that
/// pass by a write-through cache bring none, and are not counted there.
#[derive(Clone, Debug)]
pub struct MissKinds {
    caches: Vec<History>,
    counts: BTreeMap<(CacheId, Owner), MissCounts>,
}

/// What one cache once held.
#[derive(Clone, Debug)]
struct History {
    seen: HashSet<u64>,
    taken: HashMap<u64, MissKind>,
    associative: Associative,
}

impl MissKinds {
    /// For the caches of `description`.
    #[must_use]
    pub fn new(description: &Description) -> Self {
        let history = |lines: u64| History {
            seen: HashSet::new(),
            taken: HashMap::new(),
            associative: Associative::new(lines as usize),
        };
        let caches = description.caches.iter().map(|cache| history(cache.geometry.lines())).collect();
        Self { caches, counts: BTreeMap::new() }
    }

    /// The misses of all in `cache`.
    #[must_use]
    pub fn get(&self, cache: CacheId) -> MissCounts {
        let mut sum = MissCounts::default();
        self.iter().filter(|&(other, ..)| other == cache).for_each(|(_, _, counts)| sum += *counts);
        sum
    }

    /// The misses of `owner` in `cache`.
    #[must_use]
    pub fn of_owner(&self, cache: CacheId, owner: Owner) -> MissCounts {
        self.counts.get(&(cache, owner)).copied().unwrap_or_default()
    }

    /// All misses, by cache and then by owner.
    pub fn iter(&self) -> impl Iterator<Item = (CacheId, Owner, &MissCounts)> {
        self.counts.iter().map(|(&(cache, owner), counts)| (cache, owner, counts))
    }

    /// Counts anew; what caches once held stays known.
    pub fn reset(&mut self) {
        self.counts.clear();
    }
}

impl Observer for MissKinds {
    fn looked_up(&mut self, lookup: &Lookup) {
        let History { seen, taken, associative } = &mut self.caches[lookup.cache.index()];
        if !lookup.present {
            return;
        }
        let associative_hit = associative.access(lookup.line);
        if lookup.hit {
            return;
        }
        let kind = if seen.insert(lookup.line) {
            MissKind::First
        } else if let Some(kind) = taken.remove(&lookup.line) {
            kind
        } else if associative_hit {
            MissKind::Conflict
        } else {
            MissKind::Capacity
        };
        if lookup.cause != Cause::Prefetch {
            self.counts.entry((lookup.cache, lookup.owner)).or_default().0[kind as usize] += 1;
        }
    }

    fn lost(&mut self, loss: &Loss) {
        let History { taken, associative, .. } = &mut self.caches[loss.cache.index()];
        let kind = match loss.reason {
            Reason::Displaced { .. } => return,
            Reason::Invalidated { .. } => MissKind::Invalidated,
            Reason::Excluded => MissKind::Excluded,
            Reason::Flushed => MissKind::Flushed,
        };
        taken.insert(loss.line, kind);
        associative.remove(loss.line);
    }
}
