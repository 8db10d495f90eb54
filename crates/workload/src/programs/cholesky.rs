//! Cholesky factorisation of a sparse matrix by columns, with a queue of tasks (George, Heath, Liu & Ng 1986, with panels of
//! columns as in Rothberg & Gupta 1991; the place of SPLASH-2's cholesky, Woo et al. 1995, §3; Falsafi 1998, Table 5.2: tk29.O).
//!
//! A task is a panel: columns that have the same rows below the diagonal, stored densely. The processor that takes it subtracts
//! the products of all panels that change it, waiting for those that are not done yet, and then factors it. Each panel takes
//! its changes in a fixed order, so that results do not depend on who was first; in SPLASH-2, panels above the domains are
//! divided into blocks, which are changed as others are done. The structure of the factor is known before, and private.
//!
//! As in SPLASH-2, each processor first factors domains of its own, subtrees of the elimination tree that need nothing from
//! elsewhere and lie on its node. The other panels are in the queue, so that those that a panel waits for are taken before.
//! They have no owner, and are interleaved.
//!
//! tk29.O is BCSSTK29 of the Harwell-Boeing collection, a bulkhead of an aircraft, in an order that keeps the factor sparse. The
//! default input is generated: a grid of 44×53 nodes in triangles, with six unknowns at each, which is what shells have,
//! ordered by nested dissection.
//!
//! | | tk29.O | here |
//! |---|---|---|
//! | rows and columns | 13,992 | 13,992 |
//! | elements on and below the diagonal | 316,740 | 293,880 |
//! | elements of the factor | 1,694,796 | 1,707,564 |
//! | sum over columns of the square of their elements, which counts flops | 393.1 million | 338.6 million |

mod check;
mod matrix;
mod panels;

use super::cost::{CALL, DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, Pace, SQUARE_ROOT};
use super::input::{check_common, digest, require};
use super::{Address, BarrierId, Home, Image, LockId, Prepared, Program, SharedMemory, WrongResult};
use matrix::Matrix;
use panels::{Division, Panel, Panels, Source};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Computing to update an element of a column that is held in private.
const UPDATE: u32 = 2 * FLOP + PRIVATE;

/// Elements that are updated between two charges for computing: as many as an unrolled loop takes.
const UNROLLED: usize = 8;

/// The end of an unrolled loop's body, with indices.
const TURN: u32 = 2 * INTEGER + LOOP;

/// Computing to find the place of a row of one panel in another.
const MATCH: u32 = INTEGER + 2 * PRIVATE + LOOP;

/// Computing to subtract a sum from an element at such a place.
const SUBTRACT: u32 = FLOP + INTEGER + 2 * PRIVATE + LOOP;

/// Words from one panel's mark to the next: a cache line, so that those who wait do not disturb each other.
const MARK: u64 = 8;

/// The lock of the queue.
const QUEUE: LockId = LockId(0);

/// The pace at which a uniprocessor takes the 976 million cycles of Table 5.3.
pub(super) const UNIPROCESSOR: Pace = Pace::new(1.138);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cholesky {
    /// Nodes of the grid in both directions.
    pub grid: (u32, u32),
    /// Unknowns at each node.
    pub unknowns: u32,
    /// The most columns of a panel. SPLASH-2's default is 32.
    pub panel: u32,
    /// Names the random elements.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Cholesky {
    fn default() -> Self {
        Self { grid: (44, 53), unknowns: 6, panel: 32, seed: 1, pace: UNIPROCESSOR }
    }
}

impl Cholesky {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { grid: (20, 24), unknowns: 3, ..Self::default() }
    }
}

/// The matrix laid out.
#[derive(Debug)]
pub struct PreparedCholesky {
    input: Cholesky,
    matrix: Matrix,
    panels: Vec<Panel>,
    division: Division,
    /// Where each panel begins. Its columns follow each other, all with all its rows.
    blocks: Vec<Address>,
    /// For each panel, 1 once it is done.
    done: Address,
    /// How many tasks are taken.
    taken: Address,
}

impl Program for Cholesky {
    type Prepared = PreparedCholesky;

    fn name(&self) -> &'static str {
        "cholesky"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedCholesky, Fault> {
        check_common(self.pace, processors)?;
        let side = 1..=1 << 10;
        let allowed = side.contains(&self.grid.0) && side.contains(&self.grid.1);
        require(allowed, "grid", format!("{:?}", self.grid), "1 to 1024 in both directions")?;
        require((1..=64).contains(&self.unknowns), "unknowns", self.unknowns, "1 to 64")?;
        let order = self.grid.0 * self.grid.1 * self.unknowns;
        require(order <= 1 << 17, "grid", format!("{:?}", self.grid), "no more than 2^17 unknowns in all")?;
        require((1..=1 << 10).contains(&self.panel), "panel", self.panel, "1 to 1024")?;
        let matrix = Matrix::new(self);
        let panels = Panels::new(&matrix, self.panel as usize);
        let division = panels.divide(processors);
        let panels = panels.panels;
        let blocks = allocate_blocks(image, &panels, &division, processors);
        let done = image.allocate(8 * MARK * panels.len() as u64, Home::Interleaved);
        let taken = image.allocate(8, Home::Processor(0));
        let prepared =
            PreparedCholesky { input: self.clone(), matrix, panels, division, blocks, done, taken };
        prepared.write_elements(image);
        Ok(prepared)
    }
}

/// Allocates each processor's domains together, and the panels of the queue.
fn allocate_blocks(
    image: &mut Image,
    panels: &[Panel],
    division: &Division,
    processors: u32,
) -> Vec<Address> {
    let mut blocks = vec![Address::default(); panels.len()];
    for owner in (0..processors).map(Some).chain([None]) {
        let mut words = 0;
        let owned = || (0..panels.len()).filter(|&panel| division.owners[panel] == owner);
        for panel in owned() {
            blocks[panel] = Address(8 * words);
            words += (panels[panel].width as u64 * panels[panel].rows.len() as u64).next_multiple_of(MARK);
        }
        let start = image.allocate(8 * words, owner.map_or(Home::Interleaved, Home::Processor));
        owned().for_each(|panel| blocks[panel].0 += start.0);
    }
    blocks
}

impl PreparedCholesky {
    fn write_elements(&self, image: &mut Image) {
        for element in self.matrix.elements(self.input.seed) {
            let number = self.panels.partition_point(|panel| panel.first <= element.column) - 1;
            let panel = &self.panels[number];
            let row = panel.rows.partition_point(|&row| row < element.row);
            let at = self.column(number, (element.column - panel.first) as usize).word(row as u64);
            image.store_f64(at, element.value);
        }
    }

    /// Where a column of a panel begins.
    #[inline(always)]
    fn column(&self, panel: usize, column: usize) -> Address {
        self.blocks[panel].word((column * self.panels[panel].rows.len()) as u64)
    }

    fn mark(&self, panel: u32) -> Address {
        self.done.word(MARK * u64::from(panel))
    }

    /// Takes the next panel from the queue.
    fn take<M: SharedMemory>(&self, memory: &M) -> Option<u32> {
        memory.acquire(QUEUE);
        let task = memory.load(self.taken);
        memory.store(self.taken, task + 1);
        memory.release(QUEUE);
        memory.compute(self.input.pace.cycles(CALL + INTEGER));
        self.division.queue.get(task as usize).copied()
    }

    /// Adds `factor` times the elements from `at` on to `sums`.
    #[inline(always)]
    fn add<M: SharedMemory>(&self, memory: &M, sums: &mut [f64], at: Address, factor: f64) {
        let body = self.input.pace.cycles(UPDATE * UNROLLED as u32 + TURN);
        for (first, sums) in (0..).step_by(UNROLLED).zip(sums.chunks_mut(UNROLLED)) {
            for (row, sum) in (first..).zip(sums) {
                *sum += factor * memory.load_f64(at.word(row));
            }
            memory.compute(body);
        }
    }

    /// Subtracts from `panel` the products of the columns of a panel that changes it.
    fn change<M: SharedMemory>(&self, memory: &M, panel: usize, source: &Source, private: &mut Private) {
        let target = &self.panels[panel];
        let changing = &self.panels[source.panel as usize];
        let rows = &changing.rows[source.from..];
        private.places.clear();
        let mut place = 0;
        for row in rows {
            place += target.rows[place..].partition_point(|other| other < row);
            private.places.push(place as u64);
        }
        memory.compute(self.input.pace.cycles(CALL + MATCH * rows.len() as u32));
        let subtracting = self.input.pace.cycles(SUBTRACT);
        for first in 0..source.columns {
            let sums = &mut private.column[first..rows.len()];
            sums.fill(0.0);
            for column in 0..changing.width {
                let at = self.column(source.panel as usize, column).word((source.from + first) as u64);
                self.add(memory, sums, at, memory.load_f64(at));
            }
            let column = self.column(panel, (rows[first] - target.first) as usize);
            for (&place, sum) in private.places[first..].iter().zip(sums) {
                let at = column.word(place);
                memory.store_f64(at, memory.load_f64(at) - *sum);
                memory.compute(subtracting);
            }
        }
    }

    /// Changes and factors a panel, and marks it.
    fn complete<M: SharedMemory>(&self, memory: &M, panel: u32, private: &mut Private) {
        for source in &self.panels[panel as usize].sources {
            memory.wait_for_change(self.mark(source.panel), 0);
            self.change(memory, panel as usize, source, private);
        }
        self.factor(memory, panel as usize, private);
        memory.store(self.mark(panel), 1);
    }

    /// Factors a panel that has all its changes.
    fn factor<M: SharedMemory>(&self, memory: &M, panel: usize, private: &mut Private) {
        let rows = self.panels[panel].rows.len();
        for first in 0..self.panels[panel].width {
            let column = self.column(panel, first).word(first as u64);
            let elements = &mut private.column[first..rows];
            for (row, element) in (0..).zip(&mut *elements) {
                *element = memory.load_f64(column.word(row));
            }
            for other in 0..first {
                let at = self.column(panel, other).word(first as u64);
                self.add(memory, elements, at, -memory.load_f64(at));
            }
            let pivot = elements[0].sqrt();
            let inverse = 1.0 / pivot;
            elements[0] = pivot;
            elements[1..].iter_mut().for_each(|element| *element *= inverse);
            let scaling = SQUARE_ROOT + DIVIDE + (FLOP + PRIVATE) * elements.len() as u32 + TURN;
            memory.compute(self.input.pace.cycles(scaling));
            for (row, &element) in (0..).zip(&*elements) {
                memory.store_f64(column.word(row), element);
            }
        }
    }
}

/// Private memory of a processor.
struct Private {
    /// A column, or sums for one.
    column: Vec<f64>,
    /// Where the rows of one panel are in another.
    places: Vec<u64>,
}

impl Prepared for PreparedCholesky {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let longest = self.panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
        let mut private = Private { column: vec![0.0; longest], places: Vec::with_capacity(longest) };
        memory.barrier(BarrierId(0));
        for (panel, owner) in (0..).zip(&self.division.owners) {
            if *owner == Some(memory.processor()) {
                self.complete(memory, panel, &mut private);
            }
        }
        while let Some(panel) = self.take(memory) {
            self.complete(memory, panel, &mut private);
        }
        memory.barrier(BarrierId(0));
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        self.check_product(image)
    }

    fn digest(&self, image: &Image) -> u64 {
        let mut words = Vec::new();
        self.for_each_element(image, |_, _, value| words.push(value.to_bits()));
        digest(words.into_iter())
    }
}
