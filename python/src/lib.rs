//! The Python package `hartrace`: captures as the crate `hartrace` opens them, and what `hartrace plan`, `part`, `merge` and
//! `compare` do, for Python.

mod capture;
mod interrupt;
mod iterators;
mod table;
mod values;

use hartrace_capture::description::Description;
use hartrace_capture::output::{CaptureOutput, Claims, Output};
use hartrace_capture::text::message;
use hartrace_compressors::comparison::{Comparison, ComparisonError, Options, Workload, chosen};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::round::{Ran, RoundError, Trial};
use hartrace_executions::executed::{Program, ProgramError, modes};
use hartrace_parts::{
    Emit, Extent, Input, ParquetInput, PartsError, Table, decode, decode_to_file, merge_files,
    plan_of_file, plan_to_file,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::fmt::Display;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

create_exception!(
    hartrace,
    HartraceError,
    PyException,
    "Why a capture cannot be opened, planned, decoded or merged."
);

/// Messages quote files, and may end up in a terminal.
fn refused(error: impl Display) -> PyErr {
    HartraceError::new_err(message(&error.to_string()).into_owned())
}

/// The exception that Python itself would raise for a file, with its name.
fn unreadable(path: &Path, error: &std::io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
            PyOSError::new_err((number, text, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(message(&format!("{path:?}: {error}")).into_owned()),
    }
}

fn emit(name: &str) -> PyResult<Emit> {
    name.parse().map_err(PyValueError::new_err)
}

/// Writes a plan; returns its text.
#[pyfunction]
#[pyo3(signature = (captures, output, parts = None))]
fn plan(
    py: Python<'_>,
    captures: Vec<PathBuf>,
    output: PathBuf,
    parts: Option<usize>,
) -> PyResult<String> {
    let made = py.detach(|| plan_to_file(&captures, parts, &output, &mut |_| ()));
    Ok(made.map_err(refused)?.text())
}

/// Decodes a part into a Parquet file; returns what is in it, as JSON.
#[pyfunction]
fn decode_file(
    py: Python<'_>,
    plan: PathBuf,
    number: usize,
    table: &str,
    output: PathBuf,
) -> PyResult<String> {
    let emit = emit(table)?;
    let made = py.detach(|| decode_to_file(&plan, number, emit, &output));
    json(&made.map_err(refused)?)
}

/// What is in the Parquet file of a part, as JSON, if it is there and complete.
#[pyfunction]
fn existing(plan: PathBuf, number: u32, table: &str, output: PathBuf) -> PyResult<Option<String>> {
    let emit = emit(table)?;
    // A file that cannot be read is written anew.
    let Ok(found) = ParquetInput::open(&output) else { return Ok(None) };
    let summary = found.summary();
    let same = summary.plan == plan_of_file(&plan).map_err(refused)?.id()
        && (summary.emit, &summary.parts) == (emit, &(number..number.saturating_add(1)));
    same.then(|| json(summary)).transpose()
}

/// Decodes a part into memory.
#[pyfunction]
fn decode_table(
    py: Python<'_>,
    plan: PathBuf,
    number: usize,
    table: &str,
) -> PyResult<table::PyTable> {
    let emit = emit(table)?;
    let made = py.detach(|| -> Result<Table, PartsError> {
        let mut table = Table::default();
        let folder = plan.parent().unwrap_or(Path::new("")).to_owned();
        decode(&plan_of_file(&plan)?, &folder, number, emit, &mut table)?;
        Ok(table)
    });
    Ok(table::PyTable::new(made.map_err(refused)?))
}

/// Merges Parquet files, or a share of their rows such as `0/4`; returns what is in the result, as JSON.
#[pyfunction]
#[pyo3(signature = (plan, tables, output, some = false, share = None))]
fn merge(
    py: Python<'_>,
    plan: PathBuf,
    tables: Vec<PathBuf>,
    output: PathBuf,
    some: bool,
    share: Option<&str>,
) -> PyResult<String> {
    let extent = match share {
        Some(share) => Extent::Share(share.parse().map_err(PyValueError::new_err)?),
        None if some => Extent::Some,
        None => Extent::All,
    };
    let made = py.detach(|| merge_files(&plan, &tables, extent, &output));
    json(&made.map_err(refused)?)
}

/// A summary, without what only merging needs.
fn json(summary: &hartrace_parts::Summary) -> PyResult<String> {
    let value = serde_json::json!({
        "emit": summary.emit,
        "parts": [summary.parts.start, summary.parts.end],
        "complete": summary.complete,
        "instructions": summary.instructions(),
        "gaps": summary.gaps(),
    });
    Ok(value.to_string())
}

/// Executes a program, bundled or in a file, and writes its trace with a description; returns the number of
/// instructions.
#[pyfunction]
fn trace(
    py: Python<'_>,
    program: String,
    mode: &str,
    limit: u64,
    output: PathBuf,
) -> PyResult<u64> {
    let options = modes::named(mode).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (executed, path) = executable(&program)?;
    let path = match path {
        Some(path) => path,
        // The description names a file.
        None => {
            let path = output.with_file_name(format!("{program}.elf"));
            Output::write(&path, executed.elf()).map_err(refused)?;
            path
        }
    };
    let mut claims = Claims::new();
    for file in [output.clone(), Description::place(&output)] {
        let claimed = claims.write(&file).and_then(|()| claims.read(&path));
        claimed.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    let create = |_: &str| -> Result<_, RoundError> {
        Ok(Some(CaptureOutput::create(&output).map_err(|error| RoundError::Write(error.into()))?))
    };
    let trial = Trial { program: &executed, modes: &[options], limit };
    let ran = py.detach(|| trial.run(create, |_| Ok(())));
    let Ran { mut lines, stopped } = ran.map_err(refused)?;
    if let Some(error) = stopped {
        return Err(refused(error));
    }
    let Some(line) = lines.first_mut() else { return Ok(0) };
    line.save(&executed, &path, ["hartrace.trace".into(), program]).map_err(refused)?;
    Ok(line.figures.decoded)
}

/// A program, bundled or in a file, and the file.
fn executable(program: &str) -> PyResult<(Program, Option<PathBuf>)> {
    let wrong = |error: ProgramError| refused(error);
    match PROGRAMS.iter().find(|(name, _)| *name == program) {
        Some((name, elf)) => Ok((Program::new(*name, elf.to_vec()).map_err(wrong)?, None)),
        None => {
            let path = PathBuf::from(program);
            let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
            let executed = Program::of_file(&path, bytes).map_err(wrong)?;
            Ok((executed, Some(path)))
        }
    }
}

/// The names of the bundled programs.
#[pyfunction]
fn programs() -> Vec<&'static str> {
    PROGRAMS.iter().map(|(name, _)| *name).collect()
}

/// The schemes that `hartrace compare` would measure, by name.
#[pyfunction]
fn schemes(names: Vec<String>, sweep: Vec<String>) -> PyResult<Vec<String>> {
    let found = chosen(&names, &sweep).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(found.iter().map(ToString::to_string).collect())
}

/// Measures one program, bundled or in a file, in some schemes; returns the figures as JSON.
#[pyfunction]
#[pyo3(signature = (program, schemes, limit, sync_every = None))]
fn compare(
    py: Python<'_>,
    program: String,
    schemes: Vec<String>,
    limit: u64,
    sync_every: Option<NonZeroU64>,
) -> PyResult<String> {
    let (executed, _) = executable(&program)?;
    let measured = py.detach(|| -> Result<String, ComparisonError> {
        let mut comparison = Comparison::new(chosen(&schemes, &[])?, Options { limit, sync_every });
        comparison.measure(
            &[&executed],
            |program| Ok::<_, ComparisonError>(Workload::execute(program, limit)?),
            || (),
        )?;
        Ok(serde_json::to_string(&comparison.figures).unwrap_or_default())
    });
    measured.map_err(refused)
}

#[pymodule]
fn _hartrace(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("HartraceError", module.py().get_type::<HartraceError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FORMS", capture::forms())?;
    module.add_class::<capture::PyCapture>()?;
    module.add_class::<values::PyFunction>()?;
    module.add_class::<values::PyCall>()?;
    module.add_class::<values::PyEdge>()?;
    module.add_class::<values::PyBlock>()?;
    module.add_class::<values::PyEvent>()?;
    module.add_class::<values::PyGap>()?;
    module.add_class::<iterators::PyCalls>()?;
    module.add_class::<iterators::PyInstructions>()?;
    module.add_class::<iterators::PySteps>()?;
    module.add_class::<table::PyTable>()?;
    module.add_function(wrap_pyfunction!(capture::open, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(decode_file, module)?)?;
    module.add_function(wrap_pyfunction!(existing, module)?)?;
    module.add_function(wrap_pyfunction!(decode_table, module)?)?;
    module.add_function(wrap_pyfunction!(merge, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(programs, module)?)?;
    module.add_function(wrap_pyfunction!(schemes, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    Ok(())
}
