//! `hartrace encode`.

use crate::args::{EncodeArgs, RunArgs};
use crate::failure::{Failure, Status};
use crate::{files, image, input, params};
use hartrace_capture::description::Description;
use hartrace_capture::params::{Draft, Setup};
use hartrace_decoder::Image;
use hartrace_encoder::Encoder;
use hartrace_executions::{FramingError, Input, Sent, Source, encode};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &EncodeArgs) -> Result<Status, Failure> {
    let (setup, mut run) = Run::open(&args.run)?;
    let code = image::placed(&args.elf, &[])?;
    if !code.is_empty() {
        run = run.of(image::load(code, setup.xlen)?.image(0));
    }
    let mut out = files::create_capture(&args.output)?;
    run.each(&setup, |sent| Ok(out.write_all(sent.frame)?))?;
    let description = Description { draft: Draft::from(&setup), ..Description::default() };
    out.finish(image::describe(&args.output, description, &args.elf, &[])?)?;
    Ok(Status::Clean)
}

/// An encoder at the start of its input.
pub(crate) struct Run {
    rows: Source<Input>,
    encoder: Encoder,
    bar: indicatif::ProgressBar,
    /// The log, for messages.
    name: String,
}

impl Run {
    /// Opens everything that `args` names, so mistakes are reported before anything is written.
    pub(crate) fn open(args: &RunArgs) -> Result<(Setup, Self), Failure> {
        let params = args.stream.params.as_deref();
        files::one_standard(params.into_iter().chain([args.input.as_path()]))?;
        let mut setup = params::setup(&args.stream, None)?;
        setup.compat = args.compat.unwrap_or(setup.compat);
        params::check_compat(&setup)?;
        params::check_framing(&setup)?;
        if args.stream.find_sync || args.stream.ring.is_some() {
            let option = if args.stream.find_sync { "--find-sync" } else { "--ring" };
            let what = format!(
                "{option} is for captures that are read, but {} is a log",
                files::name(&args.input)
            );
            return Err(Failure::usage(what).hint(format_args!("the same without {option}")));
        }
        let encoder = Encoder::new(setup.encoder()).map_err(|error| {
            Failure::usage(error).hint("parameters and [options] that fit together")
        })?;
        let options = input::options(&args.format, Some(setup.xlen), setup.itype_width);
        let (rows, bar) = input::open(&args.input, &options)?;
        input::check(&args.format, Some(rows.format()))?;
        let name = files::name(&args.input);
        Ok((setup, Self { rows, encoder, bar, name }))
    }

    /// The log must be of this program.
    fn of(self, program: &Image) -> Self {
        Self { rows: self.rows.of(program.clone(), &self.name), ..self }
    }

    /// Encodes the input and hands every frame to `sink`.
    pub(crate) fn each(
        &mut self,
        setup: &Setup,
        sink: impl FnMut(Sent<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        encode(&mut self.rows, &mut self.encoder, &setup.transport, sink)?;
        self.bar.finish_and_clear();
        input::warn_of(self.rows.guesses(), &self.name);
        Ok(())
    }
}

impl From<FramingError> for Failure {
    fn from(error: FramingError) -> Self {
        Self::usage(error).hint("another --framing")
    }
}
