//! A node's memory: the pages whose home it is, and the page cache with frames for remote pages (Falsafi 1998, §4 and §5.1).
//!
//! A page exists from its first touch on the node. It holds real data: its words, the fine-grain tag of each block, and
//! what the protocol knows of each block. A remote page is *mapped* while the page cache has a frame for it. The
//! capacity of the page cache is not stated; unless a user says one, it has room for every page.

use super::layout::{Layout, PageNumber};
use core::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use warmcore_coherence::{CachedBlock, DirectoryEntry, NoFrame, PageCache, Tag};
use warmcore_units::NodeId;
use warmcore_workload::programs::image::PAGE;

/// Words of a page.
pub(super) const PAGE_WORDS: usize = PAGE as usize / 8;

/// The number of a block in the shared address space.
pub(super) type Block = u32;

/// What the protocol knows of a block on a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockState {
    Home(DirectoryEntry),
    Cached(CachedBlock),
}

/// A page of a node's memory.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) words: [Cell<u64>; PAGE_WORDS],
    tags: Box<[Cell<Tag>]>,
    blocks: OnceCell<Box<[Cell<BlockState>]>>,
    /// Whether the node's processors may refer to it.
    mapped: Cell<bool>,
}

/// The pages of one node.
#[derive(Debug)]
pub(super) struct Memory {
    node: NodeId,
    layout: Rc<Layout>,
    /// By number. What no processor has touched takes a word here.
    pages: Box<[OnceCell<Box<Page>>]>,
    /// The remote pages that are mapped.
    page_cache: RefCell<PageCache>,
}

impl Memory {
    /// The memory of `node`, with so many frames for remote pages.
    pub(super) fn new(node: NodeId, layout: Rc<Layout>, frames: usize) -> Self {
        let pages = (0..layout.pages()).map(|_| OnceCell::new()).collect();
        Self { node, layout, pages, page_cache: RefCell::new(PageCache::new(frames)) }
    }

    /// The page with this number, if it was ever touched.
    #[inline(always)]
    pub(super) fn page(&self, page: PageNumber) -> Option<&Page> {
        self.pages.get(page as usize)?.get().map(|page| &**page)
    }

    /// Whether the address space has such a page.
    pub(super) fn exists(&self, page: PageNumber) -> bool {
        (page as usize) < self.pages.len()
    }

    /// Whether this node is the home of `page`.
    pub(super) fn is_home(&self, page: PageNumber) -> bool {
        self.layout.home(page) == self.node
    }

    /// Whether the node's processors may refer to `page`.
    pub(super) fn is_mapped(&self, page: PageNumber) -> bool {
        self.page(page).is_some_and(|page| page.mapped.get())
    }

    /// Maps `page` if it is at home here or there is a free frame for it. Whether it is mapped.
    pub(super) fn map(&self, page: PageNumber) -> bool {
        let mapped = self.is_home(page) || {
            let mut cache = self.page_cache.borrow_mut();
            // A page that is in the cache and not mapped waits for another to make way.
            !cache.contains(page.into()) && cache.map(page.into(), |_| true).is_ok()
        };
        self.touched(page).mapped.set(mapped);
        mapped
    }

    /// The node's processors may refer to the remote `page`, which has a frame.
    pub(super) fn set_mapped(&self, page: PageNumber) {
        self.touched(page).mapped.set(true);
    }

    /// Finds a frame for the remote `page`, if need be that of another one, which is no longer mapped.
    ///
    /// # Errors
    /// If all frames hold pages that are `busy`.
    pub(super) fn map_in_place_of(
        &self,
        page: PageNumber,
        busy: impl Fn(PageNumber) -> bool,
    ) -> Result<Option<PageNumber>, NoFrame> {
        let victim = self.page_cache.borrow_mut().map(u64::from(page), |page| busy(page as PageNumber))?;
        let victim = victim.map(|page| page as PageNumber);
        if let Some(victim) = victim {
            self.touched(victim).mapped.set(false);
        }
        Ok(victim)
    }

    /// The page with this number, which exists from now on.
    #[inline]
    fn touched(&self, page: PageNumber) -> &Page {
        self.pages[page as usize].get_or_init(|| {
            let is_home = self.is_home(page);
            let blocks = PAGE_WORDS / self.layout.block_words();
            let tag = if is_home { Tag::ReadWrite } else { Tag::Invalid };
            Box::new(Page {
                words: core::array::from_fn(|word| {
                    Cell::new(if is_home { self.layout.initial(page, word) } else { 0 })
                }),
                tags: vec![Cell::new(tag); blocks].into_boxed_slice(),
                blocks: OnceCell::new(),
                mapped: Cell::new(false),
            })
        })
    }

    fn page_of(&self, block: Block) -> (&Page, usize) {
        let bits = self.layout.block_bits();
        (self.touched(block >> bits), (block & ((1 << bits) - 1)) as usize)
    }

    /// The fine-grain tag of `block`.
    pub(super) fn tag(&self, block: Block) -> Tag {
        let (page, at) = self.page_of(block);
        page.tags[at].get()
    }

    /// Sets the fine-grain tag of `block`.
    pub(super) fn set_tag(&self, block: Block, tag: Tag) {
        let (page, at) = self.page_of(block);
        page.tags[at].set(tag);
    }

    /// What the protocol knows of `block` here.
    pub(super) fn state(&self, block: Block) -> &Cell<BlockState> {
        let (page, at) = self.page_of(block);
        let states = page.blocks.get_or_init(|| {
            let is_home = self.layout.home_of_block(block) == self.node;
            let fresh = if is_home {
                BlockState::Home(DirectoryEntry::default())
            } else {
                BlockState::Cached(CachedBlock::default())
            };
            vec![Cell::new(fresh); page.tags.len()].into_boxed_slice()
        });
        &states[at]
    }

    fn block_cells(&self, block: Block) -> &[Cell<u64>] {
        let (page, at) = self.page_of(block);
        let words = self.layout.block_words();
        &page.words[at * words..(at + 1) * words]
    }

    /// Copies the data of `block` to `data`, which is as long.
    pub(super) fn fetch(&self, block: Block, data: &mut [u64]) {
        for (word, cell) in data.iter_mut().zip(self.block_cells(block)) {
            *word = cell.get();
        }
    }

    /// Replaces the data of `block`.
    pub(super) fn place(&self, block: Block, data: &[u64]) {
        for (cell, &word) in self.block_cells(block).iter().zip(data) {
            cell.set(word);
        }
    }

    /// The blocks of `page` that this node has a copy of.
    pub(super) fn copies(&self, page: PageNumber) -> impl Iterator<Item = Block> {
        let bits = self.layout.block_bits();
        (page << bits..(page + 1) << bits).filter(|&block| self.tag(block) != Tag::Invalid)
    }

    /// How many pages were touched.
    pub(super) fn pages_touched(&self) -> usize {
        self.pages.iter().filter(|page| page.get().is_some()).count()
    }
}
