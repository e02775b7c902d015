//! `hartrace probe`.

use crate::args::ProbeArgs;
use crate::described::{Described, describe};
use crate::failure::{Failure, Status};
use crate::files;
use crate::image::{self, Code};
use hartrace_capture::description::{At, Description, Traced};
use hartrace_capture::probe::{ETrace, Known, Limits, Report};
use hartrace_isa::Xlen;
use std::io::{Read, Write};

/// Runs the command.
pub(crate) fn run(args: &ProbeArgs) -> Result<Status, Failure> {
    let given = args.elf.iter().chain(&args.image).map(|placed| placed.path.as_path());
    files::one_standard(given.chain([args.capture.as_path()]))?;
    let described = Described::find(&args.capture)?;
    if args.write && described.description.is_some() {
        return Err(Failure::usage("the capture already has a description")
            .at(&described.name)
            .hint("without --write, or remove the description first"));
    }
    let code = code(args, &described)?;
    let xlen = xlen(args, &code);
    let programs = if code.is_empty() { None } else { Some(image::load(code, xlen)?) };
    let limits = Limits::default();
    let mut bytes = Vec::new();
    let mut input = described.open()?.input.take(limits.bytes as u64 + 1);
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

/// The code that the command line names, otherwise that of the description.
fn code(args: &ProbeArgs, described: &Described) -> Result<Vec<Code>, Failure> {
    let given = image::placed(&args.elf, &args.image)?;
    let known = given.is_empty() && described.missing_program().is_none();
    if known { described.code() } else { Ok(given) }
}

/// The register width of the first program.
fn xlen(args: &ProbeArgs, code: &[Code]) -> Xlen {
    match args.xlen.as_deref() {
        Some("32") => Xlen::Rv32,
        Some(_) => Xlen::Rv64,
        None => {
            let program = code.iter().find(|code| code.bytes.starts_with(b"\x7fELF"));
            program.map_or(Xlen::Rv64, |program| image::xlen(&program.bytes))
        }
    }
}

/// Writes the description.
fn write(args: &ProbeArgs, best: &ETrace<'_>) -> Result<(), Failure> {
    let elf = args.elf.iter().map(|placed| (placed, At::Bias(placed.address)));
    let bare = args.image.iter().map(|placed| (placed, At::Address(placed.address)));
    let mut programs = Vec::new();
    for (placed, at) in elf.chain(bare) {
        programs.push((placed, at, files::read(&placed.path)?));
    }
    let traced = programs
        .iter()
        .map(|(placed, at, bytes)| Traced { at: *at, ..Traced::new(&placed.path, bytes) });
    let description = Description {
        draft: best.draft(),
        trap_vectors: args.tvec.iter().copied().collect(),
        ..Description::default()
    };
    describe(&args.capture, description, &traced.collect::<Vec<_>>())
}
