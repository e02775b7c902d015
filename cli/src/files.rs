//! Files, standard input and output, and progress on long inputs.

use crate::failure::{Failure, warn};
use crate::progress::bar;
use hartrace::opened::Files;
use hartrace_capture::contents::CaptureReader;
use hartrace_capture::described;
use hartrace_capture::description::Description;
use hartrace_capture::input::StandardOutput;
use hartrace_capture::limits::{self, STREAM_BYTES};
use hartrace_capture::output::{CaptureOutput, Claims, Conflict, FileError, Output, create_folder};
pub(crate) use hartrace_capture::output::{is_standard, is_standard_output};
use hartrace_capture::text::shown;
use hartrace_executions::{decompress, decompress_all};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Inputs up to this size show no progress.
const QUIET_BYTES: u64 = 4 << 20;

/// The files of this command.
static CLAIMS: Mutex<Claims> = Mutex::new(Claims::new());

/// Whether standard output is that of a program which the command executes.
static STDOUT_IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Leaves standard output to a program. [`summary`] is standard error from now on.
pub(crate) fn leave_stdout() {
    STDOUT_IS_TAKEN.store(true, Ordering::Relaxed);
}

/// Which files this command reads, and which it writes.
pub(crate) fn claims() -> MutexGuard<'static, Claims> {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds an input; an error if it is also an output.
pub(crate) fn reads(path: &Path) -> Result<(), Conflict> {
    claims().read(path)
}

/// The input's name in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".into() } else { shown(path) }
}

/// The output's name in messages.
pub(crate) fn output_name(path: &Path) -> String {
    if is_standard_output(path) { "standard output".into() } else { shown(path) }
}

/// At most one of several inputs can be standard input.
pub(crate) fn one_standard<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    if inputs.into_iter().filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::usage("standard input cannot be read twice")
            .hint("name a file for all inputs but one"));
    }
    Ok(())
}

/// Why a read failed.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    if let Some(error) = FileError::find(error) {
        return Failure::file(error);
    }
    if let Some(failure) = error.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
        return failure.clone();
    }
    Failure::input(format_args!("cannot read: {error}")).at(name(path))
}

/// A progress bar on standard error; hidden unless that is a terminal and the input is long.
pub(crate) fn progress(len: u64) -> ProgressBar {
    match len {
        ..=QUIET_BYTES => ProgressBar::hidden(),
        _ => bar(Some(len), "{wide_bar} {percent:>3} % {decimal_bytes_per_sec} {eta}"),
    }
}

/// Something to read from, on any thread.
pub(crate) type Input = Box<dyn Read + Send>;

/// Opens a log, decompressed if it is zstd or gzip. The bar counts bytes of the file itself.
pub(crate) fn open(path: &Path) -> Result<(hartrace_executions::Input, ProgressBar), Failure> {
    let (raw, bar): (Input, _) = if is_standard(path) {
        (Box::new(io::stdin()), ProgressBar::hidden())
    } else {
        reads(path)?;
        let file = limits::open(path).map_err(|e| unreadable(path, &e))?;
        let bar = progress(file.metadata().map_or(0, |meta| meta.len()));
        (Box::new(bar.wrap_read(file)), bar)
    };
    let plain = decompress(Box::new(BufReader::with_capacity(1 << 16, raw)));
    Ok((plain.map_err(|e| unreadable(path, &e))?, bar))
}

/// Whether a file is compressed, to judge by its name.
fn is_compressed(path: &Path) -> bool {
    !is_standard(path) && described::is_compressed(path)
}

/// Whether a regular file starts as those of zstd do. A capture may start with any bytes.
fn looks_compressed(path: &Path) -> bool {
    let mut start = [0; 4];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == [0x28, 0xb5, 0x2f, 0xfd]
}

/// A capture that is read on demand.
pub(crate) struct Capture<R = Input> {
    pub(crate) input: R,
    pub(crate) bar: ProgressBar,
    /// Reading moves the bar: only the reader knows how far it is in a compressed file.
    moving: bool,
}

impl<R> Capture<R> {
    /// A capture without progress.
    pub(crate) fn of(input: R) -> Self {
        Self { input, bar: ProgressBar::hidden(), moving: false }
    }

    /// The same capture, read in another way.
    pub(crate) fn map<S>(self, wrap: impl FnOnce(R) -> S) -> Capture<S> {
        let Self { input, bar, moving } = self;
        Capture { input: wrap(input), bar, moving }
    }

    /// Shows the number of bytes so far.
    pub(crate) fn progress(&self) -> impl Fn(u64) + Send + use<R> {
        let bar = if self.moving { ProgressBar::hidden() } else { self.bar.clone() };
        move |bytes| bar.set_position(bytes)
    }
}

impl Capture {
    /// Opens a capture.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if is_standard(path) {
            return Ok(Self::of(Box::new(CaptureReader::new(io::stdin(), name(path)))));
        }
        reads(path)?;
        let file = limits::open(path).map_err(|e| unreadable(path, &e))?;
        let bar = progress(file.metadata().map_or(0, |meta| meta.len()));
        let moving = is_compressed(path);
        if !moving && looks_compressed(path) {
            let (name, hint) = (name(path), "a name that ends with .zst");
            warn(format_args!("{name}: this looks like a file of zstd; if it is, try {hint}"));
        }
        let input: Input = if moving {
            let decoder = zstd::Decoder::new(bar.wrap_read(file));
            Box::new(decoder.map_err(|e| unreadable(path, &e))?)
        } else {
            Box::new(file)
        };
        Ok(Self { input, bar, moving })
    }
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    reads(path)?;
    if is_compressed(path) {
        let all = limits::open(path).and_then(|file| decompress_all(file, STREAM_BYTES));
        return all.map_err(|e| unreadable(path, &e))?.ok_or_else(|| {
            Failure::input(format_args!("more than {} MiB when decompressed", STREAM_BYTES >> 20))
                .at(name(path))
                .hint("the file after `zstd -d`, if there is enough memory for it")
        });
    }
    let bytes = match is_standard(path) {
        true => limits::read_up_to(io::stdin(), STREAM_BYTES),
        false => limits::read_file(path),
    };
    bytes.map_err(|e| unreadable(path, &e))
}

/// The files that are given: they may be compressed, one may be standard input, and none may be an output.
pub(crate) struct Given;

impl Files for Given {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read(path).map_err(io::Error::other)
    }

    fn read_text(&self, path: &Path, limit: u64) -> io::Result<String> {
        let bytes = read_text(path, limit).map_err(io::Error::other)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn name(&self, path: &Path) -> String {
        name(path)
    }
}

/// Reads a whole text, which has a limit: see [`limits`].
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let bytes = match is_standard(path) {
        true => limits::read_up_to(io::stdin(), limit),
        false => limits::open(path).and_then(|file| limits::read_up_to(file, limit)),
    };
    bytes.map_err(|e| unreadable(path, &e))
}

/// Endings of sources, which hartrace writes into folders of its own only.
const SOURCES: [&str; 13] =
    ["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "s", "S", "rs", "go", "py", "ld"];

/// Checks that an output does not replace a program or a source: somebody has made it, and there may be no other copy.
fn check_work(path: &Path) -> Result<(), Failure> {
    if is_standard_output(path) || !path.is_file() {
        return Ok(());
    }
    let is_source = path.extension().is_some_and(|own| SOURCES.iter().any(|known| own == *known));
    match is_source || start(path, 4).is_some_and(|start| start == "ELF") {
        true => Err(not_ours(path).hint("another name, or remove that file first")),
        false => Ok(()),
    }
}

/// Opens an output for writing, which is there once it is finished.
pub(crate) fn create(path: &Path) -> Result<Output, Failure> {
    claims().check(path)?;
    check_work(path)?;
    Ok(Output::create(path)?)
}

/// The same in a folder that is created if there is none.
pub(crate) fn create_new(path: &Path) -> Result<Output, Failure> {
    claims().check(path)?;
    create_folder(path)?;
    create(path)
}

/// Opens a capture for writing. Its description is written with it.
pub(crate) fn create_capture(path: &Path) -> Result<CaptureOutput, Failure> {
    check_capture(path)?;
    Ok(CaptureOutput::create(path)?)
}

/// Checks that no input is lost if a capture and its description are written, and that it can be read again.
pub(crate) fn check_capture(path: &Path) -> Result<(), Failure> {
    if is_compressed(path) {
        let name = path.with_extension("");
        return Err(Failure::usage("captures are not written compressed")
            .at(output_name(path))
            .hint(format_args!("-o {0}, and then `zstd {0}`", name.display())));
    }
    claims().check(path)?;
    check_work(path)?;
    Ok(claims().check(&Description::place(path))?)
}

/// Checks that a folder has no files of these names, or is one that the same command has filled before.
pub(crate) fn check_folder<'a>(
    folder: &Path,
    names: impl IntoIterator<Item = &'a str>,
    is_ours: impl Fn(&Path) -> bool,
) -> Result<(), Failure> {
    let mut there = names.into_iter().map(|name| folder.join(name)).filter(|path| path.exists());
    match there.next().filter(|_| !is_ours(folder)) {
        Some(other) => Err(not_ours(&other).hint("a new folder for -o")),
        None => Ok(()),
    }
}

/// There is something that nobody asked to replace.
pub(crate) fn not_ours(path: &Path) -> Failure {
    Failure::usage("there is a file of this name, which hartrace has not written").at(name(path))
}

/// Whether a file has a text in its first bytes.
pub(crate) fn starts_with(path: &Path, text: &str) -> bool {
    start(path, 1 << 12).is_some_and(|start| start.contains(text))
}

/// The first bytes of a file that may be replaced afterwards.
pub(crate) fn start(path: &Path, len: u64) -> Option<String> {
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(len).read_to_end(&mut start)).ok()?;
    Some(String::from_utf8_lossy(&start).into_owned())
}

/// Writes a file in a folder that is created if there is none.
pub(crate) fn write_new(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    if let Err(conflict) = claims().check(path) {
        // An input that would be the same afterwards may stay.
        let is_same = limits::read_file(path).is_ok_and(|found| found == contents.as_ref());
        return if is_same { Ok(()) } else { Err(conflict.into()) };
    }
    Ok(Output::write_new(path, contents)?)
}

/// Writes a file, or to standard output.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    claims().check(path)?;
    Ok(Output::write(path, contents)?)
}

/// Standard output, buffered even where it is a terminal.
pub(crate) fn stdout() -> BufWriter<StandardOutput> {
    BufWriter::with_capacity(1 << 16, StandardOutput::new())
}

/// Where a command reports on what it has written: standard output, unless that is an output or that of a program.
pub(crate) fn summary() -> Box<dyn Write> {
    let is_output = claims().outputs().iter().any(|path| is_standard_output(path));
    match is_output || STDOUT_IS_TAKEN.load(Ordering::Relaxed) {
        true => Box::new(io::stderr()),
        false => Box::new(stdout()),
    }
}

#[cfg(test)]
#[path = "../tests/unit/files.rs"]
mod tests;
