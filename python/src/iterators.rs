//! What was executed, one after the other.

use crate::interrupt::next;
use crate::refused;
use crate::values::{PyBlock, PyCall, PyEvent, PyGap};
use hartrace::{CallSteps, Error, Step, Steps};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Mutex;
use std::vec;

/// The addresses of instructions, in order.
#[pyclass(module = "hartrace", name = "Instructions", frozen)]
pub(crate) struct PyInstructions {
    state: Mutex<(Steps, vec::IntoIter<u64>)>,
    missing: Option<Py<PyList>>,
}

impl PyInstructions {
    pub(crate) fn new(steps: Steps, missing: Option<Py<PyList>>) -> Self {
        Self { state: Mutex::new((steps, Vec::new().into_iter())), missing }
    }
}

#[pymethods]
impl PyInstructions {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        loop {
            let ready = |state: &mut (Steps, vec::IntoIter<u64>), most| {
                !state.1.as_slice().is_empty() || state.0.wait(most)
            };
            let found = next(py, &self.state, ready, |(steps, addresses)| {
                if let Some(address) = addresses.next() {
                    return Some(Ok(Some(address)));
                }
                Some(match steps.next()? {
                    Ok(Step::Block(block)) => {
                        *addresses = block.addresses.into_iter();
                        Ok(addresses.next())
                    }
                    Ok(Step::Event(_)) => Ok(None),
                    Err(error) => Err(error),
                })
            })?;
            match found {
                None => return Ok(None),
                Some(Ok(Some(address))) => return Ok(Some(address)),
                Some(Ok(None)) => {}
                Some(Err(error)) => note(py, error, self.missing.as_ref())?,
            }
        }
    }
}

/// Adds what is missing to the list, or is an exception if there is none.
fn note(py: Python<'_>, error: Error, missing: Option<&Py<PyList>>) -> PyResult<()> {
    match missing {
        Some(missing) => missing.bind(py).append(error.to_string()),
        None => Err(refused(error)),
    }
}

/// Functions that were entered and left, in order.
#[pyclass(module = "hartrace", name = "Calls", frozen)]
pub(crate) struct PyCalls {
    state: Mutex<CallSteps>,
    missing: Option<Py<PyList>>,
}

impl PyCalls {
    pub(crate) fn new(calls: CallSteps, missing: Option<Py<PyList>>) -> Self {
        Self { state: Mutex::new(calls), missing }
    }
}

#[pymethods]
impl PyCalls {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyCall>> {
        loop {
            match next(py, &self.state, CallSteps::wait, CallSteps::next)? {
                None => return Ok(None),
                Some(Ok(call)) => return Ok(Some(call.into())),
                Some(Err(error)) => note(py, error, self.missing.as_ref())?,
            }
        }
    }
}

/// Blocks of instructions, events and gaps, in order.
#[pyclass(module = "hartrace", name = "Steps", frozen)]
pub(crate) struct PySteps(Mutex<Steps>);

impl PySteps {
    pub(crate) fn new(steps: Steps) -> Self {
        Self(Mutex::new(steps))
    }
}

#[pymethods]
impl PySteps {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let step = match next(py, &self.0, Steps::wait, Steps::next)? {
            None => return Ok(None),
            Some(Ok(Step::Block(block))) => PyBlock::from(block).into_py_any(py)?,
            Some(Ok(Step::Event(happened))) => PyEvent::new(py, happened)?.into_py_any(py)?,
            Some(Err(Error::Gap(gap))) => PyGap::from(gap).into_py_any(py)?,
            Some(Err(error @ Error::Incomplete(_))) => {
                PyGap::anywhere(error.to_string()).into_py_any(py)?
            }
            Some(Err(error)) => return Err(refused(error)),
        };
        Ok(Some(step))
    }
}
