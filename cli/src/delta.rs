//! `hartrace delta`: compares what two captures of one program executed.

use crate::args::DeltaArgs;
use crate::decoding::EtraceDecoding;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::gaps;
use hartrace_decoder::calls::Functions;
use hartrace_report::delta::{self, Delta, Style, captures};
use std::io::Write;
use std::sync::Arc;

/// Runs the command.
pub(crate) fn run(args: DeltaArgs) -> Result<Status, Failure> {
    let DeltaArgs { mut follow, b, json, rows, whole } = args;
    let strict = follow.strict;
    let (first, capture) = EtraceDecoding::open(&follow, [b.as_path()])?;
    follow.capture = Some(b);
    let (second, other) = EtraceDecoding::open(&follow, [])?;
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
