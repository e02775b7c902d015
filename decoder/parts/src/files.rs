//! Plans and tables in files.

use super::error::PartsError;
use super::plan::Plan;
use super::rows::{Emit, Input, Output};
use super::share::Share;
use super::summary::Summary;
use hartrace_capture::described::Described;
use hartrace_capture::{limits, output};
use std::path::{Path, PathBuf};

/// The folder of a file, which the names in a plan are relative to.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses an output that is one of these inputs, or belongs to one.
fn refuse(output: &Path, inputs: &[PathBuf]) -> Result<(), PartsError> {
    let mut claims = output::Claims::new();
    claims.write(output)?;
    for input in inputs {
        claims.read(input)?;
        let described = Described::find(input).ok();
        let mut files = described.iter().flat_map(Described::files);
        files.try_for_each(|file| claims.read(&file))?;
    }
    Ok(())
}

/// The files that a plan is made of, and the plan.
fn planned(path: &Path, plan: &Plan) -> Vec<PathBuf> {
    let captures = plan.captures.iter().map(|capture| folder(path).join(&capture.file));
    captures.chain([path.to_owned()]).collect()
}

/// Plans captures as [`Plan::new`] does, and writes the plan to a file.
///
/// # Errors
///
/// Those of [`Plan::new`], and if the plan cannot be written.
pub fn plan_to_file(
    captures: &[PathBuf],
    parts: Option<usize>,
    output: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Plan, PartsError> {
    refuse(output, captures)?;
    let plan = Plan::new(captures, folder(output), parts, progress)?;
    output::Output::write(output, plan.text())?;
    Ok(plan)
}

/// Reads a plan from a file.
///
/// # Errors
///
/// If it cannot be read or understood.
pub fn plan_of_file(path: &Path) -> Result<Plan, PartsError> {
    let text = limits::read_text(path).map_err(PartsError::file(path))?;
    let text = String::from_utf8_lossy(&text);
    Plan::parse(&text, &path.display().to_string())
}

/// Decodes a part as [`decode`](super::decode()) does, into a Parquet file; returns what is in it.
///
/// # Errors
///
/// Those of [`decode`](super::decode()), and if this was built without the feature `parquet`.
pub fn decode_to_file(
    plan: &Path,
    number: usize,
    emit: Emit,
    output: &Path,
) -> Result<Summary, PartsError> {
    let parsed = plan_of_file(plan)?;
    refuse(output, &planned(plan, &parsed))?;
    let mut out = Noting { out: create(output)?, summary: Summary::default() };
    super::decode(&parsed, folder(plan), number, emit, &mut out)?;
    Ok(out.summary)
}

/// What to merge.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All parts: [`merge`](super::merge).
    All,
    /// Parts that follow each other: [`merge_some`](super::merge_some).
    Some,
    /// A share of all parts: [`merge_share`](super::merge_share).
    Share(Share),
}

/// Merges Parquet files; returns what is in the result.
///
/// # Errors
///
/// Those of merging, and if this was built without the feature `parquet`.
pub fn merge_files(
    plan: &Path,
    inputs: &[PathBuf],
    extent: Extent,
    output: &Path,
) -> Result<Summary, PartsError> {
    let (parsed, folder) = (plan_of_file(plan)?, folder(plan));
    refuse(output, &planned(plan, &parsed))?;
    refuse(output, inputs)?;
    let mut tables = inputs.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    let mut out = Noting { out: create(output)?, summary: Summary::default() };
    match extent {
        Extent::All => super::merge(&parsed, folder, &mut tables, &mut out)?,
        Extent::Some => super::merge_some(&parsed, folder, &mut tables, &mut out)?,
        Extent::Share(share) => {
            super::merge_share(&parsed, folder, &mut tables, share, &mut out)?;
        }
    }
    Ok(out.summary)
}

/// An output that keeps the summary.
struct Noting<O> {
    out: O,
    summary: Summary,
}

impl<O: Output> Output for Noting<O> {
    fn start(&mut self, emit: Emit, complete: bool) -> Result<(), PartsError> {
        self.out.start(emit, complete)
    }

    fn write(&mut self, batch: super::Batch) -> Result<(), PartsError> {
        self.out.write(batch)
    }

    fn finish(&mut self, summary: Summary) -> Result<(), PartsError> {
        self.summary = summary.clone();
        self.out.finish(summary)
    }
}

/// Whether this build reads and writes files of tables.
pub const HAS_FILES: bool = cfg!(feature = "parquet");

#[cfg(feature = "parquet")]
fn open(path: &Path) -> Result<impl Input, PartsError> {
    super::ParquetInput::open(path)
}

#[cfg(feature = "parquet")]
fn create(path: &Path) -> Result<impl Output, PartsError> {
    Ok(super::ParquetOutput::new(path))
}

#[cfg(not(feature = "parquet"))]
fn open(_: &Path) -> Result<impl Input, PartsError> {
    Err::<super::Table, _>(PartsError::NoParquet)
}

#[cfg(not(feature = "parquet"))]
fn create(_: &Path) -> Result<impl Output, PartsError> {
    Err::<super::Table, _>(PartsError::NoParquet)
}
