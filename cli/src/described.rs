//! Captures with what is known of them, as the command line names them.

use crate::args::StreamArgs;
use crate::failure::Failure;
use crate::files::{self, Capture};
use crate::{image, params};
use hartrace_capture::bundle::BundleError;
use hartrace_capture::described::{Content, Described, DescribedError};
use hartrace_capture::description::{Description, Traced};
use hartrace_capture::params::Setup;
use hartrace_capture::programs::{Code, Placed};
use std::io::Cursor;
use std::path::Path;

/// Looks for the description of a capture.
pub(crate) fn find(path: &Path) -> Result<Described, Failure> {
    match files::is_standard(path) {
        true => Ok(Described::unknown(path, files::name(path))),
        false => Ok(Described::find(path)?),
    }
}

/// Looks for everything about a stream: options come first, then the file of parameters or the description.
/// A ring buffer is put in order.
pub(crate) fn stream(path: &Path, args: &StreamArgs) -> Result<(Described, Setup), Failure> {
    let mut described = find(path)?;
    let mut setup = params::setup(args, Some(&described))?;
    order(&mut described, args, &mut setup)?;
    Ok((described, setup))
}

/// Puts a ring buffer in order, if the capture is said to be one.
pub(crate) fn order(
    described: &mut Described,
    args: &StreamArgs,
    setup: &mut Setup,
) -> Result<(), Failure> {
    let Some(oldest) = args.ring else { return Ok(()) };
    let bytes = read(described)?;
    described.order(oldest, bytes, setup).map_err(|error| {
        let failure = Failure::input(error).at(&described.name);
        failure.hint("--ring OFFSET: the write pointer of the trace memory, minus its start")
    })
}

/// Opens a capture.
pub(crate) fn open(described: &Described) -> Result<Capture, Failure> {
    match described.content()? {
        Content::File(path) => Capture::open(path),
        Content::Bytes(bytes) => Ok(Capture::of(Box::new(Cursor::new(bytes)))),
    }
}

/// Reads a whole capture.
pub(crate) fn read(described: &Described) -> Result<Vec<u8>, Failure> {
    match described.content()? {
        Content::File(path) => files::read(path),
        Content::Bytes(bytes) => Ok(bytes),
    }
}

/// Reads the programs that a description names.
pub(crate) fn code(described: &Described) -> Result<Vec<Code>, Failure> {
    let hint = "--elf PROG, with the program that was traced";
    described.code(|path| files::read(path).map_err(|error| error.hint(hint)))
}

/// Writes the description of a capture beside it, with programs and bare code as the command line names them.
pub(crate) fn describe_placed(
    capture: &Path,
    description: Description,
    programs: &[Placed],
    bare: &[Placed],
) -> Result<(), Failure> {
    let code = image::placed(programs, bare)?;
    let paths = programs.iter().chain(bare).map(|placed| &placed.path);
    let traced =
        paths.zip(&code).map(|(path, code)| Traced { path, bytes: &code.bytes, at: code.at });
    describe(capture, description, &traced.collect::<Vec<_>>())
}

/// Writes the description of a capture beside it. `programs` are the traced ones.
pub(crate) fn describe(
    capture: &Path,
    description: Description,
    programs: &[Traced<'_>],
) -> Result<(), Failure> {
    if files::is_standard(capture) {
        return Ok(());
    }
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into());
    description
        .write(capture, ["hartrace".into()].into_iter().chain(words), programs)
        .map_err(|error| Failure::write(Description::place(capture).display(), &error))
}

impl From<DescribedError> for Failure {
    fn from(error: DescribedError) -> Self {
        match error {
            DescribedError::Package(name) => Self::input("this is a package of CoreSight trace")
                .at(name)
                .hint("`hartrace decode`, which reads it"),
            DescribedError::Unreadable { path, error } => files::unreadable(&path, &error),
            DescribedError::Bundle(error) => error.into(),
            DescribedError::Program { name, error } => Self::input(error)
                .at(name)
                .hint("the program that was traced, or --elf PROG to decode with another"),
            error => Self::input(error),
        }
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Description(error) => error.into(),
            error => Self::input(error),
        }
    }
}
