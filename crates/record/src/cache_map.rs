//! A map of a cache: in which of its sets lines compete, whose they are, and what that costs, under one or more layouts of the
//! same code or data.
//!
//! A map has a cell for each set, or for so many sets that follow each other. Every layout has the same cells, so that they
//! can be compared place by place.

use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, Fault};

/// A map of one cache.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CacheMap {
    /// Name of the map within the report, for links: letters, digits and hyphens.
    pub id: String,
    /// What it shows, as a title.
    pub title: String,
    /// What the reader should notice, in a sentence or two.
    pub caption: String,
    /// The cache.
    pub cache: MappedCache,
    /// How many cells stand beside each other, at least 1.
    pub columns: usize,
    /// What is compared, at least one; the first is what the others are compared with.
    pub layouts: Vec<MapLayout>,
}

/// A cache, as far as a map needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MappedCache {
    /// How many sets it has, at least 1.
    pub sets: u64,
    /// Lines that fit into a set, at least 1.
    pub ways: u64,
    /// Bytes of a line.
    pub line: Bytes,
    /// Sets in a cell, at least 1.
    pub sets_per_cell: u64,
}

/// The cells under one layout.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MapLayout {
    /// What it is called.
    pub name: String,
    /// The cells, by set.
    pub cells: Vec<MapCell>,
}

/// What happened in one cell.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MapCell {
    /// Whose lines they are, and how many of each: those who share a line count it each.
    pub occupants: Vec<Occupant>,
    /// Different lines that were used.
    pub lines: u64,
    /// How often one was missed.
    pub misses: u64,
    /// Of these, how often the line had been there before.
    pub replacements: u64,
    /// Words that came with the missed lines.
    pub fetched: u64,
    /// Of these, words that were not used before their line went.
    pub unused: u64,
}

/// Somebody who has lines in a cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Occupant {
    /// Who: a function, for instance.
    pub name: String,
    /// How many of the lines.
    pub lines: u64,
}

impl MappedCache {
    /// How many cells a map of it has.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.sets.div_ceil(self.sets_per_cell.max(1))
    }

    /// Lines that fit into a cell.
    #[must_use]
    pub const fn places(&self) -> u64 {
        self.ways.saturating_mul(self.sets_per_cell)
    }
}

impl CacheMap {
    /// Checks that every layout has all cells, and that no part exceeds its whole. `path` names the map in the fault.
    ///
    /// # Errors
    /// The first fault found.
    pub(crate) fn validate(&self, path: &str) -> Result<(), Fault> {
        let MappedCache { sets, ways, line, sets_per_cell } = self.cache;
        let at_least_one = [
            ("columns", self.columns as u64),
            ("cache.sets", sets),
            ("cache.ways", ways),
            ("cache.line", line.0),
            ("cache.sets_per_cell", sets_per_cell),
            ("layouts", self.layouts.len() as u64),
        ];
        if let Some((field, _)) = at_least_one.iter().find(|(_, found)| *found == 0) {
            return Err(Fault::new(format!("{path}.{field}"), 0, "at least 1"));
        }
        let mut layouts = self.layouts.iter().enumerate();
        layouts
            .try_for_each(|(i, layout)| layout.validate(&format!("{path}.layouts[{i}]"), self.cache.cells()))
    }
}

impl MapLayout {
    fn validate(&self, path: &str, cells: u64) -> Result<(), Fault> {
        if self.cells.len() as u64 != cells {
            let expected = format!("{cells}, one for each cell");
            return Err(Fault::new(format!("{path}.cells"), self.cells.len(), expected));
        }
        for (i, cell) in self.cells.iter().enumerate() {
            let parts = [
                ("replacements", cell.replacements, "misses", cell.misses),
                ("unused", cell.unused, "fetched", cell.fetched),
            ];
            if let Some((part, found, of, most)) = parts.into_iter().find(|(_, part, _, whole)| part > whole)
            {
                let field = format!("{path}.cells[{i}].{part}");
                return Err(Fault::new(field, found, format!("at most {most}, the number of `{of}`")));
            }
        }
        Ok(())
    }
}
