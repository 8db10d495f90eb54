//! The periodic box, its cells, and molecules at the start.

use super::potential::{Atoms, BOND, MASSES, SPREAD};
use crate::random::Random;
use rand::RngExt;

/// Molecules in a cubic ångström of liquid water.
const DENSITY: f64 = 0.0334;

/// kT at 298 K, in 10⁴ kJ/mol.
const THERMAL_ENERGY: f64 = 2.479e-4;

/// Cells along a side, at least: with fewer, a cell would touch another on both sides.
pub(super) const LEAST_CELLS: u64 = 3;

/// A periodic box, whose cells are numbered in Morton order. A cell's side is no shorter than the cutoff.
#[derive(Debug)]
pub(super) struct PeriodicBox {
    /// The length of its side.
    pub(super) side: f64,
    /// Cells along a side.
    pub(super) cells: u64,
    /// Coordinates of each cell.
    coordinates: Vec<[u64; 3]>,
    /// The number of each cell, by its coordinates.
    numbers: Vec<u64>,
}

/// The side of a box of so much liquid.
pub(super) fn side(molecules: u64) -> f64 {
    (molecules as f64 / DENSITY).cbrt()
}

impl PeriodicBox {
    pub(super) fn new(molecules: u64, cutoff: f64) -> Self {
        let side = side(molecules);
        let cells = (side / cutoff) as u64;
        let all =
            (0..cells.pow(3)).map(|index| [index % cells, index / cells % cells, index / cells / cells]);
        let mut coordinates: Vec<[u64; 3]> = all.collect();
        coordinates.sort_by_key(|&coordinates| morton(coordinates));
        let mut numbers = vec![0; coordinates.len()];
        for (number, &[x, y, z]) in (0..).zip(&coordinates) {
            numbers[((z * cells + y) * cells + x) as usize] = number;
        }
        Self { side, cells, coordinates, numbers }
    }

    /// The cell that a place inside the box is in.
    pub(super) fn locate(&self, place: [f64; 3]) -> u64 {
        let index = |k: usize| ((place[k] / self.side * self.cells as f64) as u64).min(self.cells - 1);
        self.number([index(0), index(1), index(2)])
    }

    fn number(&self, [x, y, z]: [u64; 3]) -> u64 {
        self.numbers[((z * self.cells + y) * self.cells + x) as usize]
    }

    /// The cell itself and those that touch it.
    pub(super) fn around(&self, cell: u64) -> impl Iterator<Item = u64> {
        let [x, y, z] = self.coordinates[cell as usize];
        let near = move |index: u64| [index + self.cells - 1, index, index + 1].map(|near| near % self.cells);
        let near = [near(x), near(y), near(z)];
        (0..27).map(move |k| self.number([near[0][k % 3], near[1][k / 3 % 3], near[2][k / 9]]))
    }

    /// Places and velocities of `molecules` on a cubic lattice, turned at random, in the order of the cells. They are at rest
    /// together.
    pub(super) fn start(&self, molecules: u64, random: &mut Random) -> Vec<(Atoms, Atoms)> {
        let sites = (1..).find(|sites: &u64| sites.pow(3) >= molecules).unwrap_or(1);
        let place = |index: u64| {
            let at = |k: u64| (index / sites.pow(k as u32) % sites) as f64 + 0.5;
            [0, 1, 2].map(|k| at(k) * self.side / sites as f64)
        };
        let mut places: Vec<[f64; 3]> = (0..molecules).map(place).collect();
        places.sort_by_key(|&place| self.locate(place));
        let mut all: Vec<(Atoms, Atoms)> =
            places.into_iter().map(|oxygen| (molecule(oxygen, random), velocities(random))).collect();
        for k in 0..9 {
            let mean = all.iter().map(|(_, velocity)| velocity[k]).sum::<f64>() / molecules as f64;
            all.iter_mut().for_each(|(_, velocity)| velocity[k] -= mean);
        }
        all
    }
}

fn morton(coordinates: [u64; 3]) -> u64 {
    coordinates.iter().enumerate().fold(0, |number, (k, &coordinate)| {
        (0..20).fold(number, |number, bit| number | (coordinate >> bit & 1) << (3 * bit + k))
    })
}

/// A molecule at rest, turned at random.
fn molecule(oxygen: [f64; 3], random: &mut Random) -> Atoms {
    let first = direction(random);
    let other = direction(random);
    let along: f64 = (0..3).map(|k| first[k] * other[k]).sum();
    let across = [0, 1, 2].map(|k| other[k] - along * first[k]);
    let length = across.iter().map(|coordinate| coordinate * coordinate).sum::<f64>().sqrt().max(1e-9);
    let sine = SPREAD / (2.0 * BOND);
    // The cosine and sine of the whole angle, of which `sine` is that of the half.
    let (cosine, sine) = (1.0 - 2.0 * sine * sine, 2.0 * sine * (1.0 - sine * sine).sqrt());
    let second = [0, 1, 2].map(|k| cosine * first[k] + sine * across[k] / length);
    core::array::from_fn(|k| match k / 3 {
        0 => oxygen[k],
        1 => oxygen[k - 3] + BOND * first[k - 3],
        _ => oxygen[k - 6] + BOND * second[k - 6],
    })
}

/// Random velocities with the mean square of the thermal ones.
fn velocities(random: &mut Random) -> Atoms {
    core::array::from_fn(|k| {
        let largest = (3.0 * THERMAL_ENERGY / MASSES[k / 3]).sqrt();
        random.random_range(-largest..largest)
    })
}

/// A random direction, by rejection from a cube.
fn direction(random: &mut Random) -> [f64; 3] {
    loop {
        let vector: [f64; 3] = [(); 3].map(|()| random.random_range(-1.0..1.0));
        let square: f64 = vector.iter().map(|coordinate| coordinate * coordinate).sum();
        if square > 1e-6 && square <= 1.0 {
            return vector.map(|coordinate| coordinate / square.sqrt());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn cells_around_are_distinct_and_hold_what_is_near() {
        let grid = PeriodicBox::new(216, 6.0);
        assert_eq!(grid.cells, LEAST_CELLS);
        for cell in 0..grid.cells.pow(3) {
            let near: HashSet<u64> = grid.around(cell).collect();
            assert_eq!(near.len(), 27);
            assert!(near.contains(&cell));
        }
        // From the middle of a border cell, a cutoff to the left lies beyond the border.
        let here = grid.locate([0.1, 9.0, 9.0]);
        let there = grid.locate([grid.side - 5.8, 9.0, 9.0]);
        assert!(grid.around(here).any(|cell| cell == there));
    }
}
