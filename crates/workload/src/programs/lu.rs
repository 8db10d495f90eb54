//! Blocked LU factorisation of a dense matrix (Woo, Singh & Hennessy 1994; SPLASH-2, Woo et al. 1995, §3, with contiguous
//! blocks; Falsafi 1998, Table 4.1: 1200×1200, 16×16 blocks).
//!
//! The processors form a grid as near to a square as their number allows, and block (i, j) belongs to grid place
//! (i mod rows, j mod columns): a 2-D scatter. A block is contiguous, and a processor's blocks lie on its own node. A step
//! factors the diagonal block, then the blocks right of it and below it, then updates the blocks behind those; a barrier ends
//! each part. The matrix is dominated by its diagonal, so there is no pivoting.

mod check;

use super::cholesky;
use super::cost::{CALL, DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, Pace};
use super::input::{check_common, digest, random, require};
use super::{Address, BarrierId, Home, Image, Prepared, Program, SharedMemory, WrongResult};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Computing to update an element of a column that is held in private: two flops.
const UPDATE: u32 = 2 * FLOP + PRIVATE;

/// Computing around the update of a column by another.
const TURN: u32 = 2 * INTEGER + LOOP;

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lu {
    /// Rows and columns of the matrix, a multiple of the block's.
    pub order: u64,
    /// Rows and columns of a block.
    pub block: u64,
    /// Names the random elements.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Lu {
    fn default() -> Self {
        Self { order: 1200, block: 16, seed: 1, pace: cholesky::UNIPROCESSOR }
    }
}

impl Lu {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { order: 384, ..Self::default() }
    }

    /// Calls `see` with the elements of each row.
    fn for_each_row(&self, mut see: impl FnMut(u64, &[f64])) {
        let mut random = random(self.seed);
        let mut elements = vec![0.0; self.order as usize];
        for row in 0..self.order {
            elements.fill_with(|| random.random_range(-1.0..1.0));
            elements[row as usize] += 2.0 * self.order as f64;
            see(row, &elements);
        }
    }
}

/// The matrix laid out.
#[derive(Debug)]
pub struct PreparedLu {
    input: Lu,
    /// Blocks in a row or column of the matrix.
    side: u64,
    /// Rows and columns of the grid of processors.
    grid: (u64, u64),
    /// Where each block begins, row by row. Its elements are column by column.
    blocks: Vec<Address>,
}

impl Program for Lu {
    type Prepared = PreparedLu;

    fn name(&self) -> &'static str {
        "lu"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedLu, Fault> {
        check_common(self.pace, processors)?;
        require((1..=256).contains(&self.block), "block", self.block, "1 to 256")?;
        let allowed = (1..=1 << 14).contains(&self.order) && self.order.is_multiple_of(self.block);
        require(allowed, "order", self.order, "a multiple of `block`, up to 16384")?;
        let side = self.order / self.block;
        let grid = grid(u64::from(processors));
        let bytes = 8 * self.block * self.block;
        let mut next: Vec<Address> = (0..processors)
            .map(|processor| {
                let (row, column) = (u64::from(processor) / grid.1, u64::from(processor) % grid.1);
                let owned = |place: u64, of: u64| (side + of - 1 - place) / of;
                let blocks = owned(row, grid.0) * owned(column, grid.1);
                image.allocate(bytes * blocks, Home::Processor(processor))
            })
            .collect();
        let mut prepared = PreparedLu { input: self.clone(), side, grid, blocks: Vec::new() };
        for index in 0..side * side {
            let at = &mut next[prepared.owner(index / side, index % side) as usize];
            prepared.blocks.push(*at);
            at.0 += bytes;
        }
        self.for_each_row(|row, elements| {
            for (column, &element) in (0..).zip(elements) {
                image.store_f64(prepared.element(row, column), element);
            }
        });
        Ok(prepared)
    }
}

/// Rows and columns of the grid of `processors` that is nearest to a square.
fn grid(processors: u64) -> (u64, u64) {
    let rows = (1..=processors.isqrt()).rev().find(|rows| processors.is_multiple_of(*rows)).unwrap_or(1);
    (rows, processors / rows)
}

impl PreparedLu {
    fn owner(&self, row: u64, column: u64) -> u64 {
        row % self.grid.0 * self.grid.1 + column % self.grid.1
    }

    fn block(&self, row: u64, column: u64) -> Address {
        self.blocks[(row * self.side + column) as usize]
    }

    fn element(&self, row: u64, column: u64) -> Address {
        let size = self.input.block;
        self.block(row / size, column / size).word(column % size * size + row % size)
    }

    /// Column `column` of the block at `at`.
    #[inline(always)]
    fn column(&self, at: Address, column: u64) -> Address {
        at.word(column * self.input.block)
    }

    /// Loads the column at `at` into private memory.
    #[inline(always)]
    fn load_column<M: SharedMemory>(&self, memory: &M, at: Address, column: &mut [f64]) {
        memory.compute(self.input.pace.cycles(PRIVATE * column.len() as u32 + TURN));
        for (row, element) in (0..).zip(column) {
            *element = memory.load_f64(at.word(row));
        }
    }

    /// Stores a column that is in private memory.
    #[inline(always)]
    fn store_column<M: SharedMemory>(&self, memory: &M, at: Address, column: &[f64]) {
        memory.compute(self.input.pace.cycles(PRIVATE * column.len() as u32 + TURN));
        for (row, &element) in (0..).zip(column) {
            memory.store_f64(at.word(row), element);
        }
    }

    /// Subtracts `factor` times the column at `at`, from row `first` on.
    #[inline(always)]
    fn subtract<M: SharedMemory>(
        &self,
        memory: &M,
        column: &mut [f64],
        at: Address,
        first: usize,
        factor: f64,
    ) {
        for (row, element) in column.iter_mut().enumerate().skip(first) {
            *element -= factor * memory.load_f64(at.word(row as u64));
        }
        let updated = column.len().saturating_sub(first) as u32;
        memory.compute(self.input.pace.cycles(UPDATE * updated + TURN));
    }

    /// Factors the diagonal block in place, column by column.
    fn factor<M: SharedMemory>(&self, memory: &M, diagonal: Address, column: &mut [f64]) {
        for j in 0..self.input.block {
            let at = self.column(diagonal, j);
            self.load_column(memory, at, column);
            for k in 0..j {
                let factor = column[k as usize];
                self.subtract(memory, column, self.column(diagonal, k), k as usize + 1, factor);
            }
            let pivot = column[j as usize];
            for element in &mut column[j as usize + 1..] {
                *element /= pivot;
            }
            memory.compute(self.input.pace.cycles(DIVIDE * (self.input.block - j) as u32));
            self.store_column(memory, at, column);
        }
    }

    /// Solves with the lower factor of the diagonal block: a block right of it becomes one of the upper factor.
    fn solve_row<M: SharedMemory>(&self, memory: &M, diagonal: Address, block: Address, column: &mut [f64]) {
        for j in 0..self.input.block {
            let at = self.column(block, j);
            self.load_column(memory, at, column);
            for k in 0..self.input.block {
                let factor = column[k as usize];
                self.subtract(memory, column, self.column(diagonal, k), k as usize + 1, factor);
            }
            self.store_column(memory, at, column);
        }
    }

    /// Solves with the upper factor of the diagonal block: a block below it becomes one of the lower factor.
    fn solve_column<M: SharedMemory>(
        &self,
        memory: &M,
        diagonal: Address,
        block: Address,
        column: &mut [f64],
    ) {
        for j in 0..self.input.block {
            let at = self.column(block, j);
            self.load_column(memory, at, column);
            let upper = self.column(diagonal, j);
            for k in 0..j {
                self.subtract(memory, column, self.column(block, k), 0, memory.load_f64(upper.word(k)));
            }
            let pivot = memory.load_f64(upper.word(j));
            for element in &mut *column {
                *element /= pivot;
            }
            memory.compute(self.input.pace.cycles(DIVIDE * self.input.block as u32));
            self.store_column(memory, at, column);
        }
    }

    /// Subtracts the product of a block of the lower factor and one of the upper.
    fn update<M: SharedMemory>(
        &self,
        memory: &M,
        (lower, upper): (Address, Address),
        block: Address,
        column: &mut [f64],
    ) {
        memory.compute(self.input.pace.cycles(CALL));
        for j in 0..self.input.block {
            let at = self.column(block, j);
            self.load_column(memory, at, column);
            let factors = self.column(upper, j);
            for k in 0..self.input.block {
                self.subtract(memory, column, self.column(lower, k), 0, memory.load_f64(factors.word(k)));
            }
            self.store_column(memory, at, column);
        }
    }
}

impl Prepared for PreparedLu {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let mut column = vec![0.0; self.input.block as usize];
        let mine = |i, j| self.owner(i, j) == u64::from(memory.processor());
        let barrier = || memory.barrier(BarrierId(0));
        barrier();
        for step in 0..self.side {
            let diagonal = self.block(step, step);
            if mine(step, step) {
                self.factor(memory, diagonal, &mut column);
            }
            barrier();
            for other in step + 1..self.side {
                if mine(step, other) {
                    self.solve_row(memory, diagonal, self.block(step, other), &mut column);
                }
                if mine(other, step) {
                    self.solve_column(memory, diagonal, self.block(other, step), &mut column);
                }
            }
            barrier();
            for i in step + 1..self.side {
                for j in (step + 1..self.side).filter(|&j| mine(i, j)) {
                    let factors = (self.block(i, step), self.block(step, j));
                    self.update(memory, factors, self.block(i, j), &mut column);
                }
            }
            barrier();
        }
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        self.check_product(image)
    }

    fn digest(&self, image: &Image) -> u64 {
        let elements = self.input.block * self.input.block;
        let words = |block: Address| (0..elements).map(move |element| image.load(block.word(element)));
        digest(self.blocks.iter().copied().flat_map(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_as_near_to_a_square_as_possible() {
        assert_eq!([1, 2, 12, 64, 7].map(grid), [(1, 1), (1, 2), (3, 4), (8, 8), (1, 7)]);
    }
}
