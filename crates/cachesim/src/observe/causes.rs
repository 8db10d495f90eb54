//! Who is to blame for a miss: nobody, another cache, the owner itself, another one, or another processor's store.

use super::{Lookup, Loss, Observer, Reason};
use crate::{CacheId, Cause, Description, Owner};
use core::ops::AddAssign;
use hashbrown::{HashMap, HashSet};

/// How a line came to be missing in a cache.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Blame {
    /// No cache of that level ever had it.
    Nobody,
    /// It was never here, but in another cache of that level: whoever refers to it came from there, or shares it.
    Elsewhere,
    /// What the same owner brought in displaced it.
    Itself,
    /// What another owner brought in displaced it.
    Another,
    /// Another processor wrote to it.
    Invalidated,
    /// An inclusive cache lost it, or the caller emptied the cache.
    Taken,
}

impl Blame {
    /// All of them, in the order of [`BlameCounts`]' table.
    pub const ALL: [Self; 6] =
        [Self::Nobody, Self::Elsewhere, Self::Itself, Self::Another, Self::Invalidated, Self::Taken];
}

/// Numbers of misses by who is to blame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlameCounts([u64; Blame::ALL.len()]);

impl BlameCounts {
    /// Misses of that cause.
    #[must_use]
    pub const fn get(&self, blame: Blame) -> u64 {
        self.0[blame as usize]
    }
}

impl AddAssign for BlameCounts {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(all, one)| *all += one);
    }
}

/// Watches who is to blame for each owner's misses. Counted are the lines that [`MissKinds`](super::MissKinds) counts.
#[derive(Clone, Debug)]
pub struct MissCauses {
    /// For each cache, who displaced what is not there any more.
    gone: Vec<HashMap<u64, Gone>>,
    /// For each cache, the set in `seen` that it shares with the others of its level and kind.
    level_of: Vec<usize>,
    /// For each level and kind, the lines that a cache of it has had.
    seen: Vec<HashSet<u64>>,
    counts: HashMap<(CacheId, Owner), BlameCounts>,
}

/// Why a line went.
#[derive(Clone, Copy, Debug)]
enum Gone {
    Displaced(Owner),
    Invalidated,
    Taken,
}

impl MissCauses {
    /// For the caches of `description`.
    #[must_use]
    pub fn new(description: &Description) -> Self {
        let mut levels = Vec::new();
        let mut level_of = Vec::new();
        for cache in &description.caches {
            let level = (cache.level, cache.kind);
            let known = levels.iter().position(|&other| other == level);
            level_of.push(known.unwrap_or(levels.len()));
            if known.is_none() {
                levels.push(level);
            }
        }
        Self {
            gone: vec![HashMap::new(); description.caches.len()],
            level_of,
            seen: vec![HashSet::new(); levels.len()],
            counts: HashMap::new(),
        }
    }

    /// The misses of `owner` in `cache`.
    #[must_use]
    pub fn of_owner(&self, cache: CacheId, owner: Owner) -> BlameCounts {
        self.counts.get(&(cache, owner)).copied().unwrap_or_default()
    }
}

impl Observer for MissCauses {
    #[inline]
    fn looked_up(&mut self, lookup: &Lookup) {
        if lookup.hit || !lookup.present {
            return;
        }
        let at = lookup.cache.index();
        let is_new = self.seen[self.level_of[at]].insert(lookup.line);
        let blame = match self.gone[at].remove(&lookup.line) {
            _ if is_new => Blame::Nobody,
            None => Blame::Elsewhere,
            Some(Gone::Displaced(owner)) if owner == lookup.owner => Blame::Itself,
            Some(Gone::Displaced(_)) => Blame::Another,
            Some(Gone::Invalidated) => Blame::Invalidated,
            Some(Gone::Taken) => Blame::Taken,
        };
        if lookup.cause != Cause::Prefetch {
            self.counts.entry((lookup.cache, lookup.owner)).or_default().0[blame as usize] += 1;
        }
    }

    fn lost(&mut self, loss: &Loss) {
        let gone = match loss.reason {
            Reason::Displaced { owner, .. } => Gone::Displaced(owner),
            Reason::Invalidated { .. } => Gone::Invalidated,
            Reason::Excluded | Reason::Flushed => Gone::Taken,
        };
        self.gone[loss.cache.index()].insert(loss.line, gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hierarchy, Kind, Reference, machines};
    use warmcore_units::CpuId;

    /// The first data cache of the SGI 4D/340's first processor, of 64 KiB.
    const FIRST: CacheId = CacheId(0);

    #[test]
    fn every_miss_has_one_to_blame() {
        let machine = machines::sgi_4d_340();
        let mut caches = Hierarchy::observed(&machine, MissCauses::new(&machine)).unwrap();
        let mut access = |cpu: u32, kind: Kind, address: u64, owner: u32| {
            caches.access(CpuId(cpu), Reference::new(kind, address, 4).by(Owner(owner)));
        };
        let size = 64 * 1024;
        access(0, Kind::Load, 0, 1); // Nobody's fault.
        access(0, Kind::Load, size, 1); // Nobody's, and displaces the first.
        access(0, Kind::Load, 0, 1); // Its own.
        access(0, Kind::Load, 2 * size, 2); // Displaces it.
        access(0, Kind::Load, 0, 1); // Another's.
        access(1, Kind::Store, 0, 1); // Elsewhere for the other processor; takes it away here.
        access(0, Kind::Load, 0, 1); // Invalidated.
        let counts = caches.observer().of_owner(FIRST, Owner(1));
        assert_eq!(Blame::ALL.map(|blame| counts.get(blame)), [2, 0, 1, 1, 1, 0]);
        let second = machine.caches.iter().position(|cache| cache.shared_by.contains(CpuId(1)));
        let counts = caches.observer().of_owner(CacheId(second.unwrap() as u32), Owner(1));
        assert_eq!(Blame::ALL.map(|blame| counts.get(blame)), [0, 1, 0, 0, 0, 0]);
    }
}
