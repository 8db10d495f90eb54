//! A table as data, with a header of any depth.
//!
//! Table 2 of Salehi, Kurose & Towsley 1994, §5, groups its columns by where the thread stack is, then by
//! cache state, then by approach. Such a header has three rows:
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
    /// The header rows, from top to bottom. The first column is above the row headers.
    pub header: Vec<Vec<HeaderCell>>,
    /// The body.
    pub rows: Vec<Row>,
    /// Notes on particular rows or columns, shown below the table.
    pub notes: Vec<String>,
}

/// A cell of the header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeaderCell {
    /// Its text.
    pub text: String,
    /// How many columns it spans, at least 1.
    pub columns: usize,
    /// How many rows of the header it spans, at least 1.
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
        /// Mean and half-width, in the unit stated by the caption or the header.
        value: Estimate<f64>,
        /// Digits after the decimal point.
        decimals: usize,
        /// Whether the half-width is wider than its target.
        missed_target: bool,
    },
    /// A missing figure, with the reason.
    Missing(String),
}

impl HeaderCell {
    /// A cell of one column and one row.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), columns: 1, rows: 1 }
    }

    /// The same cell, spanning `columns` columns.
    #[must_use]
    pub fn over_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// The same cell, spanning `rows` rows of the header.
    #[must_use]
    pub fn over_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }
}

impl Row {
    /// A row with this header.
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

    /// A figure that is missing because of `reason`.
    pub fn missing(reason: impl Into<String>) -> Self {
        Self::Missing(reason.into())
    }
}

impl Table {
    /// A header of one row.
    pub fn simple_header<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Vec<Vec<HeaderCell>> {
        vec![names.into_iter().map(HeaderCell::new).collect()]
    }

    /// Checks that all rows of header and body have the same number of columns. `path` names the table
    /// in the fault.
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

/// The number of columns in each row of a header, cells that span from above included.
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
