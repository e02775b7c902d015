//! What is known of a capture besides what it says itself.

use crate::capture::{Arm, Capture, Etrace, Trace};
use crate::error::OpenError;
use crate::files::{Disk, Files};
use crate::no_capture::NoCapture;
use crate::{arm, etrace};
use hartrace_capture::bundle::{self, Found};
use hartrace_capture::described::Described;
use hartrace_capture::framing::{Fields, Kind};
use hartrace_capture::params::{Draft, Given};
use hartrace_capture::perf::Recording;
use hartrace_capture::programs::Placed;
use hartrace_capture::ring::Ring;
use hartrace_decoder::Resync;
use hartrace_encap::coresight::Mode;
use hartrace_etrace::Compat;
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::{Isa, Xlen};
use hartrace_spaces::Holds;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

/// How to open a capture. A capture with a description beside it, a bundle, a snapshot and a package need none of this; what
/// is given takes precedence over what they say.
///
/// ```no_run
/// let capture = hartrace::Options::default()
///     .program("firmware.elf")
///     .parameters("encoder.toml")
///     .open("firmware.trace")?;
/// # Ok::<(), hartrace::OpenError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// Programs, with what is added to their addresses. Without any, they are those of the description.
    pub programs: Vec<Placed>,
    /// Bare code, with its addresses.
    pub images: Vec<Placed>,
    /// Programs of single contexts, in addition to all others.
    pub context_programs: Vec<(u64, Placed)>,
    /// A file with the encoder's parameters.
    pub parameters: Option<PathBuf>,
    /// The same, if it has been read.
    pub draft: Option<Draft>,
    /// The width of registers.
    pub xlen: Option<Xlen>,
    /// Extensions of the hart, if not as the programs list them.
    pub isa: Option<Isa>,
    /// How payloads are framed.
    pub framing: Option<Kind>,
    /// Fields of the framing, among them the source to select.
    pub fields: Fields,
    /// The capture starts in the middle of a frame.
    pub find_sync: bool,
    /// The capture is a ring buffer that has wrapped.
    pub ring: Option<Ring>,
    /// The quirks of a reference model.
    pub compat: Option<Compat>,
    /// Contents of the trap vector registers, for implicit exceptions.
    pub trap_vectors: BTreeMap<Privilege, u64>,
    /// A log of what changed while the program ran.
    pub events: Option<PathBuf>,
    /// What context identifiers are.
    pub context_id: Option<Holds>,
    /// Where to continue after a gap.
    pub resync: Resync,
    /// The most blocks of code to follow for one packet.
    pub max_blocks: Option<u64>,
    /// Threads to decode on, if not one for each core.
    pub threads: Option<NonZeroUsize>,
    /// The trace buffer of a snapshot or package, if not the first.
    pub buffer: Option<String>,
    /// How frames are found in that buffer, if not as its format says.
    pub frames: Option<Mode>,
    /// Only the packets of a snapshot or package are of interest, so that its memory is not read.
    pub only_packets: bool,
    /// Where the files of a recorded machine are, if not here.
    pub sysroot: Option<PathBuf>,
    /// Folders with files by build identifier, as perf keeps them in `~/.debug`.
    pub build_ids: Vec<PathBuf>,
    /// Names of functions stay as the linker has them: `_Z3addii` instead of `add(int, int)`.
    pub raw_names: bool,
    /// Reads files.
    pub files: Arc<dyn Files>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            programs: Vec::new(),
            images: Vec::new(),
            context_programs: Vec::new(),
            parameters: None,
            draft: None,
            xlen: None,
            isa: None,
            framing: None,
            fields: Fields::default(),
            find_sync: false,
            ring: None,
            compat: None,
            trap_vectors: BTreeMap::new(),
            events: None,
            context_id: None,
            resync: Resync::default(),
            max_blocks: None,
            threads: None,
            buffer: None,
            frames: None,
            only_packets: false,
            sysroot: None,
            build_ids: Vec::new(),
            raw_names: false,
            files: Arc::new(Disk),
        }
    }
}

impl Options {
    /// Adds a program, at the addresses that it was linked to.
    #[must_use]
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.programs.push(Placed { path: path.into(), address: 0 });
        self
    }

    /// Adds bare code at an address.
    #[must_use]
    pub fn image(mut self, path: impl Into<PathBuf>, address: u64) -> Self {
        self.images.push(Placed { path: path.into(), address });
        self
    }

    /// Sets the file of parameters.
    #[must_use]
    pub fn parameters(mut self, path: impl Into<PathBuf>) -> Self {
        self.parameters = Some(path.into());
        self
    }

    /// Selects a source.
    #[must_use]
    pub fn source(mut self, id: u16) -> Self {
        self.fields.source = Some(id);
        self
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Opens a capture of any kind: E-Trace with or without a description, or in a bundle; a snapshot or a package of an Arm
    /// system, in a folder or an archive; or a recording of Linux perf.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or if something that is needed to decode it is missing or wrong.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Capture, OpenError> {
        let path = path.as_ref();
        self.open_any(path).map_err(|error| match NoCapture::find(path, &error) {
            Some(found) => OpenError::NoCapture { path: path.into(), found },
            None => error,
        })
    }

    fn open_any(&self, path: &Path) -> Result<Capture, OpenError> {
        if is_arm(path) {
            self.check(path, "a snapshot or a package", &self.for_etrace())?;
            return Ok(Trace::Arm(Box::new(self.open_system(path)?)).into());
        }
        self.check(path, "a capture without trace buffers", &self.for_systems())?;
        if Recording::is_one(path) {
            let bytes = self.read_file(path)?;
            return Ok(self.open_recording(path, Recording::read(bytes)?)?.into());
        }
        Ok(Trace::Etrace(Box::new(self.open_etrace(Described::find(path)?)?)).into())
    }

    /// What is given that has a meaning only for E-Trace.
    fn for_etrace(&self) -> [(bool, &'static str); 9] {
        [
            (self.parameters.is_some() || self.draft.is_some(), "parameters"),
            (self.xlen.is_some(), "xlen"),
            (self.isa.is_some(), "isa"),
            (self.framing.is_some(), "framing"),
            (self.find_sync, "find_sync"),
            (self.ring.is_some(), "ring"),
            (self.compat.is_some(), "compat"),
            (!self.trap_vectors.is_empty(), "trap_vectors"),
            (!self.context_programs.is_empty(), "context_programs"),
        ]
    }

    /// What is given that has a meaning only for Arm systems.
    fn for_systems(&self) -> [(bool, &'static str); 2] {
        [(self.buffer.is_some(), "buffer"), (self.frames.is_some(), "frames")]
    }

    /// Refuses what would be ignored.
    fn check(
        &self,
        path: &Path,
        kind: &'static str,
        given: &[(bool, &'static str)],
    ) -> Result<(), OpenError> {
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => Err(OpenError::Meaningless { path: path.into(), option, kind }),
            None => Ok(()),
        }
    }

    /// Opens a stream of E-Trace, which can be decoded once. Each iterator has threads of its own; one that waits for input ends
    /// when the input does, even if the iterator has been dropped. It needs parameters and a program. `name` is for messages.
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open).
    pub fn stream(
        &self,
        name: &str,
        input: impl Read + Send + 'static,
    ) -> Result<Capture, OpenError> {
        let described = Described::unknown(Path::new(name), name.into());
        self.check(Path::new(name), "a capture without trace buffers", &self.for_systems())?;
        let mut etrace = etrace::open(self, described)?;
        etrace.stream = Some(Mutex::new(Some(Box::new(input))));
        Ok(Trace::Etrace(Box::new(etrace)).into())
    }

    /// Opens a capture of E-Trace with what is known of it.
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open).
    pub fn open_etrace(&self, described: Described) -> Result<Etrace, OpenError> {
        etrace::open(self, described)
    }

    /// Opens a snapshot or a package of an Arm system.
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open).
    pub fn open_system(&self, path: &Path) -> Result<Arm, OpenError> {
        arm::system(self, path)
    }

    /// Opens a recording of Linux perf.
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open).
    pub fn open_recording(&self, path: &Path, recording: Recording) -> Result<Trace, OpenError> {
        arm::recording(self, path, recording)
    }

    /// Whether a program or other code is given.
    pub fn has_program(&self) -> bool {
        let fixed = [&self.programs, &self.images].iter().any(|all| !all.is_empty());
        fixed || !self.context_programs.is_empty() || self.events.is_some()
    }

    /// The files with code that are given.
    pub fn program_files(&self) -> impl Iterator<Item = &Path> {
        let contexts = self.context_programs.iter().map(|(_, placed)| placed);
        let all = self.programs.iter().chain(&self.images).chain(contexts);
        all.map(|placed| placed.path.as_path())
    }

    /// The number of threads: one for each core unless it is set.
    pub(crate) fn thread_count(&self) -> NonZeroUsize {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(cores)
    }

    /// What is given of a stream besides its file of parameters.
    pub fn given(&self) -> Given {
        Given {
            xlen: self.xlen,
            framing: self.framing,
            fields: self.fields.clone(),
            find_sync: self.find_sync || self.ring.is_some(),
        }
    }

    pub(crate) fn read_file(&self, path: &Path) -> Result<Vec<u8>, OpenError> {
        let read = self.files.read(path);
        read.map_err(|error| OpenError::Unreadable { path: path.into(), error })
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("programs", &self.programs).finish_non_exhaustive()
    }
}

/// Whether a path leads to a snapshot or a package of an Arm system.
fn is_arm(path: &Path) -> bool {
    match bundle::find(path) {
        Ok(Found::Package) => true,
        Ok(Found::Other) => path.is_dir(),
        Ok(Found::Bundle(_)) | Err(_) => false,
    }
}
