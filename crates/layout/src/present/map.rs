//! The map of the nearest cache for instructions.

use super::layouts::PRESENT;
use super::words::{Names, count};
use crate::compare::{Comparison, Layout};
use crate::simulate::{Summary, instruction_caches};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use warmcore_record::cache_map::{CacheMap, MapCell, MapLayout, MappedCache, Occupant};
use warmcore_units::Fault;

/// Cells in a map at most.
const CELLS: u64 = 256;
/// Cells beside each other.
const COLUMNS: u64 = 16;

/// The map under all layouts: the present one, the best one, then the others.
pub(super) fn map(comparison: &Comparison) -> Result<CacheMap, Fault> {
    let geometry = instruction_caches(&comparison.setup.caches)?.0;
    let sets = geometry.sets();
    let cache = MappedCache {
        sets,
        ways: u64::from(geometry.ways),
        line: geometry.line,
        sets_per_cell: sets.div_ceil(CELLS).max(1),
    };
    let layout = |name: String, summary: &Summary| MapLayout { name, cells: cells(&cache, summary) };
    let mut others: Vec<&Layout> = comparison.layouts.iter().collect();
    others.sort_by_key(|other| comparison.best() != Some(*other));
    let others = others.into_iter().map(|other| layout(other.strategy.to_string(), &other.summary));
    let layouts: Vec<MapLayout> =
        std::iter::once(layout(PRESENT.to_owned(), &comparison.present)).chain(others).collect();
    Ok(CacheMap {
        id: "sets".to_owned(),
        title: "The sets of the instruction cache over the path".to_owned(),
        caption: caption(comparison, &layouts),
        columns: COLUMNS.min(cache.cells()) as usize,
        cache,
        layouts,
    })
}

fn cells(cache: &MappedCache, summary: &Summary) -> Vec<MapCell> {
    let names = Names::new(summary);
    let mut cells = vec![MapCell::default(); cache.cells() as usize];
    let mut occupants: Vec<BTreeMap<&str, u64>> = vec![BTreeMap::new(); cells.len()];
    for line in &summary.lines {
        let at = (line.address / cache.line.0 % cache.sets / cache.sets_per_cell) as usize;
        let cell = &mut cells[at];
        cell.lines += 1;
        cell.misses += line.misses.misses;
        cell.replacements += line.misses.replacements;
        cell.fetched += line.words.fetched;
        cell.unused += line.words.unused;
        for &of in &line.functions {
            *occupants[at].entry(names.get(of)).or_default() += 1;
        }
    }
    for (cell, occupants) in cells.iter_mut().zip(occupants) {
        let occupant = |(name, lines): (&str, u64)| Occupant { name: name.to_owned(), lines };
        cell.occupants = occupants.into_iter().map(occupant).collect();
        cell.occupants.sort_by_key(|one| Reverse(one.lines));
    }
    cells
}

/// What to notice.
fn caption(comparison: &Comparison, layouts: &[MapLayout]) -> String {
    let hit = |layout: &MapLayout| layout.cells.iter().filter(|cell| cell.replacements > 0).count() as u64;
    let present = format!("As the code lies, {} squares have replacement misses", count(hit(&layouts[0])));
    match (comparison.best(), layouts.get(1)) {
        (Some(best), Some(layout)) => {
            format!("{present}; with the layout “{}”, {} do.", best.strategy, count(hit(layout)))
        }
        _ => format!("{present}."),
    }
}
