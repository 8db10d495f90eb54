//! Gaussian elimination of a dense system of linear equations (Cormen, Leiserson & Rivest 1994; Falsafi 1998, Table 4.1:
//! 1920×1920).
//!
//! Rows are dealt out to the processors in turn and lie on their own node. In each step the processors copy the pivot row to
//! private memory, which is the broadcast that the thesis describes, and subtract a multiple of it from each of their rows
//! below. A barrier ends the step. The matrix is dominated by its diagonal, so there is no pivoting. What remains is upper
//! triangular, with the right-hand side as its last column; [`PreparedGauss`] solves it when it checks the result.

use super::cholesky;
use super::cost::{DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, Pace};
use super::input::{check_common, digest, random, require};
use super::{Address, BarrierId, Home, Image, Prepared, Program, SharedMemory, WrongResult};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Elements that are updated between two charges for computing: as many as an unrolled loop takes.
const UNROLLED: u64 = 8;

/// Computing to update one element: two flops, the pivot row's element, and a share of the loop.
const UPDATE: u32 = 2 * FLOP + PRIVATE;

/// Computing to copy one element of the pivot row.
const COPY: u32 = PRIVATE;

/// The end of an unrolled loop's body, with indices.
const TURN: u32 = 2 * INTEGER + LOOP;

/// How large a residual may be, relative to the right-hand side, for each equation.
const TOLERANCE: f64 = 1e-14;

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gauss {
    /// Equations and unknowns.
    pub equations: u64,
    /// Names the random coefficients.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Gauss {
    fn default() -> Self {
        Self { equations: 1920, seed: 1, pace: cholesky::UNIPROCESSOR }
    }
}

impl Gauss {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { equations: 320, ..Self::default() }
    }

    /// Calls `see` with the elements of each row, the right-hand side as the last.
    fn for_each_row(&self, mut see: impl FnMut(u64, &[f64])) {
        let mut random = random(self.seed);
        let mut elements = vec![0.0; self.equations as usize + 1];
        for row in 0..self.equations {
            elements.fill_with(|| random.random_range(-1.0..1.0));
            elements[row as usize] += 2.0 * self.equations as f64;
            see(row, &elements);
        }
    }
}

/// The system laid out.
#[derive(Debug)]
pub struct PreparedGauss {
    input: Gauss,
    /// Where each row begins.
    rows: Vec<Address>,
}

impl Program for Gauss {
    type Prepared = PreparedGauss;

    fn name(&self) -> &'static str {
        "gauss"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedGauss, Fault> {
        check_common(self.pace, processors)?;
        require((1..=1 << 14).contains(&self.equations), "equations", self.equations, "1 to 16384")?;
        // A row begins at a cache line, so that no line has two writers.
        let words = (self.equations + 1).next_multiple_of(16);
        let rows_of = self.equations.div_ceil(u64::from(processors));
        let mut allocate = |processor| image.allocate(8 * words * rows_of, Home::Processor(processor));
        let starts: Vec<Address> = (0..processors).map(&mut allocate).collect();
        let at = |row: u64| {
            starts[(row % u64::from(processors)) as usize].word(row / u64::from(processors) * words)
        };
        let rows: Vec<Address> = (0..self.equations).map(at).collect();
        self.for_each_row(|row, elements| {
            for (column, &element) in (0..).zip(elements) {
                image.store_f64(rows[row as usize].word(column), element);
            }
        });
        Ok(PreparedGauss { input: self.clone(), rows })
    }
}

impl PreparedGauss {
    /// Copies the pivot row from its diagonal on to private memory, at the same columns.
    fn copy_pivot<M: SharedMemory>(&self, memory: &M, pivot: u64, private: &mut [f64]) {
        let [copying, turn] = [COPY * UNROLLED as u32, TURN].map(|counted| self.input.pace.cycles(counted));
        let row = self.rows[pivot as usize];
        for chunk in (pivot..=self.input.equations).step_by(UNROLLED as usize) {
            for column in chunk..(chunk + UNROLLED).min(self.input.equations + 1) {
                private[column as usize] = memory.load_f64(row.word(column));
            }
            memory.compute(copying + turn);
        }
    }

    /// Subtracts the multiple of the pivot row that clears its column.
    fn update<M: SharedMemory>(&self, memory: &M, pivot: u64, row: Address, private: &[f64]) {
        let body = self.input.pace.cycles(UPDATE * UNROLLED as u32 + TURN);
        let factor = memory.load_f64(row.word(pivot)) / private[pivot as usize];
        memory.store_f64(row.word(pivot), 0.0);
        memory.compute(self.input.pace.cycles(DIVIDE + TURN));
        for chunk in (pivot + 1..=self.input.equations).step_by(UNROLLED as usize) {
            for column in chunk..(chunk + UNROLLED).min(self.input.equations + 1) {
                let at = row.word(column);
                memory.store_f64(at, memory.load_f64(at) - factor * private[column as usize]);
            }
            memory.compute(body);
        }
    }

    /// The solution of the triangular system in `image`.
    fn solve(&self, image: &Image) -> Vec<f64> {
        let equations = self.rows.len();
        let mut solution = vec![0.0; equations];
        for (row, &start) in self.rows.iter().enumerate().rev() {
            let element = |column: usize| image.load_f64(start.word(column as u64));
            let known: f64 = (row + 1..equations).map(|column| element(column) * solution[column]).sum();
            solution[row] = (element(equations) - known) / element(row);
        }
        solution
    }
}

impl Prepared for PreparedGauss {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let mut private = vec![0.0; self.rows.len() + 1];
        let step = u64::from(memory.processors());
        for pivot in 0..self.input.equations {
            memory.barrier(BarrierId(0));
            self.copy_pivot(memory, pivot, &mut private);
            let next = pivot + 1;
            let first = next + (u64::from(memory.processor()) + step - next % step) % step;
            for row in (first..self.input.equations).step_by(step as usize) {
                self.update(memory, pivot, self.rows[row as usize], &private);
            }
        }
        memory.barrier(BarrierId(0));
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let solution = self.solve(image);
        let limit = TOLERANCE * self.input.equations as f64;
        let mut result = Ok(());
        self.input.for_each_row(|row, elements| {
            let found: f64 = elements.iter().zip(&solution).map(|(element, x)| element * x).sum();
            let expected = elements[solution.len()];
            // A comparison that is false for NaN too.
            let near = (found - expected).abs() <= limit;
            if result.is_ok() && !near {
                result = Err(WrongResult {
                    what: format!("row {row} of the matrix times the solution"),
                    expected: format!("{expected} within {limit:.1e}"),
                    found: found.to_string(),
                });
            }
        });
        result
    }

    fn digest(&self, image: &Image) -> u64 {
        let columns = self.input.equations;
        let row =
            |(pivot, row): (u64, Address)| (pivot..=columns).map(move |column| image.load(row.word(column)));
        digest((0..).zip(self.rows.iter().copied()).flat_map(row))
    }
}
