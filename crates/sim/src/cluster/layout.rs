//! The shared address space of a run: the program's pages, then those of locks and barriers; and where each has its home.

use super::memory::{Block, PAGE_WORDS};
use warmcore_units::NodeId;
use warmcore_workload::programs::image::PAGE;
use warmcore_workload::programs::{Home, Image};

/// The number of a page in the shared address space.
pub(super) type PageNumber = u32;

/// Pages for locks and barriers. They cost nothing until they are used.
const SYNCHRONIZATION_PAGES: u32 = 4096;

/// Who is the home of which page, and what is in it at the start.
#[derive(Debug)]
pub(super) struct Layout {
    homes: Box<[NodeId]>,
    image: Image,
    block_words: usize,
    /// How many bits of a block's number say which it is in its page.
    block_bits: u32,
    program_pages: u32,
}

impl Layout {
    /// The layout of `image` on `nodes` nodes of `processors` processors.
    pub(super) fn new(image: Image, nodes: u32, processors: u32, block_bytes: u64) -> Self {
        let mut homes = Vec::new();
        for region in image.regions() {
            for page in 0..(region.bytes / PAGE) as u32 {
                homes.push(NodeId(match region.home {
                    Home::Processor(processor) => processor / processors % nodes,
                    Home::Interleaved => page % nodes,
                }));
            }
        }
        let program_pages = homes.len() as u32;
        homes.extend((0..SYNCHRONIZATION_PAGES).map(|page| NodeId(page % nodes)));
        let block_bits = (PAGE / block_bytes).trailing_zeros();
        Self { homes: homes.into(), image, block_words: block_bytes as usize / 8, block_bits, program_pages }
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> u32 {
        self.homes.len() as u32
    }

    /// The pages of locks and barriers.
    pub(super) fn synchronization_pages(&self) -> core::ops::Range<PageNumber> {
        self.program_pages..self.pages()
    }

    /// The pages of the program.
    pub(super) fn program_pages(&self) -> core::ops::Range<PageNumber> {
        0..self.program_pages
    }

    /// The home of `page`.
    pub(super) fn home(&self, page: PageNumber) -> NodeId {
        self.homes[page as usize]
    }

    /// The home of the page that `block` is in.
    pub(super) fn home_of_block(&self, block: Block) -> NodeId {
        self.home(block >> self.block_bits)
    }

    /// How many bits of a block's number say which it is in its page.
    pub(super) fn block_bits(&self) -> u32 {
        self.block_bits
    }

    /// Words of a block.
    pub(super) fn block_words(&self) -> usize {
        self.block_words
    }

    /// What is in a word of `page` before the program begins.
    pub(super) fn initial(&self, page: PageNumber, word: usize) -> u64 {
        self.image.words().get(page as usize * PAGE_WORDS + word).copied().unwrap_or(0)
    }

    /// The image that the program began with.
    pub(super) fn image(&self) -> &Image {
        &self.image
    }
}
