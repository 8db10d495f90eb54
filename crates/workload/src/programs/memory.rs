//! What a parallel program may do on a shared-memory machine.

/// A byte address in the shared address space. Words have eight bytes and lie at multiples of eight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u64);

impl Address {
    /// The address of word `index` of an array that begins here.
    #[must_use]
    #[inline(always)]
    pub const fn word(self, index: u64) -> Self {
        Self(self.0 + 8 * index)
    }

    /// The address of the half word, four bytes, number `index` of an array that begins here.
    #[must_use]
    #[inline(always)]
    pub const fn half(self, index: u64) -> Self {
        Self(self.0 + 4 * index)
    }
}

/// A lock of the program. Locks need no allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockId(pub u32);

/// A barrier of all processors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BarrierId(pub u32);

/// Cycles of computing between two loads of a word that a processor waits for.
pub const SPIN: u32 = 4;

/// The machine as one processor sees it. Every call may take simulated time, and other processors run meanwhile.
pub trait SharedMemory {
    /// The number of this processor, from 0.
    fn processor(&self) -> u32;

    /// How many processors run the program.
    fn processors(&self) -> u32;

    /// Loads the word at `at`.
    fn load(&self, at: Address) -> u64;

    /// Stores a word at `at`.
    fn store(&self, at: Address, value: u64);

    /// Loads four bytes, at a multiple of four.
    fn load_half(&self, at: Address) -> u32;

    /// Stores four bytes, at a multiple of four.
    fn store_half(&self, at: Address, value: u32);

    /// Computes for so many cycles without shared memory: instructions, and accesses to private data that hit its cache.
    fn compute(&self, cycles: u32);

    /// Waits until this processor holds `lock`.
    fn acquire(&self, lock: LockId);

    /// Gives `lock` away, which this processor holds.
    fn release(&self, lock: LockId);

    /// Waits until all processors have come to `barrier`. A barrier can be used any number of times.
    fn barrier(&self, barrier: BarrierId);

    /// Waits until the word at `at` is no longer `old`, and returns what it is then. A machine that knows when a word changes
    /// need not repeat the load.
    #[inline]
    fn wait_for_change(&self, at: Address, old: u64) -> u64 {
        loop {
            let word = self.load(at);
            if word != old {
                return word;
            }
            self.compute(SPIN);
        }
    }

    /// Loads a number at `at`.
    #[inline(always)]
    fn load_f64(&self, at: Address) -> f64 {
        f64::from_bits(self.load(at))
    }

    /// Stores a number at `at`.
    #[inline(always)]
    fn store_f64(&self, at: Address, value: f64) {
        self.store(at, value.to_bits());
    }
}
