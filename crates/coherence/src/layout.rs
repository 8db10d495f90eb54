//! Blocks and pages of the shared address space (Falsafi 1998, §4): allocated by page, kept coherent by block.

use core::ops::Range;
use warmcore_units::{Bytes, Fault};

/// How the shared address space is divided. Blocks and pages are numbered from address 0 up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    block_bits: u32,
    /// How many bits more a page has.
    page_bits: u32,
}

impl Layout {
    /// Blocks of `block` bytes in pages of `page` bytes; the source has blocks of 32 to 128, and names no page.
    ///
    /// # Errors
    /// If one is not a power of two of at least 8 bytes (field `block` or `page`), or a page is smaller than a block (`page`).
    pub fn new(block: Bytes, page: Bytes) -> Result<Self, Fault> {
        let power = |field, size: Bytes| {
            let fault = || Fault::new(field, size, "a power of two, 8 B or more");
            if size.0.is_power_of_two() && size.0 >= 8 { Ok(size.0.trailing_zeros()) } else { Err(fault()) }
        };
        let (block_bits, bits) = (power("block", block)?, power("page", page)?);
        let page_bits =
            bits.checked_sub(block_bits).ok_or_else(|| Fault::new("page", page, "no less than a block"))?;
        Ok(Self { block_bits, page_bits })
    }

    /// The number of the block that holds `address`.
    #[must_use]
    pub const fn block(self, address: u64) -> u64 {
        address >> self.block_bits
    }

    /// The number of the page that holds block number `block`.
    #[must_use]
    pub const fn page(self, block: u64) -> u64 {
        block >> self.page_bits
    }

    /// The blocks of page number `page`, which is one that [`page`](Self::page) has given.
    #[must_use]
    pub const fn blocks(self, page: u64) -> Range<u64> {
        let first = page << self.page_bits;
        first..first.saturating_add(1 << self.page_bits)
    }

    /// How large a block is.
    #[must_use]
    pub const fn block_size(self) -> Bytes {
        Bytes(1 << self.block_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn addresses_are_divided_into_blocks_and_blocks_into_pages() {
        let layout = Layout::new(Bytes(64), Bytes::kib(4)).expect("a layout");
        assert_eq!(layout.block_size(), Bytes(64));
        assert_eq!([0, 63, 64, 4096].map(|address| layout.block(address)), [0, 0, 1, 64]);
        assert_eq!([0, 63, 64].map(|block| layout.page(block)), [0, 0, 1]);
        assert_eq!(layout.blocks(1), 64..128);
        assert!(layout.blocks(1).all(|block| layout.page(block) == 1));
    }

    #[test]
    fn a_page_may_be_one_block() {
        let layout = Layout::new(Bytes(128), Bytes(128)).expect("a layout");
        assert_eq!(layout.blocks(5), 5..6);
    }

    #[test]
    fn what_cannot_be_divided_is_refused() {
        let refused =
            |block, page| Layout::new(Bytes(block), Bytes(page)).expect_err("no layout").to_string();
        assert_eq!(refused(48, 4096), "`block` is 48 B, expected a power of two, 8 B or more");
        assert_eq!(refused(1, 4096), "`block` is 1 B, expected a power of two, 8 B or more");
        assert_eq!(refused(0, 4096), "`block` is 0 B, expected a power of two, 8 B or more");
        assert_eq!(refused(64, 4000), "`page` is 4000 B, expected a power of two, 8 B or more");
        assert_eq!(refused(128, 64), "`page` is 64 B, expected no less than a block");
    }
}
