//! Decodes a capture with its program.

use crate::args::{CompatArg, FollowArgs, Placed};
use crate::described::Described;
use crate::failure::Failure;
use crate::files::{self, Capture};
use crate::image::{self, Code};
use crate::params;
use hartrace_capture::params::Setup;
use hartrace_capture::perf::{Pieces, Recording};
use hartrace_capture::programs::{Changing, Programs};
use hartrace_capture::spaces::Timeline;
use hartrace_decoder::stream::{Decode, Decoded, StreamError};
use hartrace_decoder::{Config, Sink};
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::Xlen;
use hartrace_report::html::About;
use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

/// Approximate bytes in a part of a capture, where results are printed as they come.
pub(crate) const SMALL: usize = 1 << 16;

/// The same where there is one result at the end. Parts are large, since what one part has learnt of the
/// program is not known to the next.
pub(crate) const LARGE: usize = 1 << 22;

/// Everything that decoding needs, except the capture.
pub(crate) struct Follow {
    pub(crate) setup: Setup,
    pub(crate) programs: Programs,
    pub(crate) threads: NonZeroUsize,
    /// The capture, for messages.
    pub(crate) name: String,
    /// What is known of it.
    pub(crate) about: About,
    config: Config,
}

impl Follow {
    /// Reads parameters and program, and opens the capture. `others` are further inputs of the
    /// command.
    pub(crate) fn open<'a>(
        args: &'a FollowArgs,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(Self, Capture), Failure> {
        let contexts = args.context_elf.iter().map(|(_, placed)| placed);
        let programs = args.elf.iter().chain(&args.image).chain(contexts);
        let programs = programs.map(|placed| placed.path.as_path());
        let params_file = args.stream.params.as_deref();
        let path = args.capture()?;
        let inputs = programs.chain(params_file).chain([path]);
        files::one_standard(inputs.chain(others))?;
        let mut described = Described::find(path)?;
        let mut setup = described.setup(&args.stream)?;
        described.order(&args.stream, &mut setup)?;
        setup.compat = CompatArg::of(args.compat, setup.compat);
        params::check_compat(&setup)?;
        if setup.params.nocontext_p && !args.context_elf.is_empty() {
            return Err(Failure::usage("--context-elf, but the trace has no contexts")
                .hint("--elf, or nocontext_p = 0 and context_width_p among the parameters"));
        }
        let code = image::code(args, &described)?;
        if code.is_empty() && args.events.events.is_none() {
            return Err(Failure::usage("a trace cannot be followed without the program")
                .hint("--elf PROG, or --image FILE@ADDR for bare code"));
        }
        let about = About {
            command: described.description.as_ref().and_then(|known| known.command.clone()),
            ..about(&described.name, code.iter().map(|code| code.name.clone()))
        };
        let mut programs = load(args, code, setup.xlen)?;
        if let Some(changing) = image::changing(&args.events, &setup)? {
            programs.change(changing);
        }
        let capture = described.open()?;
        let config = config(args, &setup, args.trap_vectors(described.description.as_ref()));
        let threads = args.threads();
        let name = described.name;
        Ok((Self { setup, programs, threads, name, about, config }, capture))
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
        let mut setup = params::recorded(&args.stream, recording)?;
        setup.compat = CompatArg::of(args.compat, setup.compat);
        params::check_compat(&setup)?;
        let code = image::placed(elf, &args.image)?;
        let about = about(&files::name(path), code.iter().map(|code| code.name.clone()));
        let mut programs = load(args, code, setup.xlen)?;
        programs.change(Changing::recorded(timeline, &setup.params));
        let config = config(args, &setup, args.trap_vectors(None));
        let (threads, name) = (args.threads(), files::name(path));
        Ok(Self { setup, programs, threads, name, about, config })
    }

    /// Decodes a capture in parts of about `size` bytes. Each part goes to a sink that `sink` makes,
    /// and the sinks go to `join`, in order. Breaks when `join` does, and returns its errors.
    pub(crate) fn run<S: Sink + Send>(
        &self,
        capture: Capture<impl Read + Send>,
        size: usize,
        sink: impl Fn() -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, Failure> + Send,
    ) -> Result<ControlFlow<()>, Failure> {
        let transport = self.setup.transport.stream();
        let decode = Decode {
            // In force until the first support packet, which a capture may lack.
            options: self.setup.options,
            threads: self.threads,
            part: size,
            ..Decode::new(self.config.clone(), self.programs.images(), transport)
        };
        let Capture { input, bar, moving } = capture;
        let outcome = decode.run(
            input,
            |_| sink(),
            |decoded| {
                if !moving {
                    bar.set_position(decoded.bytes);
                }
                match join(decoded) {
                    Ok(ControlFlow::Continue(())) => Ok(()),
                    Ok(ControlFlow::Break(())) => Err(None),
                    Err(failure) => Err(Some(failure)),
                }
            },
        );
        bar.finish_and_clear();
        self.ended(outcome)
    }

    /// The same for E-Trace in a recording of perf.
    pub(crate) fn run_pieces<S: Sink + Send>(
        &self,
        recording: &Recording,
        sink: impl Fn() -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, Failure> + Send,
    ) -> Result<ControlFlow<()>, Failure> {
        let pieces = Pieces {
            recording,
            programs: &self.programs,
            config: self.config.clone(),
            options: self.setup.options,
            transport: self.setup.transport.stream(),
            threads: self.threads,
        };
        let outcome = pieces.run(sink, |decoded| match join(decoded) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(None),
            Err(failure) => Err(Some(failure)),
        });
        self.ended(outcome)
    }

    fn ended(
        &self,
        outcome: Result<(), StreamError<Option<Failure>>>,
    ) -> Result<ControlFlow<()>, Failure> {
        match outcome {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(StreamError::Join(None)) => Ok(ControlFlow::Break(())),
            Err(StreamError::Join(Some(failure))) => Err(failure),
            Err(StreamError::Params(error)) => Err(Failure::usage(error)),
            Err(StreamError::Input(error)) => {
                Err(Failure::input(format_args!("cannot read: {error}")).at(&self.name))
            }
        }
    }
}

/// What is known of a capture.
fn about(capture: &str, programs: impl Iterator<Item = String>) -> About {
    About {
        capture: capture.into(),
        protocol: "E-Trace".into(),
        command: None,
        programs: programs.collect(),
    }
}

/// Loads code for the instruction set of the command line, if there is one.
fn load(args: &FollowArgs, code: Vec<Code>, xlen: Xlen) -> Result<Programs, Failure> {
    let mut programs = image::load(code, xlen)?;
    if let Some(isa) = args.isa {
        let bits = isa.xlen.bits();
        if isa.xlen != xlen {
            let what = format!("--isa of RV{bits}, but the trace is of RV{}", xlen.bits());
            return Err(Failure::usage(what).hint(format_args!("--xlen {bits}")));
        }
        programs.set_isa(isa);
    }
    Ok(programs)
}

fn config(args: &FollowArgs, setup: &Setup, vectors: BTreeMap<Privilege, u64>) -> Config {
    let usual = Config::default();
    Config {
        params: setup.params,
        unit: setup.unit,
        tvec: vectors.into_iter().map(|(level, base)| (level.0, base)).collect(),
        compat: setup.compat,
        resync: args.resync.into(),
        max_blocks: args.max_blocks.unwrap_or(usual.max_blocks),
        ..usual
    }
}
