//! `hartrace decode`.
//!
//! A capture is decoded in parts, by several threads. The results are joined in order: text as it
//! comes, tables at the end.

mod arm;
mod perf;
mod snapshot;

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::follow::Following;
use crate::{gaps, report};
use hartrace_capture::bundle::{self, Found};
use hartrace_capture::follow::Filling;
use hartrace_decoder::Unit;
use hartrace_report::html::Html;
use hartrace_report::stats::{Program, Stats};
use hartrace_report::{
    Form, Gaps, LARGE, Limits, Look, Naming, NoLines, Origin, Position, Printer, Report, SMALL,
    Shared, With,
};
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    let capture = args.captured.follow.capture.as_deref().filter(|path| is_arm(path));
    if let Some(path) = args.captured.arm.snapshot.as_deref().or(capture) {
        return snapshot::run(path, args);
    }
    if let Some(file) = &args.captured.perf.perf {
        return perf::run(file, args);
    }
    if args.timing.unit == Some(Unit::Cycles) {
        return Err(Failure::usage("--clock cycles, but E-Trace counts no cycles")
            .hint("--clock ticks, if the trace has times, or --clock instructions"));
    }
    let limits = limits(args)?;
    let (mut following, capture) = Following::open(&args.captured.follow, [])?;
    let outcome = print(args, &mut following, limits, capture.map(Origin::Capture));
    following.follow.programs.warnings().iter().for_each(warn);
    outcome
}

/// Refuses combinations of arguments that mean nothing; returns what part of the trace to print.
fn limits(args: &DecodeArgs) -> Result<Option<Limits>, Failure> {
    if args.json && matches!(args.emit, Emit::Form(Form::Pcs | Form::Listing)) {
        return Err(Failure::usage("--json applies to events, blocks, edges and coverage only")
            .hint("--emit json"));
    }
    between(args)
}

/// What part of a trace to print.
fn between(args: &DecodeArgs) -> Result<Option<Limits>, Failure> {
    if let Some(Position::Insn(0) | Position::Packet(0) | Position::Byte(0)) = args.to {
        return Err(Failure::usage("nothing comes before --to 0, which itself is not printed")
            .hint("a --to of 1 or more"));
    }
    Limits::new(args.from, args.to).map_err(|error| {
        Failure::usage(error).hint("a --to after --from; --to itself is not printed")
    })
}

/// What is decoded.
type Input<'r, I = files::Input> = Capture<Origin<'r, I>>;

/// Prints what was decoded.
fn print(
    args: &DecodeArgs,
    following: &mut Following,
    limits: Option<Limits>,
    input: Input<'_>,
) -> Result<Status, Failure> {
    let limits = limits.map(Shared::new);
    if limits.is_some() {
        // The number of an instruction is known only after all instructions before it.
        following.follow.threads = NonZeroUsize::MIN;
    }
    if matches!(args.emit, Emit::Page) {
        following.follow.count_packets();
        let programs = following.programs.iter().map(|path| &**path);
        following.about.roots = report::roots(programs, args)?;
    }
    let gaps =
        gaps::new(following.about.capture.clone(), args.captured.follow.strict, input.bar.clone());
    let job = Job { args, following, limits };
    match args.emit {
        Emit::Packets | Emit::Ranges | Emit::Elements => {
            Err(Failure::usage("--emit packets, ranges and elements need trace of CoreSight")
                .hint("--snapshot DIR, or `hartrace dump` for packets of a capture"))
        }
        Emit::Page => job.page(input, gaps),
        Emit::Form(form) => job.form(form, input, gaps),
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
    following: &'a Following,
    limits: Option<Shared>,
}

impl Job<'_> {
    /// Reports everything in a form.
    fn form(&self, form: Form, input: Input<'_>, gaps: Gaps) -> Result<Status, Failure> {
        let follow = &self.following.follow;
        let look = Look {
            programs: &follow.programs,
            xlen: follow.setup.xlen,
            name: &self.following.about.capture,
            json: self.args.json,
            headings: follow.setup.transport.source.is_none(),
            naming: Naming::Several,
            timing: self.args.timing,
        };
        let (input, size) = match form.is_sum() {
            true => (input.map(|origin| origin.map(filling)), LARGE),
            false => (input, SMALL),
        };
        form.report(&look, Whole { job: self, input, size, gaps })?
    }

    /// Makes a page.
    fn page(&self, input: Input<'_>, gaps: Gaps) -> Result<Status, Failure> {
        let follow = &self.following.follow;
        let mut html = Html::new(&follow.programs, follow.setup.xlen);
        let is_capture = matches!(input.input, Origin::Capture(_));
        // A name that cannot be written is reported before anything is decoded.
        let out = self.args.out()?;
        let (status, _) = self.report(input, SMALL, &mut html, gaps, io::sink())?;
        let mut stats = Stats::from(&follow.packets());
        stats.program = Some(Program::new(html.count(), stats.bits));
        stats.ended = html.is_ended() || !follow.setup.tells_its_end();
        let strict = self.args.captured.follow.strict;
        let status = status.max(self.following.check(&html.count(), strict)?);
        report::write(html, &self.following.about, is_capture.then_some(&stats), out)?;
        Ok(status)
    }

    /// Decodes everything within the limits, in parts of about `size` bytes. Prints what was decoded
    /// even if an error follows. Returns where it was printed.
    fn report<R: Report + Send, W: Write + Send>(
        &self,
        input: Input<'_, impl Read + Send>,
        size: usize,
        report: R,
        gaps: Gaps,
        out: W,
    ) -> Result<(Status, W), Failure> {
        let (following, limits) = (self.following, self.limits.as_ref());
        let mut printer = Printer::new(report, out, gaps);
        let progress = input.progress();
        let Capture { input, bar, .. } = input;
        let outcome = printer.follow(&following.follow, input, size, limits, progress);
        bar.finish_and_clear();
        outcome.map_err(|error| following.failure(error))?;
        Ok((Status::from(&printer.gaps), printer.out))
    }
}

/// Reads large pieces.
fn filling(input: files::Input) -> files::Input {
    Box::new(Filling(input))
}

/// A job on an input, for a report of any type.
struct Whole<'j, 'a> {
    job: &'j Job<'a>,
    input: Input<'j>,
    size: usize,
    gaps: Gaps,
}

impl With for Whole<'_, '_> {
    type Output = Result<Status, Failure>;

    fn with<R: Report + Send>(self, report: R) -> Result<Status, Failure> {
        let out = self.job.args.out()?;
        let (status, out) = self.job.report(self.input, self.size, report, self.gaps, out)?;
        out.finish()?;
        Ok(status)
    }
}

impl From<NoLines> for Failure {
    fn from(error: NoLines) -> Self {
        Self::usage(error).hint("the program compiled with -g and not stripped, as --elf PROG")
    }
}
