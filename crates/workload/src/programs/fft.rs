//! A complex one-dimensional Fourier transform in six steps (Bailey 1990; SPLASH-2, Woo et al. 1995, §3; Falsafi 1998,
//! Table 5.2: 1M points).
//!
//! The n points are a matrix of √n rows, and each processor has an equal share of the rows on its own node. Steps: transpose,
//! transform rows, multiply by twiddle factors, transpose, transform rows, transpose. All communication is in the transposes,
//! which go by tiles, and from processor to processor in an order that begins with the next one.

use super::complex::{Complex, load, store};
use super::cost::{FLOP, INTEGER, LOOP, PRIVATE, Pace};
use super::input::{check_common, digest, random, require, share};
use super::{Address, BarrierId, Image, Prepared, Program, SharedMemory, WrongResult};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Computing of a butterfly: ten flops, the root from a private table, indices.
const BUTTERFLY: u32 = 10 * FLOP + 2 * PRIVATE + 3 * INTEGER + LOOP;

/// Computing of a product with a twiddle factor.
const PRODUCT: u32 = 6 * FLOP + INTEGER + LOOP;

/// Computing to move one point: two indices.
const MOVE: u32 = 2 * INTEGER + LOOP;

/// How far a point may be from the exact one, relative to the largest, for each doubling of the points.
const TOLERANCE: f64 = 1e-15;

/// The pace at which a uniprocessor takes the 2,489 million cycles of Table 5.3.
const UNIPROCESSOR: Pace = Pace::new(9.837);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fft {
    /// Points of the transform, a power of 4.
    pub points: u64,
    /// Rows and columns of the tiles of a transpose. SPLASH-2 takes what fills a cache line: 4 points in 64 bytes.
    pub tile: u64,
    /// Names the random points.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Fft {
    fn default() -> Self {
        Self { points: 1 << 20, tile: 4, seed: 1, pace: UNIPROCESSOR }
    }
}

impl Fft {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { points: 1 << 16, ..Self::default() }
    }

    fn input(&self) -> Vec<Complex> {
        let mut random = random(self.seed);
        let mut number = || random.random_range(-1.0..1.0);
        (0..self.points).map(|_| Complex(number(), number())).collect()
    }
}

/// The transform laid out.
#[derive(Debug)]
pub struct PreparedFft {
    input: Fft,
    /// Rows, and points in each.
    rows: u64,
    /// The points; at the end of the second transform of rows the result, transposed.
    data: Address,
    /// Where transposes go; at the end the result.
    scratch: Address,
    /// e to the power of −2πi·row·column/n.
    twiddles: Address,
    /// e to the power of −2πi·k/rows, for the transforms of rows. Each processor has a copy.
    roots: Vec<Complex>,
}

impl Program for Fft {
    type Prepared = PreparedFft;

    fn name(&self) -> &'static str {
        "fft"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedFft, Fault> {
        check_common(self.pace, processors)?;
        let power_of_4 = self.points.is_power_of_two() && self.points.ilog2().is_multiple_of(2);
        let allowed = power_of_4 && (4..=1 << 26).contains(&self.points);
        require(allowed, "points", self.points, "a power of 4, from 4 to 2^26")?;
        let rows = 1 << (self.points.ilog2() / 2);
        require(u64::from(processors) <= rows, "processors", processors, "no more than √points")?;
        require((1..=rows).contains(&self.tile), "tile", self.tile, "1 to √points")?;
        let [data, scratch, twiddles] =
            [(); 3].map(|()| image.allocate_shared_out(16 * self.points, processors));
        for (point, value) in self.input().into_iter().enumerate() {
            store_point(image, data, point as u64, value);
        }
        for point in 0..self.points {
            // The product of row and column is exact, so that the factor is as exact as its angle.
            let turns = (point / rows * (point % rows)) as f64 / self.points as f64;
            store_point(image, twiddles, point, Complex::root(-turns));
        }
        let roots = (0..rows / 2).map(|k| Complex::root(-(k as f64) / rows as f64)).collect();
        Ok(PreparedFft { input: self.clone(), rows, data, scratch, twiddles, roots })
    }
}

fn store_point(image: &mut Image, array: Address, point: u64, value: Complex) {
    image.store_f64(array.word(2 * point), value.0);
    image.store_f64(array.word(2 * point + 1), value.1);
}

impl PreparedFft {
    /// Writes this processor's rows of the transpose of `from` to `to`.
    fn transpose<M: SharedMemory>(&self, memory: &M, from: Address, to: Address) {
        let (me, processors) = (memory.processor(), memory.processors());
        let mine = share(self.rows, me, processors);
        for step in 1..=processors {
            let theirs = share(self.rows, (me + step) % processors, processors);
            for row in mine.clone().step_by(self.input.tile as usize) {
                for column in theirs.clone().step_by(self.input.tile as usize) {
                    let rows = row..(row + self.input.tile).min(mine.end);
                    let columns = column..(column + self.input.tile).min(theirs.end);
                    self.transpose_tile(memory, (from, columns), (to, rows));
                }
            }
        }
    }

    fn transpose_tile<M: SharedMemory>(
        &self,
        memory: &M,
        (from, columns): (Address, core::ops::Range<u64>),
        (to, rows): (Address, core::ops::Range<u64>),
    ) {
        let moving = self.input.pace.cycles(MOVE);
        for column in columns {
            for row in rows.clone() {
                let point = load(memory, from.word(2 * (column * self.rows + row)));
                store(memory, to.word(2 * (row * self.rows + column)), point);
                memory.compute(moving);
            }
        }
    }

    /// Transforms the row that begins at `row`, in place: decimation in time with radix 2.
    fn transform_row<M: SharedMemory>(&self, memory: &M, row: Address) {
        let [butterfly, moving] = [BUTTERFLY, MOVE].map(|counted| self.input.pace.cycles(counted));
        let bits = self.rows.ilog2();
        for point in 0..self.rows {
            let reversed = point.reverse_bits() >> (u64::BITS - bits);
            memory.compute(moving);
            if point < reversed {
                let (here, there) = (row.word(2 * point), row.word(2 * reversed));
                let (a, b) = (load(memory, here), load(memory, there));
                store(memory, here, b);
                store(memory, there, a);
            }
        }
        for stage in 0..bits {
            let half = 1 << stage;
            let stride = self.roots.len() >> stage;
            for group in (0..self.rows).step_by(2 * half as usize) {
                for k in 0..half {
                    let (low, high) = (row.word(2 * (group + k)), row.word(2 * (group + k + half)));
                    let turned = load(memory, high).times(self.roots[k as usize * stride]);
                    let other = load(memory, low);
                    store(memory, low, other.plus(turned));
                    store(memory, high, other.minus(turned));
                    memory.compute(butterfly);
                }
            }
        }
    }

    fn multiply_by_twiddles<M: SharedMemory>(&self, memory: &M, row: u64) {
        let product = self.input.pace.cycles(PRODUCT);
        for point in row * self.rows..(row + 1) * self.rows {
            let at = self.scratch.word(2 * point);
            let factor = load(memory, self.twiddles.word(2 * point));
            store(memory, at, load(memory, at).times(factor));
            memory.compute(product);
        }
    }
}

impl Prepared for PreparedFft {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let mine = share(self.rows, memory.processor(), memory.processors());
        let barrier = || memory.barrier(BarrierId(0));
        barrier();
        self.transpose(memory, self.data, self.scratch);
        for row in mine.clone() {
            self.transform_row(memory, self.scratch.word(2 * row * self.rows));
            self.multiply_by_twiddles(memory, row);
        }
        barrier();
        self.transpose(memory, self.scratch, self.data);
        for row in mine {
            self.transform_row(memory, self.data.word(2 * row * self.rows));
        }
        barrier();
        self.transpose(memory, self.data, self.scratch);
        barrier();
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let input = self.input.input();
        let at = |k: usize| self.scratch.word(2 * k as u64);
        let found: Vec<Complex> =
            (0..input.len()).map(|k| Complex(image.load_f64(at(k)), image.load_f64(at(k).word(1)))).collect();
        let tolerance = TOLERANCE * f64::from(self.input.points.ilog2());
        let scale = (input.len() as f64).sqrt();
        for k in [0, 1, input.len() / 3, input.len() - 1] {
            let expected = direct_sum(&input, k);
            // A direct sum rounds more than the transform does: as many additions as points, one after the other.
            let limit = tolerance * scale * scale;
            compare(&format!("point {k} of the transform"), expected, found[k], limit)?;
        }
        let again = inverse(&found);
        for (k, (&expected, &found)) in input.iter().zip(&again).enumerate() {
            compare(&format!("point {k} of the inverse transform"), expected, found, tolerance)?;
        }
        Ok(())
    }

    fn digest(&self, image: &Image) -> u64 {
        digest((0..2 * self.input.points).map(|word| image.load(self.scratch.word(word))))
    }
}

fn compare(what: &str, expected: Complex, found: Complex, limit: f64) -> Result<(), WrongResult> {
    if expected.minus(found).size() <= limit {
        return Ok(());
    }
    let text = |number: Complex| format!("{}{:+}i", number.0, number.1);
    let expected = format!("{} within {limit:.1e}", text(expected));
    Err(WrongResult { what: what.to_owned(), expected, found: text(found) })
}

/// Point `k` of the transform of `input`, by its definition.
fn direct_sum(input: &[Complex], k: usize) -> Complex {
    input.iter().enumerate().fold(Complex(0.0, 0.0), |sum, (j, &value)| {
        // The product modulo n keeps the angle exact.
        let turns = (j as u128 * k as u128 % input.len() as u128) as f64 / input.len() as f64;
        sum.plus(value.times(Complex::root(-turns)))
    })
}

/// The inverse transform, which shares no code with the program: decimation in frequency, then the order of reversed bits.
fn inverse(points: &[Complex]) -> Vec<Complex> {
    let mut work = points.to_vec();
    let mut half = work.len() / 2;
    while half > 0 {
        for group in work.chunks_mut(2 * half) {
            let (low, high) = group.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let root = Complex::root(k as f64 / (2 * half) as f64);
                (*a, *b) = (a.plus(*b), a.minus(*b).times(root));
            }
        }
        half /= 2;
    }
    let shift = u64::BITS - work.len().ilog2();
    let scale = 1.0 / work.len() as f64;
    let reversed = |k: usize| ((k as u64).reverse_bits() >> shift) as usize;
    (0..work.len())
        .map(|k| work[reversed(k)])
        .map(|point| Complex(point.0 * scale, point.1 * scale))
        .collect()
}
