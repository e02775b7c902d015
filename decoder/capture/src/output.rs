//! Files that are written whole or not at all.
//!
//! An [`Output`] is written to a temporary file beside its place, which it takes when it is complete. Until then, and
//! after any error, what was there before stays. A [`CaptureOutput`] replaces a capture and its description
//! together. [`Claims`] refuse an output that is also read.
//!
//! Temporary files are removed when they are dropped, by [`remove_temporaries`] when a signal ends the process, and
//! by the next output of the same name if nothing could remove them.

mod capture;
mod claims;
mod error;
mod scratch;
mod temporary;

pub use crate::identity::{is_standard, is_standard_output};
pub(crate) use capture::complete;
pub use capture::{CaptureOutput, NoDescription};
pub use claims::{Claims, Conflict};
pub use error::{Action, FileError};
pub use scratch::Scratch;
pub use temporary::remove_temporaries;

use crate::contents::Meter;
use crate::input::{self, StandardOutput};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use temporary::Temporary;
use thiserror::Error;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// A file that is there, under its name, once it is complete; or standard output, or a device.
#[derive(Debug)]
pub struct Output {
    name: String,
    writer: BufWriter<Target>,
    /// Bytes that were written, and how many may be.
    bytes: u64,
    most: u64,
}

/// More was to be written than may be: see [`Output::at_most`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("it would be larger than {} MB", most / 1_000_000)]
pub struct TooLarge {
    /// How many bytes may be written.
    pub most: u64,
}

/// Where bytes go.
#[derive(Debug)]
enum Target {
    Standard(StandardOutput),
    /// A device or a pipe, which cannot be replaced.
    Direct(File),
    /// A regular file.
    Whole(Temporary),
}

impl Output {
    /// Starts an output; `-` is standard output.
    ///
    /// # Errors
    ///
    /// If nothing can be written there.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Self::with(path, Temporary::beside)
    }

    /// The same, with a temporary file that everybody can see and that nothing removes, for data that cannot be had
    /// again.
    fn arriving(path: &Path) -> Result<Self, FileError> {
        Self::with(path, Temporary::visible)
    }

    fn with(
        path: &Path,
        make: impl FnOnce(PathBuf) -> io::Result<Temporary>,
    ) -> Result<Self, FileError> {
        let (name, target) = match is_standard_output(path) {
            true => ("standard output".into(), Ok(Target::Standard(StandardOutput::new()))),
            false => (path.display().to_string(), Target::of(path, make)),
        };
        match target {
            Ok(target) => {
                let writer = BufWriter::with_capacity(BUFFER, target);
                Ok(Self { name, writer, bytes: 0, most: u64::MAX })
            }
            Err(error) => Err(FileError { name, action: Action::Write, error }),
        }
    }

    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// If it cannot be written. What was there before is there still.
    pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), FileError> {
        let mut output = Self::create(path)?;
        output.writer.write_all(contents.as_ref()).map_err(|error| output.failed(error))?;
        output.finish().map(|_| ())
    }

    /// The same in a folder that is created if it is not there.
    ///
    /// # Errors
    ///
    /// If the folder cannot be created, or the file not be written.
    pub fn write_new(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), FileError> {
        create_folder(path)?;
        Self::write(path, contents)
    }

    /// The same, of which no more than so many bytes are written: more is an error, [`TooLarge`].
    #[must_use]
    pub fn at_most(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.writer.get_ref(), Target::Standard(_))
    }

    /// Puts the file in its place, and returns how many bytes were written. An output that is dropped instead leaves
    /// everything as it was.
    ///
    /// # Errors
    ///
    /// If it cannot be written to its end. What was there before is there still.
    pub fn finish(mut self) -> Result<u64, FileError> {
        if let Some(temporary) = self.flushed()? {
            let unread = input::check(temporary.place());
            unread.and_then(|()| temporary.put()).map_err(|error| self.failed(error))?;
        }
        Ok(self.bytes)
    }

    /// The temporary file, with everything that was written in it, if this is a regular file.
    fn flushed(&mut self) -> Result<Option<&mut Temporary>, FileError> {
        self.writer.flush().map_err(|error| self.failed(error))?;
        Ok(match self.writer.get_mut() {
            Target::Whole(temporary) => Some(temporary),
            Target::Standard(_) | Target::Direct(_) => None,
        })
    }

    /// Cuts a file that could not be written to its end, at least by `room`, at the place that `end` returns for its
    /// start, and describes what is left. What is not written is forgotten.
    fn cut(
        self,
        room: u64,
        end: impl FnOnce(&mut dyn Read) -> io::Result<u64>,
    ) -> Result<(Self, Meter), FileError> {
        let Self { name, writer, .. } = self;
        let (mut target, _) = writer.into_parts();
        let cut = || {
            let Target::Whole(temporary) = &mut target else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            let written = temporary.file().metadata()?.len();
            let read = || File::open(temporary.path());
            let bytes = end(&mut read()?.take(written.saturating_sub(room)))?;
            let mut meter = Meter::default();
            io::copy(&mut read()?.take(bytes), &mut meter)?;
            temporary.file().set_len(bytes)?;
            temporary.file().seek(SeekFrom::Start(bytes))?;
            Ok((bytes, meter))
        };
        match cut() {
            Ok((bytes, meter)) => {
                let writer = BufWriter::with_capacity(BUFFER, target);
                Ok((Self { name, writer, bytes, most: u64::MAX }, meter))
            }
            Err(error) => Err(FileError { name, action: Action::Write, error }),
        }
    }

    fn failed(&self, error: io::Error) -> FileError {
        FileError { name: self.name.clone(), action: Action::Write, error }
    }
}

/// Creates the folder of a file, if it is not there.
///
/// # Errors
///
/// If it cannot be created.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| {
        let error = match folder.metadata() {
            Ok(found) if !found.is_dir() => io::Error::new(error.kind(), "it is no folder"),
            _ => error,
        };
        FileError { name: folder.display().to_string(), action: Action::Write, error }
    })
}

/// Errors have the name of the file: see [`FileError::find`].
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.saturating_add(bytes.len() as u64) > self.most {
            let error = io::Error::new(io::ErrorKind::FileTooLarge, TooLarge { most: self.most });
            return Err(self.failed(error).into());
        }
        let count = self.writer.write(bytes).map_err(|error| self.failed(error))?;
        self.bytes = self.bytes.saturating_add(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| self.failed(error).into())
    }
}

impl Target {
    fn of(path: &Path, make: impl FnOnce(PathBuf) -> io::Result<Temporary>) -> io::Result<Self> {
        if is_stream(path) || path.metadata().is_ok_and(|found| !found.is_file()) {
            // A folder fails here, and a pipe may wait for its reader. What whoever has opened a file has written to it stays.
            let file = File::options().append(true).open(path)?;
            return Ok(Self::Direct(file));
        }
        Ok(Self::Whole(make(temporary::followed(path)?)?))
    }
}

/// Whether a path names an open file of this process. What that leads to may be a regular file, but replacing it would
/// not reach whoever has it open.
fn is_stream(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|stream| path.starts_with(stream))
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::Direct(file) => file.write(bytes),
            Self::Whole(temporary) => temporary.file().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::Direct(_) | Self::Whole(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
