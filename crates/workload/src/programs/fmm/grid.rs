//! Boxes of all levels, numbered in Morton order, and their expansions in shared memory.

use super::Vector;
use crate::programs::bounds::Cube;
use crate::programs::complex::Complex;
use crate::programs::{Address, Image};

/// The expansions of all boxes: for each level, multipole and local ones.
#[derive(Debug)]
pub(super) struct Grid {
    levels: Vec<[Address; 2]>,
    /// Words of an expansion.
    words: u64,
}

impl Grid {
    pub(super) fn new(image: &mut Image, finest: u32, terms: u32, processors: u32) -> Self {
        let words = 2 * u64::from(terms);
        let levels = (0..=finest)
            .map(|level| [(); 2].map(|()| image.allocate_shared_out((8 * words) << (2 * level), processors)))
            .collect();
        Self { levels, words }
    }

    /// Where the multipole expansion of a box begins.
    pub(super) fn multipole(&self, level: u32, cell: u64) -> Address {
        self.levels[level as usize][0].word(self.words * cell)
    }

    /// Where the local expansion of a box begins.
    pub(super) fn local(&self, level: u32, cell: u64) -> Address {
        self.levels[level as usize][1].word(self.words * cell)
    }

    /// The box of the finest level that `place` is in.
    pub(super) fn locate(&self, square: Cube<2>, place: Vector) -> u64 {
        let boxes = 1_u64 << (self.levels.len() - 1);
        let index = |k: usize| {
            let share = (place[k] - square.centre[k]) / square.side + 0.5;
            ((share * boxes as f64) as u64).min(boxes - 1)
        };
        morton([index(0), index(1)])
    }

    /// The centre of a box.
    pub(super) fn centre(square: Cube<2>, level: u32, cell: u64) -> Complex {
        let [x, y] = coordinates(cell);
        let at = |k: usize, index: u64| {
            square.centre[k] + square.side * ((index as f64 + 0.5) / f64::from(1 << level) - 0.5)
        };
        Complex(at(0, x), at(1, y))
    }
}

/// The number of the box with these coordinates: their bits by turns.
pub(super) fn morton(coordinates: [u64; 2]) -> u64 {
    coordinates.iter().enumerate().fold(0, |number, (k, &coordinate)| {
        (0..16).fold(number, |number, bit| number | (coordinate >> bit & 1) << (2 * bit + k))
    })
}

fn coordinates(number: u64) -> [u64; 2] {
    [0, 1].map(|k| (0..16).fold(0, |coordinate, bit| coordinate | (number >> (2 * bit + k) & 1) << bit))
}

/// Boxes of a level that touch box `cell`.
pub(super) fn neighbours(level: u32, cell: u64) -> impl Iterator<Item = u64> + Clone {
    let last = (1_u64 << level) - 1;
    let near = move |index: u64| index.saturating_sub(1)..=(index + 1).min(last);
    let [x, y] = coordinates(cell);
    near(y).flat_map(move |y| near(x).map(move |x| morton([x, y]))).filter(move |&other| other != cell)
}

/// Boxes whose parents touch that of `cell`, but that do not touch it themselves: those well apart that no coarser level has.
pub(super) fn well_apart(level: u32, cell: u64) -> impl Iterator<Item = u64> {
    let [x, y] = coordinates(cell);
    neighbours(level - 1, cell >> 2).flat_map(|parent| parent << 2..(parent + 1) << 2).filter(move |&other| {
        let other = coordinates(other);
        other[0].abs_diff(x) > 1 || other[1].abs_diff(y) > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_and_coordinates_are_each_others_inverse() {
        for number in 0..256 {
            assert_eq!(morton(coordinates(number)), number);
        }
        assert_eq!(coordinates(0b1110), [0b10, 0b11]);
    }

    #[test]
    fn every_pair_of_boxes_is_near_or_well_apart_at_one_level() {
        let finest = 4;
        for cell in 0..1 << (2 * finest) {
            let mut seen: HashSet<u64> = neighbours(finest, cell).collect();
            let mut count = seen.len();
            for level in 2..=finest {
                let down = 2 * (finest - level);
                for other in well_apart(level, cell >> down) {
                    seen.extend(other << down..(other + 1) << down);
                    count += 1 << down;
                }
            }
            assert!(!seen.contains(&cell));
            assert_eq!((seen.len(), count), (255, 255), "each of the others once");
        }
    }
}
