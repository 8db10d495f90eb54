//! The x-kernel's map: a hash table over keys of any length and alignment, with a cache of one entry (§2.2.3) and a list
//! of the buckets that are not empty, cleaned when it is followed (§2.2.1).

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::hint::cold_path;

/// Longest key, in bytes.
pub const MAX_KEY: usize = 16;

const BUCKETS: usize = 64;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    key: [u8; MAX_KEY],
    length: u8,
    value: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct Bucket {
    first: u32,
    next_in_list: u32,
    is_in_list: bool,
}

/// A map from bytes to numbers.
pub struct Map {
    cached: Cell<Entry>,
    inner: RefCell<Inner>,
}

struct Inner {
    buckets: [Bucket; BUCKETS],
    entries: Vec<Entry>,
    vacant: Vec<u32>,
    first_in_list: u32,
}

impl Default for Map {
    fn default() -> Self {
        let nobody = Entry { key: [0; MAX_KEY], length: 0xff, value: NONE, next: NONE };
        let empty = Bucket { first: NONE, next_in_list: NONE, is_in_list: false };
        let inner =
            Inner { buckets: [empty; BUCKETS], entries: Vec::new(), vacant: Vec::new(), first_in_list: NONE };
        Self { cached: Cell::new(nobody), inner: RefCell::new(inner) }
    }
}

impl Map {
    /// The value of `key`, which has the same length at each lookup here: the cached entry is tested in place, if
    /// `inline_test` says so (§2.2.3, "conditional inlining").
    #[inline(always)]
    pub fn resolve<const N: usize>(&self, key: &[u8; N], inline_test: bool) -> Option<u32> {
        if inline_test {
            let cached = self.cached_ref();
            if usize::from(cached.length) == N && cached.key[..N] == key[..] {
                return Some(cached.value);
            }
        }
        cold_path();
        self.resolve_any(key)
    }

    #[inline(always)]
    fn cached_ref(&self) -> Entry {
        self.cached.get()
    }

    /// The value of a key of any length.
    #[inline(never)]
    pub fn resolve_any(&self, key: &[u8]) -> Option<u32> {
        let cached = self.cached.get();
        if is_key(&cached, key) {
            return Some(cached.value);
        }
        let inner = self.inner.borrow();
        let mut at = inner.buckets[hash(key)].first;
        while at != NONE {
            let entry = inner.entries[at as usize];
            if is_key(&entry, key) {
                self.cached.set(entry);
                return Some(entry.value);
            }
            at = entry.next;
        }
        cold_path();
        None
    }

    /// Binds `key`, of at most [`MAX_KEY`] bytes, to `value`. Returns whether it has such a length and was not bound.
    #[inline(never)]
    pub fn bind(&self, key: &[u8], value: u32) -> bool {
        if key.len() > MAX_KEY || self.resolve_any(key).is_some() {
            return false;
        }
        let mut bytes = [0; MAX_KEY];
        bytes[..key.len()].copy_from_slice(key);
        let inner = &mut *self.inner.borrow_mut();
        let at = hash(key);
        let entry = Entry { key: bytes, length: key.len() as u8, value, next: inner.buckets[at].first };
        let index = inner.vacant.pop().unwrap_or(inner.entries.len() as u32);
        if index as usize == inner.entries.len() {
            inner.entries.push(entry);
        } else {
            inner.entries[index as usize] = entry;
        }
        let bucket = &mut inner.buckets[at];
        bucket.first = index;
        if !bucket.is_in_list {
            bucket.is_in_list = true;
            bucket.next_in_list = inner.first_in_list;
            inner.first_in_list = at as u32;
        }
        true
    }

    /// Removes `key`. Its bucket stays in the list until that is followed.
    #[inline(never)]
    pub fn unbind(&self, key: &[u8]) -> Option<u32> {
        if is_key(&self.cached.get(), key) {
            self.cached.set(Entry { length: 0xff, ..self.cached.get() });
        }
        let inner = &mut *self.inner.borrow_mut();
        let at = hash(key);
        let (mut before, mut index) = (NONE, inner.buckets[at].first);
        while index != NONE {
            let entry = inner.entries[index as usize];
            if is_key(&entry, key) {
                match before {
                    NONE => inner.buckets[at].first = entry.next,
                    before => inner.entries[before as usize].next = entry.next,
                }
                inner.vacant.push(index);
                return Some(entry.value);
            }
            (before, index) = (index, entry.next);
        }
        None
    }

    /// Calls `visit` with every value, and takes empty buckets off the list.
    #[inline(never)]
    pub fn for_each(&self, visit: &mut dyn FnMut(u32)) {
        let inner = &mut *self.inner.borrow_mut();
        let (mut before, mut at) = (NONE, inner.first_in_list);
        while at != NONE {
            let bucket = inner.buckets[at as usize];
            if bucket.first == NONE {
                inner.buckets[at as usize].is_in_list = false;
                match before {
                    NONE => inner.first_in_list = bucket.next_in_list,
                    before => inner.buckets[before as usize].next_in_list = bucket.next_in_list,
                }
            } else {
                let mut index = bucket.first;
                while index != NONE {
                    visit(inner.entries[index as usize].value);
                    index = inner.entries[index as usize].next;
                }
                before = at;
            }
            at = bucket.next_in_list;
        }
    }
}

fn is_key(entry: &Entry, key: &[u8]) -> bool {
    usize::from(entry.length) == key.len() && entry.key[..key.len()] == *key
}

fn hash(key: &[u8]) -> usize {
    let mixed = key.iter().fold(0_u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    ((mixed ^ (mixed >> 11)) as usize) % BUCKETS
}
