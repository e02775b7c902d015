//! `hartrace diff`: compares what two captures of one program executed, or of different builds of it.

use crate::args::DiffArgs;
use crate::decoding::EtraceDecoding;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::gaps;
use hartrace_decoder::calls::Functions;
use hartrace_report::Printer;
use hartrace_report::calls::{Calls, FunctionTotals};
use hartrace_report::decode::{LARGE, Origin};
use hartrace_report::delta::{self, ByName, Delta, Style, captures};
use std::io::{self, Write};
use std::sync::Arc;

/// Runs the command.
pub(crate) fn run(args: DiffArgs) -> Result<Status, Failure> {
    let DiffArgs { mut follow, b, json, rows, whole, .. } = args;
    let strict = follow.strict;
    let (first, capture) = EtraceDecoding::open(&follow, [b.as_path()])?;
    follow.capture = Some(b);
    let (second, other) = EtraceDecoding::open(&follow, [])?;
    let changes = [&first, &second].iter().any(|side| side.follow.programs.may_change());
    // Addresses mean nothing in another build.
    if !changes && !first.follow.programs.is_same(&second.follow.programs) {
        let moved = first.follow.programs.has_same_files(&second.follow.programs);
        return by_name([(&first, capture), (&second, other)], moved, strict, rows, json);
    }
    let symbols = first.follow.programs.all_symbols();
    let ranges = symbols.functions().into_iter().map(|function| function.range);
    let functions = Arc::new(Functions::new(ranges));
    let bar = capture.bar.clone();
    // One bar is enough.
    let other = Capture::of(other.input);
    let sides = [(&first, capture), (&second, other)].map(|(following, capture)| {
        let gaps = gaps::new(following.about.capture.clone(), strict, bar.clone());
        let progress = Box::new(capture.progress());
        delta::Capture { follow: &following.follow, input: capture.input, gaps, progress }
    });
    let (found, ended) = captures(sides, &functions, rows, (!whole).then_some(delta::CONTEXT));
    bar.finish_and_clear();
    let mut status = Status::Clean;
    for (following, ended) in [&first, &second].into_iter().zip(ended) {
        let gaps = ended.map_err(|error| following.failure(error))?;
        status = status.max(Status::from(&gaps));
    }
    let names = [&first, &second].map(|side| &side.about.capture[..]);
    let style = Style { symbols, xlen: first.follow.setup.xlen, names, rows };
    let mut out = files::stdout();
    let write = if json { Delta::json } else { Delta::print };
    write(&found, &mut out, &style)?;
    out.flush()?;
    first.follow.programs.warnings().iter().for_each(warn);
    Ok(if found.is_empty() { status } else { Status::Different })
}

/// Compares what functions of the same names have executed, each trace with its own program.
fn by_name(
    sides: [(&EtraceDecoding, files::Capture); 2],
    moved: bool,
    strict: bool,
    rows: usize,
    json: bool,
) -> Result<Status, Failure> {
    let names = [&sides[0].0.about.capture[..], &sides[1].0.about.capture[..]];
    let (mut status, mut totals) = (Status::Clean, [Vec::new(), Vec::new()]);
    for ((following, capture), totals) in sides.into_iter().zip(&mut totals) {
        let EtraceDecoding { follow, about, .. } = following;
        let form = FunctionTotals::default();
        let report = Calls::with_inlined(form, &follow.programs, follow.setup.xlen);
        let gaps = gaps::new(about.capture.clone(), strict, capture.bar.clone());
        let mut printer = Printer::new(report, io::sink(), gaps);
        let mut progress = capture.progress();
        let Capture { input, bar, .. } = capture;
        let origin = Origin::Capture(input);
        let outcome = printer.follow(follow, origin, LARGE, None, &mut progress);
        bar.finish_and_clear();
        outcome.map_err(|error| following.failure(error))?;
        status = status.max(Status::from(&printer.gaps));
        follow.programs.warnings().iter().for_each(warn);
        totals.clone_from(&printer.report.form().functions);
    }
    let found = ByName { moved, ..ByName::new(totals.each_ref().map(|totals| &totals[..])) };
    let mut out = files::stdout();
    match json {
        true => found.json(&mut out, names)?,
        false => found.print(&mut out, names, rows)?,
    }
    out.flush()?;
    Ok(if found.is_empty() { status } else { Status::Different })
}
