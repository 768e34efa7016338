//! Tables in columns, which other libraries take through Arrow's C stream.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use thalweg_workbench::frame::{Column, Frame};

/// A table in columns.
#[pyclass(frozen, module = "thalweg")]
pub(crate) struct Table {
    frame: Frame,
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn of(frame: Frame) -> PyResult<Table> {
        let arrays: Vec<ArrayRef> =
            frame.columns.iter().map(|(_, column)| array(column)).collect::<Result<_, _>>().map_err(unexpected)?;
        let field = |((name, _), array): (&(String, Column), &ArrayRef)| {
            Field::new(name, array.data_type().clone(), matches!(array.data_type(), arrow_schema::DataType::Float64))
        };
        let schema = Arc::new(Schema::new(frame.columns.iter().zip(&arrays).map(field).collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, arrays).map_err(unexpected)?;
        Ok(Table { frame, batch })
    }
}

fn unexpected(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The array of a column; a number that is not finite is null, as in JSON.
fn array(column: &Column) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Numbers(values) => {
            let there: NullBuffer = values.iter().map(|value| value.is_finite()).collect::<Vec<bool>>().into();
            Arc::new(Float64Array::new(values.clone().into(), Some(there).filter(|there| there.null_count() > 0)))
        }
        Column::Whole(values) => Arc::new(UInt64Array::from(values.clone())),
        Column::Flags(values) => Arc::new(BooleanArray::from(values.clone())),
        Column::Names { index, names } => {
            // Readers of dictionaries expect signed indices.
            let index: Int32Array = index.iter().map(|index| *index as i32).collect::<Vec<_>>().into();
            let names = Arc::new(StringArray::from(names.clone()));
            Arc::new(DictionaryArray::<Int32Type>::try_new(index, names)?)
        }
    })
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.frame.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.frame.len()
    }

    fn __repr__(&self) -> String {
        format!("<thalweg.Table of {} rows: {}>", self.frame.len(), self.columns().join(", "))
    }

    /// The values of a column, as a list; None where there is none.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let found = self.frame.columns.iter().find(|(known, _)| known == name);
        let (_, column) = found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        list(py, column)
    }

    /// All columns, as a dict of lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        self.frame.columns.iter().try_for_each(|(name, column)| dict.set_item(name, list(py, column)?))?;
        Ok(dict)
    }

    /// The table as a stream of Arrow's C interface (PyCapsule protocol).
    #[pyo3(signature = (requested_schema=None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts what it wants otherwise.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema of Arrow's C interface (PyCapsule protocol).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(unexpected)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn list<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyList>> {
    match column {
        Column::Numbers(values) => {
            PyList::new(py, values.iter().map(|value| Some(*value).filter(|value| value.is_finite())))
        }
        Column::Whole(values) => PyList::new(py, values),
        Column::Flags(values) => PyList::new(py, values),
        Column::Names { index, names } => PyList::new(py, index.iter().map(|index| &names[*index as usize])),
    }
}
