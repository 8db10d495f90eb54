//! The page cache: the part of a node's memory that holds other nodes' pages, as S-COMA has it (Falsafi 1998, §4 and
//! §5.1). Which of its blocks a mapped page has, their tags say.

use alloc::collections::{BTreeSet, VecDeque};
use core::fmt;

/// The pages of other nodes that a node has mapped, in a limited number of frames.
///
/// The source says neither how large the page cache is nor which page makes way: here the one that was mapped first.
/// Page operations are [sequential](crate::Object::Sequential): one runs alone.
#[derive(Clone, Debug)]
pub struct PageCache {
    frames: usize,
    oldest_first: VecDeque<u64>,
    mapped: BTreeSet<u64>,
}

/// There is no frame for a page: every one holds a page that cannot be unmapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoFrame {
    /// The page that was to be mapped.
    pub page: u64,
    /// How many frames there are.
    pub frames: usize,
}

impl fmt::Display for NoFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { page, frames } = self;
        write!(f, "page {page} finds no frame: blocks of all {frames} mapped pages are being fetched")
    }
}

impl core::error::Error for NoFrame {}

impl PageCache {
    /// An empty cache of `frames` frames.
    #[must_use]
    pub const fn new(frames: usize) -> Self {
        Self { frames, oldest_first: VecDeque::new(), mapped: BTreeSet::new() }
    }

    /// Whether `page` is mapped: an access to one that is not is a page fault, and its handler maps it.
    #[must_use]
    pub fn contains(&self, page: u64) -> bool {
        self.mapped.contains(&page)
    }

    /// How many pages are mapped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mapped.len()
    }

    /// Whether no page is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapped.is_empty()
    }

    /// Maps `page`, if it is not, and returns the page that has made way. Each of that one's blocks is to handle
    /// [`Event::Unmap`](crate::Event::Unmap) before another event. `busy` says whether a page cannot be unmapped,
    /// because a block of it has a request [outstanding](crate::CachedBlock::outstanding).
    ///
    /// # Errors
    /// If no frame is free and all pages are busy; the cache is as before. Let the access fault again later.
    pub fn map(&mut self, page: u64, busy: impl FnMut(u64) -> bool) -> Result<Option<u64>, NoFrame> {
        if self.contains(page) {
            return Ok(None);
        }
        let victim = if self.mapped.len() < self.frames { None } else { Some(self.evict(page, busy)?) };
        self.mapped.insert(page);
        self.oldest_first.push_back(page);
        Ok(victim)
    }

    fn evict(&mut self, page: u64, mut busy: impl FnMut(u64) -> bool) -> Result<u64, NoFrame> {
        let place = self.oldest_first.iter().position(|&page| !busy(page));
        let victim = place.and_then(|place| self.oldest_first.remove(place));
        let victim = victim.ok_or(NoFrame { page, frames: self.frames })?;
        self.mapped.remove(&victim);
        Ok(victim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_was_mapped_first_makes_way() {
        let mut cache = PageCache::new(2);
        let mapped = [7, 8, 7, 9, 7].map(|page| cache.map(page, |_| false));
        assert_eq!(mapped, [Ok(None), Ok(None), Ok(None), Ok(Some(7)), Ok(Some(8))]);
        assert_eq!([7, 8, 9].map(|page| cache.contains(page)), [true, false, true]);
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn a_page_with_a_block_under_way_stays() {
        let mut cache = PageCache::new(2);
        for page in [7, 8] {
            assert_eq!(cache.map(page, |_| false), Ok(None));
        }
        assert_eq!(cache.map(9, |page| page == 7), Ok(Some(8)));
        assert_eq!(cache.map(5, |_| true), Err(NoFrame { page: 5, frames: 2 }));
        assert_eq!([5, 7, 8, 9].map(|page| cache.contains(page)), [false, true, false, true]);
    }

    #[test]
    fn a_cache_without_frames_maps_nothing() {
        assert_eq!(PageCache::new(0).map(1, |_| false), Err(NoFrame { page: 1, frames: 0 }));
    }
}
