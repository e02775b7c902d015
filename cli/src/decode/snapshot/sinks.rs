//! What can be printed of a trace of any protocol: the same tables and lines as of E-Trace.

use super::{Traced, side};
use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::{files, gaps};
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_decoder::{Coverage, Edges, Event, Fault, Run, Sink, StreamPos};
use hartrace_described::programs::{Programs, Symbols};
use hartrace_isa::Xlen;
use hartrace_report::{
    Blocks, Gaps, Json, Noted, Ordered, Pcs, Printer, Report, Style, Table, Tables,
};
use indicatif::ProgressBar;
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
    let (json, threads) = (args.json, args.follow.threads());
    let gaps = gaps::new(name, false, ProgressBar::hidden()).hints(|fault| match fault {
        Fault::NoCode(_) => "a [dump] with the code at that address in the file of the core",
        _ => "--emit elements, for what the trace says there",
    });
    match args.emit {
        Emit::Edges => tables::<Edges>(gaps, json, threads, all),
        Emit::Coverage => tables::<Coverage>(gaps, json, threads, all),
        Emit::Pcs if all.len() > 1 => {
            let names: Vec<&str> = all.iter().map(|traced| &traced.name[..]).collect();
            Err(Failure::usage(format_args!(
                "addresses of several sources cannot be told apart: {}",
                names.join(", ")
            ))
            .hint("--emit blocks"))
        }
        Emit::Pcs => report(Pcs, gaps, threads, all),
        Emit::Blocks => {
            let programs = Programs::new(XLEN);
            let blocks = Ordered::new(Blocks::new(&programs, XLEN, json));
            report(blocks.headings(all.len() > 1 && !json), gaps, threads, all)
        }
        _ => report(Ordered::new(Json::new(XLEN)), gaps, threads, all),
    }
}

/// One table for each source.
fn tables<S: Table>(
    gaps: Gaps,
    json: bool,
    threads: NonZeroUsize,
    all: &[Traced<'_>],
) -> Result<Status, Failure> {
    let style = Style { symbols: Symbols::default(), xlen: XLEN, json };
    report(Tables::<S>::new(style).headings(all.len() > 1), gaps, threads, all)
}

/// Everything, source by source.
fn report<R: Report>(
    report: R,
    gaps: Gaps,
    threads: NonZeroUsize,
    all: &[Traced<'_>],
) -> Result<Status, Failure> {
    let mut printer = Printer::new(report, files::stdout(), gaps);
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Option<Noted<R::Part>>)| {
        let passing = Passing { part: Noted::default(), pass };
        let profile = if traced.core.m_profile { Profile::M } else { Profile::A };
        let mut runs = Runs::new(passing, profile);
        traced.decode(&mut runs);
        runs.sink.pass_on();
        (runs.sink.pass)(None);
    };
    let take = |traced: &Traced<'_>, part: Option<Noted<R::Part>>| {
        let source = (all.len() > 1).then_some(u16::from(traced.id));
        match part {
            Some(part) => printer.join(vec![(source, part)])?,
            // The end of this source.
            None => printer.finish()?,
        }
        Ok(())
    };
    side::each(all, threads, work, take)?;
    printer.gaps.end(ControlFlow::Continue(()));
    Ok(Status::from(&printer.gaps))
}

/// Collects a part, and passes it on when it is full.
struct Passing<'a, S> {
    part: S,
    pass: &'a mut dyn FnMut(Option<S>),
}

impl<S: Sink + Default> Passing<'_, S> {
    fn pass_on(&mut self) {
        (self.pass)(Some(std::mem::take(&mut self.part)));
    }
}

impl<S: Sink + Default> Sink for Passing<'_, S> {
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
