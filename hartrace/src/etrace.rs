//! Captures of E-Trace: everything that it takes to decode one.

use crate::capture::Etrace;
use crate::error::OpenError;
use crate::options::Options;
use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::described::{Content, Described, is_compressed};
use hartrace_capture::description::{At, Description};
use hartrace_capture::limits::{DOCUMENT_BYTES, STREAM_BYTES};
use hartrace_capture::params::{Draft, Setup, SetupError};
use hartrace_capture::perf::Recording;
use hartrace_capture::programs::{Changing, Code, Placed, Programs};
use hartrace_etrace::{Compat, Unit};
use hartrace_spaces::{Log, Timeline};
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Reads parameters and programs of a capture.
pub(crate) fn open(options: &Options, mut described: Described) -> Result<Etrace, OpenError> {
    let mut warnings = Vec::new();
    let setup = followed(options, &mut described, &mut warnings)?;
    if setup.params.nocontext_p && !options.context_programs.is_empty() {
        return Err(OpenError::NoContexts);
    }
    let code = code(options, &described, &mut warnings)?;
    if code.is_empty() && options.events.is_none() {
        return Err(OpenError::NoProgram);
    }
    let changing = changing(options, &setup, &mut warnings)?;
    let cut = if setup.tells_its_end() { None } else { rest(options, &described)? };
    let names = code.iter().map(|code| code.name.clone()).collect();
    let known = described.description.as_ref();
    let mut follow = follow(options, setup, code, changing, &mut warnings)?;
    match known {
        Some(known) if options.trap_vectors.is_empty() => follow.trap_vectors(&known.trap_vectors),
        _ => follow.trap_vectors(&options.trap_vectors),
    }
    let files = match options.has_program() {
        true => options.program_files().map(Path::to_owned).collect(),
        false => described.program_files(),
    };
    let files_of = options.files.clone();
    let recording = None;
    Ok(Etrace { follow, described, recording, names, files, warnings, cut, stream: None, files_of })
}

/// Reads parameters and programs for E-Trace in a recording of perf. `programs` are at the addresses where they were mapped;
/// `timeline` has what was mapped.
pub(crate) fn recorded(
    options: &Options,
    path: &Path,
    recording: Recording,
    programs: &[Placed],
    timeline: Timeline,
    mut warnings: Vec<String>,
) -> Result<Etrace, OpenError> {
    let place = options.parameters.as_deref();
    let mut draft = draft(options)?.ok_or(OpenError::setup(None, SetupError::NoParameters))?;
    let given = options.given();
    if let Some(bits) = recording.complete(&mut draft, &given) {
        let cpus = recording.cpus.unwrap_or(0);
        let what = format!("srcID is taken to have {bits} bits, for {cpus} CPUs");
        warnings.push(format!("{what}; --src-bits overrides it"));
    }
    let place = place.map(|file| options.files.name(file));
    let setup = Setup::new(Some(draft), &given).map_err(|error| OpenError::setup(place, error))?;
    let code = placed(options, programs, &options.images)?;
    let names = code.iter().map(|code| code.name.clone()).collect();
    let changing = Changing::recorded(timeline, &setup.params);
    let mut follow = follow(options, setup, code, Some(changing), &mut warnings)?;
    follow.trap_vectors(&options.trap_vectors);
    Ok(Etrace {
        follow,
        described: Described::unknown(path, options.files.name(path)),
        recording: Some(recording),
        names,
        files: programs.iter().map(|placed| placed.path.clone()).collect(),
        warnings,
        cut: None,
        stream: None,
        files_of: options.files.clone(),
    })
}

/// Loads programs, and decides how to follow them.
fn follow(
    options: &Options,
    mut setup: Setup,
    code: Vec<Code>,
    changing: Option<Changing>,
    warnings: &mut Vec<String>,
) -> Result<CaptureDecoder, OpenError> {
    setup.compat = options.compat.unwrap_or(setup.compat);
    // Only streams of the reference models have their quirks.
    if setup.compat != Compat::None && setup.unit != Unit::Reference {
        return Err(OpenError::Compat);
    }
    let (mut programs, overlaps) = Programs::load(code, setup.xlen)?;
    let overlaps = overlaps.iter();
    warnings.extend(overlaps.map(|overlap| format!("{overlap}; try another address or bias")));
    if let Some(isa) = options.isa {
        if isa.xlen != setup.xlen {
            return Err(OpenError::Isa { isa: isa.xlen, traced: setup.xlen });
        }
        programs.set_isa(isa);
    }
    if let Some(changing) = changing {
        programs.change(changing);
    }
    if options.raw_names {
        programs.keep_raw_names();
    }
    let mut follow = CaptureDecoder::new(setup, programs);
    follow.config.resync = options.resync;
    follow.config.max_blocks = options.max_blocks.unwrap_or(follow.config.max_blocks);
    follow.threads = options.threads.unwrap_or(follow.threads);
    Ok(follow)
}

impl Options {
    /// Everything about a stream: what is given comes first, then the file of parameters or the description. A ring buffer is
    /// put in order. What is not as described is a warning.
    ///
    /// # Errors
    ///
    /// If something is missing, or does not fit together.
    pub fn setup(
        &self,
        described: &mut Described,
        warnings: &mut Vec<String>,
    ) -> Result<Setup, OpenError> {
        setup(self, described, self.compat, warnings)
    }

    /// The same for a stream that is to be followed through its program.
    ///
    /// # Errors
    ///
    /// If something is missing, or does not fit together.
    pub fn setup_to_follow(
        &self,
        described: &mut Described,
        warnings: &mut Vec<String>,
    ) -> Result<Setup, OpenError> {
        followed(self, described, warnings)
    }

    /// Returns why the capture may be cut off, where a trace does not tell its end itself.
    ///
    /// # Errors
    ///
    /// If the file of parameters cannot be read.
    pub fn cut(&self, described: &Described) -> Result<Option<String>, OpenError> {
        rest(self, described)
    }

    /// Reads the code that is given: programs, then bare code, then the programs of single contexts. Without any, it is that
    /// of the description. What is not the traced program is a warning.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or a program of the description is another one.
    pub fn code(
        &self,
        described: &Described,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Code>, OpenError> {
        code(self, described, warnings)
    }

    /// Reads the file of parameters, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be read or understood.
    pub fn read_draft(&self) -> Result<Option<Draft>, OpenError> {
        draft(self)
    }

    /// Reads a whole capture.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not the one that is described.
    pub fn read(&self, described: &Described) -> Result<Vec<u8>, OpenError> {
        described.check_length()?;
        let bytes = match described.content()? {
            Content::File(path) => self.read_file(path)?,
            Content::Bytes(bytes) => bytes,
        };
        let mut rest = described.checked(&bytes[..]);
        let checked = io::copy(&mut rest, &mut io::sink());
        let path = Path::new(&described.name);
        checked.map_err(|error| OpenError::Unreadable { path: path.into(), error })?;
        Ok(bytes)
    }
}

fn draft(options: &Options) -> Result<Option<Draft>, OpenError> {
    if let Some(draft) = &options.draft {
        return Ok(Some(draft.clone()));
    }
    let read = |path: &Path| {
        let text = options.files.read_text(path, DOCUMENT_BYTES);
        let text = text.map_err(|error| OpenError::Unreadable { path: path.into(), error })?;
        Ok((options.files.name(path), text.into_bytes()))
    };
    let draft = |path| Draft::read_with(path, &mut |path| read(path));
    options.parameters.as_deref().map(draft).transpose()
}

fn setup(
    options: &Options,
    described: &mut Described,
    compat: Option<Compat>,
    warnings: &mut Vec<String>,
) -> Result<Setup, OpenError> {
    // With a file of parameters, the description need not be of this capture.
    if options.parameters.is_some() || options.draft.is_some() {
        described.trust();
    }
    let draft = draft(options)?;
    let place = options.parameters.as_deref().or_else(|| described.file());
    let place = place.map(|file| options.files.name(file));
    let setup = described.setup(draft, &options.given());
    let mut setup = setup.map_err(|error| match error {
        SetupError::NoParameters => OpenError::setup(Some(described.name.clone()), error),
        error => OpenError::setup(place, error),
    })?;
    setup.compat = compat.unwrap_or(setup.compat);
    if let (Some(known), Some(file)) = (&described.description, described.file()) {
        let other = known.contradictions(&setup).into_iter();
        warnings.extend(other.map(|other| format!("{}: {other}", file.display())));
    }
    options.order(described, &mut setup)?;
    Ok(setup)
}

fn followed(
    options: &Options,
    described: &mut Described,
    warnings: &mut Vec<String>,
) -> Result<Setup, OpenError> {
    let setup = setup(options, described, options.compat, warnings)?;
    if let (Some(known), Some(file)) = (&described.description, described.file()) {
        let given: Vec<_> = options.trap_vectors.iter().map(|(mode, at)| (*mode, *at)).collect();
        let other = known.vector_contradictions(&given).into_iter();
        warnings.extend(other.map(|other| format!("{}: {other}", file.display())));
    }
    Ok(setup)
}

impl Options {
    /// Puts a ring buffer in order, if the capture is said to be one.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or its oldest byte not be found.
    pub fn order(&self, described: &mut Described, setup: &mut Setup) -> Result<(), OpenError> {
        let Some(oldest) = self.ring else { return Ok(()) };
        let bytes = self.read(described)?;
        let name = described.name.clone();
        let ordered = described.order(oldest, bytes, setup);
        ordered.map_err(|error| OpenError::Ring { name, error })
    }
}

/// Looks for the end of a trace that does not tell it. With a file of parameters, the capture is not compared with its
/// description; but if that file is a description of more bytes, the rest may have been cut off.
fn rest(options: &Options, described: &Described) -> Result<Option<String>, OpenError> {
    let Some(file) = options.parameters.as_deref() else { return Ok(None) };
    let Ok(Content::File(path)) = described.content() else { return Ok(None) };
    if is_compressed(path) || !file.is_file() {
        return Ok(None);
    }
    let text = options.files.read_text(file, DOCUMENT_BYTES);
    let text = text.map_err(|error| OpenError::Unreadable { path: file.into(), error })?;
    let name = options.files.name(file);
    // Other files of parameters are no descriptions.
    let known = Description::parse(&text, &name).ok().and_then(|known| known.capture.bytes);
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|found| found.len());
    let (Some(bytes), Some(found)) = (known, found) else { return Ok(None) };
    Ok((found < bytes).then(|| {
        format!(
            "the trace may be cut off: it has {found} bytes, and the one of {name} has {bytes}; traces of rv_tracer do not tell where they end"
        )
    }))
}

fn code(
    options: &Options,
    described: &Described,
    warnings: &mut Vec<String>,
) -> Result<Vec<Code>, OpenError> {
    let mut given = placed(options, &options.programs, &options.images)?;
    for (id, placed) in &options.context_programs {
        let code = read(options, placed, At::Bias(placed.address))?;
        given.push(Code { context: Some(*id), ..code });
    }
    if given.is_empty() {
        given = described.code(|path| {
            let read = options.files.read(path);
            read.map_err(|error| OpenError::UnreadableProgram { path: path.into(), error })
        })?;
    }
    for code in &given {
        match (described.difference(code), described.instead_of(code)) {
            (Some(error), _) => warnings.push(format!("{}: {error}", code.name)),
            (None, Some(traced)) => {
                let what = "this is not the program that was traced, which is";
                warnings.push(format!("{}: {what} {traced}", code.name));
            }
            (None, None) => {}
        }
    }
    given.extend(described.kernel_code());
    Ok(given)
}

/// Reads programs, then bare code.
pub(crate) fn placed(
    options: &Options,
    programs: &[Placed],
    bare: &[Placed],
) -> Result<Vec<Code>, OpenError> {
    let programs = programs.iter().map(|placed| read(options, placed, At::Bias(placed.address)));
    let bare = bare.iter().map(|placed| read(options, placed, At::Address(placed.address)));
    programs.chain(bare).collect()
}

fn read(options: &Options, placed: &Placed, at: At) -> Result<Code, OpenError> {
    let bytes = options.read_file(&placed.path)?;
    Ok(Code { name: options.files.name(&placed.path), bytes, at, context: None })
}

/// Reads a log of what changed, if there is one.
pub(crate) fn log(options: &Options) -> Result<Option<Log>, OpenError> {
    let Some(path) = &options.events else { return Ok(None) };
    let text = options.files.read_text(path, STREAM_BYTES);
    let text = text.map_err(|error| OpenError::Unreadable { path: path.into(), error })?;
    Ok(Some(Log::parse(&path.display().to_string(), &text)?))
}

/// Reads the log of changes to the code, if there is one.
fn changing(
    options: &Options,
    setup: &Setup,
    warnings: &mut Vec<String>,
) -> Result<Option<Changing>, OpenError> {
    let (Some(log), Some(path)) = (log(options)?, &options.events) else {
        return match options.context_id {
            Some(_) => Err(OpenError::NoEvents),
            None => Ok(None),
        };
    };
    let holds = options.context_id.ok_or(OpenError::NoContextId)?;
    let changing = Changing::new(path, &log, holds, &setup.params);
    let (changing, missing) =
        changing.map_err(|error| OpenError::NoTime { path: path.clone(), error })?;
    warnings.extend(missing);
    Ok(Some(changing))
}

impl Etrace {
    /// Opens the capture. A stream can be opened once.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not the one that is described.
    pub fn input(&self) -> Result<Box<dyn Read + Send>, OpenError> {
        let described = &self.described;
        if let Some(stream) = &self.stream {
            let mut stream = stream.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let stream = stream.take().ok_or(OpenError::StreamWasRead)?;
            return Ok(Box::new(described.checked(stream)));
        }
        described.check_length()?;
        let input: Box<dyn Read + Send> = match described.content()? {
            Content::File(path) => {
                let opened = self.files_of.open(path);
                opened.map_err(|error| OpenError::Unreadable { path: path.into(), error })?
            }
            Content::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        };
        Ok(Box::new(described.checked(input)))
    }
}
