//! The force on a body.

use super::tree::{MASS_OF_CELL, Node, PLACE_OF_CELL};
use super::{ACCELERATION, COST, MASS, PLACE, PreparedBarnes, Vector};
use crate::programs::cost::{CALL, DIVIDE, FLOP, INTEGER, LOOP, PRIVATE, SQUARE_ROOT};
use crate::programs::vector::{load_vector, store_vector};
use crate::programs::{Address, SharedMemory};

/// Computing to see how far a node is, and whether it must be opened.
const DISTANCE: u32 = 11 * FLOP + 2 * INTEGER + 2 * PRIVATE + LOOP;

/// Computing of a pull.
const PULL: u32 = 9 * FLOP + SQUARE_ROOT + DIVIDE;

/// Computing to open a cell: look at eight children and push them.
const OPEN: u32 = 8 * (INTEGER + PRIVATE + LOOP);

impl PreparedBarnes {
    /// Computes the acceleration of `body` and counts what it costs. `side` is that of the whole tree.
    pub(super) fn compute_force<M: SharedMemory>(
        &self,
        memory: &M,
        body: Address,
        side: f64,
        stack: &mut Vec<(Node, f64)>,
    ) {
        let pace = self.input.pace;
        let [distance, pull, open] = [DISTANCE, PULL, OPEN].map(|counted| pace.cycles(counted));
        let place: Vector = load_vector(memory, body.word(PLACE));
        let softening = self.input.softening * self.input.softening;
        let opening = self.input.opening * self.input.opening;
        let mut acceleration = [0.0; 3];
        let mut cost = 0;
        memory.compute(pace.cycles(CALL));
        stack.push((Node::Cell(self.forest.root()), side * side));
        while let Some((node, square)) = stack.pop() {
            let (there, mass): (Vector, Address) = match node {
                Node::Body(other) if other == body => continue,
                Node::Body(other) => (load_vector(memory, other.word(PLACE)), other.word(MASS)),
                Node::Cell(cell) => (load_vector(memory, cell.word(PLACE_OF_CELL)), cell.word(MASS_OF_CELL)),
            };
            let away = [0, 1, 2].map(|k| there[k] - place[k]);
            let apart = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
            memory.compute(distance);
            if let Node::Cell(cell) = node
                && square >= opening * apart
            {
                for child in (0..8).rev() {
                    if let Some(child) = Node::unpack(memory.load(cell.word(child))) {
                        stack.push((child, square / 4.0));
                    }
                }
                memory.compute(open);
                continue;
            }
            let factor = pull_factor(memory.load_f64(mass), apart + softening);
            for k in 0..3 {
                acceleration[k] += factor * away[k];
            }
            cost += 1;
            memory.compute(pull);
        }
        store_vector(memory, body.word(ACCELERATION), acceleration);
        memory.store(body.word(COST), cost);
    }
}

/// Acceleration towards a mass for each unit of distance.
#[inline(always)]
pub(super) fn pull_factor(mass: f64, apart: f64) -> f64 {
    mass / (apart * apart.sqrt())
}
