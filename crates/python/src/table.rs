//! Tables that other programs read through Arrow's C stream interface, without copying.

use crate::failure::{Class, Failure};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyType};
use std::collections::HashMap;
use warmcore_record::Columns;
use warmcore_record::columns::arrow::UNIT_KEY;

/// A table. Any library that takes Arrow's C stream reads it without copying: `pyarrow.table(t)`,
/// `polars.DataFrame(t)`, `duckdb.sql("select * from t")`.
///
/// Each column's metadata name its `unit`, and, if it has intervals, the column with their `half_width`: half the length of
/// the 95% interval, null where it is not known.
#[pyclass(frozen, module = "warmcore._native")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// The table of these `columns`, named and in their units.
    #[expect(clippy::needless_pass_by_value, reason = "callers make it for this")]
    pub(crate) fn new(columns: Columns) -> Result<Self, Failure> {
        let batch = columns.plain_batch();
        Ok(Self { batch: batch.map_err(|error| Failure::Broken(error.to_string()))? })
    }

    fn to_ipc(&self) -> Result<Vec<u8>, ArrowError> {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &self.batch.schema())?;
        writer.write(&self.batch)?;
        writer.finish()?;
        drop(writer);
        Ok(bytes)
    }
}

#[pymethods]
impl Table {
    /// Arrow's C stream of the table: a capsule named "arrow_array_stream".
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer give its own schema instead of the one asked for.
        drop(requested_schema);
        let batches = std::iter::once(Ok::<_, ArrowError>(self.batch.clone()));
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// How many rows it has.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of its columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The units' symbols of its columns, by name; empty for names, counts and flags.
    #[getter]
    fn units(&self) -> HashMap<String, String> {
        let schema = self.batch.schema();
        let unit = |field: &Field| field.metadata().get(UNIT_KEY).cloned().unwrap_or_default();
        schema.fields().iter().map(|field| (field.name().clone(), unit(field))).collect()
    }

    /// One row by its number, as a dictionary; for a look at it. Whole tables are read through Arrow.
    fn row<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let row = pyo3::types::PyDict::new(py);
        if index >= self.batch.num_rows() {
            let message = format!("row {index} of a table of {}", self.batch.num_rows());
            return Err(pyo3::exceptions::PyIndexError::new_err(message));
        }
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            row.set_item(field.name(), cell(py, array, index)?)?;
        }
        Ok(row)
    }

    fn __len__(&self) -> usize {
        self.num_rows()
    }

    /// The table as a pandas data frame; it is handed over by column, not by row. Needs `warmcore[pandas]`.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("warmcore._tables")?.call_method1("to_pandas", (slf,))
    }

    /// The table as a polars data frame, without copying. Needs `warmcore[polars]`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("warmcore._tables")?.call_method1("to_polars", (slf,))
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("warmcore._tables")?.call_method1("table_text", (slf,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("warmcore._tables")?.call_method1("table_html", (slf,))
    }

    /// Tables are equal if their columns and their cells are.
    fn __eq__(&self, other: &Self) -> bool {
        self.batch == other.batch
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Itself: a table never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        let _ = memo;
        slf
    }

    /// Tables cross processes as streams of Arrow's IPC.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_ipc().map_err(|error| Failure::Broken(error.to_string()))?;
        Ok((slf.get_type().getattr("_of_ipc")?, (PyBytes::new(slf.py(), &bytes),)))
    }

    /// The table in a stream of Arrow's IPC.
    #[classmethod]
    fn _of_ipc(class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        let _ = class;
        let unreadable = |error: ArrowError| Failure::plain(Class::Other, format!("not a table: {error}"));
        let mut reader = StreamReader::try_new(bytes, None).map_err(unreadable)?;
        let batch = reader.next().unwrap_or_else(|| Ok(RecordBatch::new_empty(reader.schema())));
        Ok(Self { batch: batch.map_err(unreadable)? })
    }
}

fn cell<'py>(py: Python<'py>, array: &ArrayRef, index: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    if array.is_null(index) {
        return Ok(None);
    }
    Ok(Some(match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().value(index).into_pyobject(py)?.into_any(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(index).into_pyobject(py)?.into_any(),
        DataType::Boolean => array.as_boolean().value(index).into_pyobject(py)?.to_owned().into_any(),
        _ => array.as_string::<i32>().value(index).into_pyobject(py)?.into_any(),
    }))
}
