//! Gravitation of a galaxy by a hierarchical method (Barnes & Hut 1986; SPLASH-2, Woo et al. 1995, §3; Falsafi 1998, Tables 4.1
//! and 5.2: 16K particles).
//!
//! A step builds an octree with one body in a leaf, in parallel and with locks on cells; sums masses upwards; divides the
//! bodies among the processors by the costs of the last step, in the order of the tree (costzones, Singh et al. 1995); computes
//! the force on each body, where a cell that is far enough away acts as its centre of mass; and moves the bodies. SPLASH-2
//! lets up to ten bodies share a leaf; with one, the tree does not depend on the order in which bodies come into it, so that
//! the result is the same on any number of processors.
//!
//! Bodies lie on the node of the processor that has them at the start, cells on the node of the one that makes them.

mod expected;
mod force;
mod plummer;
mod tree;

use super::bounds::Bounds;
use super::cost::{FLOP, INTEGER, LOOP, Pace};
use super::input::{check_common, digest, require, share};
use super::vector::{distance, length, load_vector, store_vector, vector_at, write_vector};
use super::{Address, BarrierId, Image, Prepared, Program, SharedMemory, WrongResult};
use expected::Tree;
use serde::{Deserialize, Serialize};
use tree::{Forest, POOL_CHUNK};
use warmcore_units::Fault;

/// A place, velocity or acceleration.
type Vector = [f64; 3];

/// Words of a body and where its parts are. The last is not used: it fills the cache line up with the next body's.
const BODY: u64 = 12;
const MASS: u64 = 0;
const PLACE: u64 = 1;
const VELOCITY: u64 = 4;
const ACCELERATION: u64 = 7;
const COST: u64 = 10;

/// Computing to move a body.
const ADVANCE: u32 = 12 * FLOP + 3 * INTEGER + LOOP;

/// How far each acceleration may be from what the same method gives alone, relative to the sizes of all pulls.
const ROUNDING: f64 = 1e-9;

/// Bodies that are pulled by all others one by one, if there are as many.
const SAMPLES: usize = 2048;

/// How far those accelerations may be from the method's on average, relative to the sizes of all pulls, for an opening angle
/// of 1: the error grows with its square (Hernquist 1987, for monopoles). Of forty seeds with up to 1024 bodies, a
/// set of six is the worst: 0.11.
const MEAN_TOLERANCE: f64 = 0.2;

/// The pace at which a uniprocessor takes the 2,284 million cycles of Table 5.3.
const UNIPROCESSOR: Pace = Pace::new(1.493);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Barnes {
    /// Bodies, in two Plummer models as SPLASH-2 makes them.
    pub bodies: u64,
    /// A cell acts as its centre of mass if its side is less than this many times its distance. Beyond 1, that would often be
    /// a cell which the body itself is in.
    pub opening: f64,
    /// A length below which gravitation is softened.
    pub softening: f64,
    /// The length of a step, in the time unit of the model.
    pub step: f64,
    /// Steps. The thesis does not say; SPLASH-2's default, until time 0.075, is four.
    pub steps: u32,
    /// Names the random bodies.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Barnes {
    fn default() -> Self {
        Self {
            bodies: 16 * 1024,
            opening: 1.0,
            softening: 0.05,
            step: 0.025,
            steps: 4,
            seed: 1,
            pace: UNIPROCESSOR,
        }
    }
}

impl Barnes {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { bodies: 2048, steps: 2, ..Self::default() }
    }
}

/// The bodies laid out.
#[derive(Debug)]
pub struct PreparedBarnes {
    input: Barnes,
    bodies: Address,
    forest: Forest,
    bounds: Bounds<3>,
}

impl Program for Barnes {
    type Prepared = PreparedBarnes;

    fn name(&self) -> &'static str {
        "barnes"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedBarnes, Fault> {
        check_common(self.pace, processors)?;
        let allowed = (u64::from(processors)..=1 << 22).contains(&self.bodies) && self.bodies >= 2;
        require(allowed, "bodies", self.bodies, "2 or more, one for each processor, up to 2^22")?;
        require((0.1..=1.0).contains(&self.opening), "opening", self.opening, "0.1 to 1")?;
        require((1e-6..=1.0).contains(&self.softening), "softening", self.softening, "1e-6 to 1")?;
        require((0.0..=0.1).contains(&self.step), "step", self.step, "0 to 0.1")?;
        require(self.steps > 0, "steps", self.steps, "1 or more")?;
        let bodies = image.allocate_shared_out(8 * BODY * self.bodies, processors);
        for (index, (place, velocity)) in (0..).zip(plummer::two_galaxies(self.bodies, self.seed)) {
            let body = bodies.word(BODY * index);
            image.store_f64(body.word(MASS), 1.0 / self.bodies as f64);
            write_vector(image, body.word(PLACE), place);
            write_vector(image, body.word(VELOCITY), velocity);
            image.store(body.word(COST), 1);
        }
        let bounds = Bounds::new(image, processors);
        // Random bodies need less than one cell each; a processor may have one part of a chunk to spare.
        let cells = (2 * self.bodies).div_ceil(u64::from(processors)) + POOL_CHUNK;
        let forest = Forest::new(image, cells, processors);
        Ok(PreparedBarnes { input: self.clone(), bodies, forest, bounds })
    }
}

impl PreparedBarnes {
    fn advance<M: SharedMemory>(&self, memory: &M, body: Address) {
        let acceleration: Vector = load_vector(memory, body.word(ACCELERATION));
        let mut velocity: Vector = load_vector(memory, body.word(VELOCITY));
        let mut place: Vector = load_vector(memory, body.word(PLACE));
        for k in 0..3 {
            velocity[k] += self.input.step * acceleration[k];
            place[k] += self.input.step * velocity[k];
        }
        store_vector(memory, body.word(VELOCITY), velocity);
        store_vector(memory, body.word(PLACE), place);
        memory.compute(self.input.pace.cycles(ADVANCE));
    }

    fn body(&self, index: u64) -> Address {
        self.bodies.word(BODY * index)
    }

    /// Masses, and places when the last forces were computed: before the bodies moved.
    fn last_places(&self, image: &Image) -> Vec<(f64, Vector)> {
        let before = |body: Address| {
            let place: Vector = vector_at(image, body.word(PLACE));
            let velocity: Vector = vector_at(image, body.word(VELOCITY));
            let place = [0, 1, 2].map(|k| place[k] - self.input.step * velocity[k]);
            (image.load_f64(body.word(MASS)), place)
        };
        (0..self.input.bodies).map(|index| before(self.body(index))).collect()
    }
}

impl Prepared for PreparedBarnes {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let barrier = || memory.barrier(BarrierId(0));
        let first = share(self.input.bodies, memory.processor(), memory.processors());
        let mut mine: Vec<Address> = first.map(|index| self.body(index)).collect();
        let mut made = Vec::new();
        let mut stack = Vec::new();
        for _ in 0..self.input.steps {
            self.forest.clear(memory, &mut made);
            let places = mine.iter().map(|body| body.word(PLACE));
            self.bounds.publish(memory, self.input.pace, places);
            barrier();
            let universe = self.bounds.cube(memory, self.input.pace);
            for &body in &mine {
                self.forest.insert(memory, body, universe, self.input.pace, &mut made);
            }
            barrier();
            self.forest.sum_masses(memory, self.input.pace, &made);
            barrier();
            self.forest.find_zone(memory, self.input.pace, &mut mine);
            // Forces change the costs by which others still find their zones.
            barrier();
            for &body in &mine {
                self.compute_force(memory, body, universe.side, &mut stack);
            }
            barrier();
            for &body in &mine {
                self.advance(memory, body);
            }
        }
        barrier();
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        self.forest.check(image)?;
        let wrong = |what, expected, found| Err(WrongResult { what, expected, found });
        let Barnes { opening, softening, .. } = self.input;
        let bodies = self.last_places(image);
        if !bodies.iter().all(|(_, place)| length(*place).is_finite()) {
            return wrong("places".to_owned(), "numbers".to_owned(), "infinity or none".to_owned());
        }
        let tree = Tree::new(&bodies);
        let step = bodies.len().div_ceil(SAMPLES);
        let (mut errors, mut sizes) = (0.0, 0.0);
        for (index, &(_, place)) in bodies.iter().enumerate() {
            let expected = tree.pull(index, place, opening, softening);
            let found: Vector = vector_at(image, self.body(index as u64).word(ACCELERATION));
            // False for NaN too.
            let near = distance(expected.acceleration, found) <= ROUNDING * expected.sizes;
            if !near {
                let what = format!("acceleration of body {index}");
                return wrong(what, format!("{:?}", expected.acceleration), format!("{found:?}"));
            }
            if index % step == 0 {
                let exact = expected::direct_sum(&bodies, index, softening);
                errors += distance(exact.acceleration, found);
                sizes += exact.sizes;
            }
        }
        let (mean, limit) = (errors / sizes, MEAN_TOLERANCE * opening * opening);
        let near = mean <= limit;
        if !near {
            let what = "mean relative error of accelerations".to_owned();
            return wrong(what, format!("no more than {limit}"), mean.to_string());
        }
        Ok(())
    }

    fn digest(&self, image: &Image) -> u64 {
        let words = |index| (0..=COST).map(move |word| image.load(self.body(index).word(word)));
        digest((0..self.input.bodies).flat_map(words))
    }
}
