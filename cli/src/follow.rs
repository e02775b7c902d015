//! A capture and its program, ready for the decoder.

use crate::args::{CompatArg, FollowArgs};
use crate::capture::{self, Packet, Packets};
use crate::failure::{Failure, Status};
use crate::files;
use crate::image;
use crate::params::Setup;
use hartrace_decoder::{Config, Fault, Image, Sink, StreamPos, Tracer};
use hartrace_encap::Kind;
use hartrace_etrace::{Layout, MAX_PAYLOAD_BYTES, ParseError, Payload};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// Everything read that decoding needs.
pub(crate) struct Follow {
    pub(crate) setup: Setup,
    pub(crate) bytes: Vec<u8>,
    image: Image,
    config: Config,
}

impl Follow {
    /// Reads parameters, program and capture. `others` are inputs that will be read besides.
    pub(crate) fn open<'a>(
        args: &'a FollowArgs,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, Failure> {
        let programs = args.elf.iter().chain(&args.image).map(|placed| placed.path.as_path());
        let params = args.stream.params.as_deref();
        let inputs = programs.chain(params).chain([args.capture.as_path()]);
        files::one_standard(inputs.chain(others))?;
        let setup = Setup::new(&args.stream)?;
        setup.check_compat(CompatArg::of(args.compat))?;
        let image = image::load(&args.elf, &args.image, setup.xlen)?;
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
        Ok(Self { setup, bytes, image, config })
    }

    /// A decoder at the start of the capture.
    pub(crate) fn tracer(&self) -> Result<Tracer<'_>, Failure> {
        let mut tracer = Tracer::new(self.config.clone(), &self.image).map_err(Failure::usage)?;
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
pub(crate) fn feed<S: Sink>(
    tracer: &mut Tracer<'_>,
    layout: &Layout,
    packet: &Packet<'_>,
    sink: &mut S,
) {
    let at = packet.pos();
    match &packet.body {
        Ok(frame) if frame.header().kind != Kind::Instruction => {}
        Ok(frame) => {
            let mut bits = frame.payload();
            debug_assert!(bits.remaining() <= 8 * MAX_PAYLOAD_BYTES as u64);
            match Payload::parse(layout, tracer.options(), &mut bits) {
                Ok(payload) => tracer.feed(at, &payload, sink),
                Err(error) => tracer.damage(at, error.into(), sink),
            }
        }
        // What was lost is unknown: the tracer must not go on as if nothing was.
        Err(_) => tracer.damage(at, Fault::Frame, sink),
    }
}

/// One line on standard error.
pub(crate) fn report_gap(file: &str, at: StreamPos, cause: &dyn Display, hint: &str) {
    let StreamPos { packet, byte } = at;
    // Nobody may be reading.
    let _ =
        writeln!(io::stderr(), "{file}: byte {byte}, packet {packet}: gap: {cause}; try {hint}");
}

/// The status of a command that met this many gaps.
pub(crate) fn status(gaps: u64) -> Status {
    if gaps > 0 { Status::Gaps } else { Status::Clean }
}

/// What to try.
pub(crate) fn fault_hint(fault: &Fault) -> &'static str {
    match fault {
        Fault::Malformed(
            ParseError::NoExtension | ParseError::AmbiguousExtension | ParseError::Subformat(_),
        ) => "another f0s_width_p, or a capture from its start",
        Fault::Malformed(_) => "other --params, another unit or --framing",
        Fault::NotSynchronised => "a capture from its start; the rest is decoded from here on",
        Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
        Fault::EmptyCacheEntry(_) => "another cache_size_p, or a capture from its start",
        Fault::NoVector(_) => "--tvec PRIV=ADDR",
        Fault::TooLong(_) => "the program that was traced, or other --params",
        _ => "the program that was traced, other --params, or --compat",
    }
}
