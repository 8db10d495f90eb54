//! The legend of a chart: the series of all its views, each with one appearance.

use crate::palette::{self, Appearance};
use warmcore_record::chart::{Chart, Series};

/// The distinct series of a chart, in order of appearance. A series keeps its entry, its appearance and
/// whether it is shown when the reader switches to another view.
pub(crate) struct Legend<'a> {
    pub(crate) entries: Vec<LegendSeries<'a>>,
}

/// One series, in all views that contain it.
pub(crate) struct LegendSeries<'a> {
    pub(crate) series: &'a Series,
    pub(crate) appearance: Appearance,
    /// Whether it is shown at first, which is so if any view shows it.
    pub(crate) shown: bool,
    /// Whether any view emphasises it.
    pub(crate) emphasised: bool,
}

impl<'a> Legend<'a> {
    pub(crate) fn new(chart: &'a Chart) -> Self {
        let mut entries: Vec<LegendSeries<'a>> = Vec::new();
        // A colour gets a different marker in each group of the legend.
        let mut markers: Vec<(usize, Option<&str>)> = Vec::new();
        for series in chart.views.iter().flat_map(|view| &view.series) {
            if let Some(entry) = entries.iter_mut().find(|entry| is_same(entry.series, series)) {
                entry.shown |= !series.hidden;
                entry.emphasised |= series.emphasised;
                continue;
            }
            let look = series.look.unwrap_or_else(|| palette::look_of_place(entries.len()));
            let kind = (look.colour, series.group.as_deref());
            let marker = markers.iter().position(|known| *known == kind).unwrap_or_else(|| {
                markers.push(kind);
                markers.len() - 1
            });
            let appearance = palette::appearance(look, marker);
            let (shown, emphasised) = (!series.hidden, series.emphasised);
            entries.push(LegendSeries { series, appearance, shown, emphasised });
        }
        Self { entries }
    }

    /// The index and the appearance of a series of the chart.
    pub(crate) fn entry_of(&self, series: &Series) -> Option<(usize, &Appearance)> {
        let index = self.entries.iter().position(|entry| is_same(entry.series, series))?;
        Some((index, &self.entries[index].appearance))
    }
}

fn is_same(one: &Series, other: &Series) -> bool {
    one.name == other.name && one.group == other.group
}

/// The name of a series, with its group.
pub(crate) fn full_name(series: &Series) -> String {
    match &series.group {
        Some(group) => format!("{group}: {}", series.name),
        None => series.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use warmcore_record::chart::{Axis, Look, Style, Unit, View};

    fn chart(views: Vec<Vec<Series>>) -> Chart {
        let axis = || Axis::linear("", Unit::plain(""));
        let view = |(pick, series)| View { picks: vec![pick], series, ..View::default() };
        let views = views.into_iter().enumerate().map(view).collect();
        let (id, title, caption) = (String::new(), String::new(), String::new());
        Chart { id, title, caption, x: axis(), y: axis(), choices: Vec::new(), views }
    }

    #[test]
    fn a_colour_has_another_marker_in_each_group() {
        let series = |group: usize, colour| Series {
            group: Some(format!("group {group}")),
            look: Some(Look { colour, pattern: 0 }),
            ..Series::new(format!("series {colour}"), Style::Line, Vec::new())
        };
        let all = (0..4).flat_map(|group| (0..3).map(move |colour| series(group, colour)));
        let chart = chart(vec![all.collect()]);
        let legend = Legend::new(&chart);
        let markers: BTreeSet<&str> = legend.entries.iter().map(|entry| entry.appearance.marker).collect();
        assert_eq!(markers.len(), 12, "{markers:?}");
    }

    #[test]
    fn a_series_shown_in_one_view_is_shown() {
        let series =
            |hidden| Series { hidden, emphasised: !hidden, ..Series::new("MRU", Style::Line, Vec::new()) };
        let chart = chart(vec![vec![series(true)], vec![series(false)]]);
        let legend = Legend::new(&chart);
        assert!(matches!(&legend.entries[..], [LegendSeries { shown: true, emphasised: true, .. }]));
    }
}
