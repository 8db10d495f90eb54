//! A table as an Arrow IPC file (`.arrow`, also called Feather 2), which data tools map into memory as it is.
//!
//! The columns, their units and the manifest are those of the Parquet file: the schema's metadata has the same two
//! entries. Each field's metadata `unit` and `half_width` say its unit, and the column with its half-widths, in both kinds of
//! file: a Parquet file has the Arrow schema of its columns among its metadata.

use super::{Column, Columns, MANIFEST_KEY, UNITS_KEY, Values};
use crate::Manifest;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{DictionaryTracker, FileWriter, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Name of a field's metadata entry with its unit.
pub const UNIT_KEY: &str = "unit";
/// Name of a field's metadata entry with the name of the column that holds its half-widths.
pub const HALF_WIDTH_KEY: &str = "half_width";
/// Name of the entry of a Parquet file's metadata with its Arrow schema.
pub(super) const SCHEMA_KEY: &str = "ARROW:schema";

/// A table could not be encoded as Arrow.
#[derive(Debug, thiserror::Error)]
pub enum ArrowWriteError {
    /// The table.
    #[error("cannot encode the table as Arrow: {0}")]
    Encode(#[from] ArrowError),
    /// The metadata.
    #[error("cannot encode the metadata as JSON: {0}")]
    Metadata(#[from] serde_json::Error),
}

impl Columns {
    /// The content of the Arrow file.
    ///
    /// # Errors
    /// If the table or the manifest cannot be encoded.
    pub fn to_arrow(&self, manifest: &Manifest) -> Result<Vec<u8>, ArrowWriteError> {
        let batch = self.record_batch(manifest)?;
        let mut file = FileWriter::try_new(Vec::new(), &batch.schema())?;
        file.write(&batch)?;
        Ok(file.into_inner()?)
    }

    /// The table as one batch, with its units and its `manifest` in the schema.
    ///
    /// # Errors
    /// If the manifest cannot be encoded.
    pub fn record_batch(&self, manifest: &Manifest) -> Result<RecordBatch, ArrowWriteError> {
        Ok(self.batch_of(self.arrow_schema().with_metadata(HashMap::from(self.entries(manifest)?)))?)
    }

    /// The entries of a file's metadata: its units and its `manifest`, by name.
    pub(super) fn entries(&self, manifest: &Manifest) -> Result<[(String, String); 2], serde_json::Error> {
        let units: BTreeMap<_, _> =
            self.columns().iter().map(|column| (&column.name, &column.unit)).collect();
        Ok([
            (UNITS_KEY.to_owned(), serde_json::to_string(&units)?),
            (MANIFEST_KEY.to_owned(), serde_json::to_string(manifest)?),
        ])
    }

    /// The table as one batch, with nothing in the schema but each field's own.
    ///
    /// # Errors
    /// If Arrow has no such batch, such as one without columns.
    pub fn plain_batch(&self) -> Result<RecordBatch, ArrowError> {
        self.batch_of(self.arrow_schema())
    }

    fn batch_of(&self, schema: Schema) -> Result<RecordBatch, ArrowError> {
        let arrays = self.columns().iter().map(|column| column.values.arrow()).collect();
        RecordBatch::try_new(Arc::new(schema), arrays)
    }

    /// The fields of the table, with their units and which other holds their half-widths.
    #[must_use]
    pub fn arrow_schema(&self) -> Schema {
        Schema::new(self.columns().iter().map(|column| self.arrow_field(column)).collect::<Vec<_>>())
    }

    fn arrow_field(&self, column: &Column) -> Field {
        let kind = match column.values {
            Values::Floats(_) => DataType::Float64,
            Values::Integers(_) => DataType::Int64,
            Values::Texts(_) => DataType::Utf8,
            Values::Flags(_) => DataType::Boolean,
        };
        let unit = Some(column.unit.as_str()).filter(|unit| !unit.is_empty());
        let entries = [(UNIT_KEY, unit), (HALF_WIDTH_KEY, self.half_width_of(column))];
        let entry = |(key, value): (&str, Option<&str>)| Some((key.to_owned(), value?.to_owned()));
        Field::new(&column.name, kind, true)
            .with_metadata(entries.into_iter().filter_map(entry).collect::<HashMap<_, _>>())
    }
}

/// `schema` as Parquet files have it: a message of Arrow's, with a mark and its length before it, in base 64
/// (`encode_arrow_schema` of the crate `parquet`, which needs all of Arrow's).
pub(super) fn encoded(schema: &Schema) -> String {
    const CONTINUATION: [u8; 4] = [0xff; 4];
    let mut dictionaries = DictionaryTracker::new(true);
    let options = IpcWriteOptions::default();
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(schema, &mut dictionaries, &options)
        .ipc_message;
    let length = (message.len() as u32).to_le_bytes();
    BASE64_STANDARD.encode([&CONTINUATION[..], &length, &message].concat())
}

impl Values {
    fn arrow(&self) -> ArrayRef {
        match self {
            Self::Floats(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
            Self::Integers(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
            Self::Texts(values) => Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>()),
            Self::Flags(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_ipc::reader::FileReader;
    use std::io::Cursor;

    #[test]
    fn an_arrow_file_holds_values_nulls_units_and_the_manifest() {
        let columns = Columns::new(vec![
            Column::floats("mean_delay", "ns", [Some(0.1), None, Some(-1e300)]),
            Column::integers("delay_half_width", [Some(1), None, Some(i64::MAX)]),
            Column::texts("event", [Some("arrival".to_owned()), None, Some(String::new())]),
            Column::flags("cut", [Some(true), None, Some(false)]),
        ])
        .expect("a table");
        let manifest = Manifest::now("warmcore", "0.1.0");
        let content = columns.to_arrow(&manifest).expect("an Arrow file");
        let mut file = FileReader::try_new(Cursor::new(content), None).expect("a reader");
        let schema = file.schema();
        assert!(schema.metadata()[UNITS_KEY].contains(r#""mean_delay":"ns""#), "{schema:?}");
        let read: Manifest = serde_json::from_str(&schema.metadata()[MANIFEST_KEY]).expect("the manifest");
        assert_eq!(read, manifest);
        assert_eq!(schema.field(0).metadata()[UNIT_KEY], "ns");
        assert_eq!(schema.field(0).metadata()[HALF_WIDTH_KEY], "delay_half_width");
        assert!(schema.field(1).metadata().is_empty());
        let batch = file.next().expect("a batch").expect("readable");
        assert!(file.next().is_none());
        assert!(
            (0..4).all(|column| batch.column(column).null_count() == 1 && batch.column(column).is_null(1))
        );
        let floats = batch.column(0).as_any().downcast_ref::<Float64Array>().expect("floats");
        assert_eq!([floats.value(0), floats.value(2)], [0.1, -1e300]);
        let integers = batch.column(1).as_any().downcast_ref::<Int64Array>().expect("integers");
        assert_eq!(integers.value(2), i64::MAX);
        let texts = batch.column(2).as_any().downcast_ref::<StringArray>().expect("texts");
        assert_eq!([texts.value(0), texts.value(2)], ["arrival", ""]);
        let flags = batch.column(3).as_any().downcast_ref::<BooleanArray>().expect("flags");
        assert_eq!([flags.value(0), flags.value(2)], [true, false]);
    }

    #[test]
    fn a_table_without_rows_is_a_file_too() {
        let columns = Columns::new(vec![Column::integers("packets", [])]).expect("a table");
        let content = columns.to_arrow(&Manifest::now("warmcore", "0.1.0")).expect("an Arrow file");
        let file = FileReader::try_new(Cursor::new(content), None).expect("a reader");
        assert_eq!(file.map(|batch| batch.expect("readable").num_rows()).sum::<usize>(), 0);
    }
}
