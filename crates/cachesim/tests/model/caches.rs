//! Caches as plain as they can be: a list of what is held, searched from end to end, with the time of each use.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::{BTreeMap, HashMap};
use warmcore_cachesim::{
    Cause, Description, Kind, Prefetch, Reference, Replacement, Served, Straddling, Writes,
};
use warmcore_topology::CacheKind;
use warmcore_units::{CpuId, Cycles};

pub(crate) struct Model {
    description: Description,
    pub(crate) caches: Vec<Contents>,
    pub(crate) memory_reads: u64,
    pub(crate) memory_writes: u64,
    time: u64,
}

#[derive(Default)]
pub(crate) struct Contents {
    held: Vec<Held>,
    /// For each set, and each half of it by the ways from which to which it goes: whether the upper part is next to go.
    upper_next: HashMap<(u64, usize, usize), bool>,
    random: Option<Xoshiro256PlusPlus>,
    pub(crate) accesses: BTreeMap<Cause, u64>,
    pub(crate) misses: BTreeMap<Cause, u64>,
    pub(crate) displaced: u64,
    pub(crate) invalidated: u64,
    pub(crate) excluded: u64,
    pub(crate) written_back: u64,
    pub(crate) prefetched: u64,
    /// Every line that was accessed, in order: for stack distances.
    history: Vec<u64>,
    pub(crate) first: u64,
    pub(crate) capacity: u64,
    pub(crate) conflict: u64,
}

#[derive(Clone, Copy)]
struct Held {
    line: u64,
    way: usize,
    came: u64,
    used: u64,
    changed: bool,
}

impl Model {
    pub(crate) fn new(description: &Description) -> Self {
        let contents = |index: usize| Contents {
            random: Some(Xoshiro256PlusPlus::seed_from_u64(description.seed + index as u64)),
            ..Contents::default()
        };
        Self {
            caches: (0..description.caches.len()).map(contents).collect(),
            description: description.clone(),
            memory_reads: 0,
            memory_writes: 0,
            time: 0,
        }
    }

    fn line_size(&self, cache: usize) -> u64 {
        self.description.caches[cache].geometry.line.0
    }

    fn path(&self, cpu: CpuId, kind: Kind) -> Vec<usize> {
        let other = if kind == Kind::Fetch { CacheKind::Data } else { CacheKind::Instruction };
        let caches = &self.description.caches;
        let mut path: Vec<usize> = (0..caches.len())
            .filter(|&at| caches[at].kind != other && caches[at].shared_by.contains(cpu))
            .collect();
        path.sort_by_key(|&at| caches[at].level);
        path
    }

    /// The caches behind `cache`.
    fn beyond(&self, cache: usize) -> Vec<usize> {
        let described = &self.description.caches[cache];
        let kind = if described.kind == CacheKind::Instruction { Kind::Fetch } else { Kind::Load };
        let path = self.path(described.shared_by.first().expect("a cpu"), kind);
        path.into_iter().skip_while(|&at| at != cache).skip(1).collect()
    }

    pub(crate) fn holds(&self, cache: usize, address: u64) -> bool {
        let line = address / self.line_size(cache);
        self.caches[cache].held.iter().any(|held| held.line == line)
    }

    pub(crate) fn access(&mut self, cpu: CpuId, reference: &Reference) -> Served {
        let (first, last) = (reference.address, reference.address + u64::from(reference.size.max(1)) - 1);
        if reference.kind == Kind::Store {
            for cache in 0..self.caches.len() {
                let described = &self.description.caches[cache];
                if described.kind != CacheKind::Instruction && !described.shared_by.contains(cpu) {
                    let gone = self.take_away(cache, first, last);
                    self.caches[cache].invalidated += gone.len() as u64;
                    for held in gone.iter().filter(|held| held.changed) {
                        self.write_back(cache, held.line);
                    }
                }
            }
        }
        let path = self.path(cpu, reference.kind);
        let cause = Cause::Reference(reference.kind);
        let is_store = reference.kind == Kind::Store;
        let Some(&nearest) = path.first() else { return self.ask(&path, first, last, cause, is_store) };
        if self.description.straddling == Straddling::Whole {
            return self.ask(&path, first, last, cause, is_store);
        }
        let size = self.line_size(nearest);
        let mut sum = Served { cycles: Cycles(0), depth: 0 };
        for line in first / size..=last / size {
            let part = (first.max(line * size), last.min(line * size + size - 1));
            let served = self.ask(&path, part.0, part.1, cause, is_store);
            sum = Served { cycles: sum.cycles + served.cycles, depth: sum.depth.max(served.depth) };
        }
        sum
    }

    fn ask(&mut self, path: &[usize], first: u64, last: u64, cause: Cause, write: bool) -> Served {
        let [cache, further @ ..] = path else {
            *(if write { &mut self.memory_writes } else { &mut self.memory_reads }) += 1;
            return Served { cycles: self.description.memory, depth: 0 };
        };
        let (cache, size) = (*cache, self.line_size(*cache));
        let described = self.description.caches[cache].clone();
        let passes = write && described.writes == Writes::Through;
        let mut all_hit = true;
        for line in first / size..=last / size {
            all_hit &= if passes { self.touch(cache, line, false) } else { self.bring(cache, line, write) };
        }
        *self.caches[cache].accesses.entry(cause).or_default() += 1;
        *self.caches[cache].misses.entry(cause).or_default() += u64::from(!all_hit);
        if all_hit && !passes {
            return Served { cycles: described.latency, depth: 0 };
        }
        let below = if passes {
            self.ask(further, first, last, cause, true)
        } else {
            self.ask(further, first / size * size, last / size * size + size - 1, cause, false)
        };
        let next = last / size + 1;
        if !passes
            && described.prefetch == Prefetch::NextOnMiss
            && cause != Cause::Prefetch
            && !self.holds(cache, next * size)
        {
            self.caches[cache].prefetched += 1;
            self.bring(cache, next, false);
            self.ask(further, next * size, next * size + size - 1, Cause::Prefetch, false);
        }
        Served { depth: below.depth + 1, ..below }
    }

    /// Uses `line` if it is held.
    fn touch(&mut self, cache: usize, line: u64, changed: bool) -> bool {
        self.time += 1;
        let time = self.time;
        let geometry = self.description.caches[cache].geometry;
        let Some(held) = self.caches[cache].held.iter_mut().find(|held| held.line == line) else {
            return false;
        };
        held.used = time;
        held.changed |= changed;
        let way = held.way;
        self.caches[cache].history.push(line);
        self.caches[cache].point_away(line % geometry.sets(), way, 0, geometry.ways as usize);
        true
    }

    /// Uses `line`, and brings it in if it is not held. Tells whether it was.
    fn bring(&mut self, cache: usize, line: u64, changed: bool) -> bool {
        let described = self.description.caches[cache].clone();
        if self.touch(cache, line, changed) {
            return true;
        }
        self.classify(cache, line);
        let (sets, ways) = (described.geometry.sets(), described.geometry.ways as usize);
        let set = line % sets;
        let contents = &mut self.caches[cache];
        let mut mates: Vec<Held> =
            contents.held.iter().filter(|held| held.line % sets == set).copied().collect();
        mates.sort_by_key(|held| held.way);
        let free = (0..ways).find(|way| mates.iter().all(|held| held.way != *way));
        let way = free.unwrap_or_else(|| match described.replacement {
            Replacement::Lru => mates.iter().min_by_key(|held| held.used).expect("full").way,
            Replacement::Fifo => mates.iter().min_by_key(|held| held.came).expect("full").way,
            Replacement::Random => {
                let random = contents.random.as_mut().expect("a generator").next_u64();
                ((u128::from(random) * ways as u128) >> 64) as usize
            }
            Replacement::TreePlru => contents.pointed_to(set, 0, ways),
        });
        let victim = mates.iter().find(|held| held.way == way).copied();
        contents.held.retain(|held| victim.is_none_or(|victim| held.line != victim.line));
        contents.held.push(Held { line, way, came: self.time, used: self.time, changed });
        contents.history.push(line);
        contents.point_away(set, way, 0, ways);
        if let Some(victim) = victim {
            contents.displaced += 1;
            self.follow(cache, victim);
        }
        false
    }

    /// What becomes of a line that made way.
    fn follow(&mut self, cache: usize, victim: Held) {
        let size = self.line_size(cache);
        let mut changed = victim.changed;
        if self.description.caches[cache].inclusive {
            for nearer in 0..self.caches.len() {
                if self.beyond(nearer).contains(&cache) {
                    let gone = self.take_away(nearer, victim.line * size, victim.line * size + size - 1);
                    self.caches[nearer].excluded += gone.len() as u64;
                    changed |= gone.iter().any(|held| held.changed);
                }
            }
        }
        if changed {
            self.write_back(cache, victim.line);
        }
    }

    fn write_back(&mut self, cache: usize, line: u64) {
        self.caches[cache].written_back += 1;
        let address = line * self.line_size(cache);
        for further in self.beyond(cache) {
            let line = address / self.line_size(further);
            let through = self.description.caches[further].writes == Writes::Through;
            let held = self.caches[further].held.iter_mut().find(|held| held.line == line);
            if let (Some(held), false) = (held, through) {
                held.changed = true;
                return;
            }
        }
        self.memory_writes += 1;
    }

    fn take_away(&mut self, cache: usize, first: u64, last: u64) -> Vec<Held> {
        let size = self.line_size(cache);
        let lines = first / size..=last / size;
        let (gone, stay) = self.caches[cache].held.iter().partition(|held| lines.contains(&held.line));
        self.caches[cache].held = stay;
        gone
    }

    /// By the definition: a line that at least as many others followed as there are lines would be gone from a fully
    /// associative cache too.
    fn classify(&mut self, cache: usize, line: u64) {
        let lines = self.description.caches[cache].geometry.lines();
        let contents = &mut self.caches[cache];
        let Some(before) = contents.history.iter().rposition(|&other| other == line) else {
            contents.first += 1;
            return;
        };
        let mut since = contents.history[before + 1..].to_vec();
        since.sort_unstable();
        since.dedup();
        *(if since.len() as u64 >= lines { &mut contents.capacity } else { &mut contents.conflict }) += 1;
    }
}

impl Contents {
    fn pointed_to(&self, set: u64, from: usize, to: usize) -> usize {
        let middle = usize::midpoint(from, to);
        if to - from == 1 {
            from
        } else if self.upper_next.get(&(set, from, to)).copied().unwrap_or(false) {
            self.pointed_to(set, middle, to)
        } else {
            self.pointed_to(set, from, middle)
        }
    }

    fn point_away(&mut self, set: u64, way: usize, from: usize, to: usize) {
        if to - from > 1 && (to - from).is_power_of_two() {
            let middle = usize::midpoint(from, to);
            self.upper_next.insert((set, from, to), way < middle);
            let (from, to) = if way < middle { (from, middle) } else { (middle, to) };
            self.point_away(set, way, from, to);
        }
    }
}
