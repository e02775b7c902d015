//! Decodes a capture with its program.

use crate::args::FollowArgs;
use crate::described;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use hartrace::opened::Etrace;
use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::described::Described;
use hartrace_decoder::Count;
use hartrace_decoder::stream::{Decoded, StreamError};
use hartrace_report::Collect;
use hartrace_report::decode::{Noted, Origin, decode};
use hartrace_report::html::About;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Everything that decoding needs, except the capture.
pub(crate) struct EtraceDecoding {
    pub(crate) follow: CaptureDecoder,
    /// What is known of the capture, with its name for messages.
    pub(crate) about: About,
    /// The files of the programs; those in a bundle have none.
    pub(crate) programs: Vec<PathBuf>,
    /// The number of instructions that all of the capture decodes to, if that is known.
    pub(crate) instructions: Option<u64>,
    described: Described,
}

impl EtraceDecoding {
    /// Reads parameters and program, and opens the capture. `others` are further inputs of the
    /// command.
    pub(crate) fn open<'a>(
        args: &'a FollowArgs,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(Self, Capture), Failure> {
        let params_file = args.stream.params.as_deref();
        let path = args.capture()?;
        let inputs = args.program_files().chain(params_file).chain([path]);
        files::one_standard(inputs.chain(others))?;
        let etrace = args.options().open_etrace(described::find(path)?);
        let mut etrace = etrace.map_err(|error| described::no_capture(path, error))?;
        let capture = described::open(&etrace.described)?;
        described::check_cut(etrace.cut.take(), &etrace.described.name, args.strict)?;
        Ok((Self::of(etrace), capture))
    }

    /// What it takes to decode. Warns of what can be done without.
    pub(crate) fn of(etrace: Etrace) -> Self {
        etrace.warnings.iter().for_each(warn);
        let known = etrace.described.description.as_ref();
        let about = About {
            capture: etrace.described.name.clone(),
            protocol: "E-Trace".into(),
            command: known.and_then(|known| known.command.clone()),
            ended_early: etrace.described.ended_early().map(str::to_owned),
            programs: etrace.names,
            doubts: etrace.warnings,
            ..About::default()
        };
        let instructions = etrace.described.instructions();
        let Etrace { follow, files: programs, described, .. } = etrace;
        Self { follow, about, programs, instructions, described }
    }

    /// Opens the capture once more.
    pub(crate) fn reopen(&self) -> Result<Capture, Failure> {
        described::open(&self.described)
    }

    /// Decodes a capture in parts of about `size` bytes. Each part goes to a sink that `make` makes,
    /// and the sinks go to `join`, in order. Breaks when `join` does, and returns its errors.
    pub(crate) fn run<P: Collect + 'static>(
        &self,
        capture: Capture<impl Read + Send>,
        size: usize,
        make: impl Fn() -> Noted<P> + Sync,
        mut join: impl FnMut(Decoded<Noted<P>>) -> Result<ControlFlow<()>, Failure> + Send,
    ) -> Result<ControlFlow<()>, Failure> {
        let progress = capture.progress();
        let Capture { input, bar, .. } = capture;
        let join = |decoded: Decoded<_>| {
            progress(decoded.bytes);
            join(decoded)
        };
        let outcome = decode(&self.follow, Origin::Capture(input), size, None, &make, join);
        bar.finish_and_clear();
        outcome.map_err(|error| self.failure(error))
    }

    /// Checks that all of the capture was decoded to as many instructions as are known to be in it. A gap has been
    /// reported.
    pub(crate) fn check(&self, count: &Count, strict: bool) -> Result<Status, Failure> {
        let known = self.instructions.filter(|_| count.gaps == 0);
        let Some(known) = known.filter(|known| *known != count.instructions) else {
            return Ok(Status::Clean);
        };
        let what = format!("{} instructions, but {known} were traced", count.instructions);
        let (file, hint) = (&self.about.capture, "the program and parameters of its description");
        if strict {
            return Err(Failure::gap(what).at(file).hint(hint));
        }
        warn(format_args!("{file}: {what}; try {hint}"));
        Ok(Status::Gaps)
    }

    /// Why decoding failed.
    pub(crate) fn failure(&self, error: StreamError<impl Into<Failure>>) -> Failure {
        match error {
            StreamError::Join(error) => error.into(),
            StreamError::Params(error) => Failure::usage(error),
            StreamError::Input(error) => files::unreadable(Path::new(&self.about.capture), &error),
        }
    }
}
