//! A fully associative LRU cache of any size, each access in constant time.

use hashbrown::HashMap;

/// No entry.
const NONE: u32 = u32::MAX;

/// Lines in order of last use: a list whose entries are found by line.
#[derive(Clone, Debug)]
pub(super) struct Associative {
    capacity: usize,
    place: HashMap<u64, u32>,
    entries: Vec<Entry>,
    /// Entries that hold no line.
    free: Vec<u32>,
    latest: u32,
    oldest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    line: u64,
    later: u32,
    earlier: u32,
}

impl Associative {
    /// An empty cache of `capacity` lines, at least one.
    pub(super) fn new(capacity: usize) -> Self {
        let (place, entries, free) = (HashMap::new(), Vec::new(), Vec::new());
        Self { capacity, place, entries, free, latest: NONE, oldest: NONE }
    }

    /// Uses `line`, and brings it in if it is not here. Tells whether it was.
    pub(super) fn access(&mut self, line: u64) -> bool {
        if let Some(&at) = self.place.get(&line) {
            if at != self.latest {
                self.unlink(at);
                self.put_first(at);
            }
            return true;
        }
        if self.place.len() == self.capacity {
            self.remove(self.entries[self.oldest as usize].line);
        }
        let entry = Entry { line, later: NONE, earlier: NONE };
        let at = self.free.pop().unwrap_or(self.entries.len() as u32);
        match self.entries.get_mut(at as usize) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
        self.place.insert(line, at);
        self.put_first(at);
        false
    }

    /// Removes `line` if it is here.
    pub(super) fn remove(&mut self, line: u64) {
        if let Some(at) = self.place.remove(&line) {
            self.unlink(at);
            self.free.push(at);
        }
    }

    fn unlink(&mut self, at: u32) {
        let Entry { later, earlier, .. } = self.entries[at as usize];
        match self.entries.get_mut(later as usize) {
            Some(entry) => entry.earlier = earlier,
            None => self.latest = earlier,
        }
        match self.entries.get_mut(earlier as usize) {
            Some(entry) => entry.later = later,
            None => self.oldest = later,
        }
    }

    fn put_first(&mut self, at: u32) {
        let second = self.latest;
        self.entries[at as usize].later = NONE;
        self.entries[at as usize].earlier = second;
        match self.entries.get_mut(second as usize) {
            Some(entry) => entry.later = at,
            None => self.oldest = at,
        }
        self.latest = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn it_equals_a_list_that_is_searched() {
        const SEED: u64 = 20_261_123;
        println!("seed {SEED}");
        let mut random = StdRng::seed_from_u64(SEED);
        for capacity in [1, 2, 7, 40] {
            let mut fast = Associative::new(capacity);
            let mut list: Vec<u64> = Vec::new();
            for step in 0..20_000 {
                let line = random.random_range(0..60);
                let found = list.iter().position(|&other| other == line);
                if let Some(at) = found {
                    list.remove(at);
                }
                if random.random_range(0..10) == 0 {
                    fast.remove(line);
                    continue;
                }
                list.insert(0, line);
                list.truncate(capacity);
                assert_eq!(fast.access(line), found.is_some(), "capacity {capacity}, step {step}");
            }
        }
    }
}
