//! Captures together with what is known of them, from the description beside them or from a bundle.
//!
//! ```no_run
//! use hartrace_capture::described::{Content, Described};
//! use hartrace_capture::params::Given;
//! use std::fs::File;
//! use std::io::Read;
//! use std::path::Path;
//!
//! let described = Described::find(Path::new("calls.te"))?;
//! let setup = described.setup(None, &Given::default())?;
//! let code = described.code(|path| Ok::<_, Box<dyn std::error::Error>>(std::fs::read(path)?))?;
//! described.check_length()?;
//! let mut bytes = Vec::new();
//! match described.content()? {
//!     Content::File(path) => described.checked(File::open(path)?).read_to_end(&mut bytes)?,
//!     Content::Bytes(stored) => described.checked(&stored[..]).read_to_end(&mut bytes)?,
//! };
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::bundle::{self, Bundle, BundleError, Found};
use crate::contents::{CaptureReader, OtherCapture};
use crate::description::{At, Description, Different, KernelCode, ProgramFile};
use crate::limits;
use crate::output;
use crate::params::{Draft, Given, Setup, SetupError};
use crate::programs::Code;
use crate::ring::{self, Ring, RingError};
use crate::text::shown;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A capture, and its description if it has one.
#[derive(Debug)]
pub struct Described {
    /// The capture, for messages.
    pub name: String,
    /// Its description.
    pub description: Option<Description>,
    place: Place,
    /// The description, for messages, and for its programs, which are beside it.
    file: PathBuf,
    /// The capture, if it is a ring buffer: oldest first.
    ring: Option<Vec<u8>>,
    /// Whether the capture need not be the one that is described.
    trusted: bool,
}

/// Where a capture is.
#[derive(Debug)]
enum Place {
    File(PathBuf),
    Bundle(Box<Bundle>),
}

/// The bytes of a capture, or where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// All of a file.
    File(&'a Path),
    /// These bytes: a capture in a bundle, or a ring buffer that was put in order.
    Bytes(Vec<u8>),
}

/// Why the description of a capture cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DescribedError {
    /// It is a package of CoreSight trace, which [`snapshot`](crate::snapshot) reads.
    #[error("{0}: this is a package of CoreSight trace")]
    Package(String),
    /// The capture or its description cannot be read.
    #[error("{}: cannot read: {error}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The description is wrong, or what is in a bundle that was opened.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The bundle is wrong.
    #[error("{name}: {error}")]
    InBundle {
        /// The bundle.
        name: String,
        /// What is wrong in it.
        error: BundleError,
    },
    /// The capture is not the one that is described.
    #[error("{name}: {error}")]
    Capture {
        /// The capture.
        name: String,
        /// In what it differs.
        error: OtherCapture,
    },
    /// A program is not the one that was traced.
    #[error("{name}: {error}")]
    Program {
        /// The program.
        name: String,
        /// In what it differs.
        error: Different,
    },
}

impl Described {
    /// Looks for the description of a capture.
    ///
    /// # Errors
    ///
    /// If there is no such capture, or if it has a description that cannot be read or understood.
    pub fn find(path: &Path) -> Result<Self, DescribedError> {
        let name = shown(path);
        let unreadable = |error| DescribedError::Unreadable { path: path.to_owned(), error };
        let known = fs::metadata(path);
        let in_bundle = |error| DescribedError::InBundle { name: name.clone(), error };
        match bundle::find(path).map_err(in_bundle)? {
            Found::Other if known.as_ref().is_ok_and(fs::Metadata::is_dir) => {
                return Err(unreadable(io::ErrorKind::IsADirectory.into()));
            }
            Found::Other => {}
            Found::Package => return Err(DescribedError::Package(name)),
            Found::Bundle(bundle) => {
                return Ok(Self {
                    file: path.join(&bundle.name),
                    name: shown(&path.join(&bundle.capture)),
                    description: Some(bundle.description.clone()),
                    place: Place::Bundle(bundle),
                    ring: None,
                    trusted: false,
                });
            }
        }
        let unknown = Self::unknown(path, name);
        let mut places = Description::places(path).into_iter();
        let Some(file) = places.find(|place| place.is_file()) else {
            return known.map(|_| unknown).map_err(unreadable);
        };
        let text = limits::read_document(&file)
            .map_err(|error| DescribedError::Unreadable { path: file.clone(), error })?;
        let text = String::from_utf8_lossy(&text);
        let description = Description::parse(&text, &shown(&file));
        let description = description.map_err(BundleError::from)?;
        // Only then is it certain whether there is a capture.
        let place = match output::complete(path, &description.capture).map_err(unreadable)? {
            Some(elsewhere) => Place::File(elsewhere),
            None => unknown.place,
        };
        if let Place::File(path) = &place {
            fs::metadata(path).map_err(unreadable)?;
        }
        Ok(Self { description: Some(description), file, place, ..unknown })
    }

    /// A capture that nothing is known of; `name` is for messages.
    pub fn unknown(path: &Path, name: String) -> Self {
        let place = Place::File(path.into());
        Self { name, description: None, place, file: PathBuf::new(), ring: None, trusted: false }
    }

    /// The capture may be another one than the description is of.
    pub fn trust(&mut self) {
        self.trusted = true;
    }

    /// Checks that the capture has the length of the one that is described, if it is a file and not compressed.
    ///
    /// # Errors
    ///
    /// If it has not.
    pub fn check_length(&self) -> Result<(), DescribedError> {
        let (Place::File(path), Some(known), false) =
            (&self.place, &self.description, self.trusted)
        else {
            return Ok(());
        };
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let Some(found) = found.filter(|_| !is_compressed(path)) else { return Ok(()) };
        known.capture.check_length(found.len()).map_err(|difference| DescribedError::Capture {
            name: self.name.clone(),
            error: OtherCapture { description: self.file.display().to_string(), difference },
        })
    }

    /// Reads the capture from `input`, which is decompressed. Its end is an error if it is not the capture that is
    /// described.
    pub fn checked<R: Read>(&self, input: R) -> CaptureReader<R> {
        let reader = CaptureReader::new(input, self.name.clone());
        match &self.description {
            // A ring buffer was read, and put in order since.
            Some(known) if !self.trusted && self.ring.is_none() => {
                reader.checked(known.capture.clone(), self.file.display().to_string())
            }
            _ => reader,
        }
    }

    /// Returns the number of instructions that all of the capture decodes to, if that is known.
    pub fn instructions(&self) -> Option<u64> {
        let known = self.description.as_ref().filter(|_| !self.trusted && self.ring.is_none());
        known?.capture.instructions
    }

    /// Returns the files that this is read from: the capture, its description and the programs that it names.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.place {
            Place::File(path) => {
                let description = self.file().map(Path::to_owned);
                let programs = self.programs().map(|program| self.beside(program));
                [path.clone()].into_iter().chain(description).chain(programs).collect()
            }
            // All of them are in the archive.
            Place::Bundle(_) => vec![self.file.with_file_name("")],
        }
    }

    /// Completes parameters with what is `given` elsewhere. Without `params` they are those of the
    /// description.
    ///
    /// # Errors
    ///
    /// If something is missing, or does not fit together.
    pub fn setup(&self, params: Option<Draft>, given: &Given) -> Result<Setup, SetupError> {
        let described = || Some(self.description.as_ref()?.draft.clone());
        Setup::new(params.or_else(described), given)
    }

    /// Puts a ring buffer with these bytes in order. From then on it is the content. The modes are those of
    /// the first support packet in it, since the one at the start of the trace may be overwritten.
    ///
    /// # Errors
    ///
    /// If the oldest byte is not in the buffer, or cannot be found.
    pub fn order(
        &mut self,
        ring: Ring,
        mut bytes: Vec<u8>,
        setup: &mut Setup,
    ) -> Result<(), RingError> {
        let framing = setup.transport.framing;
        ring.order(&mut bytes, framing)?;
        setup.options = ring::modes(&bytes, framing, &setup.layout).unwrap_or(setup.options);
        self.ring = Some(bytes);
        Ok(())
    }

    /// Returns the capture, or where it is.
    ///
    /// # Errors
    ///
    /// If it cannot be read from its bundle.
    pub fn content(&self) -> Result<Content<'_>, BundleError> {
        Ok(match (&self.ring, &self.place) {
            (Some(bytes), _) => Content::Bytes(bytes.clone()),
            (None, Place::File(path)) => Content::File(path),
            (None, Place::Bundle(bundle)) => Content::Bytes(bundle.bytes()?),
        })
    }

    /// Returns the description's file, for messages; `None` if there is no description.
    pub fn file(&self) -> Option<&Path> {
        self.description.as_ref().map(|_| self.file.as_path())
    }

    /// Returns what ended the run before the program ended itself, if the description says it.
    pub fn ended_early(&self) -> Option<&str> {
        self.description.as_ref()?.capture.ended_early.as_deref()
    }

    /// Returns whether the description names programs.
    pub fn has_programs(&self) -> bool {
        self.programs().next().is_some()
    }

    /// Returns a program that the description names, but that is not there.
    pub fn missing_program(&self) -> Option<PathBuf> {
        self.program_files().into_iter().find(|path| !path.is_file())
    }

    /// Returns a program that is not below the folder of the description, and that nothing there identifies: whoever has
    /// written the description may mean any file.
    pub fn unidentified_program(&self) -> Option<PathBuf> {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
        let is_below = |path: &Path| {
            let real = path.canonicalize().ok();
            real.zip(folder.as_ref()).is_some_and(|(real, folder)| real.starts_with(folder))
        };
        let programs = self.programs().filter(|program| !program.is_identified());
        match &self.place {
            Place::File(_) => {
                programs.map(|program| self.beside(program)).find(|path| !is_below(path))
            }
            Place::Bundle(_) => None,
        }
    }

    /// Returns the files of the programs that the description names; none if they are in a bundle.
    pub fn program_files(&self) -> Vec<PathBuf> {
        match &self.place {
            Place::File(_) => self.programs().map(|program| self.beside(program)).collect(),
            Place::Bundle(_) => Vec::new(),
        }
    }

    /// Returns the programs that the description names. Those that are files are read by `read`.
    ///
    /// # Errors
    ///
    /// If one cannot be read, or is not the one that was traced.
    pub fn code<E: From<DescribedError>>(
        &self,
        read: impl Fn(&Path) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<Code>, E> {
        let code = |program: &ProgramFile| {
            let path = self.beside(program);
            let bytes = match &self.place {
                Place::File(_) => read(&path)?,
                Place::Bundle(bundle) => {
                    let bytes = bundle.program(program).map_err(BundleError::from);
                    bytes.map_err(DescribedError::from)?
                }
            };
            let name = shown(&path);
            if let Err(error) = program.check(&bytes) {
                return Err(DescribedError::Program { name, error }.into());
            }
            Ok(Code { name, bytes, at: program.at, context: program.context })
        };
        self.programs().map(code).collect()
    }

    /// Returns the code that the description has itself, since it is in no file.
    pub fn kernel_code(&self) -> Vec<Code> {
        let all = self.description.iter().flat_map(|description| &description.kernel_code);
        let code = |code: &KernelCode| Code {
            name: format!("kernel code of {}", shown(&self.file)),
            bytes: code.bytes.clone(),
            at: At::Address(code.address),
            context: None,
        };
        all.map(code).collect()
    }

    /// Returns in what code differs from all programs that the description names; `None` if it is one of
    /// them or the one that another is there instead of, or if there are none.
    pub fn difference(&self, code: &Code) -> Option<Different> {
        let mut last = None;
        if self.programs().any(|program| program.is_instead_of(&code.bytes)) {
            return None;
        }
        for program in self.programs() {
            last = Some(program.check(&code.bytes).err()?);
        }
        last
    }

    /// Returns what identifies the program that was traced, if code is there in its place: it differs from all programs of
    /// the description, or is one that differs itself.
    pub fn instead_of(&self, code: &Code) -> Option<String> {
        let same = self.programs().find(|program| program.check(&code.bytes).is_ok());
        match same {
            Some(program) => program.instead_of.clone(),
            None => self.difference(code).map(|other| format!("{} {}", other.what, other.expected)),
        }
    }

    fn programs(&self) -> impl Iterator<Item = &ProgramFile> {
        self.description.iter().flat_map(|description| &description.programs)
    }

    /// Where a program is.
    fn beside(&self, program: &ProgramFile) -> PathBuf {
        self.file.with_file_name("").join(&program.file)
    }
}

/// Whether a capture is compressed: it is binary and may start with any byte, so that only its name says so.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}
