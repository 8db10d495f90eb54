//! Symbolic factorisation: which rows each panel of columns has, and which panels change which.

use super::matrix::Matrix;

/// Columns with the same rows below them, stored as one dense block.
#[derive(Debug)]
pub(super) struct Panel {
    /// Its first column.
    pub(super) first: u32,
    /// How many columns it has.
    pub(super) width: usize,
    /// Its rows from its first column on, ascending. The first `width` are those of its columns.
    pub(super) rows: Vec<u32>,
    /// The panels that change it, ascending.
    pub(super) sources: Vec<Source>,
}

/// A panel that changes another.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) panel: u32,
    /// The first of its rows that is a column of the other, as an index.
    pub(super) from: usize,
    /// How many of its rows are columns of the other.
    pub(super) columns: usize,
}

/// All panels, and an order in which tasks may be taken.
#[derive(Debug)]
pub(super) struct Panels {
    pub(super) panels: Vec<Panel>,
    /// Every panel after those that change it, leaves of the elimination tree first.
    pub(super) tasks: Vec<u32>,
}

impl Panels {
    /// Panels of at most `widest` columns.
    pub(super) fn new(matrix: &Matrix, widest: usize) -> Self {
        let below = factor_structure(matrix);
        let mut panels = Vec::new();
        let mut node = 0;
        while node < below.len() {
            let first = node;
            // The next node joins if its column has the same rows but for itself.
            while below[node].first() == Some(&(node as u32 + 1))
                && below[node].len() == below[node + 1].len() + 1
            {
                node += 1;
            }
            let end = matrix.columns(node as u32).end;
            let rows: Vec<u32> = below[node].iter().flat_map(|&node| matrix.columns(node)).collect();
            for first in (matrix.columns(first as u32).start..end).step_by(widest) {
                let width = widest.min((end - first) as usize);
                let rows = (first..end).chain(rows.iter().copied()).collect();
                panels.push(Panel { first, width, rows, sources: Vec::new() });
            }
            node += 1;
        }
        let tasks = link(&mut panels, matrix.order());
        Self { panels, tasks }
    }
}

/// For each node, the later nodes whose rows are not zero in its column of the factor.
fn factor_structure(matrix: &Matrix) -> Vec<Vec<u32>> {
    let mut below = matrix.later.clone();
    for node in 0..below.len() {
        let rows = &mut below[node];
        rows.sort_unstable();
        rows.dedup();
        // The first row below is the parent in the elimination tree, which inherits the others.
        if let Some((&parent, others)) = rows.split_first() {
            let others = others.to_vec();
            below[parent as usize].extend(others);
        }
    }
    below
}

/// Tells panels which others change them, and returns the order of tasks.
fn link(panels: &mut [Panel], order: u32) -> Vec<u32> {
    let mut panel_of = vec![0; order as usize];
    for (number, panel) in (0..).zip(&*panels) {
        panel_of[panel.first as usize..][..panel.width].fill(number);
    }
    let mut heights = vec![0; panels.len()];
    for number in 0..panels.len() {
        let targets: Vec<u32> = panels[number].rows.iter().map(|&row| panel_of[row as usize]).collect();
        let mut from = panels[number].width;
        while from < targets.len() {
            let target = targets[from] as usize;
            let columns = targets[from..].iter().take_while(|other| **other == target as u32).count();
            panels[target].sources.push(Source { panel: number as u32, from, columns });
            heights[target] = heights[target].max(heights[number] + 1);
            from += columns;
        }
    }
    let mut tasks: Vec<u32> = (0..panels.len() as u32).collect();
    tasks.sort_by_key(|&panel| heights[panel as usize]);
    tasks
}

#[cfg(test)]
mod tests {
    use super::super::Cholesky;
    use super::*;

    #[test]
    fn the_structure_is_that_of_elimination_and_tasks_follow_their_sources() {
        let input = Cholesky { grid: (7, 9), unknowns: 2, ..Cholesky::default() };
        let matrix = Matrix::new(&input);
        let order = matrix.order() as usize;
        // Elimination by its definition, on a dense pattern.
        let mut dense = vec![vec![false; order]; order];
        for element in matrix.elements(1) {
            dense[element.column as usize][element.row as usize] = true;
        }
        for column in 0..order {
            let rows: Vec<usize> = (column + 1..order).filter(|&row| dense[column][row]).collect();
            for (k, &row) in rows.iter().enumerate() {
                rows[k..].iter().for_each(|&other| dense[row][other] = true);
            }
        }
        let Panels { panels, tasks } = Panels::new(&matrix, 5);
        for panel in &panels {
            for k in 0..panel.width {
                let column = panel.first as usize + k;
                let rows: Vec<u32> =
                    (column..order).filter(|&row| dense[column][row]).map(|row| row as u32).collect();
                assert_eq!(panel.rows[k..], rows);
            }
        }
        assert_eq!(panels.iter().map(|panel| panel.width).sum::<usize>(), order);
        let place = |panel: u32| tasks.iter().position(|task| *task == panel);
        for (number, panel) in (0..).zip(&panels) {
            for source in &panel.sources {
                assert!(place(source.panel) < place(number));
                assert!(
                    panels[source.panel as usize].rows[source.from..][..source.columns]
                        .iter()
                        .all(|&row| row >= panel.first && ((row - panel.first) as usize) < panel.width)
                );
            }
        }
    }
}
