//! A table as data, with a header of any depth.
//!
//! The layout of the source's Table 2 (Salehi, Kurose & Towsley 1994, §5), columns grouped by where
//! the thread stack is, then by cache state, then by approach, is three header rows:
//!
//! ```
//! use warmcore_record::table::HeaderCell;
//! let header = vec![
//!     vec![
//!         HeaderCell::new("Experiment").over_rows(3),
//!         HeaderCell::new("Thread stack cached").over_columns(4),
//!         HeaderCell::new("Thread stack migrates").over_columns(4),
//!     ],
//!     ["hot", "first level cold", "hot", "first level cold"]
//!         .map(|state| HeaderCell::new(state).over_columns(2))
//!         .to_vec(),
//!     ["Locking", "IPS"].repeat(4).into_iter().map(HeaderCell::new).collect(),
//! ];
//! # assert_eq!(header[2].len(), 8);
//! ```

use serde::{Deserialize, Serialize};
use warmcore_units::{Estimate, Fault};

/// One table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Name of the table within the report, for links: letters, digits and hyphens.
    pub id: String,
    /// What it shows, with the unit of its values.
    pub caption: String,
    /// The header, from its top row down. The first column belongs to the rows' headers.
    pub header: Vec<Vec<HeaderCell>>,
    /// The body.
    pub rows: Vec<Row>,
    /// What the reader should know of particular rows or columns; shown below.
    pub notes: Vec<String>,
}

/// A cell of the header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeaderCell {
    /// Its text.
    pub text: String,
    /// How many columns it heads, at least 1.
    pub columns: usize,
    /// How many rows of the header it fills, at least 1.
    pub rows: usize,
}

/// A row of the body.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What the row is about; the first column.
    pub header: String,
    /// The other columns.
    pub cells: Vec<Cell>,
}

/// A cell of the body.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// Words.
    Text(String),
    /// A figure.
    Value {
        /// Mean and half-width, in the unit that the caption or the header states.
        value: Estimate<f64>,
        /// Digits after the decimal point.
        decimals: usize,
        /// Whether the half-width is wider than what was aimed at.
        missed_target: bool,
    },
    /// A figure that could not be had, and why.
    Missing(String),
}

impl HeaderCell {
    /// A cell of one column and one row.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), columns: 1, rows: 1 }
    }

    /// The same cell heading `columns` columns.
    #[must_use]
    pub fn over_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// The same cell filling `rows` rows of the header.
    #[must_use]
    pub fn over_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }
}

impl Row {
    /// A row headed `header`.
    pub fn new(header: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { header: header.into(), cells }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A figure that reached its target, shown with `decimals` digits after the point.
    #[must_use]
    pub fn value(value: Estimate<f64>, decimals: usize) -> Self {
        Self::Value { value, decimals, missed_target: false }
    }

    /// A figure that could not be had because of `reason`.
    pub fn missing(reason: impl Into<String>) -> Self {
        Self::Missing(reason.into())
    }
}

impl Table {
    /// A header of one row.
    pub fn simple_header<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Vec<Vec<HeaderCell>> {
        vec![names.into_iter().map(HeaderCell::new).collect()]
    }

    /// Checks that every row of header and body fills the same columns. `path` names the table in
    /// the fault.
    ///
    /// # Errors
    /// The first fault found.
    pub(crate) fn validate(&self, path: &str) -> Result<(), Fault> {
        let widths = header_widths(&self.header);
        let columns = widths.first().copied().unwrap_or(0);
        let bodies = self.rows.iter().map(|row| row.cells.len() + 1);
        let headers = widths.iter().copied().enumerate().map(|(i, width)| (format!("header[{i}]"), width));
        let bodies = bodies.enumerate().map(|(i, width)| (format!("rows[{i}]"), width));
        for (row, width) in headers.chain(bodies) {
            if width != columns {
                let found = format!("{width} columns wide");
                return Err(Fault::new(format!("{path}.{row}"), found, format!("{columns} columns")));
            }
        }
        Ok(())
    }
}

/// The columns that each row of a header fills, with the cells that reach down into it.
fn header_widths(header: &[Vec<HeaderCell>]) -> Vec<usize> {
    let mut widths = vec![0; header.len()];
    for (top, cells) in header.iter().enumerate() {
        for cell in cells {
            for width in widths.iter_mut().skip(top).take(cell.rows) {
                *width += cell.columns;
            }
        }
    }
    widths
}
