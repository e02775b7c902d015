//! Decodes a capture with its program.

use crate::args::FollowArgs;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::{described, image, params};
use hartrace_capture::description::Description;
use hartrace_capture::follow::Follow;
use hartrace_capture::params::Setup;
use hartrace_capture::perf::Recording;
use hartrace_capture::programs::{Changing, Code, Placed};
use hartrace_decoder::Count;
use hartrace_decoder::stream::{Decoded, StreamError};
use hartrace_report::html::About;
use hartrace_report::{Collect, Noted, Origin, decode};
use hartrace_spaces::Timeline;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Everything that decoding needs, except the capture.
pub(crate) struct Following {
    pub(crate) follow: Follow,
    /// What is known of the capture, with its name for messages.
    pub(crate) about: About,
    /// The files of the programs; those in a bundle have none.
    pub(crate) programs: Vec<PathBuf>,
    /// The number of instructions that all of the capture decodes to, if that is known.
    pub(crate) instructions: Option<u64>,
}

impl Following {
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
        let (described, setup) = described::followed(path, args)?;
        if setup.params.nocontext_p && !args.context_elf.is_empty() {
            return Err(Failure::usage("--context-elf, but the trace has no contexts")
                .hint("--elf, or nocontext_p = 0 and context_width_p among the parameters"));
        }
        let code = image::code(args, &described)?;
        if code.is_empty() && args.events.events.is_none() {
            return Err(Failure::usage("a trace cannot be followed without the program")
                .hint("--elf PROG, or --image FILE@ADDR for bare code"));
        }
        let changing = image::changing(&args.events, &setup)?;
        let known = described.description.as_ref();
        let name = described.name.clone();
        let mut following = Self::new(name, args, setup, code, changing, known)?;
        following.instructions = described.instructions();
        following.programs = match args.has_program() {
            true => args.program_files().map(Path::to_owned).collect(),
            false => described.program_files(),
        };
        Ok((following, described::open(&described)?))
    }

    /// Reads parameters and programs for E-Trace in a recording of perf. `elf` are programs at the addresses
    /// where they were mapped; `timeline` has what was mapped.
    pub(crate) fn recorded(
        path: &Path,
        args: &FollowArgs,
        elf: &[Placed],
        recording: &Recording,
        timeline: Timeline,
    ) -> Result<Self, Failure> {
        let setup = params::recorded(&args.stream, recording)?;
        let code = image::placed(elf, &args.image)?;
        let changing = Changing::recorded(timeline, &setup.params);
        let following = Self::new(files::name(path), args, setup, code, Some(changing), None)?;
        let programs = elf.iter().map(|placed| placed.path.clone()).collect();
        Ok(Self { programs, ..following })
    }

    fn new(
        capture: String,
        args: &FollowArgs,
        mut setup: Setup,
        code: Vec<Code>,
        changing: Option<Changing>,
        known: Option<&Description>,
    ) -> Result<Self, Failure> {
        setup.compat = args.compat.unwrap_or(setup.compat);
        params::check_compat(&setup)?;
        let about = About {
            capture,
            protocol: "E-Trace".into(),
            command: known.and_then(|known| known.command.clone()),
            programs: code.iter().map(|code| code.name.clone()).collect(),
            ..About::default()
        };
        let mut programs = image::load(code, setup.xlen)?;
        if let Some(isa) = args.isa {
            let (bits, traced) = (isa.xlen.bits(), setup.xlen.bits());
            if bits != traced {
                let what = format!("--isa of RV{bits}, but the trace is of RV{traced}");
                return Err(Failure::usage(what).hint(format_args!("--xlen {bits}")));
            }
            programs.set_isa(isa);
        }
        if let Some(changing) = changing {
            programs.change(changing);
        }
        let mut follow = Follow::new(setup, programs);
        follow.trap_vectors(&args.trap_vectors(known));
        follow.config.resync = args.resync;
        follow.config.max_blocks = args.max_blocks.unwrap_or(follow.config.max_blocks);
        follow.threads = args.threads.unwrap_or(follow.threads);
        Ok(Self { follow, about, programs: Vec::new(), instructions: None })
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
