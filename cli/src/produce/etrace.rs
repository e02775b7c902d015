//! E-Trace, from a capture or a recording.
//!
//! A capture is decoded in parts, by several threads. The results are joined in order: text as it
//! comes, tables at the end.

use super::{page, window};
use crate::args::Emit;
use crate::decoding::EtraceDecoding;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::gaps;
use crate::job::{Job, Product};
use hartrace_capture::decode::Filling;
use hartrace_decoder::Unit;
use hartrace_report::decode::{LARGE, Origin, SMALL};
use hartrace_report::gaps::Gaps;
use hartrace_report::html::{About, Html, doubts};
use hartrace_report::limits::{Limits, SharedLimits};
use hartrace_report::stats::{Program, Stats};
use hartrace_report::tables::Naming;
use hartrace_report::{Form, FormContext, NoLines, Numbered, Print, Printer};
use std::io;
use std::num::NonZeroUsize;

/// Decodes a capture.
pub(super) fn run(job: &Job<'_>) -> Result<Status, Failure> {
    if job.timing.unit == Some(Unit::Cycles) {
        return Err(Failure::usage("--clock cycles, but E-Trace counts no cycles")
            .hint("--clock ticks, if the trace has times, or --clock instructions"));
    }
    let (mut limits, mut searched) = (limits(job)?, Status::Clean);
    let (mut following, mut capture) = EtraceDecoding::open(&job.captured.follow, [])?;
    if job.is_searched() {
        window::check_twice(job.captured.follow.capture()?)?;
        let (found, status) = search(job, &following, capture.map(Origin::Capture))?;
        (limits, searched) = (found, status);
        capture = following.reopen()?;
    }
    let outcome = print(job, &mut following, limits, capture.map(Origin::Capture));
    following.follow.programs.warnings().iter().for_each(warn);
    Ok(outcome?.max(searched))
}

/// Refuses combinations of arguments that mean nothing; returns what part of the trace to print.
pub(super) fn limits(job: &Job<'_>) -> Result<Option<Limits>, Failure> {
    if job.json && (job.emits(Emit::Form(Form::Pcs)) || job.emits(Emit::Form(Form::Listing))) {
        return Err(Failure::usage(
            "--json applies to events, blocks, edges, coverage and functions only",
        )
        .hint("--emit json"));
    }
    job.limits()
}

/// Looks for the window of a job.
pub(super) fn search(
    job: &Job<'_>,
    following: &EtraceDecoding,
    input: Input<'_>,
) -> Result<(Option<Limits>, Status), Failure> {
    let follow = &following.follow;
    let gaps = gaps::new(following.about.capture.clone(), job.is_strict(), input.bar.clone());
    window::search(job, &follow.programs, follow.setup.xlen, gaps, |printer| {
        let mut progress = input.progress();
        let Capture { input, bar, .. } = input;
        let mut input = input.map(filling);
        let outcome = printer.follow(follow, input.as_dyn(), LARGE, None, &mut progress);
        bar.finish_and_clear();
        outcome.map_err(|error| following.failure(error))
    })
}

/// What is decoded.
type Input<'r> = Capture<Origin<'r, files::Input>>;

/// Prints what was decoded.
pub(super) fn print(
    job: &Job<'_>,
    following: &mut EtraceDecoding,
    limits: Option<Limits>,
    input: Input<'_>,
) -> Result<Status, Failure> {
    let limits = limits.map(SharedLimits::new);
    if limits.is_some() {
        // The number of an instruction is known only after all instructions before it.
        following.follow.threads = NonZeroUsize::MIN;
    }
    if let Product::Page(roots) = job.product {
        following.follow.count_packets();
        let programs = following.programs.iter().map(|path| &**path);
        following.about.roots = page::roots(programs, roots)?;
    }
    let gaps = match job.is_searched() {
        true => window::reported(&following.about.capture),
        false => gaps::new(following.about.capture.clone(), job.is_strict(), input.bar.clone()),
    };
    let decoding = Decoding { job, following, limits };
    match job.product {
        Product::Page(_) => decoding.page(input, gaps),
        Product::Text(Emit::Form(form)) => decoding.form(form, input, gaps),
        Product::Text(Emit::Packets | Emit::Ranges | Emit::Elements) => {
            Err(Failure::usage("--emit packets, ranges and elements need trace of CoreSight")
                .hint("--snapshot DIR, or `hartrace dump` for packets of a capture"))
        }
    }
}

/// What to decode, and how much of it.
struct Decoding<'a> {
    job: &'a Job<'a>,
    following: &'a EtraceDecoding,
    limits: Option<SharedLimits>,
}

impl Decoding<'_> {
    /// Reports everything in a form.
    fn form(&self, form: Form, input: Input<'_>, gaps: Gaps) -> Result<Status, Failure> {
        let follow = &self.following.follow;
        let look = FormContext {
            programs: &follow.programs,
            xlen: follow.setup.xlen,
            name: &self.following.about.capture,
            json: self.job.json,
            headings: follow.setup.transport.source.is_none(),
            naming: Naming::Several,
            timing: self.job.timing,
            top: self.job.top,
        };
        let (input, size) = match form.is_sum() {
            true => (input.map(|origin| origin.map(filling)), LARGE),
            false => (input, SMALL),
        };
        let mut out = self.job.out()?;
        let status = if self.job.numbers {
            let first = self.limits.as_ref().map_or(Some(0), SharedLimits::first);
            let mut numbered = Numbered::new(&mut out, first.unwrap_or(0));
            self.print(input, size, &mut *form.printer(&look, &mut numbered, gaps)?)?
        } else {
            self.print(input, size, &mut *form.printer(&look, &mut out, gaps)?)?
        };
        out.finish()?;
        Ok(status)
    }

    /// Makes a page.
    fn page(&self, input: Input<'_>, gaps: Gaps) -> Result<Status, Failure> {
        let follow = &self.following.follow;
        let mut html = Html::new(&follow.programs, follow.setup.xlen);
        let is_capture = matches!(input.input, Origin::Capture(_));
        // A name that cannot be written is reported before anything is decoded.
        let out = self.job.out()?;
        let mut printer = Printer::new(&mut html, io::sink(), gaps);
        let status = self.print(input, SMALL, &mut printer)?;
        let gaps = printer.gaps;
        let mut stats = Stats::from(&follow.packets());
        stats.program = Some(Program::new(html.count(), stats.bits));
        let doubts = doubts(&gaps, html.count().instructions, is_capture.then_some(&stats));
        stats.ended = html.is_ended() || !follow.setup.tells_its_end();
        let (strict, insns) = (self.job.is_strict(), html.count().instructions);
        let mut about = About { window: self.job.window.words(), ..self.following.about.clone() };
        // Of a window, the packets are not known.
        if self.limits.is_some() {
            page::write(html, &about, None, out)?;
            return Ok(status);
        }
        let status = status.max(self.following.check(&html.count(), strict)?);
        about.doubts.extend(doubts);
        if let Some(known) = self.following.instructions.filter(|known| *known != insns) {
            about
                .doubts
                .push(format!("{insns} instructions were decoded, but {known} were traced."));
        }
        page::write(html, &about, is_capture.then_some(&stats), out)?;
        Ok(status)
    }

    /// Decodes everything within the limits, in parts of about `size` bytes. Prints what was decoded
    /// even if an error follows.
    fn print(
        &self,
        input: Input<'_>,
        size: usize,
        printer: &mut dyn Print,
    ) -> Result<Status, Failure> {
        let (following, limits) = (self.following, self.limits.as_ref());
        let mut progress = input.progress();
        let Capture { mut input, bar, .. } = input;
        let origin = input.as_dyn();
        let outcome = printer.follow(&following.follow, origin, size, limits, &mut progress);
        bar.finish_and_clear();
        outcome.map_err(|error| following.failure(error))?;
        Ok(Status::from(printer.gaps()))
    }
}

/// Reads large pieces.
fn filling(input: files::Input) -> files::Input {
    Box::new(Filling(input))
}

impl From<NoLines> for Failure {
    fn from(error: NoLines) -> Self {
        Self::usage(error).hint("the program compiled with -g and not stripped, as --elf PROG")
    }
}
