//! Orders of functions side by side.

use super::super::table;
use super::{shortened, start};
use crate::visible::visible;
use warmcore_layout::compare::{Comparison, LayoutRow};

/// What the columns are worth.
const NOT_SIMULATED: &str = "\
The change is of simulated cycles: it ranks orders and predicts no time. Not simulated are TLBs (code pages are 4 KiB pages with
executed lines), prefetching, branch prediction, overlap, the kernel, and what other code does to data.";

/// The orders that there are, and the one that was written.
pub(crate) struct Choice<'a> {
    pub(crate) comparison: &'a Comparison,
    /// Its place among the layouts.
    pub(crate) chosen: usize,
    /// Whether it was chosen for its cycles.
    pub(crate) is_free: bool,
}

/// The path as it lies and in every order.
pub(crate) fn predictions(choice: &Choice<'_>) -> String {
    let Comparison { present, setup, layouts, .. } = choice.comparison;
    let level = present.columns.first().map_or(1, |column| column.level);
    let misses = format!("L{level} misses of code");
    let mut table =
        table(["order", &misses, "removed", "replacement", "code pages", "cycles", "change", "unused", ""]);
    let written = &layouts[choice.chosen];
    for row in choice.comparison.layout_rows() {
        let is_written = row.layout.is_some_and(|layout| std::ptr::eq(layout, written));
        table.add_row(cells(&row, if is_written { "written" } else { "" }));
    }
    format!(
        "{} instructions on {}, {}; predicted:\n\n{table}\n\n{NOT_SIMULATED}\n{}\n{}",
        present.instructions,
        visible(&present.machine),
        start(setup.start, present),
        verdict(choice),
        namesakes(&choice.comparison.namesakes)
    )
}

fn cells(row: &LayoutRow<'_>, mark: &str) -> [String; 9] {
    [
        name(row),
        row.misses.to_string(),
        row.removed.to_string(),
        row.replacements.to_string(),
        row.pages.to_string(),
        row.cycles.0.to_string(),
        format!("{:+.1}%", row.change * 100.0),
        format!("{:.1}%", row.unused * 100.0),
        mark.to_owned(),
    ]
}

fn name(row: &LayoutRow<'_>) -> String {
    let Some(layout) = row.layout else { return "as it lies".to_owned() };
    let name = layout.strategy.name();
    layout.gaps.map_or_else(|| name.to_owned(), |gaps| format!("{name}, {gaps} gaps"))
}

/// Which one was written, and whether it brings anything.
fn verdict(choice: &Choice<'_>) -> String {
    let written = &choice.comparison.layouts[choice.chosen];
    let why = if choice.is_free { "; no order has fewer simulated cycles" } else { "" };
    let brings = if written.summary.cycles() < choice.comparison.present.cycles() {
        "Measure it: `warmcore layout measure --before PROGRAM --after PROGRAM`."
    } else {
        "No gain is predicted: as it lies the path takes no more simulated cycles."
    };
    format!("Written: {}{why}. {brings}", written.strategy.name())
}

/// Names that move more than the path, if there are any.
fn namesakes(names: &[String]) -> String {
    /// How many are listed.
    const LISTED: usize = 10;
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| shortened(name)).collect();
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "Warning: the program has several functions of these names, as static ones of different objects, and the linker moves \
         all of them: {}{more}. --object does not tell them apart; rename those that matter.\n",
        shown.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::namesakes;

    #[test]
    fn names_that_move_more_than_the_path_are_warned_of() {
        assert_eq!(namesakes(&[]), "");
        let names: Vec<String> = (0..12).map(|number| format!("f{number}")).collect();
        let text = namesakes(&names);
        assert!(
            text.starts_with("Warning: ") && text.contains("f0, f1, ") && text.contains("f9 and 2 more"),
            "{text}"
        );
    }
}
