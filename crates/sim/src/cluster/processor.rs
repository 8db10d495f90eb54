//! A compute processor: 400 MHz, with TLB and data cache; instructions always hit (Falsafi 1998, §1.3.1).
//!
//! A processor executes its program on a stack of its own and has a clock of its own. A reference that hits is done at once: TLB,
//! cache and data are looked up right here. The program's stack is left only when a reference misses, when the
//! processor waits for a word to change, and when its clock is too far ahead of what else is to happen.
//!
//! When a miss is served, the core resumes the program within the same event in which the cache got the line. So the reference
//! is done before anything can take the line away.

use super::cache::{Cache, Line};
use super::exchange::ActiveMessage;
use super::layout::PageNumber;
use super::memory::{Memory, PAGE_WORDS};
use super::synchronization::Synchronization;
use super::tlb::Tlb;
use core::cell::Cell;
use corosensei::Yielder;
use std::rc::Rc;
use warmcore_coherence::Access;
use warmcore_workload::programs::image::{half_of, with_half};
use warmcore_workload::programs::{Address, BarrierId, LockId, SharedMemory};

/// Why a program's stack is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Yield {
    /// The clock is too far ahead.
    Ahead,
    /// A reference misses.
    Reference { line: Line, access: Access },
    /// The page cache has no free frame for a page.
    Map { page: PageNumber },
    /// The processor goes on when its cache no longer has the line.
    Watch { line: Line },
    /// An interrupt is pending at the end of a critical section.
    Pending,
    /// A request outside Stache. The processor goes on when the reply has been handled.
    Exchange(ActiveMessage),
    /// There is no space for another lock or barrier. The program does not go on.
    NoSpace { bytes: u64 },
    /// Nothing is allocated at the address. The program does not go on.
    Stray { at: Address },
}

/// What the program's stack and the core share of a processor.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) number: u32,
    pub(super) processors: u32,
    /// The processor's own time.
    pub(super) clock: Cell<u64>,
    /// Up to when it may go on by itself.
    pub(super) limit: Cell<u64>,
    pub(super) references: Cell<u64>,
    /// For whom it waits, if within a lock or barrier.
    pub(super) synchronizing: Cell<Option<Wait>>,
    /// Cycles that it has spent in locks and barriers.
    pub(super) synchronized: Cell<u64>,
    pub(super) cache: Rc<Cache>,
    pub(super) tlb: Tlb,
    pub(super) memory: Rc<Memory>,
    pub(super) line_shift: u32,
    pub(super) tlb_miss: u64,
    pub(super) page_fault: u64,
    pub(super) tlb_misses: Cell<u64>,
    pub(super) page_faults: Cell<u64>,
    pub(super) synchronization: Rc<Synchronization>,
    /// Whether it may be interrupted, and so sets a flag in critical sections.
    pub(super) interruptible: bool,
    /// Whether it is in a critical section.
    pub(super) masked: Cell<bool>,
    /// Whether an interrupt has found it there.
    pub(super) pending: Cell<bool>,
}

/// What a processor waits for in a lock or a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// For a lock that another holds.
    Lock(LockId),
    /// For processors that have not come to a barrier.
    Barrier(BarrierId),
}

impl Local {
    #[inline(always)]
    fn line(&self, at: Address) -> Line {
        (at.0 >> self.line_shift) as Line + 1
    }
}

#[inline(always)]
fn page_of(at: Address) -> PageNumber {
    (at.0 / (8 * PAGE_WORDS as u64)) as PageNumber
}

/// A processor as its program sees it.
pub(super) struct Processor<'stack> {
    local: Rc<Local>,
    core: &'stack Yielder<(), Yield>,
}

impl<'stack> Processor<'stack> {
    pub(super) fn new(local: Rc<Local>, core: &'stack Yielder<(), Yield>) -> Self {
        Self { local, core }
    }

    /// The word at `at`, to be loaded: the reference is made.
    #[inline(always)]
    fn loadable(&self, at: Address) -> &Cell<u64> {
        let local = &*self.local;
        let hits = local.clock.get() <= local.limit.get()
            && local.tlb.has(page_of(at))
            && local.cache.can_load(local.line(at));
        if !hits {
            self.miss(at, Access::Read);
        }
        self.word(at)
    }

    /// The word at `at`, to be loaded or stored.
    #[inline(always)]
    fn storable(&self, at: Address) -> &Cell<u64> {
        let local = &*self.local;
        let hits = local.clock.get() <= local.limit.get()
            && local.tlb.has(page_of(at))
            && local.cache.can_store(local.line(at));
        if !hits {
            self.miss(at, Access::Write);
        }
        self.word(at)
    }

    #[inline(always)]
    fn word(&self, at: Address) -> &Cell<u64> {
        let local = &*self.local;
        local.clock.set(local.clock.get() + 1);
        local.references.set(local.references.get() + 1);
        match local.memory.page(page_of(at)) {
            Some(page) => &page.words[(at.0 / 8) as usize % PAGE_WORDS],
            None => self.give_up(Yield::Stray { at }),
        }
    }

    /// Does what must be done before a reference that does not simply hit.
    #[cold]
    #[inline(never)]
    fn miss(&self, at: Address, access: Access) {
        let local = &*self.local;
        if local.clock.get() > local.limit.get() {
            self.core.suspend(Yield::Ahead);
        }
        let page = page_of(at);
        if !local.tlb.has(page) {
            self.translate(page, at);
        }
        let line = local.line(at);
        let hits = match access {
            Access::Read => local.cache.can_load(line),
            Access::Write => local.cache.can_store(line) || local.cache.take_exclusive(line),
        };
        if !hits {
            self.core.suspend(Yield::Reference { line, access });
        }
    }

    fn translate(&self, page: PageNumber, at: Address) {
        let local = &*self.local;
        if !local.memory.exists(page) {
            self.give_up(Yield::Stray { at });
        }
        local.tlb_misses.set(local.tlb_misses.get() + 1);
        local.clock.set(local.clock.get() + local.tlb_miss);
        if !local.memory.is_mapped(page) {
            self.fault(page);
        }
        local.tlb.load(page);
    }

    /// Gets `page` mapped.
    fn fault(&self, page: PageNumber) {
        let local = &*self.local;
        if !local.memory.is_home(page) {
            local.page_faults.set(local.page_faults.get() + 1);
            local.clock.set(local.clock.get() + local.page_fault);
        }
        while !local.memory.is_mapped(page) && !local.memory.map(page) {
            self.core.suspend(Yield::Map { page });
        }
    }

    /// Replaces the word at `at` by `change` of it, and returns what it was. Nothing happens in between: the cache holds the
    /// line, and the program's stack is not left.
    pub(super) fn update(&self, at: Address, change: impl FnOnce(u64) -> u64) -> u64 {
        let word = self.storable(at);
        let before = word.get();
        word.set(change(before));
        before
    }

    /// Does `section` without an interrupt in between. The flags are in the processor's cache: each access takes a cycle.
    pub(super) fn uninterrupted(&self, section: impl FnOnce()) {
        let local = &*self.local;
        if !local.interruptible {
            return section();
        }
        local.clock.set(local.clock.get() + 1);
        local.masked.set(true);
        section();
        local.masked.set(false);
        local.clock.set(local.clock.get() + 2);
        if local.pending.take() {
            self.core.suspend(Yield::Pending);
        }
    }

    /// Leaves the program's stack for good.
    #[cold]
    #[inline(never)]
    pub(super) fn give_up(&self, why: Yield) -> ! {
        loop {
            self.core.suspend(why);
        }
    }

    /// Leaves the program's stack until the core goes on with it.
    pub(super) fn suspend(&self, why: Yield) {
        self.core.suspend(why);
    }

    pub(super) fn local(&self) -> &Local {
        &self.local
    }
}

impl SharedMemory for Processor<'_> {
    fn processor(&self) -> u32 {
        self.local.number
    }

    fn processors(&self) -> u32 {
        self.local.processors
    }

    #[inline(always)]
    fn load(&self, at: Address) -> u64 {
        self.loadable(at).get()
    }

    #[inline(always)]
    fn store(&self, at: Address, value: u64) {
        self.storable(at).set(value);
    }

    #[inline(always)]
    fn load_half(&self, at: Address) -> u32 {
        half_of(self.loadable(at).get(), at)
    }

    #[inline(always)]
    fn store_half(&self, at: Address, value: u32) {
        let word = self.storable(at);
        word.set(with_half(word.get(), at, value));
    }

    #[inline(always)]
    fn compute(&self, cycles: u32) {
        self.local.clock.set(self.local.clock.get() + u64::from(cycles));
    }

    fn acquire(&self, lock: LockId) {
        self.acquire_lock(lock);
    }

    fn release(&self, lock: LockId) {
        self.release_lock(lock);
    }

    fn barrier(&self, barrier: BarrierId) {
        self.meet(barrier);
    }

    fn wait_for_change(&self, at: Address, old: u64) -> u64 {
        loop {
            let word = self.load(at);
            if word != old {
                return word;
            }
            // The loads between this one and the loss of the line hit the cache and find the same.
            self.core.suspend(Yield::Watch { line: self.local.line(at) });
        }
    }
}
