//! One processor that counts what a program does, with the misses of the thesis's cache (Falsafi 1998, §1.3.1).

use std::cell::{Cell, RefCell};
use warmcore_workload::programs::image::{PAGE, half_of, with_half};
use warmcore_workload::programs::{Address, BarrierId, Image, LockId, Prepared, SharedMemory};

/// Lines of a direct-mapped cache of one megabyte. The thesis does not state the length of a line.
const LINES: usize = (1 << 20) / LINE;
const LINE: usize = 64;

/// Cycles of a miss, of which one is the reference's: those of the simulated machine (Table 5.1).
const MISS: u64 = 67;

/// Cycles of a miss in the TLB, as the simulated machine assumes.
const TLB_MISS: u64 = 15;

/// Entries of a direct-mapped TLB, for pages of an image.
const TLB_ENTRIES: usize = 256;

/// What a program did.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) loads: Cell<u64>,
    pub(crate) stores: Cell<u64>,
    pub(crate) misses: Cell<u64>,
    pub(crate) tlb_misses: Cell<u64>,
    pub(crate) cycles: Cell<u64>,
    pub(crate) locks: Cell<u64>,
    pub(crate) barriers: Cell<u64>,
}

impl Counts {
    /// Cycles: one for each reference, those of misses of the cache and of the TLB, and computing.
    pub(crate) fn total(&self) -> u64 {
        self.loads.get()
            + self.stores.get()
            + MISS * self.misses.get()
            + TLB_MISS * self.tlb_misses.get()
            + self.cycles.get()
    }
}

struct Uniprocessor {
    words: RefCell<Vec<u64>>,
    tags: RefCell<Vec<u64>>,
    pages: RefCell<Vec<u64>>,
    counts: Counts,
}

/// Runs `program` alone, and leaves the results in `image`.
pub(crate) fn run<P: Prepared>(program: &P, image: &mut Image) -> Counts {
    let machine = Uniprocessor {
        words: RefCell::new(image.words().to_vec()),
        tags: RefCell::new(vec![u64::MAX; LINES]),
        pages: RefCell::new(vec![u64::MAX; TLB_ENTRIES]),
        counts: Counts::default(),
    };
    program.run(&machine);
    image.words_mut().copy_from_slice(&machine.words.borrow());
    machine.counts
}

fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}

impl Uniprocessor {
    #[inline(always)]
    fn touch(&self, at: Address, count: &Cell<u64>) {
        add(count, 1);
        look_up(&mut self.tags.borrow_mut(), at.0 / LINE as u64, &self.counts.misses);
        look_up(&mut self.pages.borrow_mut(), at.0 / PAGE, &self.counts.tlb_misses);
    }
}

/// Looks `number` up in a direct-mapped table, and counts a miss.
#[inline(always)]
fn look_up(table: &mut [u64], number: u64, misses: &Cell<u64>) {
    let place = number as usize % table.len();
    if table[place] != number {
        table[place] = number;
        add(misses, 1);
    }
}

impl SharedMemory for Uniprocessor {
    fn processor(&self) -> u32 {
        0
    }

    fn processors(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn load(&self, at: Address) -> u64 {
        self.touch(at, &self.counts.loads);
        self.words.borrow()[at.0 as usize / 8]
    }

    #[inline(always)]
    fn store(&self, at: Address, value: u64) {
        self.touch(at, &self.counts.stores);
        self.words.borrow_mut()[at.0 as usize / 8] = value;
    }

    fn load_half(&self, at: Address) -> u32 {
        self.touch(at, &self.counts.loads);
        half_of(self.words.borrow()[at.0 as usize / 8], at)
    }

    fn store_half(&self, at: Address, value: u32) {
        self.touch(at, &self.counts.stores);
        let word = &mut self.words.borrow_mut()[at.0 as usize / 8];
        *word = with_half(*word, at, value);
    }

    #[inline(always)]
    fn compute(&self, cycles: u32) {
        add(&self.counts.cycles, u64::from(cycles));
    }

    fn acquire(&self, _lock: LockId) {
        add(&self.counts.locks, 1);
    }

    fn release(&self, _lock: LockId) {}

    fn barrier(&self, _barrier: BarrierId) {
        add(&self.counts.barriers, 1);
    }
}
