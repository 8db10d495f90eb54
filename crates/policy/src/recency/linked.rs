//! Recency of any number of members: a doubly linked list in an array, so that adding, removing any member
//! and finding either end take constant time.

use alloc::vec::Vec;

/// A subset of `0..n`, ordered from the least to the most recently added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Linked {
    /// Links of each member; the last entry is the anchor that closes the ring.
    links: Vec<Links>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Links {
    older: u32,
    newer: u32,
}

/// In place of a link: not in the set.
const ABSENT: u32 = u32::MAX;

impl Linked {
    /// An empty set of members of `0..n`.
    ///
    /// # Panics
    /// If `n` is `u32::MAX`.
    pub(super) fn empty(n: u32) -> Self {
        assert!(n < ABSENT, "a recency order holds fewer than {ABSENT} members");
        let mut links = alloc::vec![Links { older: ABSENT, newer: ABSENT }; n as usize];
        links.push(Links { older: n, newer: n });
        Self { links }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the constructor bounds the length")]
    #[inline]
    fn anchor(&self) -> u32 {
        (self.links.len() - 1) as u32
    }

    /// Whether `member` is in the set.
    #[inline]
    pub(super) fn contains(&self, member: u32) -> bool {
        self.links[member as usize].newer != ABSENT
    }

    /// Adds `member`, which must not be in the set, as the most recent.
    #[inline]
    pub(super) fn push(&mut self, member: u32) {
        debug_assert!(!self.contains(member));
        let anchor = self.anchor();
        let older = self.links[anchor as usize].older;
        self.links[member as usize] = Links { older, newer: anchor };
        self.links[older as usize].newer = member;
        self.links[anchor as usize].older = member;
    }

    /// Removes `member`, which must be in the set.
    #[inline]
    pub(super) fn remove(&mut self, member: u32) {
        debug_assert!(self.contains(member));
        let Links { older, newer } = self.links[member as usize];
        self.links[older as usize].newer = newer;
        self.links[newer as usize].older = older;
        self.links[member as usize] = Links { older: ABSENT, newer: ABSENT };
    }

    /// The member added last.
    #[inline]
    pub(super) fn newest(&self) -> Option<u32> {
        let anchor = self.anchor();
        Some(self.links[anchor as usize].older).filter(|&member| member != anchor)
    }

    /// The member added first.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        let anchor = self.anchor();
        Some(self.links[anchor as usize].newer).filter(|&member| member != anchor)
    }
}
