//! A typed table of columns, and the Parquet and CSV files that store it for other programs.
//!
//! Every column is optional in the file: a missing value is null, never zero. The file's key-value
//! metadata hold `warmcore:units`, a JSON object from column names to unit symbols, and
//! `warmcore:manifest`, the [`Manifest`] as JSON. So a file on its own still states the units and the
//! provenance of its values. Readers that know Arrow find the unit in each field's metadata too, and which other
//! column has its half-widths.

pub mod arrow;
mod csv;

use crate::Manifest;
use crate::atomic_file::{self, Existing, WriteError};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Name of the metadata entry with the columns' units.
pub const UNITS_KEY: &str = "warmcore:units";
/// Name of the metadata entry with the manifest.
pub const MANIFEST_KEY: &str = "warmcore:manifest";

/// One column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name, unique in the table.
    pub name: String,
    /// Symbol of the unit of its values; empty for names, counts and flags.
    pub unit: String,
    /// Its values, one per row.
    pub values: Values,
}

/// The values of a column; `None` is a missing value.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Quantities.
    Floats(Vec<Option<f64>>),
    /// Counts.
    Integers(Vec<Option<i64>>),
    /// Names.
    Texts(Vec<Option<String>>),
    /// Yes or no.
    Flags(Vec<Option<bool>>),
}

/// Columns of equal length with distinct names.
#[derive(Clone, PartialEq, Debug)]
pub struct Columns(Vec<Column>);

/// The columns cannot form a table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ColumnsError {
    /// A column is longer or shorter than the first.
    #[error("column `{column}` has {found} rows, expected {expected} as in `{first}`")]
    Length {
        /// The column.
        column: String,
        /// Its rows.
        found: usize,
        /// The first column.
        first: String,
        /// Its rows.
        expected: usize,
    },
    /// Two columns have one name.
    #[error("two columns are named `{0}`, expected distinct names")]
    Duplicate(String),
}

/// A table could not be written as Parquet.
#[derive(Debug, thiserror::Error)]
pub enum ParquetWriteError {
    /// The table could not be encoded.
    #[error("cannot encode the table as Parquet: {0}")]
    Encode(#[from] ParquetError),
    /// The metadata could not be encoded.
    #[error("cannot encode the metadata as JSON: {0}")]
    Metadata(#[from] serde_json::Error),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Column {
    /// A column of quantities in `unit`.
    pub fn floats(
        name: impl Into<String>,
        unit: impl Into<String>,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        Self { name: name.into(), unit: unit.into(), values: Values::Floats(values.into_iter().collect()) }
    }

    /// A column of counts.
    pub fn integers(name: impl Into<String>, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        let values = Values::Integers(values.into_iter().collect());
        Self { name: name.into(), unit: String::new(), values }
    }

    /// A column of counts in `unit`, such as cycles. What no column can hold is missing.
    pub fn counts(
        name: impl Into<String>,
        unit: impl Into<String>,
        counts: impl IntoIterator<Item = u64>,
    ) -> Self {
        let counts = counts.into_iter().map(|count| i64::try_from(count).ok());
        Self { unit: unit.into(), ..Self::integers(name, counts) }
    }

    /// A column of names.
    pub fn texts(name: impl Into<String>, values: impl IntoIterator<Item = Option<String>>) -> Self {
        let values = Values::Texts(values.into_iter().collect());
        Self { name: name.into(), unit: String::new(), values }
    }

    /// A column of yes or no.
    pub fn flags(name: impl Into<String>, values: impl IntoIterator<Item = Option<bool>>) -> Self {
        let values = Values::Flags(values.into_iter().collect());
        Self { name: name.into(), unit: String::new(), values }
    }
}

impl Values {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::Flags(values) => values.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Columns {
    /// A table of `columns`.
    ///
    /// # Errors
    /// If they differ in length or share a name.
    pub fn new(columns: Vec<Column>) -> Result<Self, ColumnsError> {
        let mut names = BTreeSet::new();
        for column in &columns {
            let first = &columns[0];
            if column.values.len() != first.values.len() {
                return Err(ColumnsError::Length {
                    column: column.name.clone(),
                    found: column.values.len(),
                    first: first.name.clone(),
                    expected: first.values.len(),
                });
            }
            if !names.insert(&column.name) {
                return Err(ColumnsError::Duplicate(column.name.clone()));
            }
        }
        Ok(Self(columns))
    }

    /// The columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.0
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.0.first().map_or(0, |column| column.values.len())
    }

    /// The name of the column with the half-widths of `column`: `delay_half_width` for `mean_delay` and `delay`.
    #[must_use]
    pub fn half_width_of(&self, column: &Column) -> Option<&str> {
        let of = |other: &&Column| {
            let figure = other.name.strip_suffix("_half_width");
            figure.is_some_and(|figure| {
                figure == column.name || Some(figure) == column.name.strip_prefix("mean_")
            })
        };
        self.0.iter().find(of).map(|other| other.name.as_str())
    }

    /// Writes the table with its units and its `manifest` to a Parquet file, atomically.
    ///
    /// # Errors
    /// If the table cannot be encoded or the file cannot be written.
    pub fn write_parquet(
        &self,
        path: &Path,
        existing: Existing,
        manifest: &Manifest,
    ) -> Result<(), ParquetWriteError> {
        Ok(atomic_file::write(path, &self.to_parquet(manifest)?, existing)?)
    }

    /// The content of the Parquet file.
    ///
    /// # Errors
    /// If the table or the manifest cannot be encoded.
    pub fn to_parquet(&self, manifest: &Manifest) -> Result<Vec<u8>, ParquetWriteError> {
        let properties = WriterProperties::builder()
            .set_created_by(format!("{} {}", manifest.program, manifest.version))
            .set_key_value_metadata(Some(self.metadata(manifest)?))
            .build();
        let mut file = SerializedFileWriter::new(Vec::new(), self.schema()?, Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for column in &self.0 {
            column.values.write(&mut group)?;
        }
        group.close()?;
        Ok(file.into_inner()?)
    }

    fn schema(&self) -> Result<Arc<Type>, ParquetError> {
        let fields = self.0.iter().map(|column| column.values.field(&column.name).map(Arc::new));
        let fields = fields.collect::<Result<_, _>>()?;
        Ok(Arc::new(Type::group_type_builder("results").with_fields(fields).build()?))
    }

    fn metadata(&self, manifest: &Manifest) -> Result<Vec<KeyValue>, serde_json::Error> {
        let entries = self.entries(manifest)?;
        // Readers that know Arrow take its schema's entries for the file's.
        let schema = self.arrow_schema().with_metadata(HashMap::from(entries.clone()));
        let schema = (arrow::SCHEMA_KEY.to_owned(), arrow::encoded(&schema));
        Ok(entries.into_iter().chain([schema]).map(|(key, value)| KeyValue::new(key, value)).collect())
    }
}

impl Values {
    /// The column's field in the schema.
    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Self::Floats(_) => (PhysicalType::DOUBLE, None),
            Self::Integers(_) => (PhysicalType::INT64, None),
            Self::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Flags(_) => (PhysicalType::BOOLEAN, None),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }

    /// Writes the values as the next column of `group`.
    fn write(&self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("the schema has fewer columns than the table".into()));
        };
        match (self, column.untyped()) {
            (Self::Floats(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                let (present, levels) = split(values, |value| *value);
                writer.write_batch(&present, Some(&levels), None)?;
            }
            (Self::Integers(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                let (present, levels) = split(values, |value| *value);
                writer.write_batch(&present, Some(&levels), None)?;
            }
            (Self::Texts(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let (present, levels) = split(values, |value| ByteArray::from(value.as_str()));
                writer.write_batch(&present, Some(&levels), None)?;
            }
            (Self::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                let (present, levels) = split(values, |value| *value);
                writer.write_batch(&present, Some(&levels), None)?;
            }
            _ => return Err(ParquetError::General("the schema does not fit the table".into())),
        }
        column.close()
    }
}

/// The values that are present, and for each row its definition level: 1 if present, 0 if null.
fn split<T, P>(values: &[Option<T>], encode: impl Fn(&T) -> P) -> (Vec<P>, Vec<i16>) {
    let present = values.iter().flatten().map(encode).collect();
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (present, levels)
}
