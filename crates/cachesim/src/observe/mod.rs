//! Observers: what is watched while references run, beyond the plain counts.
//!
//! A [`Hierarchy`](crate::Hierarchy) is generic over its observer, so that one that watches nothing ([`Nothing`])
//! costs nothing. Two observers at once are a pair of them.
//!
//! | observer | answers |
//! |---|---|
//! | [`ByOwner`] | who asks, and who misses |
//! | [`MissKinds`] | whether a miss is the first of its line, for want of capacity, a conflict, or of what was taken away |
//! | [`MissCauses`] | who is to blame for a miss: the owner itself, another, another processor |
//! | [`Displacements`] | which line displaces which, whose displaces whose, and who misses it later |
//! | [`Unused`] | how much of what is fetched nobody asks for |

mod associative;
mod causes;
mod displacements;
mod kinds;
mod owners;
mod unused;

pub use causes::{Blame, BlameCounts, MissCauses};
pub use displacements::{Displacements, LinePair, OwnerPair};
pub use kinds::{MissCounts, MissKind, MissKinds};
pub use owners::{ByOwner, OwnerCounts};
pub use unused::{Unused, Use};

use crate::{CacheId, Cause, Owner};

/// A cache was asked for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// The cache.
    pub cache: CacheId,
    /// The line: its address divided by the cache's line size.
    pub line: u64,
    /// Why.
    pub cause: Cause,
    /// On whose behalf.
    pub owner: Owner,
    /// Where in the line the bytes begin that are asked for.
    pub offset: u32,
    /// How many bytes of the line are asked for.
    pub bytes: u32,
    /// Whether the line was there.
    pub hit: bool,
    /// Whether the line is there now: not so after a store that missed a write-through cache.
    pub present: bool,
}

/// A cache lost a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// The cache.
    pub cache: CacheId,
    /// The line: its address divided by the cache's line size.
    pub line: u64,
    /// Why it went.
    pub reason: Reason,
}

/// Why a cache lost a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Another line needed its place.
    Displaced {
        /// The other line.
        by: u64,
        /// On whose behalf that came.
        owner: Owner,
    },
    /// Another processor wrote to it.
    Invalidated {
        /// On whose behalf.
        owner: Owner,
    },
    /// An inclusive cache further away lost it.
    Excluded,
    /// The caller emptied the cache.
    Flushed,
}

/// Watches a hierarchy's caches. What an access displaces is reported after the access.
pub trait Observer {
    /// Whether anything is watched. Without it, whole traces take a faster way.
    const WATCHES: bool = true;

    /// A cache was asked for a line.
    #[inline(always)]
    fn looked_up(&mut self, lookup: &Lookup) {
        let _ = lookup;
    }

    /// A cache lost a line.
    #[inline(always)]
    fn lost(&mut self, loss: &Loss) {
        let _ = loss;
    }
}

/// Watches nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nothing;

impl Observer for Nothing {
    const WATCHES: bool = false;
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    const WATCHES: bool = A::WATCHES || B::WATCHES;

    #[inline(always)]
    fn looked_up(&mut self, lookup: &Lookup) {
        self.0.looked_up(lookup);
        self.1.looked_up(lookup);
    }

    #[inline(always)]
    fn lost(&mut self, loss: &Loss) {
        self.0.lost(loss);
        self.1.lost(loss);
    }
}
