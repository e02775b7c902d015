//! Captures with what is known of them, as the command line names them.

use crate::args::{FollowArgs, StreamArgs};
use crate::failure::{Failure, warn};
use crate::files::{self, Capture};
use crate::params;
use hartrace_capture::bundle::BundleError;
use hartrace_capture::contradiction::Contradiction;
use hartrace_capture::described::{Content, Described, DescribedError, is_compressed};
use hartrace_capture::description::{Description, Traced};
use hartrace_capture::limits::DOCUMENT_BYTES;
use hartrace_capture::params::Setup;
use hartrace_capture::programs::Code;
use hartrace_etrace::Compat;
use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

/// Looks for the description of a capture.
pub(crate) fn find(path: &Path) -> Result<Described, Failure> {
    match files::is_standard(path) {
        true => Ok(Described::unknown(path, files::name(path))),
        false => {
            let described = Described::find(path)?;
            described.files().iter().try_for_each(|file| files::reads(file))?;
            Ok(described)
        }
    }
}

/// Looks for everything about a stream: options come first, then the file of parameters or the description.
/// A ring buffer is put in order.
pub(crate) fn stream(path: &Path, args: &StreamArgs) -> Result<(Described, Setup), Failure> {
    with_quirks(path, args, None)
}

/// The same for a stream that is to be followed through its program.
pub(crate) fn followed(path: &Path, args: &FollowArgs) -> Result<(Described, Setup), Failure> {
    let (described, setup) = with_quirks(path, &args.stream, args.compat)?;
    warn_of(&described, |known| known.vector_contradictions(&args.tvec));
    if !setup.tells_its_end() {
        check_rest(path, args)?;
    }
    Ok((described, setup))
}

/// Looks for the end of a trace that does not tell it. With a file of parameters, the capture is not compared with its
/// description; but if that file is a description of more bytes, the rest may have been cut off.
fn check_rest(path: &Path, args: &FollowArgs) -> Result<(), Failure> {
    let known = args.stream.params.as_deref().filter(|file| !files::is_standard(file));
    let Some(file) = known.filter(|_| !is_compressed(path)) else { return Ok(()) };
    let text = files::read_text(file, DOCUMENT_BYTES)?;
    let known = Description::parse(&String::from_utf8_lossy(&text), &files::name(file));
    // Other files of parameters are no descriptions.
    let Some(bytes) = known.ok().and_then(|known| known.capture.bytes) else { return Ok(()) };
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    let Some(found) = found.map(|found| found.len()).filter(|found| *found < bytes) else {
        return Ok(());
    };
    let what = format!(
        "the trace may be cut off: it has {found} bytes, and the one of {} has {bytes}; traces of rv_tracer do not tell where they end",
        files::name(file)
    );
    match args.strict {
        true => Err(Failure::gap(what).at(files::name(path))),
        false => {
            warn(format_args!("{}: {what}", files::name(path)));
            Ok(())
        }
    }
}

fn with_quirks(
    path: &Path,
    args: &StreamArgs,
    compat: Option<Compat>,
) -> Result<(Described, Setup), Failure> {
    let mut described = find(path)?;
    trust(&mut described, args);
    let mut setup = params::setup(args, Some(&described))?;
    setup.compat = compat.unwrap_or(setup.compat);
    warn_of(&described, |known| known.contradictions(&setup));
    order(&mut described, args, &mut setup)?;
    Ok((described, setup))
}

/// With a file of parameters, the description need not be of this capture.
pub(crate) fn trust(described: &mut Described, args: &StreamArgs) {
    if args.params.is_some() {
        described.trust();
    }
}

/// Warns of what is not as described. The description may be right.
fn warn_of(described: &Described, contradictions: impl Fn(&Description) -> Vec<Contradiction>) {
    if let (Some(known), Some(file)) = (&described.description, described.file()) {
        for other in contradictions(known) {
            warn(format_args!("{}: {other}", file.display()));
        }
    }
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
    described.check_length()?;
    let capture = match described.content()? {
        Content::File(path) => Capture::open(path)?,
        Content::Bytes(bytes) => Capture::of(Box::new(Cursor::new(bytes)) as files::Input),
    };
    Ok(capture.map(|input| Box::new(described.checked(input)) as files::Input))
}

/// Reads a whole capture.
pub(crate) fn read(described: &Described) -> Result<Vec<u8>, Failure> {
    described.check_length()?;
    let bytes = match described.content()? {
        Content::File(path) => files::read(path)?,
        Content::Bytes(bytes) => bytes,
    };
    let mut rest = described.checked(&bytes[..]);
    let checked = io::copy(&mut rest, &mut io::sink());
    checked.map_err(|error| files::unreadable(Path::new(&described.name), &error))?;
    Ok(bytes)
}

/// Reads the programs that a description names.
pub(crate) fn code(described: &Described) -> Result<Vec<Code>, Failure> {
    let hint = "--elf PROG, with the program that was traced";
    described.code(|path| files::read(path).map_err(|error| error.hint(hint)))
}

/// The description of a capture that this command makes. `programs` are the traced ones.
pub(crate) fn describe(
    capture: &Path,
    description: Description,
    programs: &[Traced<'_>],
) -> Result<Description, Failure> {
    Ok(description.made_by(capture, command(), programs)?)
}

/// The words of this command.
pub(crate) fn command() -> impl Iterator<Item = String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into());
    ["hartrace".into()].into_iter().chain(words)
}

impl From<DescribedError> for Failure {
    fn from(error: DescribedError) -> Self {
        match error {
            DescribedError::Package(name) => Self::input("this is a package of CoreSight trace")
                .at(name)
                .hint("`hartrace decode`, which reads it"),
            DescribedError::Unreadable { path, error } => files::unreadable(&path, &error),
            DescribedError::Bundle(error) => error.into(),
            DescribedError::InBundle { name, error: error @ BundleError::Damaged } => {
                Self::input(error)
                    .at(name)
                    .hint("the whole archive, or to make it again with `hartrace bundle`")
            }
            DescribedError::InBundle { name, error } => Self::input(error).at(name),
            DescribedError::Capture { name, error } => Self::other_capture(&name, &error),
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
