//! The legend of a chart: its series over all views, each with the look it keeps.

use crate::palette::{self, Appearance};
use warmcore_record::chart::{Chart, Series};

/// The distinct series of a chart, in order of appearance. A series keeps its entry, its look and
/// whether it is shown when the reader turns to another view.
pub(crate) struct Legend<'a> {
    pub(crate) entries: Vec<Entry<'a>>,
}

/// One series, in whichever views have it.
pub(crate) struct Entry<'a> {
    pub(crate) series: &'a Series,
    pub(crate) appearance: Appearance,
}

impl<'a> Legend<'a> {
    pub(crate) fn of(chart: &'a Chart) -> Self {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for series in chart.views.iter().flat_map(|view| &view.series) {
            if !entries.iter().any(|entry| is_same(entry.series, series)) {
                let look = series.look.unwrap_or_else(|| palette::look_of_place(entries.len()));
                entries.push(Entry { series, appearance: palette::appearance(look) });
            }
        }
        Self { entries }
    }

    /// The index and look of a series of the chart.
    pub(crate) fn entry_of(&self, series: &Series) -> Option<(usize, &Appearance)> {
        let index = self.entries.iter().position(|entry| is_same(entry.series, series))?;
        Some((index, &self.entries[index].appearance))
    }
}

fn is_same(one: &Series, other: &Series) -> bool {
    one.name == other.name && one.group == other.group
}

/// The name of a series with its group.
pub(crate) fn full_name(series: &Series) -> String {
    match &series.group {
        Some(group) => format!("{group}: {}", series.name),
        None => series.name.clone(),
    }
}
