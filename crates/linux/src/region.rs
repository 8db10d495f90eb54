//! Resident memory, to displace the contents of a data cache by walking through it.

use crate::mapping::{Mapping, MappingError};
use core::ops::{Deref, DerefMut};
use warmcore_units::Bytes;

/// The page size to ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pages {
    /// The kernel's normal pages.
    Small,
    /// Huge pages if the kernel has them: a walk then causes cache misses but few TLB misses.
    Huge,
}

/// Zeroed memory in whole pages, all resident from the start, so that a walk through it causes no page
/// faults. Dereferences to `[u8]`, aligned to a page (small or huge).
#[derive(Debug)]
pub struct Region {
    mapping: Mapping,
    start: usize,
    len: usize,
}

impl Region {
    /// The size of a huge page in bytes: 2 MiB on common architectures with small pages of 4 KiB.
    const HUGE_PAGE: usize = 2 << 20;

    /// Creates a region of `size` bytes and writes to all of them.
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
        let start = match pages {
            Pages::Small => 0,
            Pages::Huge => {
                mapping.advise_huge_pages();
                mapping.as_slice().as_ptr().align_offset(Self::HUGE_PAGE)
            }
        };
        let mut region = Self { mapping, start, len: size.len() };
        region.fill(0);
        Ok(region)
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
    fn a_region_is_zeroed_aligned_and_of_the_requested_size() {
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
        walk(); // loads the code of the walk itself
        let before = Snapshot::now();
        let sum = walk();
        let faults = Snapshot::now().since(&before).page_faults;
        assert_eq!(sum, 0);
        assert!(faults < 128, "{faults} of 256 pages were not resident");
    }

    #[test]
    fn sizes_that_cannot_be_mapped_are_refused() {
        for pages in [Pages::Small, Pages::Huge] {
            assert_eq!(Region::new(Bytes(0), pages).unwrap_err(), MappingError::Empty);
            let all = Bytes(u64::MAX);
            assert_eq!(Region::new(all, pages).unwrap_err(), MappingError::TooLarge(all));
            let vast = Region::new(Bytes(1 << 60), pages).unwrap_err();
            assert!(matches!(vast, MappingError::Refused { .. }), "{vast}");
        }
    }
}
