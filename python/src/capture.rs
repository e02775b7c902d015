//! A capture that is opened as a whole: what `hartrace::open` does, for Python.

use crate::refused;
use hartrace::{Count, Decoded, Error, Form, FunctionTotal, Options, Step};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
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
    threads: Option<NonZeroUsize>,
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
        options = options.threads(threads);
    }
    let capture = py.detach(|| options.open(path)).map_err(refused)?;
    Ok(PyCapture { capture })
}

/// A capture; `hartrace.open` returns one.
#[pyclass(name = "Capture", frozen)]
pub(crate) struct PyCapture {
    capture: hartrace::Capture,
}

impl PyCapture {
    /// The result if nothing is missing or what is missing is wanted in the list.
    fn told<T>(decoded: Decoded<T>, missing: Option<&Bound<'_, PyAny>>) -> PyResult<T> {
        let Some(missing) = missing else {
            return decoded.complete().map_err(refused);
        };
        let Decoded { value, notes, losses } = decoded;
        for text in losses.into_iter().chain(notes.iter().map(ToString::to_string)) {
            missing.call_method1("append", (text,))?;
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
    fn count(&self, py: Python<'_>, missing: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let count = py.detach(|| self.capture.sum::<Count>()).map_err(refused)?;
        Ok(Self::told(count, missing)?.instructions)
    }

    /// What each function has executed, those with the most instructions of their own first.
    #[pyo3(signature = (missing = None))]
    fn functions(
        &self,
        py: Python<'_>,
        missing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<PyFunction>> {
        let functions = py.detach(|| self.capture.functions()).map_err(refused)?;
        Ok(Self::told(functions, missing)?.into_iter().map(PyFunction::from).collect())
    }

    /// A report as `hartrace decode --emit` and `hartrace export --format` write it, as bytes.
    #[pyo3(signature = (form, missing = None))]
    fn report<'py>(
        &self,
        py: Python<'py>,
        form: &str,
        missing: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let form: Form = form.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
        let written = py.detach(|| self.capture.write(form, Vec::new())).map_err(refused)?;
        Ok(PyBytes::new(py, &Self::told(written, missing)?))
    }

    /// The address of every instruction, in order. A gap is an exception; the next instruction is behind it.
    fn instructions(&self) -> PyInstructions {
        PyInstructions(Mutex::new((self.capture.blocks(), Vec::new().into_iter())))
    }

    /// Blocks of instructions, events and gaps, in order.
    fn steps(&self) -> PySteps {
        PySteps(Mutex::new(self.capture.steps()))
    }
}

/// What a function has executed.
#[pyclass(name = "Function", frozen, get_all)]
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
#[pyclass(name = "Instructions", frozen)]
pub(crate) struct PyInstructions(Mutex<(hartrace::Blocks, vec::IntoIter<u64>)>);

#[pymethods]
impl PyInstructions {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let next = py.detach(|| {
            // A thread that panicked left nothing half done.
            let mut state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
        });
        next.transpose().map_err(refused)
    }
}

/// Steps of an execution.
#[pyclass(name = "Steps", frozen)]
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
                PyGap { source, packet: at.packet, byte: at.byte, cause }.into_py_any(py)?
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
#[pyclass(name = "Block", frozen, get_all)]
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
#[pyclass(name = "Event", frozen, get_all)]
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

/// A stretch that could not be followed.
#[pyclass(name = "Gap", frozen, get_all)]
pub(crate) struct PyGap {
    source: Option<u16>,
    packet: u64,
    byte: u64,
    /// Why.
    cause: String,
}

#[pymethods]
impl PyGap {
    fn __repr__(&self) -> String {
        format!("<hartrace.Gap at packet {}: {}>", self.packet, self.cause)
    }
}
