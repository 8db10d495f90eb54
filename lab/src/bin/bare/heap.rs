//! A heap: lists of free blocks by size, over one arena.

use super::Single;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::ptr::null_mut;

const ARENA: usize = 4 << 20;
/// Blocks have 16 bytes or more, and a power of two.
const SMALLEST: u32 = 4;
const SIZES: usize = 20;

#[repr(align(4096))]
struct Arena(UnsafeCell<[u8; ARENA]>);

struct Heap {
    free: [Cell<*mut u8>; SIZES],
    used: Cell<usize>,
}

static MEMORY: Single<Arena> = Single(Arena(UnsafeCell::new([0; ARENA])));

// SAFETY: the machine has one processor, and calls one function after the other.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap { free: [const { Cell::new(null_mut()) }; SIZES], used: Cell::new(0) };

/// The list of blocks that `layout` fits.
fn list(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).next_power_of_two();
    (size.trailing_zeros().max(SMALLEST) - SMALLEST) as usize
}

// SAFETY: a block is a power of two, aligned to its size (to a page if larger), and in one place at a time: with a user,
// or in its list.
unsafe impl GlobalAlloc for Heap {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let list = list(layout);
        let Some(free) = self.free.get(list) else { return null_mut() };
        let block = free.get();
        if block.is_null() {
            return self.carve(1 << (list as u32 + SMALLEST));
        }
        // SAFETY: a free block begins with the next one of its list.
        free.set(unsafe { *block.cast::<*mut u8>() });
        block
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(free) = self.free.get(list(layout)) else { return };
        // SAFETY: the block is the heap's again, and has at least 16 bytes.
        unsafe { *block.cast::<*mut u8>() = free.get() };
        free.set(block);
    }
}

impl Heap {
    /// A block of `size` that was never used.
    #[cold]
    #[inline(never)]
    fn carve(&self, size: usize) -> *mut u8 {
        let start = self.used.get().next_multiple_of(size.min(4096));
        if start + size > ARENA {
            return null_mut();
        }
        self.used.set(start + size);
        // SAFETY: the place is within the arena.
        unsafe { MEMORY.0.0.get().cast::<u8>().add(start) }
    }
}
