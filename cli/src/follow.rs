//! A capture and its program, ready for the decoder.

use crate::args::{CompatArg, FollowArgs};
use crate::capture::{self, Packet, Packets, frame_hint};
use crate::failure::Failure;
use crate::files;
use crate::image::Programs;
use crate::params::Setup;
use hartrace_decoder::{Config, Fault, Sink, Tracer};
use hartrace_encap::Kind;
use hartrace_etrace::ParseError;
use std::path::Path;

/// Everything read that decoding needs.
pub(crate) struct Follow {
    pub(crate) setup: Setup,
    pub(crate) bytes: Vec<u8>,
    pub(crate) programs: Programs,
    config: Config,
}

impl Follow {
    /// Reads parameters, program and capture. `others` are inputs that will be read besides.
    pub(crate) fn open<'a>(
        args: &'a FollowArgs,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, Failure> {
        let contexts = args.context_elf.iter().map(|(_, placed)| placed);
        let programs = args.elf.iter().chain(&args.image).chain(contexts);
        let programs = programs.map(|placed| placed.path.as_path());
        let params = args.stream.params.as_deref();
        let inputs = programs.chain(params).chain([args.capture.as_path()]);
        files::one_standard(inputs.chain(others))?;
        let setup = Setup::new(&args.stream)?;
        setup.check_compat(CompatArg::of(args.compat))?;
        if setup.params.nocontext_p && !args.context_elf.is_empty() {
            return Err(Failure::usage("--context-elf, but the trace has no contexts")
                .hint("--elf, or nocontext_p = 0 and context_width_p among the parameters"));
        }
        let programs = Programs::load(&args.elf, &args.image, &args.context_elf, setup.xlen)?;
        let bytes = files::read(&args.capture)?;
        capture::one_source(&bytes, setup.transport)
            .map_err(|failure| failure.at(files::name(&args.capture)))?;
        let config = Config {
            params: setup.params,
            unit: setup.unit,
            tvec: args.tvec.iter().map(|(level, base)| (level.0, *base)).collect(),
            compat: CompatArg::of_decoder(args.compat),
            ..Config::default()
        };
        Ok(Self { setup, bytes, programs, config })
    }

    /// A decoder at the start of the capture.
    pub(crate) fn tracer(&self) -> Result<Tracer<'_>, Failure> {
        let mut tracer =
            Tracer::new(self.config.clone(), self.programs.images()).map_err(Failure::usage)?;
        // In force until the first support packet, which a capture may lack.
        tracer.set_options(self.setup.options);
        Ok(tracer)
    }

    /// The packets, for [`feed`].
    pub(crate) fn packets(&self) -> Packets<'_> {
        Packets::new(&self.bytes, self.setup.transport)
    }
}

/// Gives the decoder one packet, or the place where one should be.
pub(crate) fn feed<S: Sink>(tracer: &mut Tracer<'_>, packet: &Packet<'_>, sink: &mut S) {
    let at = packet.pos();
    match &packet.body {
        Ok(frame) if frame.header().kind != Kind::Instruction => {}
        Ok(frame) => tracer.feed_bits(at, frame.payload(), sink),
        // What was lost is unknown: the tracer must not go on as if nothing was.
        Err(error) => tracer.damage(at, (*error).into(), sink),
    }
}

/// What to try.
pub(crate) fn fault_hint(fault: &Fault) -> &'static str {
    match fault {
        Fault::Malformed(
            ParseError::NoExtension | ParseError::AmbiguousExtension | ParseError::Subformat(_),
        ) => "another f0s_width_p, or a capture from its start",
        Fault::Frame(error) => frame_hint(error),
        Fault::Malformed(_) => "other --params, another unit or --framing",
        Fault::NotSynchronised => "a capture from its start; the rest is decoded from here on",
        Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
        Fault::EmptyCacheEntry(_) => "another cache_size_p, or a capture from its start",
        Fault::NoVector(_) => "--tvec PRIV=ADDR",
        Fault::TooLong(_) => "the program that was traced, or other --params",
        _ => "the program that was traced, other --params, or --compat",
    }
}
