//! `hartrace decode`.
//!
//! A capture is decoded in parts, by several threads. What the parts become is put together in order:
//! text as it comes, tables at the end.

mod blocks;
mod events;
mod forms;
mod limited;
pub(crate) mod pcs;
mod printer;
mod snapshot;
mod tables;
mod text;

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::files::{self, Capture, Filling};
use crate::follow::{Follow, LARGE, OneSource, SMALL};
use crate::gaps::Gaps;
use crate::image::Programs;
use crate::limits::Limits;
use crate::part::Part;
use crate::sums::{self, Noted, Sums};
use forms::Form;
use hartrace_decoder::stream::Decoded;
use hartrace_decoder::{Coverage, Edges};
use hartrace_isa::Xlen;
use limited::{Collect, Limited, Shared};
use pcs::Pcs;
use printer::Printer;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use tables::{Style, Table};

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    if let Some(folder) = &args.arm.snapshot {
        return snapshot::run(folder, args);
    }
    if args.json && matches!(args.emit, Emit::Pcs | Emit::Listing) {
        return Err(Failure::usage(
            "--json has a form for events, blocks, edges and coverage only",
        )
        .hint("--emit json"));
    }
    let limits = Limits::new(args.from, args.to)?.map(Shared::new);
    let (mut follow, capture) = Follow::open(&args.follow, [])?;
    if limits.is_some() {
        // Which instruction is number N is known only after all before it.
        follow.threads = NonZeroUsize::MIN;
    }
    let gaps = Gaps::new(follow.name.clone(), args.follow.strict, capture.bar.clone());
    let job = Job { args, follow: &follow, limits };
    match args.emit {
        Emit::Packets | Emit::Ranges | Emit::Elements => {
            Err(Failure::usage("--emit packets, ranges and elements are of a snapshot")
                .hint("--snapshot DIR, or `hartrace dump` for packets of a capture"))
        }
        Emit::Pcs => job.pcs(capture, gaps),
        Emit::Edges => job.table::<Edges>(capture, gaps),
        Emit::Coverage => job.table::<Coverage>(capture, gaps),
        Emit::Listing => {
            job.text(capture, gaps, Box::new(text::Listing::new(job.programs(), job.xlen())))
        }
        Emit::Blocks => job.text(
            capture,
            gaps,
            Box::new(blocks::Blocks::new(job.programs(), job.xlen(), args.json)),
        ),
        Emit::Json => job.text(capture, gaps, Box::new(events::Events::new(job.xlen()))),
    }
}

/// What is to be decoded, and how much of it.
struct Job<'a> {
    args: &'a DecodeArgs,
    follow: &'a Follow,
    limits: Option<Shared>,
}

impl<'a> Job<'a> {
    fn programs(&self) -> &'a Programs {
        &self.follow.programs
    }

    fn xlen(&self) -> Xlen {
        self.follow.setup.xlen
    }

    /// Decodes what lies within the limits; see [`Follow::run`].
    fn run<S: Collect>(
        &self,
        capture: Capture<impl Read + Send>,
        size: usize,
        make: impl Fn() -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, Failure> + Send,
    ) -> Result<ControlFlow<()>, Failure> {
        let Some(limits) = &self.limits else {
            return self.follow.run(capture, size, make, join);
        };
        let make = || Limited { sink: make(), limits };
        self.follow.run(capture, size, make, |decoded| {
            let Decoded { sinks, bytes, packets } = decoded;
            let sinks = sinks.into_iter().map(|(source, limited)| (source, limited.sink)).collect();
            let flow = join(Decoded { sinks, bytes, packets })?;
            Ok(if limits.is_done() { ControlFlow::Break(()) } else { flow })
        })
    }

    /// Addresses of one source: there is no place to say of which.
    fn pcs(&self, capture: Capture, mut gaps: Gaps) -> Result<Status, Failure> {
        let mut out = files::stdout();
        let mut source = OneSource::default();
        let strict = self.args.follow.strict;
        let make = || Noted::new(Pcs::default(), strict);
        let outcome = self.run(capture, SMALL, make, |decoded| {
            for (id, noted) in &decoded.sinks {
                if !noted.sink.text.is_empty() || !noted.is_quiet() {
                    source.take(*id, &self.follow.name)?;
                }
                out.write_all(&noted.sink.text)?;
            }
            sums::report(&decoded.sinks, &mut gaps)?;
            Ok(ControlFlow::Continue(()))
        });
        finish(outcome, out.flush().map_err(Failure::from), &mut gaps)
    }

    /// Everything in order, as `form` has it.
    fn text(
        &self,
        capture: Capture,
        gaps: Gaps,
        form: Box<dyn Form + Send + '_>,
    ) -> Result<Status, Failure> {
        let one = self.follow.setup.transport.source.is_some();
        let headings = !one && !self.args.json && self.args.emit != Emit::Json;
        let mut printer = Printer::new(files::stdout(), form, gaps, headings);
        let outcome = self.run(capture, SMALL, Part::default, |decoded| {
            for (source, part) in &decoded.sinks {
                printer.join(*source, part)?;
            }
            Ok(ControlFlow::Continue(()))
        });
        let printed = printer.end();
        finish(outcome, printed, &mut printer.gaps)
    }

    /// One table at the end, or one for each source.
    fn table<S: Table>(&self, capture: Capture, gaps: Gaps) -> Result<Status, Failure> {
        let mut sums = Sums::<S>::new(gaps);
        let strict = self.args.follow.strict;
        let make = || Noted::new(S::default(), strict);
        let capture = capture.map(Filling);
        let outcome = self.run(capture, LARGE, make, |decoded| sums.join(decoded));
        let Sums { mut sums, mut gaps } = sums;
        if sums.is_empty() {
            // A table without rows has a header all the same.
            sums.insert(None, S::default());
        }
        let symbols = self.programs().all_symbols();
        let style = Style { symbols, xlen: self.xlen(), json: self.args.json };
        let headings = !self.args.json && sums.len() > 1;
        let mut text = Vec::new();
        for (source, sum) in sums {
            if let (true, Some(id)) = (headings, source) {
                // Writing to memory does not fail.
                let _ = writeln!(text, "source {id}:");
            }
            sum.print(&mut text, source, &style);
        }
        let mut out = files::stdout();
        let printed = out.write_all(&text).and_then(|()| out.flush());
        finish(outcome, printed.map_err(Failure::from), &mut gaps)
    }
}

/// Ends the command. What was decoded before an error has been printed all the same.
fn finish(
    outcome: Result<ControlFlow<()>, Failure>,
    printed: Result<(), Failure>,
    gaps: &mut Gaps,
) -> Result<Status, Failure> {
    gaps.end(*outcome.as_ref().unwrap_or(&ControlFlow::Break(())));
    outcome.and(printed)?;
    Ok(gaps.status())
}
