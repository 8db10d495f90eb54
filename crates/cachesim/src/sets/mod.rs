//! The lines that a cache holds, set by set, and which of them makes way.
//!
//! A set is a row of words. Each holds the number of a line (its address divided by the line's size), shifted left
//! by one, with the lowest bit set if the line was changed; [`EMPTY`] is no line. A line has at least
//! four bytes, so that the number of no line reaches [`EMPTY`].

mod ordered;
mod recent;
mod tree;

use crate::Replacement;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use recent::Recency;
use warmcore_topology::Geometry;

/// What stands in a place that holds no line.
pub(crate) const EMPTY: u64 = u64::MAX;

/// What an access found, and which word made way for the line if it was not there: [`EMPTY`] if there was room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) hit: bool,
    pub(crate) victim: u64,
}

const HIT: Access = Access { hit: true, victim: EMPTY };

const fn miss(victim: u64) -> Access {
    Access { hit: false, victim }
}

/// The line of a word, and whether it was changed.
pub(crate) const fn unpack(word: u64) -> Option<(u64, bool)> {
    if word == EMPTY { None } else { Some((word >> 1, word & 1 == 1)) }
}

/// The sets of one cache.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    words: Vec<u64>,
    ways: usize,
    /// The number of sets less 1: the bits of a line's number that name its set.
    mask: u64,
    order: Order,
}

/// Sets in one form: where a line goes, and what makes way.
pub(crate) trait Form {
    /// As [`Sets::access`], in the set of that number.
    fn access(&mut self, set: usize, line: u64, changed: u64) -> Access;

    /// As [`Sets::mark_changed`], in the set of that number.
    fn mark_changed(&mut self, set: usize, line: u64) -> bool;
}

/// What is done with sets in a form that only they know: a closure that is generic.
pub(crate) trait FormTask {
    type Output;

    /// Does it. The lowest bits of a line's number, as in `mask`, name its set.
    fn run(self, form: impl Form, mask: u64) -> Self::Output;
}

/// Direct-mapped sets.
struct Direct<'a> {
    words: &'a mut [u64],
}

impl Form for Direct<'_> {
    #[inline(always)]
    fn access(&mut self, set: usize, line: u64, changed: u64) -> Access {
        let word = &mut self.words[set];
        let old = *word;
        let hit = old >> 1 == line;
        *word = line << 1 | changed | (old & u64::from(hit));
        Access { hit, victim: if hit { EMPTY } else { old } }
    }

    fn mark_changed(&mut self, set: usize, line: u64) -> bool {
        mark_changed(std::slice::from_mut(&mut self.words[set]), line)
    }
}

/// LRU sets of `W` ways.
struct Recent<'a, const W: usize> {
    sets: &'a mut [[u64; W]],
    recencies: &'a mut [Recency],
}

impl<'a, const W: usize> Recent<'a, W> {
    #[inline(always)]
    const fn new(words: &'a mut [u64], recencies: &'a mut [Recency]) -> Self {
        Self { sets: words.as_chunks_mut().0, recencies }
    }
}

impl<const W: usize> Form for Recent<'_, W> {
    #[inline(always)]
    fn access(&mut self, set: usize, line: u64, changed: u64) -> Access {
        recent::access(&mut self.sets[set], &mut self.recencies[set], line, changed)
    }

    fn mark_changed(&mut self, set: usize, line: u64) -> bool {
        mark_changed(&mut self.sets[set], line)
    }
}

/// Sets of any other form.
struct Any<'a>(&'a mut Sets);

impl Form for Any<'_> {
    #[inline]
    fn access(&mut self, set: usize, line: u64, changed: u64) -> Access {
        self.0.access_otherwise(set, line, changed)
    }

    fn mark_changed(&mut self, _set: usize, line: u64) -> bool {
        self.0.mark_changed(line)
    }
}

/// How a set chooses.
#[derive(Clone, Debug)]
enum Order {
    /// One way: no choice.
    Direct,
    /// For each set, in which order its ways were last used.
    Recent(Vec<Recency>),
    /// The words of a set stand in order of their last use.
    Lru,
    /// They stand in the order in which they came.
    Fifo,
    Random(Box<Xoshiro256PlusPlus>),
    /// A word of bits for each set.
    Tree(Vec<u64>),
}

impl Sets {
    /// Empty sets. The geometry must have passed [`Description::check`](crate::Description::check).
    pub(crate) fn new(geometry: Geometry, replacement: Replacement, seed: u64) -> Self {
        let ways = geometry.ways as usize;
        let sets = geometry.sets() as usize;
        let order = match replacement {
            _ if ways == 1 => Order::Direct,
            Replacement::Lru if ways <= recent::MAX_WAYS => Order::Recent(vec![Recency::START; sets]),
            Replacement::Lru => Order::Lru,
            Replacement::Fifo => Order::Fifo,
            Replacement::Random => Order::Random(Box::new(Xoshiro256PlusPlus::seed_from_u64(seed))),
            Replacement::TreePlru => Order::Tree(vec![0; sets]),
        };
        Self { words: vec![EMPTY; sets * ways], ways, mask: sets as u64 - 1, order }
    }

    /// Looks for `line`, and brings it in if it is not here. `changed` is 1 if it is written to, otherwise 0.
    #[inline(always)]
    pub(crate) fn access(&mut self, line: u64, changed: u64) -> Access {
        let set = (line & self.mask) as usize;
        match (&mut self.order, self.ways) {
            (Order::Direct, _) => Direct { words: &mut self.words }.access(set, line, changed),
            (Order::Recent(recencies), 8) => {
                Recent::<8>::new(&mut self.words, recencies).access(set, line, changed)
            }
            _ => self.access_otherwise(set, line, changed),
        }
    }

    /// Calls `task` with these sets in the form that makes their accesses fastest.
    pub(crate) fn with_form<T: FormTask>(&mut self, task: T) -> T::Output {
        match (&mut self.order, self.ways) {
            (Order::Direct, _) => task.run(Direct { words: &mut self.words }, self.mask),
            (Order::Recent(recencies), 2) => {
                task.run(Recent::<2>::new(&mut self.words, recencies), self.mask)
            }
            (Order::Recent(recencies), 4) => {
                task.run(Recent::<4>::new(&mut self.words, recencies), self.mask)
            }
            (Order::Recent(recencies), 8) => {
                task.run(Recent::<8>::new(&mut self.words, recencies), self.mask)
            }
            (Order::Recent(recencies), 12) => {
                task.run(Recent::<12>::new(&mut self.words, recencies), self.mask)
            }
            (Order::Recent(recencies), 16) => {
                task.run(Recent::<16>::new(&mut self.words, recencies), self.mask)
            }
            _ => {
                let mask = self.mask;
                task.run(Any(self), mask)
            }
        }
    }

    #[inline(never)]
    fn access_otherwise(&mut self, set: usize, line: u64, changed: u64) -> Access {
        let row = &mut self.words[set * self.ways..][..self.ways];
        let found = position(row, line);
        let way = match &mut self.order {
            Order::Direct | Order::Lru => return ordered::lru(row, line, changed),
            Order::Recent(recencies) => return recent::access(row, &mut recencies[set], line, changed),
            Order::Fifo => return ordered::fifo(row, found, line, changed),
            Order::Random(random) => {
                let drawn = |random: &mut Xoshiro256PlusPlus| {
                    ((u128::from(random.next_u64()) * row.len() as u128) >> 64) as usize
                };
                found.or_else(|| first_empty(row)).unwrap_or_else(|| drawn(random))
            }
            Order::Tree(bits) => {
                let bits = &mut bits[set];
                let way =
                    found.or_else(|| first_empty(row)).unwrap_or_else(|| tree::victim(*bits, row.len()));
                *bits = tree::used(*bits, row.len(), way);
                way
            }
        };
        if found.is_some() {
            row[way] |= changed;
            HIT
        } else {
            miss(std::mem::replace(&mut row[way], line << 1 | changed))
        }
    }

    /// Uses `line` if it is here, and leaves it unchanged: what a store does that passes through. Tells whether it is here.
    pub(crate) fn pass(&mut self, line: u64) -> bool {
        let present = self.contains(line);
        if present {
            self.access(line, 0);
        }
        present
    }

    /// Whether `line` is here.
    pub(crate) fn contains(&self, line: u64) -> bool {
        position(self.row(line), line).is_some()
    }

    /// Notes that `line` was changed, which is no use of it. Tells whether it is here.
    pub(crate) fn mark_changed(&mut self, line: u64) -> bool {
        mark_changed(self.row_mut(line), line)
    }

    /// Removes `line`. Tells whether it had been changed; `None` if it was not here.
    pub(crate) fn remove(&mut self, line: u64) -> Option<bool> {
        let set = (line & self.mask) as usize;
        let ways = self.ways;
        let row = self.row_mut(line);
        let way = position(row, line)?;
        let changed = row[way] & 1 == 1;
        row[way] = EMPTY;
        match &mut self.order {
            Order::Lru | Order::Fifo => self.row_mut(line)[way..].rotate_left(1),
            Order::Recent(recencies) => {
                let order = &mut recencies[set].order;
                *order = recent::vacated(*order, way as u64, ways);
            }
            Order::Direct | Order::Random(_) | Order::Tree(_) => (),
        }
        Some(changed)
    }

    /// The lines that are here, and whether each was changed.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.words.iter().filter_map(|&word| unpack(word))
    }

    /// Removes all lines.
    pub(crate) fn clear(&mut self) {
        self.words.fill(EMPTY);
    }

    fn row(&self, line: u64) -> &[u64] {
        &self.words[(line & self.mask) as usize * self.ways..][..self.ways]
    }

    fn row_mut(&mut self, line: u64) -> &mut [u64] {
        &mut self.words[(line & self.mask) as usize * self.ways..][..self.ways]
    }
}

fn position(row: &[u64], line: u64) -> Option<usize> {
    row.iter().position(|&word| word >> 1 == line)
}

fn mark_changed(row: &mut [u64], line: u64) -> bool {
    let found = position(row, line);
    if let Some(way) = found {
        row[way] |= 1;
    }
    found.is_some()
}

fn first_empty(row: &[u64]) -> Option<usize> {
    row.iter().position(|&word| word == EMPTY)
}
