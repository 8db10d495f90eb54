//! A table as the page needs it: the text of every cell is ready, and footnotes are numbered.

use crate::numbers;
use warmcore_record::Table;
use warmcore_record::table::{Cell, HeaderCell};

/// Marks a value whose half-width is wider than its target.
const MISSED: &str = "†";
/// With more columns than this, half-widths do not fit beside the values.
const COLUMNS_ABREAST: usize = 5;
/// A word with more letters than this is broken, lest it take the place of the figures.
const LONG_WORD: usize = 24;
const MISSED_MEANING: &str = "The half-width is wider than its target: trust this value less.";

/// A table, ready to be laid out.
pub(crate) struct Grid<'a> {
    pub(crate) id: &'a str,
    pub(crate) caption: &'a str,
    /// Whether half-widths are written below their values, because there are too many columns.
    pub(crate) dense: bool,
    /// Whether rows are named by long words, such as functions of a program.
    pub(crate) long_names: bool,
    pub(crate) header: &'a [Vec<HeaderCell>],
    pub(crate) rows: Vec<GridRow<'a>>,
    pub(crate) footnotes: Vec<Footnote<'a>>,
    pub(crate) notes: &'a [String],
}

/// A row of the body.
pub(crate) struct GridRow<'a> {
    pub(crate) header: &'a str,
    pub(crate) cells: Vec<GridCell<'a>>,
}

/// A cell of the body.
pub(crate) enum GridCell<'a> {
    Text(&'a str),
    Value { mean: String, half_width: Option<String>, mark: &'static str },
    Missing { mark: String },
}

/// Explains a marker in the table.
pub(crate) struct Footnote<'a> {
    pub(crate) mark: String,
    pub(crate) text: &'a str,
}

impl<'a> Grid<'a> {
    pub(crate) fn new(table: &'a Table) -> Self {
        let mut reasons = Vec::new();
        let mut missed = false;
        let rows = table.rows.iter().map(|row| GridRow {
            header: &row.header,
            cells: row.cells.iter().map(|cell| grid_cell(cell, &mut reasons, &mut missed)).collect(),
        });
        let rows = rows.collect();
        let missed = missed.then(|| Footnote { mark: MISSED.into(), text: MISSED_MEANING });
        let reasons = reasons.into_iter().enumerate().map(|(i, text)| Footnote { mark: letter(i), text });
        let footnotes = missed.into_iter().chain(reasons).collect();
        Self {
            id: &table.id,
            caption: &table.caption,
            dense: table.rows.iter().any(|row| row.cells.len() > COLUMNS_ABREAST),
            long_names: table.rows.iter().any(|row| has_long_word(&row.header)),
            header: &table.header,
            rows,
            footnotes,
            notes: &table.notes,
        }
    }
}

fn has_long_word(text: &str) -> bool {
    text.split_whitespace().any(|word| word.chars().count() > LONG_WORD)
}

/// Converts a cell. If its reason is new, it is added to `reasons`.
fn grid_cell<'a>(cell: &'a Cell, reasons: &mut Vec<&'a str>, missed: &mut bool) -> GridCell<'a> {
    match cell {
        Cell::Text(text) => GridCell::Text(text),
        Cell::Value { value, decimals, missed_target } => {
            *missed |= missed_target;
            GridCell::Value {
                mean: numbers::fixed(value.mean, *decimals),
                half_width: value.half_width.map(|half| numbers::fixed(half, *decimals)),
                mark: if *missed_target { MISSED } else { "" },
            }
        }
        Cell::Missing(reason) => {
            let known = reasons.iter().position(|known| known == reason);
            let index = known.unwrap_or_else(|| {
                reasons.push(reason);
                reasons.len() - 1
            });
            GridCell::Missing { mark: letter(index) }
        }
    }
}

/// The marker of the `index`-th footnote: a, b, …, z, aa, ab, …
fn letter(index: usize) -> String {
    let last = char::from(b'a' + u8::try_from(index % 26).unwrap_or(0));
    if index < 26 { last.to_string() } else { format!("{}{last}", letter(index / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footnotes_never_run_out_of_letters() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letter), ["a", "z", "aa", "az", "ba", "zz", "aaa"]);
    }

    #[test]
    fn one_reason_has_one_footnote_however_often_it_is_given() {
        let mut reasons = Vec::new();
        let mut missed = false;
        let cells = ["one cpu", "no time", "one cpu"].map(Cell::missing);
        let marks = cells.iter().map(|cell| match grid_cell(cell, &mut reasons, &mut missed) {
            GridCell::Missing { mark } => mark,
            _ => String::new(),
        });
        assert_eq!(marks.collect::<String>(), "aba");
        assert_eq!(reasons, ["one cpu", "no time"]);
        assert!(!missed);
    }
}
