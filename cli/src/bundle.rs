//! `hartrace bundle`: packs a capture with its description and its programs into one archive.

use crate::args::BundleArgs;
use crate::failure::{Failure, Status};
use crate::{described, files, image};
use hartrace_capture::bundle::{self, Names};
use hartrace_capture::description::{Description, ProgramFile};
use hartrace_capture::follow::Filling;
use hartrace_capture::params::Draft;
use std::io::Write;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &BundleArgs) -> Result<Status, Failure> {
    let path = args.follow.capture()?;
    if args.follow.stream.ring.is_some() {
        return Err(Failure::usage("a bundle holds a capture as it is, so --ring has no effect")
            .hint("--ring for the command that reads the bundle"));
    }
    let (described, mut setup) = described::stream(path, &args.follow.stream)?;
    setup.compat = args.follow.compat.unwrap_or(setup.compat);
    let code = image::code(&args.follow, &described)?;
    let mut names = Names::default();
    let programs = code.into_iter().map(|code| {
        let file = names.unused(Path::new(&code.name));
        let program = ProgramFile::new(file, code.at, &code.bytes);
        (ProgramFile { context: code.context, ..program }, code.bytes)
    });
    let programs: Vec<_> = programs.collect();
    let given = described.description.clone().unwrap_or_default();
    let description = Description {
        draft: Draft::from(&setup),
        trap_vectors: args.follow.trap_vectors(described.description.as_ref()),
        ..given
    };
    // The capture of a bundle keeps its name.
    let name = names.unused(Path::new(&described.name));
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let capture = described::open(&described)?;
    let mut out = files::create(&args.output)?;
    bundle::write(&mut out, name, Filling(capture.input), &description, &programs)?;
    out.finish()?;
    capture.bar.finish_and_clear();
    let mut out = files::summary();
    writeln!(
        out,
        "{}: {name}, its description and {} program{}",
        files::output_name(&args.output),
        programs.len(),
        if programs.len() == 1 { "" } else { "s" }
    )?;
    out.flush()?;
    Ok(Status::Clean)
}
