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

/// All panels. A panel's columns are eliminated after those of the panels that change it, so it has a higher number.
#[derive(Debug)]
pub(super) struct Panels {
    pub(super) panels: Vec<Panel>,
    /// The panel above each in the elimination tree: the first that it changes. A root's is itself.
    parents: Vec<u32>,
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
        let parents = link(&mut panels, matrix.order());
        Self { panels, parents }
    }

    /// Divides the panels for `processors` processors.
    pub(super) fn divide(&self, processors: u32) -> Division {
        let mut below: Vec<u64> = self.panels.iter().map(Panel::work).collect();
        for (panel, &parent) in self.parents.iter().enumerate() {
            if parent as usize != panel {
                below[parent as usize] += below[panel];
            }
        }
        let total: u64 = self.panels.iter().map(Panel::work).sum();
        let largest = total / (u64::from(processors) * DOMAINS);
        // The top of the largest small enough subtree that each panel is in; a parent's is known before its parts'.
        let mut tops: Vec<Option<u32>> = vec![None; self.panels.len()];
        for panel in (0..self.panels.len()).rev() {
            let parent = self.parents[panel] as usize;
            let inherited = if parent == panel { None } else { tops[parent] };
            tops[panel] = inherited.or((below[panel] <= largest).then_some(panel as u32));
        }
        let mut domains: Vec<u32> =
            (0..).zip(&tops).filter(|(panel, top)| **top == Some(*panel)).map(|(panel, _)| panel).collect();
        domains.sort_by_key(|&top| core::cmp::Reverse(below[top as usize]));
        let mut loads = vec![0; processors as usize];
        let mut owners = vec![None; self.panels.len()];
        for top in domains {
            let least = (0..loads.len()).min_by_key(|&processor| loads[processor]).unwrap_or(0);
            loads[least] += below[top as usize];
            owners[top as usize] = Some(least as u32);
        }
        let owners: Vec<Option<u32>> = tops.iter().map(|top| owners[(*top)? as usize]).collect();
        Division { queue: self.by_height(|panel| owners[panel as usize].is_none()), owners }
    }

    /// The panels that `choose` wants, leaves of the elimination tree first: each after those that change it.
    fn by_height(&self, choose: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut heights = vec![0; self.panels.len()];
        for (panel, &parent) in self.parents.iter().enumerate() {
            if parent as usize != panel {
                heights[parent as usize] = heights[parent as usize].max(heights[panel] + 1);
            }
        }
        let mut queue: Vec<u32> = (0..self.panels.len() as u32).filter(|&panel| choose(panel)).collect();
        queue.sort_by_key(|&panel| heights[panel as usize]);
        queue
    }
}

/// Domains for each processor, at least: more make them more equal.
const DOMAINS: u64 = 4;

/// Who factors which panels.
#[derive(Debug)]
pub(super) struct Division {
    /// For each panel in a domain, whose it is. A domain is a subtree of the elimination tree: nothing outside changes it.
    pub(super) owners: Vec<Option<u32>>,
    /// The other panels, each after those that change it.
    pub(super) queue: Vec<u32>,
}

impl Panel {
    /// Flops of its factorisation and of the changes that it makes, about.
    fn work(&self) -> u64 {
        (0..self.width).map(|column| ((self.rows.len() - column) as u64).pow(2)).sum()
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

/// Tells panels which others change them, and returns the first that each changes, or itself if it changes none.
fn link(panels: &mut [Panel], order: u32) -> Vec<u32> {
    let mut panel_of = vec![0; order as usize];
    for (number, panel) in (0..).zip(&*panels) {
        panel_of[panel.first as usize..][..panel.width].fill(number);
    }
    let mut parents = Vec::with_capacity(panels.len());
    for number in 0..panels.len() {
        let targets: Vec<u32> = panels[number].rows.iter().map(|&row| panel_of[row as usize]).collect();
        let mut from = panels[number].width;
        parents.push(targets.get(from).copied().unwrap_or(number as u32));
        while from < targets.len() {
            let target = targets[from];
            let columns = targets[from..].iter().take_while(|other| **other == target).count();
            panels[target as usize].sources.push(Source { panel: number as u32, from, columns });
            from += columns;
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::super::Cholesky;
    use super::*;

    #[test]
    fn the_structure_is_that_of_elimination() {
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
        let panels = Panels::new(&matrix, 5).panels;
        for panel in &panels {
            for k in 0..panel.width {
                let column = panel.first as usize + k;
                let rows: Vec<u32> =
                    (column..order).filter(|&row| dense[column][row]).map(|row| row as u32).collect();
                assert_eq!(panel.rows[k..], rows);
            }
        }
        assert_eq!(panels.iter().map(|panel| panel.width).sum::<usize>(), order);
        for panel in &panels {
            for source in &panel.sources {
                let rows = &panels[source.panel as usize].rows[source.from..][..source.columns];
                let columns = panel.first..panel.first + panel.width as u32;
                assert!(rows.iter().all(|row| columns.contains(row)));
            }
        }
    }

    #[test]
    fn domains_are_changed_by_none_outside_and_the_queue_follows_its_sources() {
        let matrix = Matrix::new(&Cholesky { grid: (20, 24), unknowns: 3, ..Cholesky::default() });
        let panels = Panels::new(&matrix, 8);
        for processors in [1, 4, 64] {
            let Division { owners, queue } = panels.divide(processors);
            let place = |panel: u32| queue.iter().position(|queued| *queued == panel);
            assert_eq!(queue.len(), owners.iter().filter(|owner| owner.is_none()).count());
            let mut work = vec![0; processors as usize];
            for (number, panel) in (0..).zip(&panels.panels) {
                for source in &panel.sources {
                    assert!(source.panel < number);
                    match owners[number as usize] {
                        Some(owner) => assert_eq!(owners[source.panel as usize], Some(owner)),
                        None => assert!(place(source.panel) < place(number)),
                    }
                }
                if let Some(owner) = owners[number as usize] {
                    work[owner as usize] += panel.work();
                }
            }
            // Whoever has most got its last domain when it had least.
            let [least, most] = [work.iter().min(), work.iter().max()].map(|work| work.expect("processors"));
            let total: u64 = panels.panels.iter().map(Panel::work).sum();
            assert!(*most <= least + total / (u64::from(processors) * DOMAINS), "{work:?}");
        }
    }

    #[test]
    fn the_default_is_about_as_large_and_as_dense_as_tk29() {
        let input = Cholesky::default();
        let matrix = Matrix::new(&input);
        let panels = Panels::new(&matrix, input.panel as usize).panels;
        let columns =
            panels.iter().flat_map(|panel| (0..panel.width).map(|column| panel.rows.len() - column));
        assert_eq!(matrix.order(), 13_992);
        assert_eq!(matrix.elements(input.seed).len(), 293_880);
        assert_eq!(columns.sum::<usize>(), 1_707_564);
        assert_eq!(panels.iter().map(Panel::work).sum::<u64>() / 100_000, 3386);
    }
}
