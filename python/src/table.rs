//! Tables in memory, which other packages take over through Arrow's C interface.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchIterator, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema};
use hartrace_parts::{Batch, Field, Kind, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// The table of a part.
#[pyclass(module = "hartrace", name = "Table", frozen)]
pub(crate) struct PyTable {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
    instructions: u64,
    gaps: u64,
}

impl PyTable {
    pub(crate) fn new(table: Table) -> Self {
        let fields = table.summary.emit.fields(table.summary.complete);
        let schema = Arc::new(Schema::new(fields.iter().map(arrow_field).collect::<Vec<_>>()));
        let (instructions, gaps) = (table.summary.instructions(), table.summary.gaps());
        let batch = |batch: Batch| {
            let columns = fields.iter().zip(&batch.columns);
            let columns = columns.map(|(field, values)| column(field.kind, values, &batch.texts));
            RecordBatch::try_new(Arc::clone(&schema), columns.collect())
        };
        // Columns are as long and of the types that the fields say.
        let batches = table.batches.into_iter().map(batch).filter_map(Result::ok).collect();
        Self { schema, batches, instructions, gaps }
    }
}

fn arrow_field(field: &Field) -> ArrowField {
    let kind = match field.kind {
        Kind::U64 => DataType::UInt64,
        Kind::U32 => DataType::UInt32,
        Kind::Source => DataType::UInt16,
        Kind::Word(_) | Kind::Text => DataType::Utf8,
    };
    ArrowField::new(field.name, kind, field.kind == Kind::Source)
}

fn column(kind: Kind, values: &[u64], texts: &[String]) -> ArrayRef {
    match kind {
        Kind::U64 => Arc::new(UInt64Array::from(values.to_vec())),
        Kind::U32 => {
            Arc::new(values.iter().map(|value| Some(*value as u32)).collect::<UInt32Array>())
        }
        Kind::Source => {
            let value = |value: &u64| (*value != Field::NO_SOURCE).then_some(*value as u16);
            Arc::new(values.iter().map(value).collect::<UInt16Array>())
        }
        Kind::Word(words) => {
            let word = |value: &u64| words.get(*value as usize).copied();
            Arc::new(StringArray::from_iter_values(values.iter().filter_map(word)))
        }
        Kind::Text => {
            let text = |value: &u64| texts.get(*value as usize);
            Arc::new(StringArray::from_iter_values(values.iter().filter_map(text)))
        }
    }
}

#[pymethods]
impl PyTable {
    /// Instructions that retired.
    #[getter]
    fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Stretches that could not be followed.
    #[getter]
    fn gaps(&self) -> u64 {
        self.gaps
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The table, for any package that knows Arrow's PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the request; consumers cast.
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> =
            self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
