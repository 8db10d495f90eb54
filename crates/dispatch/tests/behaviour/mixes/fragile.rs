//! Keys that panic wherever a dispatcher uses them.

use core::cell::Cell;
use core::hash::{Hash, Hasher};
use std::panic::resume_unwind;
use std::thread;

/// One use in so many panics.
const SELDOM: u64 = 5_000;

pub(super) struct Key {
    id: u64,
    hashes: u64,
    is_fragile: bool,
}

thread_local! {
    static USES: Cell<u64> = const { Cell::new(1) };
}

impl Key {
    pub(super) fn new(id: u64, hashes: u64, is_fragile: bool) -> Self {
        Self { id, hashes, is_fragile }
    }

    fn used(&self) {
        if !self.is_fragile || thread::panicking() {
            return;
        }
        let uses = USES.get();
        USES.set(uses + 1);
        if uses.is_multiple_of(SELDOM) {
            resume_unwind(Box::new("a fragile key"));
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.used();
        (self.id % self.hashes).hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.used();
        self.id == other.id
    }
}

impl Eq for Key {}

impl Clone for Key {
    fn clone(&self) -> Self {
        self.used();
        Self { ..*self }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.used();
    }
}
