//! Files that a process reads.
//!
//! A command must not replace a file that it reads, whoever names that file: the command line, a description, the metadata of a
//! snapshot, a log of events or debug information. So all files are opened here, and after [`keep`] an
//! [`Output`](crate::output::Output) does not take the place of one of them.

use crate::identity::{Identity, identity, of_open};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// What was read so far; `None` if nobody asked for it.
static READ: Mutex<Option<Inputs>> = Mutex::new(None);

#[derive(Debug)]
struct Inputs {
    files: BTreeMap<Identity, PathBuf>,
    /// Standard output, if it is a regular file.
    standard_output: Option<Identity>,
}

/// An output would destroy a file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("it is an input of the same command, {input}, and would be destroyed")]
pub struct WasRead {
    input: String,
}

/// What was to be read would grow while it is read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("standard output leads to a file that is read, which would be destroyed")]
struct IsOutput;

/// Whether standard output leads to a file that was to be read. Whoever wanted to read it may do without.
static CONFLICT: AtomicBool = AtomicBool::new(false);

/// Standard output, which is not written if it leads to a file that was to be read.
#[derive(Debug)]
pub struct StandardOutput(io::Stdout);

impl StandardOutput {
    /// Standard output.
    pub fn new() -> Self {
        Self(io::stdout())
    }
}

impl Default for StandardOutput {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match CONFLICT.load(Ordering::Relaxed) {
            true => Err(io::Error::other(IsOutput)),
            false => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// From now on, no output of this process replaces a file that it has read. For programs that execute one command;
/// others may well write later what they have read before.
#[cfg(unix)]
pub fn keep(standard_output: impl std::os::fd::AsFd) {
    let inputs = Inputs { files: BTreeMap::new(), standard_output: of_open(standard_output) };
    *READ.lock().unwrap_or_else(PoisonError::into_inner) = Some(inputs);
}

/// Opens a file to read it.
///
/// # Errors
///
/// If it cannot be opened, or is what standard output leads to, and would grow while it is read.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(inputs) = &mut *read
        && let Some(found) = of_open(&file)
    {
        if inputs.standard_output.as_ref() == Some(&found) {
            CONFLICT.store(true, Ordering::Relaxed);
            return Err(io::Error::other(IsOutput));
        }
        inputs.files.entry(found).or_insert_with(|| path.to_owned());
    }
    Ok(file)
}

/// Allows this process to replace a file that it has written itself, and read since.
pub fn written(path: &Path) {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(inputs), Some(found)) = (&mut *read, identity(path)) {
        inputs.files.remove(&found);
    }
}

/// Checks that a file was not read.
pub(crate) fn check(output: &Path) -> io::Result<()> {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(inputs) = &*read else { return Ok(()) };
    match identity(output).and_then(|found| inputs.files.get(&found)) {
        Some(input) => {
            let input = input.display().to_string();
            Err(io::Error::new(io::ErrorKind::InvalidInput, WasRead { input }))
        }
        None => Ok(()),
    }
}
