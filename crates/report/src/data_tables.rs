//! The numbers of a chart as tables: for screen readers, for copying, and for browsers without scripts.
//!
//! Series with the same values of x share a table; others have a table of their own.

use crate::{axes, legend, numbers};
use warmcore_record::chart::{Chart, Point, Series, View};

/// The numbers of one view of a chart.
pub(crate) struct DataView {
    /// The view's options, as the page's script identifies them: `0-2`.
    pub(crate) picks: String,
    /// The view's options in words: `Processors: 8`; empty if there is nothing to choose.
    pub(crate) title: String,
    pub(crate) tables: Vec<DataTable>,
}

/// The numbers of the series that share their values of x.
pub(crate) struct DataTable {
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) series: Vec<String>,
    pub(crate) rows: Vec<DataRow>,
}

/// The values at one x.
pub(crate) struct DataRow {
    pub(crate) x: String,
    pub(crate) values: Vec<String>,
}

/// The options as one word, for the page's script.
fn picks_word(picks: &[usize]) -> String {
    picks.iter().map(ToString::to_string).collect::<Vec<_>>().join("-")
}

impl DataView {
    pub(crate) fn from_chart(chart: &Chart) -> Vec<Self> {
        let view = |view: &View| Self {
            picks: picks_word(&view.picks),
            title: title(chart, view),
            tables: tables(chart, view),
        };
        chart.views.iter().map(view).collect()
    }
}

fn title(chart: &Chart, view: &View) -> String {
    let option = |(choice, pick): (&warmcore_record::chart::Choice, &usize)| {
        choice.options.get(*pick).map(|option| format!("{}: {option}", choice.label))
    };
    chart.choices.iter().zip(&view.picks).filter_map(option).collect::<Vec<_>>().join(", ")
}

fn tables(chart: &Chart, view: &View) -> Vec<DataTable> {
    let mut sharing: Vec<Vec<&Series>> = Vec::new();
    for series in &view.series {
        match sharing.iter_mut().find(|group| has_same_x(group[0], series)) {
            Some(group) => group.push(series),
            None => sharing.push(vec![series]),
        }
    }
    sharing.into_iter().map(|group| table(chart, &group)).collect()
}

fn has_same_x(one: &Series, other: &Series) -> bool {
    one.points.iter().map(|point| point.x).eq(other.points.iter().map(|point| point.x))
}

/// The table of series that all have the same values of x as the first.
fn table(chart: &Chart, group: &[&Series]) -> DataTable {
    let row = |(i, point): (usize, &Point)| DataRow {
        x: axes::in_words(&chart.x, point.x),
        values: group.iter().filter_map(|series| series.points.get(i)).map(|p| cell(chart, p)).collect(),
    };
    DataTable {
        x: chart.x.label.clone(),
        y: chart.y.label.clone(),
        series: group.iter().map(|series| legend::full_name(series)).collect(),
        rows: group[0].points.iter().enumerate().map(row).collect(),
    }
}

fn cell(chart: &Chart, point: &Point) -> String {
    let mark = if point.missed_target { " †" } else { "" };
    let note = point.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    format!("{}{mark}{note}", numbers::figure(point.y, &chart.y.unit))
}
