//! A table survives a round trip through a Parquet file, with its units and its manifest.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;
use std::fs::File;
use warmcore_record::columns::{ColumnsError, MANIFEST_KEY, UNITS_KEY};
use warmcore_record::{Column, Columns, Existing, Manifest, Values};

/// Writes `columns` to a file and opens it for reading.
fn written(columns: &Columns, manifest: &Manifest) -> SerializedFileReader<File> {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("results.parquet");
    columns.write_parquet(&path, Existing::Refuse, manifest).expect("the table can be written");
    let file = File::open(&path).expect("the file is there");
    SerializedFileReader::new(file).expect("it is a Parquet file")
}

/// The value at `row` of `values`, as the reader shows it.
fn field(values: &Values, row: usize) -> Field {
    match values {
        Values::Floats(values) => values[row].map_or(Field::Null, Field::Double),
        Values::Integers(values) => values[row].map_or(Field::Null, Field::Long),
        Values::Texts(values) => values[row].clone().map_or(Field::Null, Field::Str),
        Values::Flags(values) => values[row].map_or(Field::Null, Field::Bool),
    }
}

fn manifest() -> Manifest {
    Manifest { command: vec!["warmcore".into(), "study".into()], ..Manifest::now("warmcore", "1.2.3") }
}

#[test]
fn a_file_contains_its_units_and_its_manifest() {
    let columns = Columns::new(vec![
        Column::texts("policy", [Some("MRU".into()), Some("LRU".into())]),
        Column::floats("delay", "µs", [Some(142.1), None]),
    ]);
    let manifest = manifest();
    let file = written(&columns.expect("the columns are a table"), &manifest);
    let metadata = file.metadata().file_metadata();
    assert_eq!(metadata.created_by(), Some("warmcore 1.2.3"));
    let entries = metadata.key_value_metadata().expect("there are entries");
    let entry =
        |key: &str| entries.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.clone());
    assert_eq!(entry(UNITS_KEY).as_deref(), Some(r#"{"delay":"µs","policy":""}"#));
    let read: Manifest = serde_json::from_str(&entry(MANIFEST_KEY).expect("the manifest is there"))
        .expect("the manifest is JSON");
    assert_eq!(read, manifest);
}

#[test]
fn columns_that_form_no_table_are_refused() {
    let short = Columns::new(vec![Column::integers("a", [Some(1), None]), Column::flags("b", [Some(true)])]);
    let expected = "column `b` has 1 rows, expected 2 as in `a`";
    assert_eq!(short.expect_err("b is too short").to_string(), expected);
    let twice = Columns::new(vec![Column::integers("a", []), Column::flags("a", [])]);
    assert_eq!(twice, Err(ColumnsError::Duplicate("a".into())));
}

#[test]
fn a_table_without_rows_or_columns_can_be_written() {
    let empty = Columns::new(vec![Column::floats("delay", "µs", [])]).expect("one column is a table");
    assert_eq!(written(&empty, &manifest()).metadata().file_metadata().num_rows(), 0);
    assert_eq!(Columns::new(vec![]).expect("no column is a table").rows(), 0);
}

proptest! {
    #[test]
    fn every_value_and_every_null_is_read_back(
        rows in prop::collection::vec(
            (
                prop::option::of(any::<f64>().prop_filter("equal to itself", |value| !value.is_nan())),
                prop::option::of(any::<i64>()),
                prop::option::of(".*"),
                prop::option::of(any::<bool>()),
            ),
            1..60,
        )
    ) {
        let columns = Columns::new(vec![
            Column::floats("f", "s", rows.iter().map(|row| row.0)),
            Column::integers("i", rows.iter().map(|row| row.1)),
            Column::texts("t", rows.iter().map(|row| row.2.clone())),
            Column::flags("b", rows.iter().map(|row| row.3)),
        ]).expect("the columns are a table");
        let file = written(&columns, &manifest());
        let mut count = 0;
        for (row, read) in file.get_row_iter(None).expect("the file has rows").enumerate() {
            let read = read.expect("the row can be read");
            for (column, (name, value)) in columns.columns().iter().zip(read.get_column_iter()) {
                prop_assert_eq!(&column.name, name);
                prop_assert_eq!(&field(&column.values, row), value);
            }
            count += 1;
        }
        prop_assert_eq!(count, columns.rows());
    }
}
