//! Expansions of the field W(z) = Σ m/(z − z') in the plane, and how they are moved (Greengard & Rokhlin 1987, §2; here of the
//! field instead of the potential, so that there is no logarithm).
//!
//! A multipole expansion about c is Σ a_k/(z − c)^(k+1) with a_k = Σ m·(z' − c)^k; a local one about d is Σ b_l·(z − d)^l.

use super::grid::{self, Grid};
use super::{MASS, PLACE, PreparedFmm, Private, Vector};
use crate::programs::SharedMemory;
use crate::programs::bounds::Cube;
use crate::programs::complex::Complex;
use crate::programs::cost::{CALL, DIVIDE, FLOP, INTEGER, LOOP, PRIVATE};
use crate::programs::vector::load_vector;

/// Computing to add one term of an expansion, times a binomial and a power, to one of another. Terms are in private memory.
const SHIFT: u32 = 10 * FLOP + 3 * PRIVATE + INTEGER + LOOP;

/// Computing of the next power of a complex number.
const POWER: u32 = 6 * FLOP + PRIVATE + LOOP;

/// Binomial coefficients.
#[derive(Debug)]
pub(super) struct Binomials {
    rows: Vec<Vec<f64>>,
}

impl Binomials {
    /// Those of n below `limit`.
    pub(super) fn new(limit: usize) -> Self {
        let mut rows = vec![vec![1.0]];
        for n in 1..limit {
            let above = &rows[n - 1];
            let inner = above.windows(2).map(|pair| pair[0] + pair[1]);
            let row = core::iter::once(1.0).chain(inner).chain([1.0]).collect();
            rows.push(row);
        }
        Self { rows }
    }

    /// n over k.
    #[inline(always)]
    fn of(&self, n: usize, k: usize) -> f64 {
        self.rows[n][k]
    }
}

/// Writes the powers of `base` from 0 on to `powers`.
fn fill_powers(base: Complex, powers: &mut [Complex]) {
    let mut power = Complex::ONE;
    for place in powers {
        *place = power;
        power = power.times(base);
    }
}

impl PreparedFmm {
    /// Makes the multipole expansion of a box of the finest level from its particles.
    pub(super) fn expand<M: SharedMemory>(
        &self,
        memory: &M,
        cell: u64,
        square: Cube<2>,
        private: &mut Private,
    ) {
        let pace = self.input.pace;
        let adding = pace.cycles(self.input.terms * (POWER + 4 * FLOP));
        let level = self.input.levels;
        let centre = Grid::centre(square, level, cell);
        private.sum.fill(Complex::ZERO);
        for &particle in &private.list {
            let place: Vector = load_vector(memory, particle.word(PLACE));
            let away = Complex(place[0], place[1]).minus(centre);
            let mut power = Complex(memory.load_f64(particle.word(MASS)), 0.0);
            for term in &mut private.sum {
                *term = term.plus(power);
                power = power.times(away);
            }
            memory.compute(adding);
        }
        self.store_expansion(memory, self.grid.multipole(level, cell), &private.sum);
    }

    /// Computing to shift an expansion whose terms depend on each other pairwise from the diagonal on.
    fn triangle(&self) -> u32 {
        let terms = self.input.terms;
        self.input.pace.cycles(CALL + terms * POWER + terms * (terms + 1) / 2 * SHIFT)
    }

    /// Makes the multipole expansion of a box from those of its four parts.
    pub(super) fn combine<M: SharedMemory>(
        &self,
        memory: &M,
        level: u32,
        cell: u64,
        square: Cube<2>,
        private: &mut Private,
    ) {
        let shifting = self.triangle();
        let centre = Grid::centre(square, level, cell);
        private.sum.fill(Complex::ZERO);
        for part in cell << 2..(cell + 1) << 2 {
            let away = Grid::centre(square, level + 1, part).minus(centre);
            self.load_expansion(memory, self.grid.multipole(level + 1, part), &mut private.other);
            fill_powers(away, &mut private.powers);
            for (k, term) in private.sum.iter_mut().enumerate() {
                for j in 0..=k {
                    let power = private.powers[k - j].scaled(self.binomials.of(k, j));
                    *term = term.plus(private.other[j].times(power));
                }
            }
            memory.compute(shifting);
        }
        self.store_expansion(memory, self.grid.multipole(level, cell), &private.sum);
    }

    /// Makes the local expansion of a box: its parent's, moved, and those of all boxes well apart.
    pub(super) fn localise<M: SharedMemory>(
        &self,
        memory: &M,
        level: u32,
        cell: u64,
        square: Cube<2>,
        private: &mut Private,
    ) {
        let terms = self.input.terms;
        let turning = self.input.pace.cycles(CALL + DIVIDE + 2 * terms * POWER + terms * terms * SHIFT);
        let centre = Grid::centre(square, level, cell);
        private.sum.fill(Complex::ZERO);
        // Above level 2 no boxes are well apart.
        if level > 2 {
            self.load_expansion(memory, self.grid.local(level - 1, cell >> 2), &mut private.other);
            let away = centre.minus(Grid::centre(square, level - 1, cell >> 2));
            fill_powers(away, &mut private.powers);
            for (l, term) in private.sum.iter_mut().enumerate() {
                for j in l..terms as usize {
                    let power = private.powers[j - l].scaled(self.binomials.of(j, l));
                    *term = term.plus(private.other[j].times(power));
                }
            }
            memory.compute(self.triangle());
        }
        for other in grid::well_apart(level, cell) {
            self.load_expansion(memory, self.grid.multipole(level, other), &mut private.other);
            let away = centre.minus(Grid::centre(square, level, other)).inverse();
            fill_powers(away, &mut private.powers);
            for (l, term) in private.sum.iter_mut().enumerate() {
                let mut sum = Complex::ZERO;
                for (k, &multipole) in private.other.iter().enumerate() {
                    let power = private.powers[k + l + 1].scaled(self.binomials.of(k + l, l));
                    sum = sum.plus(multipole.times(power));
                }
                *term = if l % 2 == 0 { term.plus(sum) } else { term.minus(sum) };
            }
            memory.compute(turning);
        }
        self.store_expansion(memory, self.grid.local(level, cell), &private.sum);
    }
}
