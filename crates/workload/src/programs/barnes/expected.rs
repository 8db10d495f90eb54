//! What accelerations should be: by the same method, alone and in plain memory, and by direct summation.

use super::Vector;
use super::force::pull_factor;
use super::tree::MAX_DEPTH;
use crate::programs::bounds::Cube;

/// A body: its mass and place.
pub(super) type Body = (f64, Vector);

/// A pull on a body: its acceleration, and the sizes of all parts of it, whatever their directions.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pull {
    pub(super) acceleration: Vector,
    pub(super) sizes: f64,
}

impl Pull {
    fn add(&mut self, place: Vector, (mass, there): Body, softening: f64) {
        let away = [0, 1, 2].map(|k| there[k] - place[k]);
        let apart = square(away);
        let factor = pull_factor(mass, apart + softening * softening);
        self.acceleration = [0, 1, 2].map(|k| self.acceleration[k] + factor * away[k]);
        self.sizes += factor * apart.sqrt();
    }
}

fn square(vector: Vector) -> f64 {
    vector.iter().map(|coordinate| coordinate * coordinate).sum()
}

/// The pull of all others on body `index`, one by one.
pub(super) fn direct_sum(bodies: &[Body], index: usize, softening: f64) -> Pull {
    let mut pull = Pull::default();
    // The body itself is at distance 0 and adds nothing.
    bodies.iter().for_each(|&body| pull.add(bodies[index].1, body, softening));
    pull
}

/// An octree with one body in a leaf.
pub(super) enum Tree {
    Leaf { index: usize, body: Body },
    Cell { side: f64, centre: Body, children: Vec<Tree> },
}

impl Tree {
    pub(super) fn new(bodies: &[Body]) -> Self {
        let cube = Cube::around(bodies.iter().map(|&(_, place)| place));
        Self::cell(bodies, (0..bodies.len()).collect(), cube, MAX_DEPTH)
    }

    /// The part of the tree in `cube`, where the bodies `inside` are, with up to so many `levels`. The last one takes those
    /// that a wrong result puts at one place, as one of them.
    fn cell(bodies: &[Body], inside: Vec<usize>, cube: Cube<3>, levels: u32) -> Self {
        let mut parts = [const { Vec::new() }; 8];
        for index in inside {
            parts[cube.octant(bodies[index].1) as usize].push(index);
        }
        let child = |(octant, part): (u64, Vec<usize>)| match part[..] {
            [] => None,
            [index] => Some(Self::Leaf { index, body: bodies[index] }),
            [index, ..] if levels == 0 => Some(Self::Leaf { index, body: bodies[index] }),
            _ => Some(Self::cell(bodies, part, cube.part(octant), levels - 1)),
        };
        let children: Vec<Self> = (0..).zip(parts).filter_map(child).collect();
        let (mut mass, mut moment) = (0.0, [0.0; 3]);
        for (part, place) in children.iter().map(Self::body) {
            mass += part;
            moment = [0, 1, 2].map(|k| moment[k] + part * place[k]);
        }
        Self::Cell { side: cube.side, centre: (mass, moment.map(|moment| moment / mass)), children }
    }

    /// The body, or the mass of all at its centre.
    fn body(&self) -> Body {
        match *self {
            Self::Leaf { body, .. } => body,
            Self::Cell { centre, .. } => centre,
        }
    }

    /// The pull on body `index` at `place`.
    pub(super) fn pull(&self, index: usize, place: Vector, opening: f64, softening: f64) -> Pull {
        let mut pull = Pull::default();
        let mut stack = vec![self];
        while let Some(node) = stack.pop() {
            match node {
                Self::Leaf { index: other, .. } if *other == index => {}
                Self::Cell { side, centre, children } if !is_far(*side, centre.1, place, opening) => {
                    stack.extend(children);
                }
                _ => pull.add(place, node.body(), softening),
            }
        }
        pull
    }
}

fn is_far(side: f64, centre: Vector, place: Vector, opening: f64) -> bool {
    side * side < opening * opening * square([0, 1, 2].map(|k| centre[k] - place[k]))
}
