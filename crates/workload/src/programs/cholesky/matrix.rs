//! A symmetric matrix like that of a thin shell: a grid of triangles with several unknowns at each node.

use super::Cholesky;
use crate::programs::input::random;
use core::ops::Range;
use rand::RngExt;

/// The lower half of the matrix, in the order of elimination.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Nodes of the grid that each node is coupled with and that are eliminated later, in that order.
    pub(super) later: Vec<Vec<u32>>,
    /// Unknowns at each node: rows and columns that follow each other.
    pub(super) unknowns: u32,
}

/// An element on or below the diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) value: f64,
}

impl Matrix {
    pub(super) fn new(input: &Cholesky) -> Self {
        let (width, height) = (input.grid.0, input.grid.1);
        let mut order = Vec::new();
        dissect(0..width, 0..height, &mut order);
        let mut places = vec![0; order.len()];
        let index = |x: u32, y: u32| (y * width + x) as usize;
        for (place, &(x, y)) in (0..).zip(&order) {
            places[index(x, y)] = place;
        }
        let mut later: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        for &(x, y) in &order {
            // Each square of the grid is two triangles.
            for (x2, y2) in [(x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                if x2 < width && y2 < height {
                    let (a, b): (u32, u32) = (places[index(x, y)], places[index(x2, y2)]);
                    later[a.min(b) as usize].push(a.max(b));
                }
            }
        }
        later.iter_mut().for_each(|nodes| nodes.sort_unstable());
        Self { later, unknowns: input.unknowns }
    }

    /// Rows and columns.
    pub(super) fn order(&self) -> u32 {
        self.later.len() as u32 * self.unknowns
    }

    /// The elements, with random values, the diagonal above the sum of all others in its row.
    pub(super) fn elements(&self, seed: u64) -> Vec<Element> {
        let mut random = random(seed);
        let mut sums = vec![1.0; self.order() as usize];
        let mut elements = Vec::new();
        for (node, later) in (0..).zip(&self.later) {
            for column in self.columns(node) {
                let rows = (column + 1..self.columns(node).end)
                    .chain(later.iter().flat_map(|&later| self.columns(later)));
                for row in rows {
                    let value: f64 = random.random_range(-1.0..1.0);
                    elements.push(Element { row, column, value });
                    sums[row as usize] += value.abs();
                    sums[column as usize] += value.abs();
                }
            }
        }
        let diagonal = (0..).zip(sums).map(|(row, value)| Element { row, column: row, value });
        elements.extend(diagonal);
        elements
    }

    /// The columns of a node.
    pub(super) fn columns(&self, node: u32) -> Range<u32> {
        node * self.unknowns..(node + 1) * self.unknowns
    }
}

/// Orders the nodes of a rectangle by nested dissection (George 1973): both halves before the line that separates them.
fn dissect(x: Range<u32>, y: Range<u32>, order: &mut Vec<(u32, u32)>) {
    if x.len().max(y.len()) <= 2 {
        order.extend(y.flat_map(|y| x.clone().map(move |x| (x, y))));
    } else if x.len() >= y.len() {
        let middle = x.start + (x.end - x.start) / 2;
        dissect(x.start..middle, y.clone(), order);
        dissect(middle + 1..x.end, y.clone(), order);
        order.extend(y.map(|y| (middle, y)));
    } else {
        let middle = y.start + (y.end - y.start) / 2;
        dissect(x.clone(), y.start..middle, order);
        dissect(x.clone(), middle + 1..y.end, order);
        order.extend(x.map(|x| (x, middle)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_node_is_eliminated_once() {
        let mut order = Vec::new();
        dissect(0..13, 0..7, &mut order);
        let distinct: HashSet<(u32, u32)> = order.iter().copied().collect();
        assert_eq!((order.len(), distinct.len()), (91, 91));
    }
}
