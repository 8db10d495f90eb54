//! Resident memory for walks that displace a data cache.

use crate::mapping::{Mapping, MappingError};
use core::ops::{Deref, DerefMut};
use warmcore_units::Bytes;

/// What pages a region is wished to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pages {
    /// The kernel's usual ones.
    Small,
    /// Huge ones where the kernel has them: a walk then misses in the cache and not in the
    /// translation buffer.
    Huge,
}

/// Zeroed memory in whole pages, all of them resident from the start: a walk through it takes no
/// page fault. Reads as `&[u8]` and writes as `&mut [u8]`, aligned to a page (small or huge).
#[derive(Debug)]
pub struct Region {
    mapping: Mapping,
    start: usize,
    len: usize,
    advised: bool,
}

impl Region {
    /// On the architectures in use a huge page has 2 MiB, unless small ones are larger than 4 KiB.
    const HUGE_PAGE: usize = 2 << 20;

    /// `size` bytes, each written to once.
    ///
    /// # Errors
    /// If `size` is zero or there is not that much address space.
    ///
    /// ```
    /// use warmcore_linux::{Pages, Region};
    /// use warmcore_units::Bytes;
    /// let mut region = Region::new(Bytes::kib(64), Pages::Huge)?;
    /// region[17] = 1;
    /// assert_eq!(region.iter().map(|&byte| u32::from(byte)).sum::<u32>(), 1);
    /// # Ok::<(), warmcore_linux::MappingError>(())
    /// ```
    pub fn new(size: Bytes, pages: Pages) -> Result<Self, MappingError> {
        let spare = match pages {
            Pages::Small => 0,
            Pages::Huge => Self::HUGE_PAGE as u64,
        };
        let with_spare = size.0.checked_add(spare).ok_or(MappingError::TooLarge(size))?;
        if size.is_empty() {
            return Err(MappingError::Empty);
        }
        let mut mapping = Mapping::new(Bytes(with_spare))?;
        let advised = pages == Pages::Huge && mapping.advise_huge_pages();
        let start = match pages {
            Pages::Small => 0,
            Pages::Huge => mapping.as_slice().as_ptr().align_offset(Self::HUGE_PAGE),
        };
        let mut region = Self { mapping, start, len: size.len(), advised };
        region.fill(0);
        Ok(region)
    }

    /// Whether the kernel took the wish for huge pages. It still may give small ones.
    #[must_use]
    pub const fn huge_pages_advised(&self) -> bool {
        self.advised
    }
}

impl Deref for Region {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.mapping.as_slice()[self.start..self.start + self.len]
    }
}

impl DerefMut for Region {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.mapping.as_mut_slice()[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Snapshot;

    #[test]
    fn a_region_is_zeroed_aligned_and_as_long_as_asked() {
        for (pages, alignment) in [(Pages::Small, 4096), (Pages::Huge, Region::HUGE_PAGE)] {
            let region = Region::new(Bytes(3_000_001), pages).unwrap();
            assert_eq!(region.len(), 3_000_001);
            assert_eq!(region.as_ptr().align_offset(alignment), 0);
            assert!(region.iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn a_walk_through_a_region_takes_no_page_fault() {
        let region = Region::new(Bytes::kib(1024), Pages::Small).unwrap();
        let walk = || region.iter().step_by(64).map(|&byte| u64::from(byte)).sum::<u64>();
        walk(); // the walk's own code comes in here
        let before = Snapshot::now();
        let sum = walk();
        let faults = Snapshot::now().since(&before).page_faults;
        assert_eq!(sum, 0);
        assert!(faults < 128, "{faults} of 256 pages were not resident");
    }

    #[test]
    fn what_cannot_be_mapped_is_refused() {
        for pages in [Pages::Small, Pages::Huge] {
            assert_eq!(Region::new(Bytes(0), pages).unwrap_err(), MappingError::Empty);
            let all = Bytes(u64::MAX);
            assert_eq!(Region::new(all, pages).unwrap_err(), MappingError::TooLarge(all));
            let vast = Region::new(Bytes(1 << 60), pages).unwrap_err();
            assert!(matches!(vast, MappingError::Refused { .. }), "{vast}");
        }
    }
}
