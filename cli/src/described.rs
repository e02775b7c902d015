//! Captures with what is known of them, as the command line names them.

use crate::args::{FollowArgs, StreamArgs};
use crate::failure::{Failure, warn};
use crate::files::{self, Capture};
use hartrace::OpenError;
use hartrace::opened::NoCapture;
use hartrace_capture::bundle::BundleError;
use hartrace_capture::described::{Content, Described, DescribedError};
use hartrace_capture::description::{Description, Traced};
use hartrace_capture::params::{Setup, SetupError};
use hartrace_capture::perf::Recording;
use std::io::Cursor;
use std::path::Path;

/// Looks for the description of a capture.
pub(crate) fn find(path: &Path) -> Result<Described, Failure> {
    match files::is_standard(path) {
        true => Ok(Described::unknown(path, files::name(path))),
        false => {
            let found = Described::find(path);
            let described = match found {
                Err(DescribedError::Unreadable { .. }) if path.is_dir() => {
                    return Err(looks(path).unwrap_or_else(|| not_a_file(path)));
                }
                found => found?,
            };
            described.files().iter().try_for_each(|file| files::reads(file))?;
            Ok(described)
        }
    }
}

/// Looks for everything about a stream: options come first, then the file of parameters or the description.
/// A ring buffer is put in order.
pub(crate) fn stream(path: &Path, args: &StreamArgs) -> Result<(Described, Setup), Failure> {
    let (mut described, mut warnings) = (find(path)?, Vec::new());
    let setup = args.options().setup(&mut described, &mut warnings);
    warnings.iter().for_each(warn);
    Ok((described, setup.map_err(|error| no_capture(path, error))?))
}

/// The same for a stream that is to be followed through its program.
pub(crate) fn followed(path: &Path, args: &FollowArgs) -> Result<(Described, Setup), Failure> {
    let (mut described, mut warnings, options) = (find(path)?, Vec::new(), args.options());
    let setup = options.setup_to_follow(&mut described, &mut warnings);
    warnings.iter().for_each(warn);
    let setup = setup.map_err(|error| no_capture(path, error))?;
    if !setup.tells_its_end() {
        check_cut(options.cut(&described)?, &described.name, args.strict)?;
    }
    Ok((described, setup))
}

/// Warns if the rest of a capture may have been cut off; an error if it must not.
pub(crate) fn check_cut(cut: Option<String>, name: &str, strict: bool) -> Result<(), Failure> {
    match cut {
        Some(what) if strict => Err(Failure::gap(what).at(name)),
        Some(what) => {
            warn(format_args!("{name}: {what}"));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Says what a file is whose parameters are not known, if it does not look like a capture.
pub(crate) fn no_capture(path: &Path, error: OpenError) -> Failure {
    match error {
        OpenError::Setup { error: SetupError::NoParameters, .. } | OpenError::NoProgram => {
            looks(path).unwrap_or_else(|| error.into())
        }
        OpenError::Snapshot { .. } if path.is_dir() => looks(path).unwrap_or_else(|| error.into()),
        error => error.into(),
    }
}

fn not_a_file(path: &Path) -> Failure {
    Failure::input("a folder").at(files::name(path)).hint("a capture, in a file")
}

/// What a file is that nothing is known of, and what to try, if it does not look like a capture.
pub(crate) fn looks(path: &Path) -> Option<Failure> {
    if files::is_standard(path) {
        return None;
    }
    let name = files::name(path);
    if Recording::is_one(path) {
        let recording = Failure::usage("a recording of Linux perf").at(&name);
        return Some(recording.hint(format_args!("--perf {name} in place of CAPTURE")));
    }
    let found = NoCapture::looks(path)?;
    let hint = match &found {
        NoCapture::Program => format!(
            "`hartrace run {name} --encode ir -o TRACE`, which executes and traces it, or TRACE --elf {name}"
        ),
        NoCapture::Parameters => format!("the capture, with --params {name}"),
        NoCapture::Execution => format!("`hartrace encode {name} -o TRACE`, and then TRACE"),
        NoCapture::Packed { unpack, .. } => {
            format!("`{unpack} {name}`, and then the file without its ending")
        }
        found => found.instead(),
    };
    Some(Failure::input(found.what()).at(name).hint(hint))
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
    Ok(StreamArgs::default().options().read(described)?)
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
