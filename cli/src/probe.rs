//! `hartrace probe`.

use crate::args::{ProbeArgs, StreamArgs};
use crate::described;
use crate::failure::{Failure, Status};
use crate::files;
use crate::image;
use crate::progress::bar;
use hartrace_capture::description::Description;
use hartrace_capture::params::Draft;
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
    let bar = bar(None, "{spinner} {pos} attempts to read it");
    let known = Known { image: image.as_ref(), tvec: &tvec };
    let report = Report::with_progress(&bytes, &known, &limits, &|| bar.inc(1));
    bar.finish_and_clear();
    if report.best().is_none()
        && report.misfit().is_none()
        && !report.is_arm()
        && let Some(failure) = described::looks(&args.capture)
    {
        return Err(failure);
    }
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
        if let at @ 1.. = best.reading.skipped {
            let name = files::name(&args.capture);
            return Err(Failure::usage("no description was written, since this starts in the middle of a trace")
                .at(&described.name)
                .hint(format_args!(
                    "`tail -c +{} {name} > {name}.cut`, which starts with the first synchronisation, and the same with {name}.cut",
                    at.saturating_add(1)
                )));
        }
        let draft = chosen(args, best).map_err(|failure| failure.at(&described.name))?;
        write(args, draft)?;
        return Ok(Status::Clean);
    }
    Ok(match report.best() {
        Some(best) if best.is_ambiguous() => Status::Ambiguous,
        Some(_) => Status::Clean,
        None if report.is_arm() => Status::Clean,
        None => Status::Gaps,
    })
}

/// What to write: the only reading, or the one that is named.
fn chosen(args: &ProbeArgs, best: &ETrace<'_>) -> Result<Draft, Failure> {
    let readings = best.rivals.len() + 1;
    let number = match args.reading {
        None if best.is_ambiguous() => {
            return Err(Failure::ambiguous(format_args!(
                "no description was written, since {readings} readings decode equally well"
            ))
            .hint("--reading N, if you know which is right; parameters of the encoder; or a longer capture"));
        }
        number => number.map_or(1, usize::from),
    };
    best.draft_of(number).ok_or_else(|| {
        Failure::usage(format_args!("--reading {number}, but there are only {readings} readings"))
            .hint(format_args!("a number from 1 to {readings}"))
    })
}

/// Writes the description.
fn write(args: &ProbeArgs, draft: Draft) -> Result<(), Failure> {
    let description = Description {
        draft,
        trap_vectors: args.tvec.iter().copied().collect(),
        ..Description::default()
    };
    let place = Description::place(&args.capture);
    files::claims().check(&place)?;
    let description = image::describe(&args.capture, description, &args.elf, &args.image)?;
    Ok(description.write(&args.capture)?)
}
