//! A row of a table whose rows are found one at a time.

use crate::columns::ColumnsError;
use crate::{Column, Columns, Values};
use serde::{Deserialize, Serialize};

/// The heading of a column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Its name, unique in the table.
    pub name: String,
    /// Symbol of the unit of its values; empty for names, counts and flags.
    pub unit: String,
    /// What its values are.
    pub kind: Kind,
}

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Quantities.
    Float,
    /// Counts.
    Integer,
    /// Names.
    Text,
    /// Yes or no.
    Flag,
}

/// A value; an empty text is a missing one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// Yes or no.
    Flag(bool),
    /// A count.
    Integer(i64),
    /// A quantity.
    Float(f64),
    /// A name.
    Text(String),
}

/// The values of a row, one for each column.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Row(pub Vec<Cell>);

impl Head {
    /// The heading of `column`.
    #[must_use]
    pub fn new(column: &Column) -> Self {
        let kind = match &column.values {
            Values::Floats(_) => Kind::Float,
            Values::Integers(_) => Kind::Integer,
            Values::Texts(_) => Kind::Text,
            Values::Flags(_) => Kind::Flag,
        };
        Self { name: column.name.clone(), unit: column.unit.clone(), kind }
    }
}

impl Cell {
    /// A missing value.
    pub const MISSING: Self = Self::Text(String::new());

    /// The value in the first row of `values`.
    fn first(values: &Values) -> Self {
        let cell = match values {
            Values::Floats(values) => values.first().copied().flatten().map(Self::Float),
            Values::Integers(values) => values.first().copied().flatten().map(Self::Integer),
            Values::Texts(values) => values.first().cloned().flatten().map(Self::Text),
            Values::Flags(values) => values.first().copied().flatten().map(Self::Flag),
        };
        cell.unwrap_or(Self::MISSING)
    }

    fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Flag(_) => kind == Kind::Flag,
            Self::Integer(_) => matches!(kind, Kind::Integer | Kind::Float),
            Self::Float(_) => kind == Kind::Float,
            Self::Text(text) => kind == Kind::Text || text.is_empty(),
        }
    }
}

impl Row {
    /// The first row of `columns`.
    #[must_use]
    pub fn first(columns: &[Column]) -> Self {
        Self(columns.iter().map(|column| Cell::first(&column.values)).collect())
    }

    /// This row, and the cells of `more`.
    #[must_use]
    pub fn followed_by(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// Checks that it is a row under `heads`; says what is wrong.
    pub(super) fn check(&self, heads: &[Head]) -> Result<(), String> {
        if self.0.len() != heads.len() {
            return Err(format!("it has {} values, expected {}", self.0.len(), heads.len()));
        }
        match self.0.iter().zip(heads).find(|(cell, head)| !cell.fits(head.kind)) {
            Some((cell, head)) => Err(format!("`{}` is {cell:?}, expected {:?}", head.name, head.kind)),
            None => Ok(()),
        }
    }
}

/// The table of `rows` under `heads`.
///
/// # Errors
/// If rows differ in length.
pub fn columns(heads: &[Head], rows: impl Iterator<Item = Row>) -> Result<Columns, ColumnsError> {
    let empty = |head: &Head| match head.kind {
        Kind::Float => Values::Floats(Vec::new()),
        Kind::Integer => Values::Integers(Vec::new()),
        Kind::Text => Values::Texts(Vec::new()),
        Kind::Flag => Values::Flags(Vec::new()),
    };
    let mut all: Vec<Values> = heads.iter().map(empty).collect();
    for row in rows {
        for (values, cell) in all.iter_mut().zip(row.0) {
            push(values, cell);
        }
    }
    let columns = heads.iter().zip(all);
    let columns =
        columns.map(|(head, values)| Column { name: head.name.clone(), unit: head.unit.clone(), values });
    Columns::new(columns.collect())
}

fn push(values: &mut Values, cell: Cell) {
    match (values, cell) {
        (Values::Floats(values), Cell::Float(value)) => values.push(Some(value)),
        (Values::Floats(values), Cell::Integer(value)) => values.push(Some(value as f64)),
        (Values::Integers(values), Cell::Integer(value)) => values.push(Some(value)),
        (Values::Texts(values), Cell::Text(value)) => {
            values.push(Some(value).filter(|text| !text.is_empty()));
        }
        (Values::Flags(values), Cell::Flag(value)) => values.push(Some(value)),
        (Values::Floats(values), _) => values.push(None),
        (Values::Integers(values), _) => values.push(None),
        (Values::Texts(values), _) => values.push(None),
        (Values::Flags(values), _) => values.push(None),
    }
}
