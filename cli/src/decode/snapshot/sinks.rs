//! What can be printed of a trace of any protocol: the same tables and lines as of E-Trace.

use super::{Traced, side};
use crate::args::{DecodeArgs, Emit};
use crate::decode::blocks::Blocks;
use crate::decode::events::Events;
use crate::decode::pcs::Pcs;
use crate::decode::printer::Printer;
use crate::decode::tables::{Style, Table};
use crate::failure::{Failure, Status};
use crate::files;
use crate::gaps::Gaps;
use crate::image::Programs;
use crate::part::Part;
use crate::sums::{self, Noted};
use crate::symbols::Symbols;
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_decoder::{Coverage, Edges, Event, Fault, Run, Sink, StreamPos};
use hartrace_isa::Xlen;
use indicatif::ProgressBar;
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// Addresses are printed with all of their digits.
const XLEN: Xlen = Xlen::Rv64;

/// Prints what was asked for.
pub(super) fn print(
    name: String,
    args: &DecodeArgs,
    all: &[Traced<'_>],
) -> Result<Status, Failure> {
    let (emit, json, threads) = (args.emit, args.json, args.follow.threads());
    let gaps = Gaps::new(name, false, ProgressBar::hidden()).hints(|fault| match fault {
        Fault::NoCode(_) => "a [dump] with the code at that address in the file of the core",
        _ => "--emit elements, for what the trace says there",
    });
    match emit {
        Emit::Edges => table::<Edges>(gaps, json, threads, all),
        Emit::Coverage => table::<Coverage>(gaps, json, threads, all),
        Emit::Pcs => pcs(gaps, all),
        _ => {
            let programs = Programs::none(XLEN);
            let form: Box<dyn super::super::forms::Form + Send + '_> = match emit {
                Emit::Blocks => Box::new(Blocks::new(&programs, XLEN, json)),
                _ => Box::new(Events::new(XLEN)),
            };
            let headings = all.len() > 1 && !json && emit == Emit::Blocks;
            text(Printer::new(files::stdout(), form, gaps, headings), threads, all)
        }
    }
}

/// Decodes one source.
fn decode<S: Sink>(traced: &Traced<'_>, sink: S) -> S {
    let profile = if traced.core.m_profile { Profile::M } else { Profile::A };
    let mut runs = Runs::new(sink, profile);
    traced.decode(&mut runs);
    runs.sink
}

/// One table for each source.
fn table<S: Table>(
    mut gaps: Gaps,
    json: bool,
    threads: NonZeroUsize,
    all: &[Traced<'_>],
) -> Result<Status, Failure> {
    let style = Style { symbols: Symbols::default(), xlen: XLEN, json };
    let mut text = Vec::new();
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Noted<S>)| {
        pass(decode(traced, Noted::new(S::default(), false)));
    };
    let take = |traced: &Traced<'_>, noted: Noted<S>| {
        let source = Some(u16::from(traced.id));
        let decoded = [(source, noted)];
        sums::report(&decoded, &mut gaps)?;
        if all.len() > 1 && !json {
            // Writing to memory does not fail.
            let _ = writeln!(text, "source {}:", traced.id);
        }
        let [(_, noted)] = decoded;
        noted.sink.print(&mut text, source.filter(|_| all.len() > 1), &style);
        Ok(())
    };
    side::each(all, threads, work, take)?;
    let mut out = files::stdout();
    out.write_all(&text)?;
    out.flush()?;
    gaps.end(ControlFlow::Continue(()));
    Ok(gaps.status())
}

/// Addresses of one source: there is no place to say of which.
fn pcs(mut gaps: Gaps, all: &[Traced<'_>]) -> Result<Status, Failure> {
    let [traced] = all else {
        let names: Vec<&str> = all.iter().map(|traced| &traced.name[..]).collect();
        return Err(Failure::usage(format_args!(
            "addresses of several sources cannot be told apart: {}",
            names.join(", ")
        ))
        .hint("--emit blocks"));
    };
    let noted = decode(traced, Noted::new(Pcs::default(), false));
    let decoded = [(None, noted)];
    sums::report(&decoded, &mut gaps)?;
    let mut out = files::stdout();
    out.write_all(&decoded[0].1.sink.text)?;
    out.flush()?;
    gaps.end(ControlFlow::Continue(()));
    Ok(gaps.status())
}

/// Everything in order, source by source.
fn text<W: Write>(
    mut printer: Printer<'_, W>,
    threads: NonZeroUsize,
    all: &[Traced<'_>],
) -> Result<Status, Failure> {
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Part)| {
        let mut passing = decode(traced, Passing { part: Part::default(), pass });
        passing.pass_on();
    };
    let take = |traced: &Traced<'_>, part| {
        let source = (all.len() > 1).then_some(u16::from(traced.id));
        printer.join(source, &part)
    };
    side::each(all, threads, work, take)?;
    printer.end()?;
    printer.gaps.end(ControlFlow::Continue(()));
    Ok(printer.gaps.status())
}

/// Collects a part, and passes it on when it is full.
struct Passing<'a> {
    part: Part,
    pass: &'a mut dyn FnMut(Part),
}

impl Passing<'_> {
    fn pass_on(&mut self) {
        (self.pass)(std::mem::take(&mut self.part));
    }
}

impl Sink for Passing<'_> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.part.run(at, run);
        if self.part.is_full() {
            self.pass_on();
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.part.event(at, event);
        if self.part.is_full() {
            self.pass_on();
        }
    }
}
