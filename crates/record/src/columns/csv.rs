//! A table as CSV (RFC 4180), for spreadsheets and shells: the columns of the Parquet file, with the unit of each
//! in its header.
//!
//! A header is `mean_delay [ns]`, or the name alone where there is no unit. A value that could not be had is an
//! empty cell, never zero. Numbers are written so that they read back as the same number.

use super::{Column, Columns, Values};
use std::fmt::Display;

impl Columns {
    /// The content of the CSV file: a header and a line for each row, each ended by a line feed.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let header = self.columns().iter().map(Column::header);
        let rows =
            (0..self.rows()).map(|row| line(self.columns().iter().map(|column| column.values.cell(row))));
        [line(header)].into_iter().chain(rows).collect()
    }
}

impl Column {
    /// Its name, and its unit in brackets.
    fn header(&self) -> String {
        match self.unit.as_str() {
            "" => self.name.clone(),
            unit => format!("{} [{unit}]", self.name),
        }
    }
}

impl Values {
    /// The value in `row`; empty if there is none.
    fn cell(&self, row: usize) -> String {
        fn shown<T: Display>(values: &[Option<T>], row: usize) -> String {
            values.get(row).and_then(Option::as_ref).map(ToString::to_string).unwrap_or_default()
        }
        match self {
            Self::Floats(values) => shown(values, row),
            Self::Integers(values) => shown(values, row),
            Self::Texts(values) => shown(values, row),
            Self::Flags(values) => shown(values, row),
        }
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| escaped(&cell)).collect::<Vec<_>>().join(",") + "\n"
}

/// In quotes where a reader would otherwise take the cell apart or trim it.
fn escaped(cell: &str) -> String {
    let is_plain = !cell.contains([',', '"', '\n', '\r']) && cell.trim() == cell;
    if is_plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_units_named_and_missing_values_empty() {
        let columns = Columns::new(vec![
            Column::texts("name", [Some("MRU".to_owned()), Some("a \"b\",\nc".to_owned()), None]),
            Column::floats("mean_delay", "ns", [Some(0.1), None, Some(-1e300)]),
            Column::integers("packets", [Some(1), Some(2), None]),
            Column::flags("saturated", [Some(true), None, Some(false)]),
        ]);
        let text = columns.expect("a table").to_csv();
        let (head, last) = text.split_once("a \"\"b\"\"").expect("the quotes are doubled");
        assert_eq!(head, "name,mean_delay [ns],packets,saturated\nMRU,0.1,1,true\n\"");
        let rest = last.strip_prefix(",\nc\",,2,\n,").expect("null is an empty cell");
        assert_eq!(rest.split(',').next().and_then(|cell| cell.parse().ok()), Some(-1e300));
    }

    #[test]
    fn a_table_without_rows_has_a_header() {
        let columns = Columns::new(vec![Column::integers("packets", [])]).expect("a table");
        assert_eq!(columns.to_csv(), "packets\n");
        assert_eq!(Columns::new(Vec::new()).expect("a table").to_csv(), "\n");
    }
}
