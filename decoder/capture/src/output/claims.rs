//! Which files a command reads, and which it writes: none can be both.

use super::temporary::{folder, followed};
#[cfg(unix)]
use crate::identity::of_open;
use crate::identity::{Identity, identity, is_standard_output};
use std::fs;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// An output would destroy an input, or another output.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{output}: this is the same file as the {} {other}, which would be destroyed", if *.is_input { "input" } else { "output" })]
pub struct Conflict {
    /// The output.
    pub output: String,
    /// The other file.
    pub other: String,
    /// Whether the other file is an input.
    pub is_input: bool,
}

/// The inputs and outputs of a command so far.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    inputs: Vec<(Identity, PathBuf)>,
    outputs: Vec<PathBuf>,
    /// Standard output, if it is a regular file.
    standard: Option<Identity>,
}

impl Claims {
    /// No files.
    pub const fn new() -> Self {
        Self { inputs: Vec::new(), outputs: Vec::new(), standard: None }
    }

    /// Adds an input.
    ///
    /// # Errors
    ///
    /// If it is also an output.
    pub fn read(&mut self, path: &Path) -> Result<(), Conflict> {
        let Some(found) = identity(path) else { return Ok(()) };
        let conflict = |output: &Path| conflict(output, path, true);
        if let Some(output) =
            self.outputs.iter().find(|other| identity(other).as_ref() == Some(&found))
        {
            return Err(conflict(output));
        }
        if self.standard.as_ref() == Some(&found) {
            return Err(conflict(Path::new("standard output")));
        }
        self.inputs.push((found, path.into()));
        Ok(())
    }

    /// Adds an output.
    ///
    /// # Errors
    ///
    /// If it is also an input, or another output.
    pub fn write(&mut self, path: &Path) -> Result<(), Conflict> {
        self.check(path)?;
        if let Some(other) = self.outputs.iter().find(|other| is_same(other, path)) {
            return Err(conflict(path, other, false));
        }
        if self.standard.is_some() && self.standard == identity(path) {
            return Err(conflict(path, Path::new("standard output"), false));
        }
        self.outputs.push(path.into());
        Ok(())
    }

    /// Adds standard output.
    #[cfg(unix)]
    pub fn write_standard(&mut self, out: impl std::os::fd::AsFd) {
        self.standard = of_open(out);
    }

    /// Adds standard input, which may be read at any time.
    #[cfg(unix)]
    pub fn read_standard(&mut self, input: impl std::os::fd::AsFd) {
        let found = of_open(input);
        self.inputs.extend(found.map(|found| (found, PathBuf::from("standard input"))));
    }

    /// Checks that nothing is lost if this file is written.
    ///
    /// # Errors
    ///
    /// If it is an input.
    pub fn check(&self, output: &Path) -> Result<(), Conflict> {
        let found = identity(output);
        match self.inputs.iter().find(|(input, _)| Some(input) == found.as_ref()) {
            Some((_, input)) => Err(conflict(output, input, true)),
            None => Ok(()),
        }
    }

    /// Forgets an output that is in its place: from now on it may be read.
    pub fn written(&mut self, path: &Path) {
        self.outputs.retain(|other| !is_same(other, path));
    }

    /// The outputs.
    pub fn outputs(&self) -> &[PathBuf] {
        &self.outputs
    }
}

fn conflict(output: &Path, other: &Path, is_input: bool) -> Conflict {
    let [output, other] = [output, other].map(|path| path.display().to_string());
    Conflict { output, other, is_input }
}

/// Whether two outputs are one file, which may not be there yet. A device or a pipe takes both.
fn is_same(one: &Path, other: &Path) -> bool {
    if is_standard_output(one) || is_standard_output(other) {
        return is_standard_output(one) && is_standard_output(other);
    }
    let place = |path: &Path| place(&followed(path).ok()?);
    match (identity(one), identity(other)) {
        (None, None) if !one.exists() => {
            place(one).is_some_and(|found| Some(found) == place(other))
        }
        (one, other) => one.is_some() && one == other,
    }
}

/// Where a file is that is not there yet, in a folder that may not be there either.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = folder(path);
    let folder = fs::canonicalize(folder).ok().or_else(|| place(folder))?;
    match path.components().next_back()? {
        Component::ParentDir => folder.parent().map(Path::to_owned),
        name => Some(folder.join(name)),
    }
}
