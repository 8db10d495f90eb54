//! One square of a map: where it is, what colours it, and what is said of it.

use super::{Measure, count, so_many};
use crate::numbers::fixed;
use warmcore_record::cache_map::{MapCell, MappedCache, Occupant};

/// One square, ready to be drawn and listed.
pub(crate) struct Square {
    pub(crate) x: usize,
    pub(crate) y: usize,
    /// Its level of each measure.
    pub(crate) classes: String,
    /// What is written into it for each measure, with the measure's letter.
    pub(crate) numbers: Vec<(char, String)>,
    /// What it says when pointed at.
    pub(crate) title: String,
    /// Whether anything is there.
    pub(crate) used: bool,
    /// Its sets.
    pub(crate) sets: String,
    /// Its row of the table: lines, misses, replacement misses, unused part.
    pub(crate) figures: [String; 4],
    /// Whose lines it has.
    pub(crate) occupants: String,
}

impl Square {
    /// The cell at index `at`, drawn at `place`.
    pub(crate) fn new(
        cache: &MappedCache,
        at: u64,
        cell: &MapCell,
        (x, y): (usize, usize),
        measures: &[Measure; 3],
    ) -> Self {
        let used = cell.lines > 0 || cell.misses > 0;
        let level = |measure: &Measure| format!("{}{}", measure.letter(), measure.level(cell));
        let number = |measure: &Measure| Some((measure.letter(), measure.number(cell)?));
        let (sets, occupants) = (sets(cache, at), occupants(&cell.occupants));
        Self {
            x,
            y,
            classes: if used { measures.each_ref().map(level).join(" ") } else { "empty".to_owned() },
            numbers: if used { measures.iter().filter_map(number).collect() } else { Vec::new() },
            title: title(cache, cell, &sets, &occupants),
            used,
            figures: [
                count(cell.lines),
                count(cell.misses),
                count(cell.replacements),
                share(cell.unused, cell.fetched),
            ],
            sets,
            occupants,
        }
    }
}

/// `part` of `whole` in a hundred.
pub(super) fn share(part: u64, whole: u64) -> String {
    format!("{}\u{202f}%", fixed(100.0 * part as f64 / whole.max(1) as f64, 0))
}

/// The sets of the cell at index `at`.
fn sets(cache: &MappedCache, at: u64) -> String {
    let first = at * cache.sets_per_cell;
    let last = (first + cache.sets_per_cell).min(cache.sets).saturating_sub(1);
    if last <= first { count(first) } else { format!("{} to {}", count(first), count(last)) }
}

fn occupants(occupants: &[Occupant]) -> String {
    let one = |one: &Occupant| match one.lines {
        0 | 1 => one.name.clone(),
        several => format!("{} ({} lines)", one.name, count(several)),
    };
    occupants.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn title(cache: &MappedCache, cell: &MapCell, sets: &str, occupants: &str) -> String {
    let name = if cache.sets_per_cell == 1 { "Set" } else { "Sets" };
    if cell.lines == 0 && cell.misses == 0 {
        return format!("{name} {sets}: not used");
    }
    let lines = so_many(cell.lines, "line", "lines");
    let places = so_many(cache.places(), "place", "places");
    let misses = so_many(cell.misses, "miss", "misses");
    let words = so_many(cell.fetched, "word", "words");
    format!(
        "{name} {sets}: {lines} for {places}\n{misses}, {} of them replacement misses\n{} of {words} unused\n{occupants}",
        count(cell.replacements),
        count(cell.unused),
    )
}
