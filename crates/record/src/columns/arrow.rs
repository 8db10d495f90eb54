//! A table as an Arrow IPC file (`.arrow`, also called Feather 2), which data tools map into memory as it is.
//!
//! The columns, their units and the manifest are those of the Parquet file: the schema's metadata has the same two
//! entries, and each field's metadata `unit` besides.

use super::{Column, Columns, MANIFEST_KEY, UNITS_KEY, Values};
use crate::Manifest;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Name of a field's metadata entry with its unit.
pub const UNIT_KEY: &str = "unit";

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
        let units: BTreeMap<_, _> =
            self.columns().iter().map(|column| (&column.name, &column.unit)).collect();
        let metadata = HashMap::from([
            (UNITS_KEY.to_owned(), serde_json::to_string(&units)?),
            (MANIFEST_KEY.to_owned(), serde_json::to_string(manifest)?),
        ]);
        let fields: Vec<Field> = self.columns().iter().map(Column::arrow_field).collect();
        let schema = Schema::new(fields).with_metadata(metadata);
        let arrays = self.columns().iter().map(|column| column.values.arrow()).collect();
        Ok(RecordBatch::try_new(Arc::new(schema), arrays)?)
    }
}

impl Column {
    fn arrow_field(&self) -> Field {
        let kind = match self.values {
            Values::Floats(_) => DataType::Float64,
            Values::Integers(_) => DataType::Int64,
            Values::Texts(_) => DataType::Utf8,
            Values::Flags(_) => DataType::Boolean,
        };
        let unit = (!self.unit.is_empty()).then(|| (UNIT_KEY.to_owned(), self.unit.clone()));
        Field::new(&self.name, kind, true).with_metadata(unit.into_iter().collect::<HashMap<_, _>>())
    }
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
            Column::integers("packets", [Some(1), None, Some(i64::MAX)]),
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
