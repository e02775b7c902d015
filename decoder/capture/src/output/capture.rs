//! Captures with their descriptions, which are replaced together.
//!
//! A capture that is complete takes the name `.NAME.HASH.new`, then the description takes its place, then the capture.
//! The second step decides: before it, capture and description are the old ones. After it they are the new ones,
//! and if the last step is missing, the next reader of the description does it, since that has the hash.

use super::temporary::{folder, followed, live, remove, short_name};
use super::{Action, FileError, Output, is_standard, is_standard_output};
use crate::contents::{CaptureReader, Contents, Meter};
use crate::description::Description;
use crate::input;
use crate::limits::{DOCUMENT_BYTES, read_up_to};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Bytes at the end of a capture that make room for its description, if a disk is full.
const ROOM: u64 = 1 << 14;

/// A capture that is being written.
#[derive(Debug)]
pub struct CaptureOutput {
    path: PathBuf,
    output: Output,
    meter: Meter,
    /// The first error of a write, after which bytes are missing.
    failed: Option<(io::ErrorKind, String)>,
}

impl CaptureOutput {
    /// Starts a capture; `-` is standard output.
    ///
    /// # Errors
    ///
    /// If nothing can be written there.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        check_description(path)?;
        Ok(Self {
            path: path.into(),
            output: Output::create(path)?,
            meter: Meter::default(),
            failed: None,
        })
    }

    /// Starts a capture of trace that arrives now and never again. What has arrived is in `NAME.partial`, or beside it
    /// with a number if that is there already, until the capture is complete, and stays there if it never is.
    ///
    /// # Errors
    ///
    /// If nothing can be written there.
    pub fn arriving(path: &Path) -> Result<Self, FileError> {
        check_description(path)?;
        Ok(Self {
            path: path.into(),
            output: Output::arriving(path)?,
            meter: Meter::default(),
            failed: None,
        })
    }

    /// Where the capture will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the capture is while it is not complete, if it is a file.
    pub fn partial(&mut self) -> Option<PathBuf> {
        Some(self.output.flushed().ok()??.path().to_owned())
    }

    /// Puts the capture in its place, and beside it the description, which gets what the capture contains. Standard
    /// output, devices and pipes have none.
    ///
    /// # Errors
    ///
    /// If either cannot be written. Both are then as they were before.
    pub fn finish(mut self, description: Description) -> Result<(), FileError> {
        self.try_finish(&description)
    }

    /// The same, after which it may be [cut](Self::cut) if it failed.
    ///
    /// # Errors
    ///
    /// As of [`finish`](Self::finish).
    pub fn try_finish(&mut self, description: &Description) -> Result<(), FileError> {
        if let Some((kind, what)) = &self.failed {
            let (name, error) = (self.output.name().to_owned(), io::Error::new(*kind, &**what));
            return Err(FileError { name, action: Action::Write, error });
        }
        let Contents { bytes, xxh3, .. } = self.meter.contents();
        let contents = Contents { bytes, xxh3, ..description.capture.clone() };
        let name = self.output.name().to_owned();
        // Standard output and devices are complete when everything was passed on.
        let Some(capture) = self.output.flushed()? else { return Ok(()) };
        let text = Description { capture: contents.clone(), ..description.clone() }.to_string();
        let place = Description::place(&self.path);
        let mut output = Output::create(&place)?;
        output.write_all(text.as_bytes()).map_err(|error| output.failed(error))?;
        let other = output.name().to_owned();
        let failed = |name: String| |error| FileError { name, action: Action::Write, error };
        let Some(description) = output.flushed()? else {
            // A device has this name, of all things.
            input::check(capture.place()).map_err(failed(name.clone()))?;
            return capture.put().map_err(failed(name));
        };
        input::check(description.place()).map_err(failed(other.clone()))?;
        input::check(capture.place()).map_err(failed(name.clone()))?;
        description.sync().map_err(failed(other.clone()))?;
        capture.sync().map_err(failed(name.clone()))?;
        let _turn = Turn::take(capture.place());
        // What an earlier process could not complete must not be lost if this one cannot either.
        complete_staged(&place, capture.place());
        let mut live = live();
        let (from, to) = (capture.path().to_owned(), capture.place().to_owned());
        let staged = staged(&to, &contents).unwrap_or_else(|| to.clone());
        capture.rename(&mut live, &staged).map_err(failed(name.clone()))?;
        let target = description.place().to_owned();
        if let Err(error) = description.rename(&mut live, &target) {
            // What has arrived keeps its name.
            capture.rename(&mut live, &from).map_err(failed(name))?;
            return Err(failed(other)(error));
        }
        live.remove(&target);
        // From here on, both are the new ones.
        capture.rename(&mut live, &to).map_err(failed(name))?;
        live.remove(&to);
        drop(live);
        sweep_staged(&to);
        Ok(())
    }
}

impl CaptureOutput {
    /// Gives up what could not be written, for instance to a full disk, and some of the rest, so that there is room for
    /// the description. `end` reads what is left, and returns how many bytes of it are whole packets.
    ///
    /// # Errors
    ///
    /// If the capture is no file, or cannot be read or cut.
    pub fn cut(
        self,
        end: impl FnOnce(&mut dyn Read) -> io::Result<u64>,
    ) -> Result<Self, FileError> {
        let Self { path, output, .. } = self;
        let (output, meter) = output.cut(ROOM, end)?;
        Ok(Self { path, output, meter, failed: None })
    }
}

impl Write for CaptureOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes).inspect_err(|error| {
            let found = FileError::find(error).map_or(error, |inner| &inner.error);
            self.failed.get_or_insert((found.kind(), found.to_string()));
        })?;
        self.meter.add(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Another file has the name of a description.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("there is a file of this name that describes no capture, and it would be replaced")]
pub struct NoDescription;

/// Checks that what stands in the place of a description is one. Its name follows from that of the capture, and nobody may
/// have thought of it.
fn check_description(capture: &Path) -> Result<(), FileError> {
    let place = Description::place(capture);
    if is_standard_output(capture) || !place.is_file() {
        return Ok(());
    }
    let known = File::open(&place).and_then(|file| read_up_to(file, DOCUMENT_BYTES)).ok();
    let known = known.and_then(|text| Description::parse(&String::from_utf8_lossy(&text), "").ok());
    let error = io::Error::new(io::ErrorKind::AlreadyExists, NoDescription);
    match known {
        Some(_) => Ok(()),
        None => Err(FileError { name: place.display().to_string(), action: Action::Write, error }),
    }
}

/// Where a complete capture waits for its description.
fn staged(capture: &Path, contents: &Contents) -> Option<PathBuf> {
    let digits = contents.digits()?;
    Some(folder(capture).join(format!(".{}.{digits}.new", short_name(capture))))
}

/// Puts the capture that a description is of in its place, if a process was killed before it could. Returns where it is
/// if that is not allowed here.
///
/// # Errors
///
/// If it is there, and cannot be moved.
pub(crate) fn complete(capture: &Path, contents: &Contents) -> io::Result<Option<PathBuf>> {
    if is_standard(capture) {
        return Ok(None);
    }
    let capture = followed(capture)?;
    let Some(staged) = staged(&capture, contents).filter(|staged| staged.is_file()) else {
        return Ok(None);
    };
    let _turn = Turn::take(&capture);
    if !is_due(&staged, &capture, contents) {
        return Ok(None);
    }
    match fs::rename(&staged, capture) {
        Ok(()) => Ok(None),
        Err(error) => match error.kind() {
            // Another process was faster.
            io::ErrorKind::NotFound => Ok(None),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Ok(Some(staged)),
            _ => Err(error),
        },
    }
}

/// The same by a writer, whose turn it is.
fn complete_staged(description: &Path, capture: &Path) {
    let known = fs::read(description).ok();
    let known = known.and_then(|text| Description::parse(&String::from_utf8_lossy(&text), "").ok());
    let Some(Description { capture: contents, .. }) = known else { return };
    if let Some(staged) = staged(capture, &contents)
        && is_due(&staged, capture, &contents)
    {
        // If it cannot be moved, what is in its place is replaced soon.
        let _ = fs::rename(staged, capture);
    }
}

/// Whether a capture is the one that its name says, and what is in its place is no newer: somebody may have put
/// another one there since.
fn is_due(staged: &Path, capture: &Path, contents: &Contents) -> bool {
    let written = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    let is_newer = written(capture).is_some_and(|time| Some(time) > written(staged));
    !is_newer
        && File::open(staged).is_ok_and(|file| {
            let mut whole =
                CaptureReader::new(file, String::new()).checked(contents.clone(), String::new());
            io::copy(&mut whole, &mut io::sink()).is_ok()
        })
}

/// Removes captures that no description was written for.
fn sweep_staged(capture: &Path) {
    let start = format!(".{}.", short_name(capture));
    let is_staged = |name: &str| {
        let digits = name.strip_prefix(&start).and_then(|rest| rest.strip_suffix(".new"));
        digits.is_some_and(|digits| {
            digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let entries = fs::read_dir(folder(capture)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_staged)) {
        remove(&entry.path());
    }
}

/// The turn of a process to replace captures in a folder. Without locks, which some file systems lack, processes have
/// to take turns by themselves.
struct Turn {
    _folder: Option<File>,
}

/// How long to wait for a turn. Writers need it for a few renames; others that lock the folder have no part in this, and
/// may keep it for ever.
const PATIENCE: Duration = Duration::from_secs(2);

impl Turn {
    fn take(capture: &Path) -> Self {
        let start = Instant::now();
        let wait = |folder: &File| loop {
            match folder.try_lock() {
                Ok(()) => return true,
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(_) => return false,
            }
        };
        Self { _folder: File::open(folder(capture)).ok().filter(wait) }
    }
}
