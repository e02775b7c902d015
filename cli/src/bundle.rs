//! `hartrace bundle`: packs a capture with its description and its programs into one archive.

use crate::args::BundleArgs;
use crate::failure::{Failure, Status};
use crate::{described, files, gaps, image};
use hartrace_capture::bundle::{self, Names};
use hartrace_capture::decode::Filling;
use hartrace_capture::description::{Description, ProgramFile};
use hartrace_capture::params::Draft;
use hartrace_report::gaps::NoSync;
use hartrace_report::stats::Tally;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &BundleArgs) -> Result<Status, Failure> {
    let path = args.follow.capture()?;
    if args.follow.stream.ring.is_some() {
        return Err(Failure::usage("a bundle holds a capture as it is, so --ring has no effect")
            .hint("--ring for the command that reads the bundle"));
    }
    let follow = &args.follow;
    let idle = [
        ("isa", follow.isa.is_some()),
        ("events", follow.events.events.is_some()),
        ("context-id", follow.events.context_id.is_some()),
        ("max-blocks", follow.max_blocks.is_some()),
        ("resync", follow.resync.is_some()),
    ];
    if let Some((option, _)) = idle.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format_args!("a bundle has no place for --{option}"))
            .hint(format_args!("--{option} for the command that reads the bundle")));
    }
    let (described, setup) = described::followed(path, follow)?;
    let unidentified = described.unidentified_program().filter(|_| !args.follow.has_program());
    if let Some(program) = unidentified {
        let what = "not packed, since it is not below the folder of the description, which does not identify it";
        return Err(Failure::input(what)
            .at(files::name(&program))
            .hint("--elf PROG or --image FILE@ADDR, with what was traced"));
    }
    let code = image::code(&args.follow, &described)?;
    let other = code.iter().find(|code| described.difference(code).is_some());
    if let Some(other) = other.filter(|_| !args.other_program) {
        return Err(Failure::input("not packed, since this is not the program that was traced")
            .at(&other.name)
            .hint("that program, or --other-program"));
    }
    let mut names = Names::default();
    // The capture keeps its name.
    let name = described.name.strip_suffix(".zst").unwrap_or(&described.name);
    let name = names.capture(Path::new(name));
    let programs = code.into_iter().map(|code| {
        let file = names.unused(Path::new(&code.name));
        let program = ProgramFile::new(file, code.at, &code.bytes);
        let instead_of = described.instead_of(&code);
        (ProgramFile { context: code.context, instead_of, ..program }, code.bytes)
    });
    let programs: Vec<_> = programs.collect();
    let given = described.description.clone().unwrap_or_default();
    let description = Description {
        draft: Draft::from(&setup),
        trap_vectors: args.follow.trap_vectors(described.description.as_ref()),
        ..given
    };
    let capture = described::open(&described)?;
    let mut out = files::create(&args.output)?;
    let mut tally = Tally::new(&setup);
    let input = Filling(tally.tee(capture.input));
    bundle::write(&mut out, &name, input, &description, &programs)?;
    capture.bar.finish_and_clear();
    tally.end();
    let mut gaps = gaps::new(files::name(path), args.follow.strict, capture.bar);
    gaps.packets(tally.endings());
    gaps.end(ControlFlow::Continue(()));
    let stats = tally.stats();
    if setup.tells_its_end() {
        gaps.ended(NoSync { bytes: stats.capture_bytes, packets: 0 })?;
    }
    let silent = stats.silent();
    silent.into_iter().for_each(|silent| gaps.silent(silent));
    out.finish()?;
    let mut out = files::summary();
    writeln!(
        out,
        "{}: {name}, its description and {} program{}",
        files::output_name(&args.output),
        programs.len(),
        if programs.len() == 1 { "" } else { "s" }
    )?;
    out.flush()?;
    Ok(if silent.is_some() { Status::Gaps } else { Status::Clean })
}
