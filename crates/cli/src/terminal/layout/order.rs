//! Orders of functions side by side.

use super::super::table;
use super::start;
use crate::visible::visible;
use warmcore_layout::predict::Prediction;
use warmcore_layout::simulate::{Setup, Summary};

/// The orders that there are, and the one that was written.
pub(crate) struct Choice<'a> {
    pub(crate) all: &'a [Prediction],
    /// Its place among them.
    pub(crate) chosen: usize,
    /// Whether it was written with its gaps.
    pub(crate) is_script: bool,
    /// Whether it was chosen for its cycles.
    pub(crate) is_free: bool,
}

/// The path `now` and in every order.
pub(crate) fn predictions(now: &Summary, choice: &Choice<'_>, setup: &Setup) -> String {
    let level = now.columns.first().map_or(1, |column| column.level);
    let misses = format!("L{level} misses of code");
    let mut table =
        table(["order", &misses, "replacement", "iCPI", "mCPI", "cycles", "change", "unused", ""]);
    let mut add =
        |name: String, summary: &Summary, mark: &str| table.add_row(row(name, summary, now, mark)).is_empty();
    add("as it lies".to_owned(), now, "");
    for (place, one) in choice.all.iter().enumerate() {
        let has_gaps = one.gaps.is_some();
        let mark = |with_gaps: bool| {
            let is_written = place == choice.chosen && with_gaps == (choice.is_script && has_gaps);
            if is_written { "written" } else { "" }
        };
        let name = one.strategy.name();
        add(name.to_owned(), &one.order.summary, mark(false));
        if let Some(gaps) = &one.gaps {
            add(format!("{name}, {} gaps", one.gap_bytes()), &gaps.summary, mark(true));
        }
    }
    format!(
        "{} instructions on {}, {}; predicted:\n\n{table}\n\n{}\n",
        now.instructions,
        visible(&now.machine),
        start(setup.start, now),
        verdict(now, choice)
    )
}

fn row(name: String, summary: &Summary, now: &Summary, mark: &str) -> [String; 9] {
    let code = summary.columns.first();
    let (misses, replacements) = code.map_or((0, 0), |column| (column.misses, column.replacements));
    let (cycles, before) = (summary.cycles().0 as f64, now.cycles().0 as f64);
    [
        name,
        misses.to_string(),
        replacements.to_string(),
        format!("{:.2}", summary.icpi()),
        format!("{:.2}", summary.mcpi()),
        summary.cycles().0.to_string(),
        if before > 0.0 { format!("{:+.1}%", (cycles / before - 1.0) * 100.0) } else { "–".to_owned() },
        format!("{:.1}%", summary.words.unused_part() * 100.0),
        mark.to_owned(),
    ]
}

/// Which one was written, and whether it brings anything.
fn verdict(now: &Summary, choice: &Choice<'_>) -> String {
    let one = &choice.all[choice.chosen];
    let written = one.gaps.as_ref().filter(|_| choice.is_script).unwrap_or(&one.order);
    let why = if choice.is_free { "; no order has fewer cycles" } else { "" };
    let brings = if written.summary.cycles() < now.cycles() {
        "It is a prediction: `warmcore layout measure` says what it brings."
    } else {
        "No gain is predicted: as it lies the path takes no longer."
    };
    format!("Written: {}{why}. {brings}", one.strategy.name())
}
