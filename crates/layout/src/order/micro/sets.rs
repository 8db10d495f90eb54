//! The sets of a cache, and which lines of the functions placed so far visit each when.

use super::visits::{Visit, lines};
use warmcore_topology::Geometry;

/// Visits of one set, by time. Two lines of one function may visit it at one time; then by number.
#[derive(Clone, Debug, Default)]
struct Set {
    visits: Vec<(u32, u64)>,
    /// Replacement misses of these.
    misses: u64,
}

/// The sets of a cache that replaces the least recently used line.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    sets: Vec<Set>,
    line: u64,
    ways: usize,
}

impl Sets {
    pub(super) fn new(geometry: &Geometry) -> Self {
        Self {
            sets: vec![Set::default(); geometry.sets() as usize],
            line: geometry.line.0,
            ways: geometry.ways as usize,
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.sets.len()
    }

    /// The set of a line.
    pub(super) const fn index(&self, line: u64) -> usize {
        (line % self.sets.len() as u64) as usize
    }

    /// Replacement misses that the set has more if `line` visits it at `times` too.
    pub(super) fn added(&self, set: usize, line: u64, times: &[u32]) -> u64 {
        let Set { visits, misses } = &self.sets[set];
        if visits.is_empty() {
            return 0;
        }
        self.misses(Merged { old: visits, new: times, line }).saturating_sub(*misses)
    }

    /// Takes in the visits of a function at `address`.
    pub(super) fn add(&mut self, visits: &[Visit], address: u64) {
        for (line, times) in lines(visits, address, self.line) {
            let set = self.index(line);
            let merged: Vec<(u32, u64)> = Merged { old: &self.sets[set].visits, new: &times, line }.collect();
            let misses = self.misses(merged.iter().copied());
            self.sets[set] = Set { visits: merged, misses };
        }
    }

    /// Replacement misses of `visits`: of lines that were here before.
    fn misses(&self, visits: impl Iterator<Item = (u32, u64)>) -> u64 {
        let (mut here, mut seen, mut misses) = (Vec::with_capacity(self.ways), Vec::new(), 0);
        for (_, line) in visits {
            if here.last() == Some(&line) {
                continue;
            }
            if let Some(at) = here.iter().position(|&other| other == line) {
                here.remove(at);
            } else {
                if seen.contains(&line) {
                    misses += 1;
                } else {
                    seen.push(line);
                }
                if here.len() == self.ways {
                    here.remove(0);
                }
            }
            here.push(line);
        }
        misses
    }
}

/// Visits of a set and those of one line more, in order.
struct Merged<'a> {
    old: &'a [(u32, u64)],
    new: &'a [u32],
    line: u64,
}

impl Iterator for Merged<'_> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let old = self.old.first().copied();
        let new = self.new.first().map(|&time| (time, self.line));
        match (old, new) {
            (Some(old), Some(new)) if old > new => self.take_new(new),
            (None, Some(new)) => self.take_new(new),
            (Some(old), _) => {
                self.old = &self.old[1..];
                Some(old)
            }
            (None, None) => None,
        }
    }
}

impl Merged<'_> {
    fn take_new(&mut self, new: (u32, u64)) -> Option<(u32, u64)> {
        self.new = &self.new[1..];
        Some(new)
    }
}
