//! A capture that is opened as a whole: what `hartrace::open` does, for Python.

use crate::{refused, unreadable};
use hartrace::{Count, Decoded, Error, Form, FunctionTotal, OpenError, Options, Step};
use hartrace_capture::described::DescribedError;
use hartrace_capture::output::Output;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::vec;

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
    let capture = py.detach(|| options.open(path)).map_err(|error| match &error {
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

impl PyCapture {
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
        let count = py.detach(|| self.capture.sum::<Count>()).map_err(refused)?;
        Ok(Self::listing(count, missing)?.instructions)
    }

    /// What each function has executed, those with the most instructions of their own first.
    #[pyo3(signature = (missing = None))]
    fn functions(
        &self,
        py: Python<'_>,
        missing: Option<&Bound<'_, PyList>>,
    ) -> PyResult<Vec<PyFunction>> {
        let functions = py.detach(|| self.capture.functions()).map_err(refused)?;
        Ok(Self::listing(functions, missing)?.into_iter().map(PyFunction::from).collect())
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
            let written = py.detach(|| self.capture.write(form, Vec::new())).map_err(refused)?;
            return Ok(Some(PyBytes::new(py, &Self::listing(written, missing)?)));
        };
        let out = Output::create(&output).map_err(refused)?;
        let written = py.detach(|| self.capture.write(form, out)).map_err(refused)?;
        Self::listing(written, missing)?.finish().map_err(refused)?;
        Ok(None)
    }

    /// The address of every instruction, in order. What is missing is an exception, or in the list.
    #[pyo3(signature = (missing = None))]
    fn instructions(&self, missing: Option<Py<PyList>>) -> PyInstructions {
        let state = Mutex::new((self.capture.blocks(), Vec::new().into_iter()));
        PyInstructions { state, missing }
    }

    /// Blocks of instructions, events and gaps, in order.
    fn steps(&self) -> PySteps {
        PySteps(Mutex::new(self.capture.steps()))
    }
}

/// What a function has executed.
#[pyclass(module = "hartrace", name = "Function", frozen, get_all)]
pub(crate) struct PyFunction {
    /// Its source, where the capture names sources.
    source: Option<u16>,
    /// Its name, or its address.
    name: String,
    /// Its file and line, if they are known.
    place: Option<(String, u32)>,
    /// How often it was called.
    calls: u64,
    /// Instructions of its own.
    instructions: u64,
    /// Instructions with those of everything that it called.
    with_callees: u64,
}

impl From<FunctionTotal> for PyFunction {
    fn from(total: FunctionTotal) -> Self {
        let FunctionTotal { source, name, place, calls, instructions, with_callees } = total;
        Self { source, name, place, calls, instructions, with_callees }
    }
}

#[pymethods]
impl PyFunction {
    fn __repr__(&self) -> String {
        let Self { name, calls, instructions, .. } = self;
        format!("<hartrace.Function {name:?}: {instructions} instructions, {calls} calls>")
    }
}

/// The addresses of instructions.
#[pyclass(module = "hartrace", name = "Instructions", frozen)]
pub(crate) struct PyInstructions {
    state: Mutex<(hartrace::Blocks, vec::IntoIter<u64>)>,
    missing: Option<Py<PyList>>,
}

impl PyInstructions {
    fn next(&self) -> Option<Result<u64, Error>> {
        // A thread that panicked left nothing half done.
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (blocks, addresses) = &mut *state;
        loop {
            if let Some(address) = addresses.next() {
                return Some(Ok(address));
            }
            match blocks.next()? {
                Ok(block) => *addresses = block.addresses.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[pymethods]
impl PyInstructions {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        loop {
            match (py.detach(|| self.next()), &self.missing) {
                (Some(Err(error)), Some(missing)) => missing.bind(py).append(error.to_string())?,
                (next, _) => return next.transpose().map_err(refused),
            }
        }
    }
}

/// Steps of an execution.
#[pyclass(module = "hartrace", name = "Steps", frozen)]
pub(crate) struct PySteps(Mutex<hartrace::Steps>);

#[pymethods]
impl PySteps {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let next =
            py.detach(|| self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next());
        let step = match next {
            None => return Ok(None),
            Some(Ok(Step::Block(block))) => {
                let hartrace::Block { source, at, addresses, end, .. } = block;
                PyBlock { source, packet: at.packet, byte: at.byte, addresses, end }
                    .into_py_any(py)?
            }
            Some(Ok(Step::Event(happened))) => {
                let hartrace::Happened { source, at, event, .. } = happened;
                let (kind, fields) = fields(py, event)?;
                PyEvent { source, packet: at.packet, byte: at.byte, kind, fields }
                    .into_py_any(py)?
            }
            Some(Err(Error::Gap(gap))) => {
                let hartrace::Gap { source, at, cause } = gap;
                let cause = cause.to_string();
                let (packet, byte) = (Some(at.packet), Some(at.byte));
                PyGap { source, packet, byte, cause }.into_py_any(py)?
            }
            // What is missing at the end, or anywhere.
            Some(Err(error @ Error::Incomplete(_))) => {
                let cause = error.to_string();
                PyGap { source: None, packet: None, byte: None, cause }.into_py_any(py)?
            }
            Some(Err(error)) => return Err(refused(error)),
        };
        Ok(Some(step))
    }
}

/// The name of an event, and what belongs to it.
fn fields(py: Python<'_>, event: hartrace::Event) -> PyResult<(&'static str, Py<PyDict>)> {
    use hartrace::{Event, Time};
    let fields = PyDict::new(py);
    let kind = match event {
        Event::Trap { cause, interrupt, tval, epc } => {
            fields.set_item("cause", cause)?;
            fields.set_item("interrupt", interrupt)?;
            fields.set_item("tval", tval)?;
            fields.set_item("epc", epc)?;
            "trap"
        }
        Event::Context { privilege, context, time } => {
            fields.set_item("privilege", privilege)?;
            fields.set_item("context", context)?;
            fields.set_item("time", time)?;
            "context"
        }
        Event::Time(Time::Stamp { value, bits }) => {
            fields.set_item("value", value)?;
            fields.set_item("bits", bits)?;
            "time"
        }
        Event::Time(Time::Cycles(cycles)) => {
            fields.set_item("cycles", cycles)?;
            "cycles"
        }
        Event::On => "on",
        Event::Off(status) => {
            fields.set_item("qual_status", status.name())?;
            "off"
        }
        Event::Restart => "restart",
        Event::Gap(cause) => {
            fields.set_item("cause", cause.to_string())?;
            "gap"
        }
    };
    Ok((kind, fields.unbind()))
}

/// Instructions that retired one after the other.
#[pyclass(module = "hartrace", name = "Block", frozen, get_all)]
pub(crate) struct PyBlock {
    source: Option<u16>,
    packet: u64,
    byte: u64,
    /// The addresses of its instructions; at least one.
    addresses: Vec<u64>,
    /// The address after the last instruction.
    end: u64,
}

#[pymethods]
impl PyBlock {
    fn __repr__(&self) -> String {
        let first = self.addresses.first().copied().unwrap_or(self.end);
        format!(
            "<hartrace.Block {first:#x}..{:#x}: {} instructions>",
            self.end,
            self.addresses.len()
        )
    }
}

/// Something that happened between instructions.
#[pyclass(module = "hartrace", name = "Event", frozen, get_all)]
pub(crate) struct PyEvent {
    source: Option<u16>,
    packet: u64,
    byte: u64,
    /// What happened.
    kind: &'static str,
    /// What belongs to it.
    fields: Py<PyDict>,
}

#[pymethods]
impl PyEvent {
    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<hartrace.Event {} {}>", self.kind, self.fields.bind(py))
    }
}

/// A stretch that could not be followed, or, without a position, what else is missing.
#[pyclass(module = "hartrace", name = "Gap", frozen, get_all)]
pub(crate) struct PyGap {
    source: Option<u16>,
    packet: Option<u64>,
    byte: Option<u64>,
    /// Why.
    cause: String,
}

#[pymethods]
impl PyGap {
    fn __repr__(&self) -> String {
        match self.packet {
            Some(packet) => format!("<hartrace.Gap at packet {packet}: {}>", self.cause),
            None => format!("<hartrace.Gap: {}>", self.cause),
        }
    }
}
