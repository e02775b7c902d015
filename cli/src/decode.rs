//! `hartrace decode`.
//!
//! A capture is decoded in parts, by several threads. The results are joined in order: text as it
//! comes, tables at the end.

mod arm;
mod perf;
mod snapshot;

use crate::args::{DecodeArgs, Emit};
use crate::export;
use crate::failure::{Failure, Status};
use crate::files::{self, Capture, Filling};
use crate::follow::{Follow, LARGE, SMALL};
use crate::{gaps, report};
use hartrace_capture::bundle::{self, Found};
use hartrace_capture::perf::Recording;
use hartrace_decoder::stream::Decoded;
use hartrace_decoder::{Coverage, Edges};
use hartrace_report::html::Html;
use hartrace_report::stats::{Counted, Program, Tally};
use hartrace_report::{
    Autofdo, Blocks, Bolt, CallForm, Callgrind, Calls, Collect, Erased, Folded, Gaps, InOrder,
    Json, Lcov, Limited, Limits, Listing, Noted, Ordered, Pcs, Perfetto, Pprof, Printer, Report,
    Shared, Silent, SourceForm, SourceReport, Speedscope, Style, Table, Tables,
};
use indicatif::ProgressBar;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    let capture = args.follow.capture.as_deref().filter(|path| is_arm(path));
    if let Some(path) = args.arm.snapshot.as_deref().or(capture) {
        return snapshot::run(path, args);
    }
    if let Some(file) = &args.perf.perf {
        return perf::run(file, args);
    }
    let limits = limits(args)?;
    let (mut follow, capture) = Follow::open(&args.follow, [])?;
    print(args, &mut follow, limits, Input::Capture(capture))
}

/// Refuses combinations of arguments that mean nothing; returns what part of the trace to print.
fn limits(args: &DecodeArgs) -> Result<Option<Limits>, Failure> {
    if args.json && matches!(args.emit, Emit::Pcs | Emit::Listing) {
        return Err(Failure::usage("--json applies to events, blocks, edges and coverage only")
            .hint("--emit json"));
    }
    Limits::new(args.from, args.to).map_err(|error| {
        Failure::usage(error).hint("a --to after --from; --to itself is not printed")
    })
}

/// What is decoded.
enum Input<'r, R = files::Input> {
    /// A capture, as it arrives.
    Capture(Capture<R>),
    /// E-Trace in a recording of perf.
    Recording(&'r Recording),
}

impl<'r> Input<'r> {
    fn map<R>(self, wrap: impl FnOnce(files::Input) -> R) -> Input<'r, R> {
        match self {
            Self::Capture(capture) => Input::Capture(capture.map(wrap)),
            Self::Recording(recording) => Input::Recording(recording),
        }
    }
}

/// Prints what was decoded.
fn print(
    args: &DecodeArgs,
    follow: &mut Follow,
    limits: Option<Limits>,
    input: Input<'_>,
) -> Result<Status, Failure> {
    let limits = limits.map(Shared::new);
    if limits.is_some() {
        // The number of an instruction is known only after all instructions before it.
        follow.threads = NonZeroUsize::MIN;
    }
    let bar = match &input {
        Input::Capture(capture) => capture.bar.clone(),
        Input::Recording(_) => ProgressBar::hidden(),
    };
    let gaps = gaps::new(follow.name.clone(), args.follow.strict, bar);
    let job = Job { args, follow, limits };
    let (programs, xlen) = (&follow.programs, follow.setup.xlen);
    match args.emit {
        Emit::Packets | Emit::Ranges | Emit::Elements => {
            Err(Failure::usage("--emit packets, ranges and elements need trace of CoreSight")
                .hint("--snapshot DIR, or `hartrace dump` for packets of a capture"))
        }
        Emit::Pcs => job.report(input, SMALL, Pcs, gaps),
        Emit::Edges => job.table::<Edges>(input, gaps),
        Emit::Coverage => job.table::<Coverage>(input, gaps),
        Emit::Listing => job.in_order(input, Listing::new(programs, xlen), gaps),
        Emit::Blocks => job.in_order(input, Blocks::new(programs, xlen, args.json), gaps),
        Emit::Json => job.in_order(input, Json::new(xlen), gaps),
        Emit::Autofdo => job.source(input, Autofdo, gaps),
        Emit::Bolt => job.source(input, Bolt, gaps),
        Emit::Callgrind => job.calls(input, Callgrind, gaps),
        Emit::Folded => job.calls(input, Folded, gaps),
        Emit::Lcov => job.source(input, Lcov, gaps),
        Emit::Perfetto => job.calls(input, Perfetto::new(args.timing), gaps),
        Emit::Pprof => job.calls(input, Pprof::new(&follow.name), gaps),
        Emit::Speedscope => job.calls(input, Speedscope::new(&follow.name, args.timing.unit), gaps),
        Emit::Html => job.page(input, gaps),
    }
}

/// Whether a path leads to a snapshot or a package of an Arm system.
fn is_arm(path: &Path) -> bool {
    if files::is_standard(path) {
        return false;
    }
    match bundle::find(path) {
        Ok(Found::Package) => true,
        Ok(Found::Other) => path.is_dir(),
        Ok(Found::Bundle(_)) | Err(_) => false,
    }
}

/// What to decode, and how much of it.
struct Job<'a> {
    args: &'a DecodeArgs,
    follow: &'a Follow,
    limits: Option<Shared>,
}

impl Job<'_> {
    /// Reports everything in order.
    fn in_order(
        &self,
        input: Input<'_>,
        form: impl InOrder + Send,
        gaps: Gaps,
    ) -> Result<Status, Failure> {
        let one = self.follow.setup.transport.source.is_some();
        let headings = !one && !self.args.json && self.args.emit != Emit::Json;
        self.report(input, SMALL, Ordered::new(form).headings(headings), gaps)
    }

    /// Reports one table at the end, or one for each source.
    fn table<S: Table>(&self, input: Input<'_>, gaps: Gaps) -> Result<Status, Failure> {
        let symbols = self.follow.programs.all_symbols();
        let style = Style { symbols, xlen: self.follow.setup.xlen, json: self.args.json };
        self.report(input.map(Filling), LARGE, Tables::<S>::new(style), gaps)
    }

    /// Reports call stacks.
    fn calls<F>(&self, input: Input<'_>, form: F, gaps: Gaps) -> Result<Status, Failure>
    where
        F: CallForm + Send,
        F::Calls: Send,
    {
        let (programs, xlen) = (&self.follow.programs, self.follow.setup.xlen);
        self.report(input, SMALL, Calls::with_inlined(form, programs, xlen), gaps)
    }

    /// Makes a page, even if an error follows.
    fn page(&self, input: Input<'_>, gaps: Gaps) -> Result<Status, Failure> {
        let follow = self.follow;
        let mut html = Html::new(&follow.programs, follow.setup.xlen);
        let is_capture = matches!(input, Input::Capture(_));
        let mut tally = Tally::new(&follow.setup);
        let input = input.map(|input| Counted { input, tally: &mut tally });
        let outcome = self.report(input, SMALL, &mut html, gaps);
        tally.end();
        let mut stats = tally.stats();
        stats.program = Some(Program::new(html.count(), stats.bits));
        report::write(html, &follow.about, is_capture.then_some(&stats), self.args)?;
        outcome
    }

    /// Reports how often everything was executed.
    fn source(
        &self,
        input: Input<'_>,
        form: impl SourceForm + Send,
        gaps: Gaps,
    ) -> Result<Status, Failure> {
        let report = SourceReport::new(form, &self.follow.programs);
        export::needs_lines(self.args.emit, &report)?;
        self.report(input.map(Filling), LARGE, report, gaps)
    }

    /// Decodes everything within the limits, in parts of about `size` bytes. Prints what was decoded
    /// even if an error follows.
    fn report<R: Report + Send>(
        &self,
        input: Input<'_, impl Read + Send>,
        size: usize,
        report: R,
        gaps: Gaps,
    ) -> Result<Status, Failure> {
        let strict = gaps.is_strict();
        let mut printer = Printer::new(report, self.args.out()?, gaps);
        let maker = printer.report.maker();
        let make = || Noted::new(maker(), strict);
        let mut found = Silent::default();
        let mut join = |Decoded { sinks, bytes, packets }: Decoded<Noted<R::Part>>| {
            found = Silent { bytes, packets };
            printer.join(sinks)?;
            let done = self.limits.as_ref().is_some_and(Shared::is_done);
            Ok(if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // Only a whole capture has to be decoded as fast as possible.
        let erased = || Erased::new(make());
        let outcome = match (input, &self.limits) {
            (Input::Capture(capture), None) => self.follow.run(capture, size, make, join),
            (Input::Capture(capture), Some(limits)) => {
                let make = || Limited { sink: erased(), limits };
                self.follow.run(capture, size, make, |decoded| {
                    join(restored(decoded, |limited| limited.sink))
                })
            }
            (Input::Recording(recording), None) => {
                self.follow
                    .run_pieces(recording, erased, |decoded| join(restored(decoded, |sink| sink)))
            }
            (Input::Recording(recording), Some(limits)) => {
                let make = || Limited { sink: erased(), limits };
                self.follow.run_pieces(recording, make, |decoded| {
                    join(restored(decoded, |limited| limited.sink))
                })
            }
        };
        let printed = printer.finish().map_err(Failure::from);
        printer.gaps.end(*outcome.as_ref().unwrap_or(&ControlFlow::Break(())));
        if let Ok(ControlFlow::Continue(())) = outcome {
            printer.gaps.silent(found);
        }
        outcome.and(printed.map(|()| Status::from(&printer.gaps)))
    }
}

/// Sinks with the type they were made of.
fn restored<S, P: Collect + 'static>(
    Decoded { sinks, bytes, packets }: Decoded<S>,
    erased: impl Fn(S) -> Erased,
) -> Decoded<P> {
    let sinks = sinks.into_iter();
    let sinks = sinks.filter_map(|(source, sink)| Some((source, erased(sink).into_sink()?)));
    Decoded { sinks: sinks.collect(), bytes, packets }
}
