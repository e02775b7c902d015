//! `hartrace probe`.

use crate::args::{ProbeArgs, StreamArgs};
use crate::described;
use crate::failure::{Failure, Status};
use crate::files;
use crate::image;
use hartrace_capture::description::Description;
use hartrace_capture::probe::{ETrace, Known, Limits, Report};
use hartrace_capture::programs::Code;
use hartrace_isa::Xlen;
use std::io::{Read, Write};

/// Runs the command.
pub(crate) fn run(args: &ProbeArgs) -> Result<Status, Failure> {
    let given = args.elf.iter().chain(&args.image).map(|placed| placed.path.as_path());
    files::one_standard(given.chain([args.capture.as_path()]))?;
    if args.write && files::is_standard(&args.capture) {
        return Err(Failure::usage("--write puts the description beside the capture")
            .hint("a capture in a file, or no --write"));
    }
    let mut described = described::find(&args.capture)?;
    // What a capture is, it says itself.
    described.trust();
    if args.write && described.description.is_some() {
        return Err(Failure::usage("the capture already has a description")
            .at(&described.name)
            .hint("without --write, or remove the description first"));
    }
    let mut code = image::placed(&args.elf, &args.image)?;
    if code.is_empty() && described.missing_program().is_none() {
        code = StreamArgs::default().options().code(&described, &mut Vec::new())?;
    }
    let first = || code.iter().find(|code| code.is_elf()).map_or(Xlen::Rv64, Code::xlen);
    let xlen = args.xlen.unwrap_or_else(first);
    let programs = if code.is_empty() { None } else { Some(image::load(code, xlen)?) };
    let limits = Limits::default();
    let mut bytes = Vec::new();
    let mut input = described::open(&described)?.input.take(limits.bytes as u64 + 1);
    input.read_to_end(&mut bytes).map_err(|error| files::unreadable(&args.capture, &error))?;
    let tvec: Vec<(u8, u64)> = args.tvec.iter().map(|(level, base)| (level.0, *base)).collect();
    let image = programs.as_ref().map(|programs| programs.first().1);
    let report = Report::new(&bytes, &Known { image: image.as_ref(), tvec: &tvec }, &limits);
    let mut out = files::stdout();
    match args.json {
        true => writeln!(out, "{}", report.json())?,
        false => write!(out, "{report}")?,
    }
    out.flush()?;
    if args.write {
        let best = report.best().ok_or_else(|| {
            Failure::input("no description was written, since nothing is certain enough")
                .at(&described.name)
                .hint("--elf, with the program that was traced")
        })?;
        write(args, best)?;
    }
    Ok(if report.best().is_some() || report.is_arm() { Status::Clean } else { Status::Gaps })
}

/// Writes the description.
fn write(args: &ProbeArgs, best: &ETrace<'_>) -> Result<(), Failure> {
    let description = Description {
        draft: best.draft(),
        trap_vectors: args.tvec.iter().copied().collect(),
        ..Description::default()
    };
    let place = Description::place(&args.capture);
    files::claims().check(&place)?;
    let description = image::describe(&args.capture, description, &args.elf, &args.image)?;
    Ok(description.write(&args.capture)?)
}
