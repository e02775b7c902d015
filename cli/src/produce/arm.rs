//! Prints decoded traces of Arm sources, whatever they were captured in.

use super::{page, window};
use crate::args::{Emit, FollowArgs};
use crate::failure::{Failure, Status, warn};
use crate::job::{Job, Product};
use crate::{files, gaps};
use hartrace::opened::Arm;
use hartrace_capture::system::Traced;
use hartrace_capture::text::message;
use hartrace_decoder::Fault;
use hartrace_isa::Xlen;
use hartrace_report::arm::{self, How};
use hartrace_report::gaps::Gaps;
use hartrace_report::html::{About, Html, doubts};
use hartrace_report::limits::Limits;
use hartrace_report::tables::Naming;
use hartrace_report::{Form, FormContext, Numbered, Print, Printer, Report};
use indicatif::ProgressBar;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

/// Addresses are printed with all 16 digits.
const XLEN: Xlen = Xlen::Rv64;

/// Reports what could not be read, apart from the traces of sources.
pub(super) struct Losses {
    pub(super) status: Status,
    /// Whether any of it is an error.
    is_strict: bool,
}

impl Losses {
    /// Nothing is lost so far.
    pub(super) fn new(job: &Job<'_>) -> Self {
        Self { status: Status::Clean, is_strict: job.is_strict() }
    }

    /// Reports a gap; an error if none is allowed.
    pub(super) fn gap(&mut self, what: impl fmt::Display) -> Result<(), Failure> {
        if self.is_strict {
            return Err(Failure::gap(what));
        }
        self.status = Status::Gaps;
        let _ = writeln!(io::stderr(), "gap: {}", message(&what.to_string()));
        Ok(())
    }
}

/// Refuses combinations of arguments that mean nothing; returns what part of each source to print.
pub(super) fn limits(job: &Job<'_>) -> Result<Option<Limits>, Failure> {
    if job.json && !matches!(job.product, Product::Text(Emit::Form(form)) if form.has_json()) {
        return Err(Failure::usage("--json applies to blocks, edges, coverage and functions only")
            .hint("--emit json"));
    }
    job.limits()
}

/// Refuses options for streams of E-Trace.
pub(super) fn check_stream(follow: &FollowArgs, what: &str) -> Result<(), Failure> {
    let (stream, fields) = (&follow.stream, &follow.stream.fields);
    let given = [
        ("params", stream.params.is_some()),
        ("xlen", stream.xlen.is_some()),
        ("framing", stream.framing.is_some()),
        ("find-sync", stream.find_sync),
        ("ring", stream.ring.is_some()),
        ("src-bits", fields.src_bits.is_some()),
        ("timestamp-bytes", fields.timestamp_bytes.is_some()),
        ("type-bits", fields.type_bits.is_some()),
        ("instruction-type", fields.instruction_type.is_some()),
        ("hart-bits", fields.hart_bits.is_some()),
        ("atid", fields.atid.is_some()),
        ("source", fields.source.is_some()),
        ("compat", follow.compat.is_some()),
        ("tvec", !follow.tvec.is_empty()),
        ("max-blocks", follow.max_blocks.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(Failure::usage(format_args!("--{option} means nothing with {what}"))
                .hint(format_args!("the same without --{option}")))
        }
        None => Ok(()),
    }
}

/// Refuses limits without anything between them.
fn within(any: bool, is_limited: bool) -> Result<(), Failure> {
    match any || !is_limited {
        false => Err(Failure::gap("nothing of any source is between --from and --to")),
        true => Ok(()),
    }
}

/// Prints packets, elements, ranges, or a form that traces of every protocol have.
pub(super) fn print(job: &Job<'_>, system: Arm) -> Result<Status, Failure> {
    let Arm { name, sources: all, marks, programs, .. } = &system;
    let mut losses = Losses::new(job);
    system.losses.iter().try_for_each(|loss| losses.gap(loss))?;
    let several = all.len() > 1;
    // Messages about gaps name the source of a table in any case.
    let named = matches!(
        job.product,
        Product::Text(Emit::Form(Form::Edges | Form::Coverage | Form::Functions))
    );
    if job.numbers && several {
        let names: Vec<&str> = all.iter().map(|traced| &traced.name[..]).collect();
        return Err(Failure::usage(format_args!(
            "instructions of several sources have no common numbers: {}",
            names.join(", ")
        ))
        .hint("the same without --numbers"));
    }
    let whole = || How { threads: system.threads, limits: None, named };
    let (limits, searched) = match job.is_searched() {
        true => window::search(job, programs, XLEN, told(job, name), |printer| {
            let searched = printer.arm(whole(), all);
            searched.map_err(Failure::from)
        })?,
        false => (limits(job)?, Status::Clean),
    };
    losses.status = losses.status.max(searched);
    let is_limited = limits.is_some();
    let first = limits.as_ref().map_or(Some(0), Limits::first).unwrap_or(0);
    let how = How { limits, ..whole() };
    let decoding = Decoding { name, job, all, how: how.clone() };
    let mut out = files::stdout();
    let status = match job.product {
        Product::Text(Emit::Packets) => {
            let portions = all.iter().map(|source| &source.portions[..]);
            let any = arm::packets(portions, marks, how.limits, &mut out)?;
            out.flush()?;
            within(any, is_limited)?;
            return Ok(losses.status);
        }
        Product::Text(emit @ (Emit::Ranges | Emit::Elements)) => {
            let (ranges, strict) = (emit == Emit::Ranges, job.is_strict());
            let any = arm::elements(all, ranges, strict, how, &mut out, |traced, gaps| {
                let what = format_args!("{}: {gaps} stretches could not be followed", traced.name);
                losses.gap(format_args!("{what}; --emit elements"))
            })?;
            if !ranges {
                arm::marks(marks, false, &mut out)?;
            }
            out.flush()?;
            within(any, is_limited)?;
            return Ok(losses.status);
        }
        Product::Text(Emit::Form(Form::Pcs)) if several => {
            let names: Vec<&str> = all.iter().map(|traced| &traced.name[..]).collect();
            Err(Failure::usage(format_args!(
                "addresses of several sources cannot be distinguished: {}",
                names.join(", ")
            ))
            .hint("--emit blocks"))
        }
        Product::Text(Emit::Form(Form::Listing)) => {
            let mut out = job.out()?;
            let mut numbered = job.numbers.then(|| Numbered::new(&mut out, first));
            let to: &mut (dyn Write + Send) = match &mut numbered {
                Some(numbered) => numbered,
                None => &mut out,
            };
            let mut printer = decoding.printer(arm::Listing::default(), to);
            let outcome = arm::listing(&mut printer, how, all, programs);
            let status = end(&printer.gaps, outcome)?;
            out.finish()?;
            Ok(status)
        }
        Product::Page(roots) => {
            let mut html = Html::new(programs, XLEN);
            let mut about = About {
                capture: name.clone(),
                protocol: "CoreSight".into(),
                command: None,
                window: job.window.words(),
                ended_early: None,
                programs: system.names.clone(),
                doubts: Vec::new(),
                roots: page::roots(system.files.iter().map(PathBuf::as_path), roots)?,
            };
            let out = job.out()?;
            let mut printer = decoding.printer(&mut html, io::sink());
            let status = decoding.print(&mut printer)?;
            let gaps = printer.gaps;
            about.doubts = doubts(&gaps, html.count().instructions, None);
            page::write(html, &about, None, out)?;
            Ok(status)
        }
        Product::Text(Emit::Form(form)) => {
            if form == Form::Json {
                arm::marks(marks, true, &mut out)?;
                out.flush()?;
            }
            let look = FormContext {
                programs,
                xlen: XLEN,
                name,
                json: job.json,
                headings: several,
                naming: if several { Naming::Always } else { Naming::Never },
                timing: job.timing,
                top: job.top,
            };
            let mut out = job.out()?;
            let gaps = decoding.gaps();
            let status = if job.numbers {
                let mut numbered = Numbered::new(&mut out, first);
                decoding.print(&mut *form.printer(&look, &mut numbered, gaps)?)?
            } else {
                decoding.print(&mut *form.printer(&look, &mut out, gaps)?)?
            };
            out.finish()?;
            Ok(status)
        }
    };
    programs.warnings().iter().for_each(warn);
    Ok(if losses.status == Status::Clean { status? } else { status.map(|_| losses.status)? })
}

/// Gaps that are reported as they come.
fn told(job: &Job<'_>, name: &str) -> Gaps {
    let gaps = gaps::new(name.into(), job.is_strict(), ProgressBar::hidden());
    gaps.hints(|fault| match fault {
        Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
        _ => "--emit elements, to see what the trace contains there",
    })
}

/// What to print.
struct Decoding<'a> {
    name: &'a str,
    job: &'a Job<'a>,
    all: &'a [Traced<'a>],
    how: How,
}

impl Decoding<'_> {
    fn gaps(&self) -> Gaps {
        match self.job.is_searched() {
            true => window::reported(self.name),
            false => told(self.job, self.name),
        }
    }

    fn printer<R: Report, W: Write>(&self, report: R, out: W) -> Printer<R, W> {
        Printer::new(report, out, self.gaps())
    }

    /// Reports everything, source by source.
    fn print(&self, printer: &mut dyn Print) -> Result<Status, Failure> {
        let outcome = printer.arm(self.how.clone(), self.all);
        end(printer.gaps(), outcome)
    }
}

/// The status, and a message if nothing was decoded.
fn end(gaps: &Gaps, outcome: Result<(), hartrace_report::Error>) -> Result<Status, Failure> {
    outcome?;
    if !gaps.has_started() && gaps.count() == 0 {
        let file = gaps.file();
        let what = "no synchronisation in the trace of any source; try --emit packets";
        let _ = writeln!(io::stderr(), "gap: {file}: nothing was decoded: {what}");
    }
    Ok(Status::from(gaps))
}
