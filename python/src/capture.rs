//! A capture that is opened as a whole: what `hartrace::open` does, for Python.

use crate::interrupt::{SharedOutput, aside, decode};
use crate::iterators::{PyCalls, PyInstructions, PySteps};
use crate::values::{PyEdge, PyFunction};
use crate::{refused, unreadable};
use hartrace::opened::NoCapture;
use hartrace::{Count, Coverage, Decoded, Edges, Form, OpenError, Options};
use hartrace_capture::described::DescribedError;
use hartrace_capture::output::Output;
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyRange};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The number of the error that no file is there.
const ENOENT: i32 = 2;

/// Opens a capture of any kind.
#[pyfunction]
#[pyo3(signature = (path, program = None, parameters = None, source = None, threads = None))]
pub(crate) fn open(
    py: Python<'_>,
    path: PathBuf,
    program: Option<PathBuf>,
    parameters: Option<PathBuf>,
    source: Option<u16>,
    threads: Option<usize>,
) -> PyResult<PyCapture> {
    let mut options = Options::default();
    if let Some(program) = program {
        options = options.program(program);
    }
    if let Some(parameters) = parameters {
        options = options.parameters(parameters);
    }
    if let Some(source) = source {
        options = options.source(source);
    }
    if let Some(threads) = threads {
        let threads = NonZeroUsize::new(threads);
        let threads =
            threads.ok_or_else(|| PyValueError::new_err("threads has to be at least 1"))?;
        options = options.threads(threads);
    }
    let capture = aside(py, move || options.open(path))?.map_err(|error| match &error {
        OpenError::NoCapture { path, found: found @ NoCapture::Nothing { .. } } => {
            PyFileNotFoundError::new_err((ENOENT, found.to_string(), path.as_os_str().to_owned()))
        }
        OpenError::Unreadable { path, error }
        | OpenError::UnreadableProgram { path, error }
        | OpenError::Described(DescribedError::Unreadable { path, error }) => {
            unreadable(path, error)
        }
        _ => refused(error),
    })?;
    Ok(PyCapture { capture })
}

/// The names of reports.
pub(crate) fn forms() -> Vec<&'static str> {
    Form::ALL.iter().map(|form| form.name()).collect()
}

/// A capture; `hartrace.open` returns one.
#[pyclass(module = "hartrace", name = "Capture", frozen)]
pub(crate) struct PyCapture {
    capture: hartrace::Capture,
}

/// The result if nothing is missing or what is missing is wanted in the list.
fn listing<T>(decoded: Decoded<T>, missing: Option<&Bound<'_, PyList>>) -> PyResult<T> {
    let Some(missing) = missing else {
        return decoded.complete().map_err(refused);
    };
    let Decoded { value, notes, omitted, losses } = decoded;
    for text in losses.into_iter().chain(notes.iter().map(ToString::to_string)) {
        missing.append(text)?;
    }
    if omitted > 0 {
        missing.append(format!("and {omitted} more"))?;
    }
    Ok(value)
}

#[pymethods]
impl PyCapture {
    /// What it is called in messages.
    #[getter]
    fn name(&self) -> &str {
        self.capture.name()
    }

    /// The protocol of the trace.
    #[getter]
    fn protocol(&self) -> &'static str {
        self.capture.protocol()
    }

    /// What is doubtful about the capture or its description.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.capture.warnings().to_vec()
    }

    fn __repr__(&self) -> String {
        format!("<hartrace.Capture {:?}, {}>", self.capture.name(), self.capture.protocol())
    }

    /// The number of instructions that retired.
    #[pyo3(signature = (missing = None))]
    fn count(&self, py: Python<'_>, missing: Option<&Bound<'_, PyList>>) -> PyResult<u64> {
        let count = decode(py, &self.capture, |capture| capture.sum::<Count>())?;
        Ok(listing(count, missing)?.instructions)
    }

    /// What each function has executed, those with the most instructions of their own first.
    #[pyo3(signature = (missing = None))]
    fn functions(
        &self,
        py: Python<'_>,
        missing: Option<&Bound<'_, PyList>>,
    ) -> PyResult<Vec<PyFunction>> {
        let functions = decode(py, &self.capture, |capture| capture.functions())?;
        Ok(listing(functions, missing)?.into_iter().map(PyFunction::from).collect())
    }

    /// How often the program went from each branch or jump to what followed it, by address.
    #[pyo3(signature = (missing = None))]
    fn edges(&self, py: Python<'_>, missing: Option<&Bound<'_, PyList>>) -> PyResult<Vec<PyEdge>> {
        let edges = decode(py, &self.capture, |capture| capture.sum::<Edges>())?;
        Ok(listing(edges, missing)?.sorted().into_iter().map(PyEdge::from).collect())
    }

    /// The addresses of the code that was executed, as ranges in order.
    #[pyo3(signature = (missing = None))]
    fn coverage<'py>(
        &self,
        py: Python<'py>,
        missing: Option<&Bound<'py, PyList>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let coverage = decode(py, &self.capture, |capture| capture.sum::<Coverage>())?;
        // That of the library has signed ends.
        let range = py.get_type::<PyRange>();
        let ranges = listing(coverage, missing)?.ranges().into_iter();
        ranges.map(|addresses| range.call1((addresses.start, addresses.end))).collect()
    }

    /// A report as `hartrace decode --emit` and `hartrace export --to` write it: one of `hartrace.FORMS`. It is written to the
    /// file `output`, or returned as bytes.
    #[pyo3(signature = (form, output = None, missing = None))]
    fn report<'py>(
        &self,
        py: Python<'py>,
        form: &str,
        output: Option<PathBuf>,
        missing: Option<&Bound<'py, PyList>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let form: Form = form.parse().map_err(|error| {
            PyValueError::new_err(format!("{error}; there are: {}", forms().join(", ")))
        })?;
        let Some(output) = output else {
            let written =
                decode(py, &self.capture, move |capture| capture.write(form, Vec::new()))?;
            return Ok(Some(PyBytes::new(py, &listing(written, missing)?)));
        };
        let output = SharedOutput::create(&output)?;
        let out = output.clone();
        let written = decode(py, &self.capture, move |capture| capture.write(form, out));
        // Without a result, this drops it, before anybody can see a part of it.
        let output = output.take();
        listing(written?, missing)?;
        output.map_or(Ok(0), Output::finish).map_err(refused)?;
        Ok(None)
    }

    /// The address of every instruction, in order. What is missing is an exception, or in the list.
    #[pyo3(signature = (missing = None))]
    fn instructions(&self, missing: Option<Py<PyList>>) -> PyInstructions {
        PyInstructions::new(self.capture.steps(), missing)
    }

    /// Functions that were entered and left, in order, inlined ones among them. What is missing is an exception at the end,
    /// or in the list; where it is missing, there is a call of the kind `gap`.
    #[pyo3(signature = (missing = None))]
    fn calls(&self, missing: Option<Py<PyList>>) -> PyCalls {
        PyCalls::new(self.capture.calls(), missing)
    }

    /// Blocks of instructions, events and gaps, in order.
    fn steps(&self) -> PySteps {
        PySteps::new(self.capture.steps())
    }
}
