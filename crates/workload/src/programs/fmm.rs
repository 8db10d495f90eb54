//! Gravitation in the plane by the fast multipole method (Greengard & Rokhlin 1987; SPLASH-2, Woo et al. 1995, §3; Falsafi 1998,
//! Table 5.2: 16K particles).
//!
//! This is the method of the first source, on a uniform grid. SPLASH-2 has the adaptive one, for bodies in clusters; with bodies
//! at random in a square, as here, both have the same phases and the same kinds of communication. A step puts the particles
//! into the boxes of the finest level; makes multipole expansions of those and combines them level by level upwards; turns the
//! expansions of boxes that are well apart into local ones, level by level downwards; and evaluates them, with the pulls of
//! particles nearby one by one. Boxes are numbered in Morton order, and each processor has an equal share of each level.
//! Particles begin on the node of the processor that has their box; boxes lie on their own processor's.

mod check;
mod expansion;
mod grid;

use super::bounds::{Bounds, Cube};
use super::cells::CellLists;
use super::complex::{Complex, load, store};
use super::cost::{DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, Pace};
use super::input::{check_common, digest, random, require, share};
use super::vector::{load_vector, store_vector, write_vector};
use super::{Address, BarrierId, Image, Prepared, Program, SharedMemory, WrongResult};
use expansion::Binomials;
use grid::{Grid, morton};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// A place, velocity or acceleration in the plane.
type Vector = [f64; 2];

/// Words of a particle and where its parts are.
const PARTICLE: u64 = 8;
const MASS: u64 = 0;
const PLACE: u64 = 1;
const VELOCITY: u64 = 3;
const ACCELERATION: u64 = 5;
const LINK: u64 = 7;

/// Computing to find a particle's box.
const LOCATE: u32 = 4 * FLOP + 10 * INTEGER;

/// Computing of a pull.
const PULL: u32 = 9 * FLOP + DIVIDE + INTEGER + LOOP;

/// Computing to move a particle.
const ADVANCE: u32 = 8 * FLOP + 2 * INTEGER + LOOP;

/// The pace at which a uniprocessor takes the 3,351 million cycles of Table 5.3.
const UNIPROCESSOR: Pace = Pace::new(2.158);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fmm {
    /// Particles, at random in a square.
    pub particles: u64,
    /// The finest level, of 4 to this power boxes.
    pub levels: u32,
    /// Terms of an expansion. SPLASH-2's default precision of 1e-6 takes 20.
    pub terms: u32,
    /// The length of a step, where the particles have mass 1 together and the square has side 1.
    pub step: f64,
    /// Steps. The thesis does not say; SPLASH-2's input has five.
    pub steps: u32,
    /// Names the random particles.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Fmm {
    fn default() -> Self {
        Self {
            particles: 16 * 1024,
            levels: 5,
            terms: 20,
            step: 0.025,
            steps: 5,
            seed: 1,
            pace: UNIPROCESSOR,
        }
    }
}

impl Fmm {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { particles: 4096, levels: 4, steps: 1, ..Self::default() }
    }

    /// Random places, in the order of the boxes that they are in at first.
    fn input(&self) -> Vec<Vector> {
        let mut random = random(self.seed);
        let mut places: Vec<Vector> =
            (0..self.particles).map(|_| [(); 2].map(|()| random.random_range(0.0..1.0))).collect();
        let boxes = f64::from(1 << self.levels);
        places.sort_by_key(|place| morton(place.map(|coordinate| (coordinate * boxes) as u64)));
        places
    }
}

/// The particles laid out.
#[derive(Debug)]
pub struct PreparedFmm {
    input: Fmm,
    particles: Address,
    bounds: Bounds<2>,
    grid: Grid,
    lists: CellLists,
    binomials: Binomials,
}

impl Program for Fmm {
    type Prepared = PreparedFmm;

    fn name(&self) -> &'static str {
        "fmm"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedFmm, Fault> {
        check_common(self.pace, processors)?;
        require((2..=1 << 22).contains(&self.particles), "particles", self.particles, "2 to 2^22")?;
        require((2..=10).contains(&self.levels), "levels", self.levels, "2 to 10")?;
        require((1..=40).contains(&self.terms), "terms", self.terms, "1 to 40")?;
        require((0.0..=0.1).contains(&self.step), "step", self.step, "0 to 0.1")?;
        require(self.steps > 0, "steps", self.steps, "1 or more")?;
        let lists = CellLists::new(image, 1 << (2 * self.levels), processors, LINK, self.pace);
        let grid = Grid::new(image, self.levels, self.terms, processors);
        let particles = image.allocate_shared_out(8 * PARTICLE * self.particles, processors);
        for (index, place) in (0..).zip(self.input()) {
            let particle = particles.word(PARTICLE * index);
            image.store_f64(particle.word(MASS), 1.0 / self.particles as f64);
            write_vector(image, particle.word(PLACE), place);
        }
        let bounds = Bounds::new(image, processors);
        let binomials = Binomials::new(2 * self.terms as usize);
        Ok(PreparedFmm { input: self.clone(), particles, bounds, grid, lists, binomials })
    }
}

impl PreparedFmm {
    fn particle(&self, index: u64) -> Address {
        self.particles.word(PARTICLE * index)
    }

    /// Puts this processor's particles into their boxes.
    fn locate<M: SharedMemory>(&self, memory: &M, mine: &[Address], square: Cube<2>) {
        let locating = self.input.pace.cycles(LOCATE);
        for &particle in mine {
            let place = load_vector(memory, particle.word(PLACE));
            memory.compute(locating);
            self.lists.insert(memory, self.grid.locate(square, place), particle);
        }
    }

    /// Adds the pulls on a particle at `place` by the others in `cell`.
    fn add_pulls<M: SharedMemory>(
        &self,
        memory: &M,
        cell: u64,
        (particle, place): (Address, Vector),
        acceleration: &mut Vector,
    ) {
        let pulling = self.input.pace.cycles(PULL);
        self.lists.for_each(memory, cell, |other| {
            if other != particle {
                let there: Vector = load_vector(memory, other.word(PLACE));
                let pull = pull(place, memory.load_f64(other.word(MASS)), there);
                acceleration[0] += pull[0];
                acceleration[1] += pull[1];
                memory.compute(pulling);
            }
        });
    }

    /// Computes the accelerations of the particles in a box of the finest level.
    fn evaluate<M: SharedMemory>(&self, memory: &M, cell: u64, square: Cube<2>, private: &mut Private) {
        let terms = self.input.terms;
        let evaluating = self.input.pace.cycles(terms * (8 * FLOP + PRIVATE + LOOP));
        let level = self.input.levels;
        self.load_expansion(memory, self.grid.local(level, cell), &mut private.sum);
        let centre = Grid::centre(square, level, cell);
        let near = grid::neighbours(level, cell);
        self.lists.for_each(memory, cell, |particle| {
            let place: Vector = load_vector(memory, particle.word(PLACE));
            let away = Complex(place[0], place[1]).minus(centre);
            let field = private.sum.iter().rev().fold(Complex::ZERO, |sum, &term| sum.times(away).plus(term));
            memory.compute(evaluating);
            // A field W = Σ m/(z − z') pulls against its conjugate.
            let mut acceleration = [-field.0, field.1];
            self.add_pulls(memory, cell, (particle, place), &mut acceleration);
            for other in near.clone() {
                self.add_pulls(memory, other, (particle, place), &mut acceleration);
            }
            store_vector(memory, particle.word(ACCELERATION), acceleration);
        });
    }

    fn advance<M: SharedMemory>(&self, memory: &M, particle: Address) {
        let acceleration: Vector = load_vector(memory, particle.word(ACCELERATION));
        let mut velocity: Vector = load_vector(memory, particle.word(VELOCITY));
        let mut place: Vector = load_vector(memory, particle.word(PLACE));
        for k in 0..2 {
            velocity[k] += self.input.step * acceleration[k];
            place[k] += self.input.step * velocity[k];
        }
        store_vector(memory, particle.word(VELOCITY), velocity);
        store_vector(memory, particle.word(PLACE), place);
        memory.compute(self.input.pace.cycles(ADVANCE));
    }

    fn load_expansion<M: SharedMemory>(&self, memory: &M, at: Address, terms: &mut [Complex]) {
        for (k, term) in (0..).zip(terms) {
            *term = load(memory, at.word(2 * k));
        }
        memory.compute(self.input.pace.cycles(self.input.terms * (PRIVATE + INTEGER)));
    }

    fn store_expansion<M: SharedMemory>(&self, memory: &M, at: Address, terms: &[Complex]) {
        for (k, &term) in (0..).zip(terms) {
            store(memory, at.word(2 * k), term);
        }
        memory.compute(self.input.pace.cycles(self.input.terms * (PRIVATE + INTEGER)));
    }
}

/// The pull of a mass at `there`.
#[inline(always)]
fn pull(place: Vector, mass: f64, there: Vector) -> Vector {
    let away = [there[0] - place[0], there[1] - place[1]];
    let factor = mass / (away[0] * away[0] + away[1] * away[1]);
    away.map(|coordinate| factor * coordinate)
}

/// Private memory of a processor: expansions and powers.
struct Private {
    sum: Vec<Complex>,
    other: Vec<Complex>,
    powers: Vec<Complex>,
    list: Vec<Address>,
}

impl Prepared for PreparedFmm {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let barrier = || memory.barrier(BarrierId(0));
        let share_of = |items| share(items, memory.processor(), memory.processors());
        let terms = self.input.terms as usize;
        let mut private = Private {
            sum: vec![Complex::ZERO; terms],
            other: vec![Complex::ZERO; terms],
            powers: vec![Complex::ZERO; 2 * terms + 1],
            list: Vec::new(),
        };
        let levels = self.input.levels;
        let mut mine: Vec<Address> =
            share_of(self.input.particles).map(|index| self.particle(index)).collect();
        for _ in 0..self.input.steps {
            let boxes = share_of(1 << (2 * levels));
            self.lists.clear(memory, boxes.clone());
            self.bounds.publish(memory, self.input.pace, mine.iter().map(|at| at.word(PLACE)));
            barrier();
            let square = self.bounds.cube(memory, self.input.pace);
            self.locate(memory, &mine, square);
            barrier();
            for cell in boxes.clone() {
                self.lists.sort(memory, cell, &mut private.list);
                self.expand(memory, cell, square, &mut private);
            }
            barrier();
            for level in (2..levels).rev() {
                for cell in share_of(1 << (2 * level)) {
                    self.combine(memory, level, cell, square, &mut private);
                }
                barrier();
            }
            for level in 2..=levels {
                for cell in share_of(1 << (2 * level)) {
                    self.localise(memory, level, cell, square, &mut private);
                }
                barrier();
            }
            mine.clear();
            for cell in boxes {
                self.evaluate(memory, cell, square, &mut private);
                self.lists.for_each(memory, cell, |particle| mine.push(particle));
            }
            barrier();
            for &particle in &mine {
                self.advance(memory, particle);
            }
        }
        barrier();
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        self.check_accelerations(image)
    }

    fn digest(&self, image: &Image) -> u64 {
        let words = |index| (MASS..LINK).map(move |word| image.load(self.particle(index).word(word)));
        digest((0..self.input.particles).flat_map(words))
    }
}
