//! The shared address space at rest: before a program starts, and after it has ended.

use super::memory::Address;

/// Bytes of a page, the unit of allocation and of homes.
pub const PAGE: u64 = 4096;

/// Where the pages of a region have their home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// On the node of this processor.
    Processor(u32),
    /// Page by page on one node after the other.
    Interleaved,
}

/// Pages that were allocated together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its first byte, at the start of a page.
    pub start: Address,
    /// Its length in bytes, whole pages.
    pub bytes: u64,
    /// Where its pages live.
    pub home: Home,
}

/// The contents of the shared address space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    words: Vec<u64>,
    regions: Vec<Region>,
}

impl Image {
    /// An empty address space.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new(), regions: Vec::new() }
    }

    /// Allocates a region of at least `bytes` bytes, filled with zeros.
    pub fn allocate(&mut self, bytes: u64, home: Home) -> Address {
        let start = Address(8 * self.words.len() as u64);
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        let words = self.words.len() + to_index(bytes / 8);
        self.words.resize(words, 0);
        self.regions.push(Region { start, bytes, home });
        start
    }

    /// Allocates at least `bytes` bytes without gaps, filled with zeros. Each processor has the home of an equal share, in order;
    /// shares are whole pages, so some have none if there are few pages.
    pub fn allocate_shared_out(&mut self, bytes: u64, processors: u32) -> Address {
        let start = Address(8 * self.words.len() as u64);
        let pages = bytes.max(1).div_ceil(PAGE);
        let page_at = |processor: u32| pages * u64::from(processor) / u64::from(processors.max(1));
        for processor in 0..processors.max(1) {
            let share = page_at(processor + 1) - page_at(processor);
            if share > 0 {
                self.allocate(share * PAGE, Home::Processor(processor));
            }
        }
        start
    }

    /// What was allocated, by address without gaps.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// All words, from address 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, from address 0.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The word at `at`.
    ///
    /// # Panics
    /// If nothing is allocated there.
    #[must_use]
    pub fn load(&self, at: Address) -> u64 {
        self.words[to_index(at.0 / 8)]
    }

    /// Writes the word at `at`.
    ///
    /// # Panics
    /// If nothing is allocated there.
    pub fn store(&mut self, at: Address, value: u64) {
        self.words[to_index(at.0 / 8)] = value;
    }

    /// The number at `at`.
    ///
    /// # Panics
    /// If nothing is allocated there.
    #[must_use]
    pub fn load_f64(&self, at: Address) -> f64 {
        f64::from_bits(self.load(at))
    }

    /// Writes the number at `at`.
    ///
    /// # Panics
    /// If nothing is allocated there.
    pub fn store_f64(&mut self, at: Address, value: f64) {
        self.store(at, value.to_bits());
    }

    /// The four bytes at `at`, a multiple of four. The lower address has the lower half of a word.
    ///
    /// # Panics
    /// If nothing is allocated there.
    #[must_use]
    pub fn load_half(&self, at: Address) -> u32 {
        half_of(self.load(Address(at.0 & !7)), at)
    }

    /// Writes four bytes at `at`, a multiple of four.
    ///
    /// # Panics
    /// If nothing is allocated there.
    pub fn store_half(&mut self, at: Address, value: u32) {
        let word = Address(at.0 & !7);
        self.store(word, with_half(self.load(word), at, value));
    }
}

/// The half of `word` that is at `at`.
#[must_use]
#[inline(always)]
pub const fn half_of(word: u64, at: Address) -> u32 {
    let bytes = word.to_le_bytes();
    let [a, b, c, d, e, f, g, h] = bytes;
    if at.0 & 4 == 0 { u32::from_le_bytes([a, b, c, d]) } else { u32::from_le_bytes([e, f, g, h]) }
}

/// `word` with its half at `at` replaced.
#[must_use]
#[inline(always)]
pub const fn with_half(word: u64, at: Address, half: u32) -> u64 {
    let shift = 8 * (at.0 & 4);
    (word & !(0xffff_ffff << shift)) | ((half as u64) << shift)
}

#[expect(clippy::cast_possible_truncation, reason = "what is allocated fits into memory")]
const fn to_index(words: u64) -> usize {
    words as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_whole_pages_one_after_the_other() {
        let mut image = Image::new();
        assert_eq!(image.allocate(1, Home::Interleaved), Address(0));
        let second = image.allocate(5000, Home::Processor(3));
        assert_eq!(second, Address(PAGE));
        assert_eq!(image.regions()[1], Region { start: second, bytes: 2 * PAGE, home: Home::Processor(3) });
        assert_eq!(image.words().len() as u64 * 8, 3 * PAGE);
    }

    #[test]
    fn an_array_is_shared_out_in_order_and_without_gaps() {
        for (pages, processors) in [(8, 4), (3, 7), (10, 3)] {
            let mut image = Image::new();
            let start = image.allocate_shared_out(pages * PAGE - 5, processors);
            let regions = image.regions();
            let mut next = start.0;
            for region in regions {
                assert_eq!(region.start.0, next, "{regions:?}");
                next += region.bytes;
            }
            assert_eq!(next, pages * PAGE);
            assert!(regions.is_sorted_by_key(|region| match region.home {
                Home::Processor(processor) => processor,
                Home::Interleaved => u32::MAX,
            }));
        }
    }

    #[test]
    fn halves_of_a_word_are_apart() {
        let mut image = Image::new();
        let at = image.allocate(8, Home::Interleaved);
        image.store_half(at.half(0), 7);
        image.store_half(at.half(1), u32::MAX);
        assert_eq!((image.load_half(at.half(0)), image.load_half(at.half(1))), (7, u32::MAX));
        assert_eq!(image.load(at), 0xffff_ffff_0000_0007);
    }
}
