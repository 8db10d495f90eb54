//! A map of a cache as the page needs it: squares with their colours and texts, and tables of the same numbers.
//!
//! The reader picks what colour shows and which layout stands beside the first. Both are radio buttons that the style sheet
//! obeys, so that a map works without scripts. A square has a class for each [`Measure`]: `a2 b0 c1` is level 2 of the first.

mod measure;
mod square;

pub(crate) use measure::{Key, Measure};
pub(crate) use square::Square;

use crate::numbers::fixed;
use warmcore_record::cache_map::{CacheMap, MapCell, MapLayout, MappedCache};

/// Width of a square with the gap behind it, in the units of the drawing.
const STEP: usize = 24;
/// Room for the number of a row's first set.
const MARGIN: usize = 40;

/// A map, ready to be laid out.
pub(crate) struct MapPart<'a> {
    pub(crate) map: &'a CacheMap,
    /// What a square is, and how to read the map.
    pub(crate) reading: String,
    pub(crate) keys: [Key; 3],
    pub(crate) panes: Vec<Pane<'a>>,
}

/// The map under one layout.
pub(crate) struct Pane<'a> {
    pub(crate) name: &'a str,
    /// The drawing's width and height.
    pub(crate) size: (usize, usize),
    pub(crate) rows: Vec<RowLabel>,
    pub(crate) squares: Vec<Square>,
    /// The sums in words.
    pub(crate) totals: String,
}

/// The number of a row's first set, and where it is written.
pub(crate) struct RowLabel {
    pub(crate) y: usize,
    pub(crate) set: String,
}

impl<'a> MapPart<'a> {
    pub(crate) fn new(map: &'a CacheMap) -> Self {
        let measures = Measure::of(map);
        Self {
            map,
            reading: reading(map),
            keys: measures.each_ref().map(Measure::key),
            panes: map.layouts.iter().map(|layout| Pane::new(map, layout, &measures)).collect(),
        }
    }
}

impl<'a> Pane<'a> {
    fn new(map: &CacheMap, layout: &'a MapLayout, measures: &[Measure; 3]) -> Self {
        let columns = map.columns.max(1);
        let rows = layout.cells.len().div_ceil(columns);
        let label = |row: usize| RowLabel {
            y: row * STEP + 16,
            set: count((row * columns) as u64 * map.cache.sets_per_cell),
        };
        let square = |(at, cell): (usize, &MapCell)| {
            let place = (MARGIN + at % columns * STEP, at / columns * STEP);
            Square::new(&map.cache, at as u64, cell, place, measures)
        };
        Self {
            name: &layout.name,
            size: (MARGIN + columns * STEP, rows * STEP),
            rows: (0..rows).map(label).collect(),
            squares: layout.cells.iter().enumerate().map(square).collect(),
            totals: totals(&layout.cells),
        }
    }
}

/// A whole number.
pub(crate) fn count(number: u64) -> String {
    fixed(number as f64, 0)
}

/// `number` of something, with its plural.
pub(crate) fn so_many(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

fn reading(map: &CacheMap) -> String {
    let MappedCache { sets, ways, line, sets_per_cell } = map.cache;
    let square = match sets_per_cell {
        1 => "one set of the cache".to_owned(),
        several => format!("{several} neighbouring sets of the cache"),
    };
    let places = so_many(map.cache.places(), "line", "lines");
    let way = warmcore_record::Bytes(sets.saturating_mul(line.0));
    let whole = warmcore_record::Bytes(sets.saturating_mul(line.0).saturating_mul(ways));
    format!(
        "Each square is {square}: room for {places} of {line}. Memory fills the squares from left to right and from top to \
         bottom and begins anew after {way} (the cache has {whole}), so lines that lie a multiple of {way} apart compete \
         for the same square. The number at the left is the first set of a row. A square without colour is not used. \
         Point at a square to see whose lines it has; the tables have the same numbers."
    )
}

fn totals(cells: &[MapCell]) -> String {
    let sum = |of: fn(&MapCell) -> u64| cells.iter().map(of).sum::<u64>();
    let misses = so_many(sum(|cell| cell.misses), "miss", "misses");
    let unused = square::share(sum(|cell| cell.unused), sum(|cell| cell.fetched));
    let replacements = count(sum(|cell| cell.replacements));
    format!("{misses}, {replacements} of them replacement misses; {unused} of the fetched words unused.")
}

#[cfg(test)]
mod tests;
