//! `hartrace encode`.

use crate::args::{CompatArg, EncodeArgs, RunArgs};
use crate::described::{Traced, describe};
use crate::failure::{Failure, Status};
use crate::files;
use crate::input;
use crate::params;
use hartrace_capture::description::{At, Description};
use hartrace_capture::params::{Draft, Setup};
use hartrace_encap::MAX_FRAME;
use hartrace_golden::{Encoded, Encoder};
use hartrace_sources::{Input, Source};
use std::collections::VecDeque;
use std::io::Write;

/// Number of rows to remember; the encoder looks back at only a few.
const REMEMBERED: usize = 64;

/// What is remembered of a row that the encoder has taken.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Seen {
    /// Line of the input; trace files have no lines.
    pub(crate) line: Option<u64>,
    pub(crate) iaddr: u64,
    time: u64,
}

/// A payload in its frame.
pub(crate) struct Sent<'a> {
    pub(crate) encoded: &'a Encoded,
    /// The row it describes, if there is one.
    pub(crate) row: Option<Seen>,
    pub(crate) frame: &'a [u8],
}

/// Runs the command.
pub(crate) fn run(args: &EncodeArgs) -> Result<Status, Failure> {
    let (setup, mut run) = Run::open(&args.run)?;
    let mut out = files::create(&args.output)?;
    let failed = |error: std::io::Error| Failure::write(files::output_name(&args.output), &error);
    run.each(&setup, &mut |sent| out.write_all(sent.frame).map_err(failed))?;
    out.flush().map_err(failed)?;
    let programs = args.elf.iter().map(|placed| Ok((placed, files::read(&placed.path)?)));
    let programs: Vec<_> = programs.collect::<Result<_, Failure>>()?;
    let traced = programs.iter().map(|(placed, bytes)| Traced {
        at: At::Bias(placed.address),
        ..Traced::new(&placed.path, bytes)
    });
    let description = Description { draft: Draft::from(&setup), ..Description::default() };
    describe(&args.output, description, &traced.collect::<Vec<_>>())?;
    Ok(Status::Clean)
}

/// An encoder at the start of its input.
pub(crate) struct Run {
    rows: Source<Input>,
    encoder: Encoder,
    bar: indicatif::ProgressBar,
}

impl Run {
    /// Opens everything that `args` names, so mistakes are reported before anything is written.
    pub(crate) fn open(args: &RunArgs) -> Result<(Setup, Self), Failure> {
        let params = args.stream.params.as_deref();
        files::one_standard(params.into_iter().chain([args.input.as_path()]))?;
        let mut setup = params::setup(&args.stream, None)?;
        setup.compat = CompatArg::of(args.compat, setup.compat);
        let config = params::encoder(&setup)?;
        let encoder = Encoder::new(config).map_err(|error| {
            Failure::usage(error).hint("parameters and [options] that fit together")
        })?;
        let options = input::options(&args.format, Some(setup.xlen), setup.itype_width);
        let (rows, bar) = input::open(&args.input, &options)?;
        Ok((setup, Self { rows, encoder, bar }))
    }

    /// Encodes the input and hands every frame to `sink`.
    pub(crate) fn each(
        &mut self,
        setup: &Setup,
        sink: &mut dyn FnMut(Sent<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut seen: VecDeque<Seen> = VecDeque::new();
        let mut first = 0; // row number of the first one in `seen`
        let mut packet = 0;
        let mut batch = Vec::new();
        let mut frame = [0; MAX_FRAME];
        loop {
            let row = self.rows.next_row()?;
            match &row {
                Some(row) => {
                    let block = &row.retired;
                    seen.push_back(Seen { line: row.line, iaddr: block.iaddr, time: block.time });
                    if seen.len() > REMEMBERED {
                        seen.pop_front();
                        first += 1;
                    }
                    self.encoder.retire(block, &mut |encoded| batch.push(encoded));
                }
                None => self.encoder.finish(&mut |encoded| batch.push(encoded)),
            }
            for encoded in batch.drain(..) {
                let index = encoded.row.checked_sub(first).and_then(|i| usize::try_from(i).ok());
                let row = index.and_then(|i| seen.get(i)).copied();
                let time = row.map_or(0, |seen| seen.time);
                let len = setup.transport.emit(packet, time, &encoded.bytes, &mut frame).map_err(
                    |error| {
                        Failure::usage(format_args!("packet {packet} cannot be framed: {error}"))
                            .hint("another --framing")
                    },
                )?;
                packet += 1;
                sink(Sent { encoded: &encoded, row, frame: &frame[..len] })?;
            }
            if row.is_none() {
                self.bar.finish_and_clear();
                return Ok(());
            }
        }
    }
}
