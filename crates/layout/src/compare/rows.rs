//! Layouts side by side, in numbers: pages and terminals only write them down.

use super::{Comparison, Layout};
use crate::simulate::Summary;
use warmcore_units::Cycles;

/// What one layout costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayoutRow<'a> {
    /// Which; `None` as it lies.
    pub layout: Option<&'a Layout>,
    /// Cycles per instruction before a perfect memory.
    pub icpi: f64,
    /// Cycles that an instruction waits for memory.
    pub mcpi: f64,
    /// Cycles in all.
    pub cycles: Cycles,
    /// By which part of the present layout's it has more cycles; 0 if that has none. It ranks layouts, and predicts no time:
    /// much of what a processor does is not simulated.
    pub change: f64,
    /// Misses of the nearest cache for instructions.
    pub misses: u64,
    /// How many of the present layout's misses it does without; negative if it has more.
    pub removed: i64,
    /// Of these, misses of lines that had been there before.
    pub replacements: u64,
    /// The part of the words that came into that cache and were not executed, 0 to 1.
    pub unused: f64,
    /// Pages of 4 KiB with lines that were executed.
    pub pages: u64,
}

impl Comparison {
    /// All layouts, the present one first.
    #[must_use]
    pub fn layout_rows(&self) -> Vec<LayoutRow<'_>> {
        let others = self.layouts.iter().map(|layout| self.row(Some(layout), &layout.summary));
        std::iter::once(self.row(None, &self.present)).chain(others).collect()
    }

    fn row<'a>(&self, layout: Option<&'a Layout>, summary: &Summary) -> LayoutRow<'a> {
        let code = &summary.columns[0];
        let (cycles, before) = (summary.cycles(), self.present.cycles());
        LayoutRow {
            layout,
            icpi: summary.icpi(),
            mcpi: summary.mcpi(),
            cycles,
            change: if before.0 == 0 { 0.0 } else { cycles.0 as f64 / before.0 as f64 - 1.0 },
            misses: code.misses,
            removed: self.present.columns[0].misses as i64 - code.misses as i64,
            replacements: code.replacements,
            unused: summary.words.unused_part(),
            pages: summary.path.pages,
        }
    }
}
