//! The octree: built in parallel with locks, summed upwards, and divided among the processors.

use super::{COST, MASS, PLACE, Vector};
use crate::programs::bounds::Cube;
use crate::programs::cost::{CALL, DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, Pace};
use crate::programs::vector::{load_vector, store_vector};
use crate::programs::{Address, Home, Image, LockId, SharedMemory, WrongResult};

/// Words of a cell and where its parts are, after its eight children.
const CELL: u64 = 16;
pub(super) const MASS_OF_CELL: u64 = 8;
pub(super) const PLACE_OF_CELL: u64 = 9;
const COST_OF_CELL: u64 = 12;
/// 1 once the masses below are summed.
const DONE: u64 = 13;

/// Cells that a processor takes from a pool at a time.
pub(super) const POOL_CHUNK: u64 = 32;

/// Locks that the cells share, as many as in SPLASH-2.
const CELL_LOCKS: u64 = 2048;

/// A tree is no deeper: bodies that would need more lie at one place.
pub(super) const MAX_DEPTH: u32 = 80;

/// Computing to go down one level: three comparisons and a new centre.
const DESCEND: u32 = 9 * FLOP + 4 * INTEGER + LOOP;

/// Computing to clear a new cell.
const MAKE: u32 = CALL + 8 * INTEGER;

/// Computing to add a child's mass to its cell's.
const ADD: u32 = 7 * FLOP + 2 * INTEGER + LOOP;

/// Computing to go past one node in search of a zone.
const SEARCH: u32 = 2 * INTEGER + 2 * PRIVATE + LOOP;

/// What a child is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Node {
    Body(Address),
    Cell(Address),
}

impl Node {
    /// As one word: an address, whose lowest bit says that it is a body's. No cell is at address 0, which means nothing.
    fn pack(self) -> u64 {
        match self {
            Self::Body(at) => at.0 | 1,
            Self::Cell(at) => at.0,
        }
    }

    #[inline(always)]
    pub(super) fn unpack(word: u64) -> Option<Self> {
        match word {
            0 => None,
            word if word & 1 == 1 => Some(Self::Body(Address(word & !1))),
            word => Some(Self::Cell(Address(word))),
        }
    }
}

/// Pools of cells, of which the trees are made. The root is the first cell of the first pool.
#[derive(Debug)]
pub(super) struct Forest {
    /// Each processor's cells.
    pools: Vec<Address>,
    /// How many cells are taken from each pool: a word each.
    taken: Vec<Address>,
    /// Cells in a pool, whole chunks.
    capacity: u64,
    /// Is 1 if there were too few cells, or bodies at one place.
    failed: Address,
}

/// The cells that a processor has made, in order. The last is of the chunk in use.
pub(super) type Made = Vec<Address>;

impl Forest {
    /// Pools of at least `capacity` cells for each processor. Bodies must have been allocated before.
    pub(super) fn new(image: &mut Image, capacity: u64, processors: u32) -> Self {
        let capacity = capacity.next_multiple_of(POOL_CHUNK);
        let mut allocate = |words: u64| -> Vec<Address> {
            (0..processors).map(|processor| image.allocate(8 * words, Home::Processor(processor))).collect()
        };
        let (pools, taken) = (allocate(CELL * capacity), allocate(1));
        Self { pools, taken, capacity, failed: image.allocate(8, Home::Processor(0)) }
    }

    pub(super) fn root(&self) -> Address {
        self.pools[0]
    }

    /// Empties this processor's pool, and forgets what it has made.
    pub(super) fn clear<M: SharedMemory>(&self, memory: &M, made: &mut Made) {
        made.clear();
        let taken = self.taken[memory.processor() as usize];
        memory.store(taken, 0);
        if memory.processor() == 0 {
            memory.store(taken, POOL_CHUNK);
            Self::clear_cell(memory, self.root());
            made.push(self.root());
        }
    }

    fn clear_cell<M: SharedMemory>(memory: &M, cell: Address) {
        for child in 0..8 {
            memory.store(cell.word(child), 0);
        }
        memory.store(cell.word(DONE), 0);
    }

    /// A new cell: the next of the chunk in use, or the first of a chunk from this processor's pool, or from another's.
    fn make_cell<M: SharedMemory>(&self, memory: &M, made: &mut Made) -> Option<Address> {
        let in_use = made.last().map(|last| last.word(CELL)).filter(|next| !self.begins_chunk(*next));
        let cell = in_use.or_else(|| self.take_chunk(memory))?;
        Self::clear_cell(memory, cell);
        made.push(cell);
        Some(cell)
    }

    /// Whether no cell before `at` is of the same chunk. Pools lie one after the other, whole pages each.
    fn begins_chunk(&self, at: Address) -> bool {
        (at.0 - self.root().0).is_multiple_of(8 * CELL * POOL_CHUNK)
    }

    fn take_chunk<M: SharedMemory>(&self, memory: &M) -> Option<Address> {
        let processors = memory.processors();
        (0..processors).map(|step| (memory.processor() + step) % processors).find_map(|pool| {
            let lock = LockId(CELL_LOCKS as u32 + pool);
            let taken = self.taken[pool as usize];
            memory.acquire(lock);
            let first = memory.load(taken);
            let left = first < self.capacity;
            if left {
                memory.store(taken, first + POOL_CHUNK);
            }
            memory.release(lock);
            left.then(|| self.pools[pool as usize].word(CELL * first))
        })
    }

    /// Inserts `body` into the tree of the `universe`.
    pub(super) fn insert<M: SharedMemory>(
        &self,
        memory: &M,
        body: Address,
        universe: Cube<3>,
        pace: Pace,
        made: &mut Made,
    ) {
        let descend = pace.cycles(DESCEND);
        let place: Vector = load_vector(memory, body.word(PLACE));
        memory.compute(pace.cycles(CALL));
        let mut cube = universe;
        let mut cell = self.root();
        for _ in 0..MAX_DEPTH {
            let child = cube.octant(place);
            let slot = cell.word(child);
            cube = cube.part(child);
            memory.compute(descend);
            if let Some(Node::Cell(next)) = Node::unpack(memory.load(slot)) {
                cell = next;
                continue;
            }
            let lock = LockId((cell.0 / (8 * CELL) % CELL_LOCKS) as u32);
            memory.acquire(lock);
            // Another processor may have been faster.
            let next = match Node::unpack(memory.load(slot)) {
                None => {
                    memory.store(slot, Node::Body(body).pack());
                    memory.release(lock);
                    return;
                }
                Some(Node::Cell(next)) => Some(next),
                Some(Node::Body(other)) => self.split(memory, slot, other, cube, pace, made),
            };
            memory.release(lock);
            match next {
                Some(next) => cell = next,
                None => break,
            }
        }
        memory.store(self.failed, 1);
    }

    /// Puts a new cell, of this `cube`, with `other` in it into `slot`.
    fn split<M: SharedMemory>(
        &self,
        memory: &M,
        slot: Address,
        other: Address,
        cube: Cube<3>,
        pace: Pace,
        made: &mut Made,
    ) -> Option<Address> {
        let new = self.make_cell(memory, made)?;
        let place: Vector = load_vector(memory, other.word(PLACE));
        memory.store(new.word(cube.octant(place)), Node::Body(other).pack());
        memory.compute(pace.cycles(MAKE));
        memory.store(slot, Node::Cell(new).pack());
        Some(new)
    }

    /// Sums masses, centres and costs of the cells that this processor has made. A cell's parts are made after it, so that
    /// in the reverse order no two processors wait for each other.
    pub(super) fn sum_masses<M: SharedMemory>(&self, memory: &M, pace: Pace, made: &Made) {
        let add = pace.cycles(ADD);
        for cell in made.iter().rev() {
            let (mut mass, mut cost, mut centre) = (0.0, 0, [0.0; 3]);
            for child in 0..8 {
                let (own, place, work) = match Node::unpack(memory.load(cell.word(child))) {
                    None => continue,
                    Some(Node::Body(at)) => (at.word(MASS), at.word(PLACE), at.word(COST)),
                    Some(Node::Cell(at)) => {
                        memory.wait_for_change(at.word(DONE), 0);
                        (at.word(MASS_OF_CELL), at.word(PLACE_OF_CELL), at.word(COST_OF_CELL))
                    }
                };
                let own = memory.load_f64(own);
                let place: Vector = load_vector(memory, place);
                mass += own;
                cost += memory.load(work);
                for k in 0..3 {
                    centre[k] += own * place[k];
                }
                memory.compute(add);
            }
            memory.store_f64(cell.word(MASS_OF_CELL), mass);
            store_vector(memory, cell.word(PLACE_OF_CELL), centre.map(|sum| sum / mass));
            memory.store(cell.word(COST_OF_CELL), cost);
            memory.compute(pace.cycles(3 * DIVIDE + LOOP));
            memory.store(cell.word(DONE), 1);
        }
    }

    /// Finds the bodies of this processor's zone: an equal share of the costs in the order of the tree.
    pub(super) fn find_zone<M: SharedMemory>(&self, memory: &M, pace: Pace, mine: &mut Vec<Address>) {
        let search = pace.cycles(SEARCH);
        mine.clear();
        let total = memory.load(self.root().word(COST_OF_CELL));
        let zone = crate::programs::input::share(total, memory.processor(), memory.processors());
        let mut stack = vec![Node::Cell(self.root())];
        let mut before = 0;
        while let Some(node) = stack.pop() {
            memory.compute(search);
            if before >= zone.end {
                return;
            }
            match node {
                Node::Body(body) => {
                    if zone.contains(&before) {
                        mine.push(body);
                    }
                    before += memory.load(body.word(COST));
                }
                Node::Cell(cell) => {
                    let cost = memory.load(cell.word(COST_OF_CELL));
                    if before + cost <= zone.start {
                        before += cost;
                        continue;
                    }
                    stack
                        .extend((0..8).rev().filter_map(|child| Node::unpack(memory.load(cell.word(child)))));
                }
            }
        }
    }

    /// Checks that every body found a place in the tree.
    pub(super) fn check(&self, image: &Image) -> Result<(), WrongResult> {
        match image.load(self.failed) {
            0 => Ok(()),
            _ => Err(WrongResult {
                what: "tree of bodies".to_owned(),
                expected: format!(
                    "at most {} cells and {MAX_DEPTH} levels",
                    self.capacity * self.pools.len() as u64
                ),
                found: "bodies that would need more".to_owned(),
            }),
        }
    }
}

impl Cube<3> {
    /// Which of the eight parts `place` is in.
    #[inline(always)]
    pub(super) fn octant(&self, place: Vector) -> u64 {
        (0..3).map(|k: usize| u64::from(place[k] >= self.centre[k]) << k).sum()
    }

    /// One of the eight parts.
    #[inline(always)]
    pub(super) fn part(&self, octant: u64) -> Self {
        let quarter = self.side / 4.0;
        let shift = |k: usize| if octant >> k & 1 == 1 { quarter } else { -quarter };
        Self { centre: [0, 1, 2].map(|k| self.centre[k] + shift(k)), side: self.side / 2.0 }
    }
}
