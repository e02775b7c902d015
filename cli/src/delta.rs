//! `hartrace delta`: compares what two captures of one program executed.

use crate::args::DeltaArgs;
use crate::failure::{Failure, Status};
use crate::files::{self, Capture};
use crate::follow::{Follow, SMALL};
use crate::gaps;
use hartrace_decoder::calls::Functions;
use hartrace_report::delta::{Pieces, Style, delta};
use hartrace_report::{Gaps, Noted, OneSource, Silent};
use indicatif::ProgressBar;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Parts of a capture that wait to be compared.
const PARTS: usize = 8;

/// Runs the command.
pub(crate) fn run(args: DeltaArgs) -> Result<Status, Failure> {
    let DeltaArgs { mut follow, b, json, rows } = args;
    let strict = follow.strict;
    let (first, capture) = Follow::open(&follow, [b.as_path()])?;
    follow.capture = Some(b);
    let (second, other) = Follow::open(&follow, [])?;
    let symbols = first.programs.all_symbols();
    let ranges = symbols.functions().into_iter().map(|function| function.range);
    let functions = Arc::new(Functions::new(ranges));
    let bar = capture.bar.clone();
    // One bar is enough.
    let other = Capture { bar: ProgressBar::hidden(), ..other };
    let (found, gaps) = thread::scope(|scope| {
        let sides = [(&first, capture), (&second, other)].map(|(follow, capture)| {
            let (parts, received) = sync_channel(PARTS);
            let gaps = gaps::new(follow.name.clone(), strict, bar.clone());
            let thread = scope.spawn(move || decode(follow, capture, parts, gaps));
            (received, thread)
        });
        let [(a, of_a), (b, of_b)] = sides;
        let found = delta([a.into_iter(), b.into_iter()], &functions, rows);
        let ended = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(gaps) => gaps,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (found, [of_a, of_b].map(ended))
    });
    let mut status = Status::Clean;
    for gaps in gaps {
        if Status::from(&gaps?) == Status::Gaps {
            status = Status::Gaps;
        }
    }
    let style = Style { symbols, xlen: first.setup.xlen, names: [&first.name, &second.name], rows };
    let mut out = files::stdout();
    if json {
        found.json(&mut out, &style)?;
    } else {
        found.print(&mut out, &style)?;
    }
    out.flush()?;
    Ok(if found.is_empty() { status } else { Status::Different })
}

/// Decodes a capture of one source, and passes it on in parts.
fn decode(
    follow: &Follow,
    capture: Capture,
    parts: SyncSender<Pieces>,
    mut gaps: Gaps,
) -> Result<Gaps, Failure> {
    let (mut source, mut found) = (OneSource::default(), Silent::default());
    let strict = gaps.is_strict();
    let make = || Noted::new(Pieces::default(), strict);
    let flow = follow.run(capture, SMALL, make, |decoded| {
        found = Silent { bytes: decoded.bytes, packets: decoded.packets };
        for (id, noted) in decoded.sinks {
            source.take(id, &follow.name)?;
            let (pieces, events) = noted.into_parts();
            for (at, event) in events {
                gaps.event(id, at, &event);
                gaps.check()?;
            }
            if parts.send(pieces).is_err() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    gaps.end(flow);
    gaps.silent(found);
    Ok(gaps)
}
