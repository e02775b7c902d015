//! Captures with what is known of them, from the description beside them or from a bundle.

use crate::args::StreamArgs;
use crate::failure::{Failure, warn};
use crate::files::{self, Capture};
use crate::image::Code;
use crate::params;
use hartrace_capture::bundle::{self, Bundle, BundleError, Found};
use hartrace_capture::description::{Description, ProgramFile, Traced};
use hartrace_capture::params::Setup;
use hartrace_capture::ring::{self, RingError};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A capture, and its description if it has one.
pub(crate) struct Described {
    /// The capture, for messages.
    pub(crate) name: String,
    pub(crate) description: Option<Description>,
    place: Place,
    /// The description, for messages.
    file: PathBuf,
    /// The capture, if it is a ring buffer: oldest first.
    ring: Option<Vec<u8>>,
}

/// Where a capture is.
enum Place {
    File(PathBuf),
    Bundle(Box<Bundle>),
}

impl Described {
    /// Looks for the description of a capture.
    pub(crate) fn find(path: &Path) -> Result<Self, Failure> {
        let name = files::name(path);
        let found = if files::is_standard(path) { Found::Other } else { bundle::find(path)? };
        match found {
            Found::Other => {}
            Found::Package => {
                return Err(Failure::input("this is a package of CoreSight trace")
                    .at(name)
                    .hint("`hartrace decode`, which reads it"));
            }
            Found::Bundle(bundle) => {
                return Ok(Self {
                    file: path.join(&bundle.name),
                    name: path.join(&bundle.capture).display().to_string(),
                    description: Some(bundle.description.clone()),
                    place: Place::Bundle(bundle),
                    ring: None,
                });
            }
        }
        let mut places = Description::places(path);
        places.retain(|place| !files::is_standard(path) && place.is_file());
        let file = places.into_iter().next().unwrap_or_default();
        let place = Place::File(path.into());
        let description = match file.as_os_str().is_empty() {
            true => None,
            false => {
                let text = files::read(&file)?;
                let text = String::from_utf8_lossy(&text);
                Some(Description::parse(&text, &files::name(&file))?)
            }
        };
        Ok(Self { name, description, place, file, ring: None })
    }

    /// Everything about the stream: options come first, then the file of parameters or the description.
    pub(crate) fn setup(&self, args: &StreamArgs) -> Result<Setup, Failure> {
        let draft = self.description.as_ref().map(|description| description.draft.clone());
        params::setup(args, draft.map(|draft| (files::name(&self.file), draft)))
    }

    /// Puts a ring buffer in order, if the capture is said to be one.
    pub(crate) fn order(&mut self, args: &StreamArgs, setup: &mut Setup) -> Result<(), Failure> {
        let Some(oldest) = args.ring else { return Ok(()) };
        let mut bytes = self.read()?;
        let framing = setup.transport.framing;
        oldest.order(&mut bytes, framing).map_err(|error| self.no_ring(&error))?;
        // The support packet that says this at the start of the trace may be overwritten.
        setup.options = ring::modes(&bytes, framing, &setup.layout).unwrap_or(setup.options);
        self.ring = Some(bytes);
        Ok(())
    }

    fn no_ring(&self, error: &RingError) -> Failure {
        let failure = Failure::input(error).at(&self.name);
        failure.hint("--ring OFFSET: the write pointer of the trace memory, minus its start")
    }

    /// Opens the capture.
    pub(crate) fn open(&self) -> Result<Capture, Failure> {
        match &self.place {
            Place::File(path) if self.ring.is_none() => Capture::open(path),
            _ => Ok(Capture::of(Box::new(Cursor::new(self.read()?)))),
        }
    }

    /// Reads the whole capture.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        match (&self.ring, &self.place) {
            (Some(bytes), _) => Ok(bytes.clone()),
            (None, Place::File(path)) => files::read(path),
            (None, Place::Bundle(bundle)) => Ok(bundle.bytes().map_err(BundleError::from)?),
        }
    }

    /// Whether the description names programs.
    pub(crate) fn has_programs(&self) -> bool {
        self.programs().next().is_some()
    }

    /// A program that the description names, but that is not there.
    pub(crate) fn missing_program(&self) -> Option<PathBuf> {
        match &self.place {
            Place::File(_) => {
                self.programs().map(|program| self.beside(program)).find(|path| !path.is_file())
            }
            Place::Bundle(_) => None,
        }
    }

    /// Reads the programs that the description names.
    pub(crate) fn code(&self) -> Result<Vec<Code>, Failure> {
        self.programs().map(|program| self.program(program)).collect()
    }

    /// Warns about programs other than those that the description names.
    pub(crate) fn compare(&self, given: &[Code]) {
        for code in given {
            let mut different = None;
            let same = |program: &ProgramFile| match program.check(&code.bytes) {
                Ok(()) => true,
                Err(error) => {
                    different = Some(error);
                    false
                }
            };
            if !self.programs().any(same)
                && let Some(error) = different
            {
                warn(format_args!("{}: {error}", code.name));
            }
        }
    }

    fn programs(&self) -> impl Iterator<Item = &ProgramFile> {
        self.description.iter().flat_map(|description| &description.programs)
    }

    fn program(&self, program: &ProgramFile) -> Result<Code, Failure> {
        let path = self.beside(program);
        let name = files::name(&path);
        let bytes = match &self.place {
            Place::Bundle(bundle) => bundle.program(program).map_err(BundleError::from)?,
            Place::File(_) => files::read(&path)
                .map_err(|error| error.hint("--elf PROG, with the program that was traced"))?,
        };
        program.check(&bytes).map_err(|error| {
            let hint = "the program that was traced, or --elf PROG to decode with another";
            Failure::input(error).at(&name).hint(hint)
        })?;
        Ok(Code { name, bytes, at: program.at, context: program.context })
    }

    /// Where a program is.
    fn beside(&self, program: &ProgramFile) -> PathBuf {
        self.file.with_file_name("").join(&program.file)
    }
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

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Description(error) => error.into(),
            error => Self::input(error),
        }
    }
}
