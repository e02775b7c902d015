//! Prints decoded traces of Arm sources, whatever they were captured in.

use crate::args::{DecodeArgs, Emit, Placed};
use crate::export::needs_lines;
use crate::failure::{Failure, Status};
use crate::{files, gaps, report};
use hartrace_arm_decoder::system::Traced;
use hartrace_arm_decoder::{Mark, Memory};
use hartrace_capture::programs::Programs;
use hartrace_capture::snapshot::image::{ProgramError, program};
use hartrace_decoder::{Coverage, Edges, Fault};
use hartrace_isa::Xlen;
use hartrace_isa::arm::Spaces;
use hartrace_report::arm::{self, How};
use hartrace_report::html::{About, Html};
use hartrace_report::{
    Autofdo, Blocks, Bolt, CallForm, Callgrind, Calls, Folded, Json, Lcov, Limits, Naming, Ordered,
    Pcs, Perfetto, Pprof, Printer, Report, SourceForm, SourceReport, Speedscope, Style, Table,
    Tables,
};
use indicatif::ProgressBar;
use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Addresses are printed with all 16 digits.
const XLEN: Xlen = Xlen::Rv64;

/// What could not be read so far, apart from the traces of sources.
pub(super) struct Lost<'a> {
    pub(super) status: Status,
    args: &'a DecodeArgs,
}

impl<'a> Lost<'a> {
    pub(super) fn nothing(args: &'a DecodeArgs) -> Self {
        Self { status: Status::Clean, args }
    }

    /// Reports a gap; an error if none is allowed.
    pub(super) fn gap(&mut self, what: impl fmt::Display) -> Result<(), Failure> {
        if self.args.follow.strict {
            return Err(Failure::gap(what));
        }
        self.status = Status::Gaps;
        let _ = writeln!(io::stderr(), "gap: {what}");
        Ok(())
    }
}

/// Refuses combinations of arguments that mean nothing; returns what part of each source to print.
pub(super) fn limits(args: &DecodeArgs) -> Result<Option<Limits>, Failure> {
    let forms = matches!(args.emit, Emit::Blocks | Emit::Edges | Emit::Coverage | Emit::Json);
    if args.json && !forms {
        return Err(
            Failure::usage("--json applies to blocks, edges and coverage only").hint("--emit json")
        );
    }
    Limits::new(args.from, args.to).map_err(|error| {
        Failure::usage(error).hint("a --to after --from; --to itself is not printed")
    })
}

/// Prints elements, ranges, or a form that traces of every protocol have.
pub(super) fn print(
    name: String,
    args: &DecodeArgs,
    elf: &[Placed],
    mut all: Vec<Traced<'_>>,
    marks: &[Mark],
    mut lost: Lost<'_>,
) -> Result<Status, Failure> {
    let programs = load(args, elf, &mut all)?;
    let several = all.len() > 1;
    let how = How { threads: args.follow.threads(), limits: limits(args)?, named: false };
    let job = Job { name, args, all: &all, how };
    let style = || Style { symbols: programs.all_symbols(), xlen: XLEN, json: args.json };
    let mut out = files::stdout();
    let status = match args.emit {
        Emit::Ranges | Emit::Elements => {
            let (ranges, strict) = (args.emit == Emit::Ranges, args.follow.strict);
            arm::elements(&all, ranges, strict, how, &mut out, |traced, gaps| {
                let what = format_args!("{}: {gaps} stretches could not be followed", traced.name);
                lost.gap(format_args!("{what}; --emit elements"))
            })?;
            if !ranges {
                arm::marks(marks, false, &mut out)?;
            }
            out.flush()?;
            return Ok(lost.status);
        }
        Emit::Edges => job.tables::<Edges>(style()),
        Emit::Coverage => job.tables::<Coverage>(style()),
        Emit::Pcs if several => {
            let names: Vec<&str> = all.iter().map(|traced| &traced.name[..]).collect();
            Err(Failure::usage(format_args!(
                "addresses of several sources cannot be distinguished: {}",
                names.join(", ")
            ))
            .hint("--emit blocks"))
        }
        Emit::Pcs => job.report(Pcs),
        Emit::Listing => job.listing(&programs),
        Emit::Autofdo => job.source(Autofdo, &programs),
        Emit::Bolt => job.source(Bolt, &programs),
        Emit::Lcov => job.source(Lcov, &programs),
        Emit::Pprof => job.calls(Pprof::new(&job.name), &programs),
        Emit::Callgrind => job.calls(Callgrind, &programs),
        Emit::Folded => job.calls(Folded, &programs),
        Emit::Perfetto => job.calls(Perfetto::new(args.timing), &programs),
        Emit::Speedscope => job.calls(Speedscope::new(&job.name, args.timing.unit), &programs),
        Emit::Html => {
            let mut html = Html::new(&programs, XLEN);
            let about = About {
                capture: job.name.clone(),
                protocol: "CoreSight".into(),
                command: None,
                programs: elf.iter().map(|placed| files::name(&placed.path)).collect(),
            };
            let outcome = job.report(&mut html);
            report::write(html, &about, None, args)?;
            outcome
        }
        Emit::Blocks => {
            let blocks = Ordered::new(Blocks::new(&programs, XLEN, args.json));
            job.report(blocks.headings(several && !args.json))
        }
        Emit::Json | Emit::Packets => {
            arm::marks(marks, true, &mut out)?;
            out.flush()?;
            job.report(Ordered::new(Json::new(XLEN)))
        }
    };
    Ok(if lost.status == Status::Clean { status? } else { status.map(|_| lost.status)? })
}

/// Adds the code that the command line names to what the sources see; returns its names.
fn load(args: &DecodeArgs, elf: &[Placed], all: &mut [Traced<'_>]) -> Result<Programs, Failure> {
    let (mut programs, mut memory) = (Programs::new(XLEN), Memory::new());
    // The first counts, and later code wins.
    for placed in args.follow.image.iter().rev() {
        memory.add(placed.address, files::read(&placed.path)?, Spaces::ALL);
    }
    for placed in elf.iter().rev() {
        let bytes = files::read(&placed.path)?;
        let unusable = |error: ProgramError| {
            let failure = Failure::input(&error).at(files::name(&placed.path));
            match error {
                ProgramError::NotElf(_) => failure.hint("--image FILE@ADDR, if this is bare code"),
                ProgramError::NoSegments => failure.hint("the program after linking"),
                _ => failure,
            }
        };
        for (address, code) in program(&bytes).map_err(unusable)? {
            memory.add(address.wrapping_add(placed.address), code.to_vec(), Spaces::ALL);
        }
    }
    for placed in elf {
        programs.add_names(files::read(&placed.path)?, placed.address);
    }
    if elf.len() + args.follow.image.len() > 0 {
        all.iter_mut().for_each(|traced| traced.add_code(&memory));
    }
    Ok(programs)
}

/// What to print.
struct Job<'a> {
    name: String,
    args: &'a DecodeArgs,
    all: &'a [Traced<'a>],
    how: How,
}

impl Job<'_> {
    fn printer<R: Report>(&self, report: R) -> Result<Printer<R, impl Write>, Failure> {
        let strict = self.args.follow.strict;
        let gaps = gaps::new(self.name.clone(), strict, ProgressBar::hidden());
        let gaps = gaps.hints(|fault| match fault {
            Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
            _ => "--emit elements, to see what the trace contains there",
        });
        Ok(Printer::new(report, self.args.out()?, gaps))
    }

    /// Reports one table for each source.
    fn tables<S: Table>(mut self, style: Style<'_>) -> Result<Status, Failure> {
        let naming = if self.all.len() > 1 { Naming::Always } else { Naming::Never };
        // Messages about gaps name the source in any case.
        self.how.named = true;
        self.report(Tables::<S>::new(style).naming(naming))
    }

    /// Reports how often everything was executed.
    fn source(self, form: impl SourceForm, programs: &Programs) -> Result<Status, Failure> {
        let report = SourceReport::new(form, programs);
        needs_lines(self.args.emit, &report)?;
        self.report(report)
    }

    /// Reports call stacks.
    fn calls(&self, form: impl CallForm, programs: &Programs) -> Result<Status, Failure> {
        self.report(Calls::with_inlined(form, programs, XLEN))
    }

    /// Reports everything, source by source.
    fn report(&self, report: impl Report) -> Result<Status, Failure> {
        let mut printer = self.printer(report)?;
        let outcome = arm::report(&mut printer, self.how, self.all);
        end(printer, outcome)
    }

    /// Lists everything, source by source.
    fn listing(self, programs: &Programs) -> Result<Status, Failure> {
        let mut printer = self.printer(arm::Listing::default())?;
        let outcome = arm::listing(&mut printer, self.how, self.all, programs);
        end(printer, outcome)
    }
}

/// Prints what was decoded even if an error follows.
fn end<R: Report>(
    mut printer: Printer<R, impl Write>,
    outcome: Result<(), hartrace_report::Error>,
) -> Result<Status, Failure> {
    if outcome.is_err() {
        let _ = printer.finish();
        printer.gaps.end(ControlFlow::Break(()));
    }
    outcome?;
    printer.gaps.end(ControlFlow::Continue(()));
    if !printer.gaps.has_started() && printer.gaps.count() == 0 {
        let file = printer.gaps.file();
        let what = "no synchronisation in the trace of any source; try --emit packets";
        let _ = writeln!(io::stderr(), "gap: {file}: nothing was decoded: {what}");
    }
    Ok(Status::from(&printer.gaps))
}
