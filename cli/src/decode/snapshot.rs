//! `hartrace decode --snapshot`.

use crate::args::{DecodeArgs, Emit, Frames};
use crate::failure::{Failure, Status};
use crate::{files, gaps};
use hartrace_arm_decoder::system::{BindError, System, SystemError, Traced, bind};
use hartrace_arm_decoder::{Capture, Layout};
use hartrace_capture::programs::{Programs, Symbols};
use hartrace_capture::snapshot::{Error, Protocol};
use hartrace_decoder::{Coverage, Edges, Fault};
use hartrace_encap::coresight::Mode;
use hartrace_isa::Xlen;
use hartrace_report::{
    Blocks, Json, Naming, Ordered, Pcs, Printer, Report, Style, Table, Tables, arm,
};
use indicatif::ProgressBar;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Addresses are printed with all 16 digits.
const XLEN: Xlen = Xlen::Rv64;

/// Runs the command.
pub(super) fn run(path: &Path, args: &DecodeArgs) -> Result<Status, Failure> {
    let emit = args.emit;
    if emit == Emit::Listing {
        return Err(Failure::usage("a snapshot has no listing")
            .hint("--emit blocks, pcs, edges, coverage, json, packets, ranges or elements"));
    }
    if args.json && !matches!(emit, Emit::Blocks | Emit::Edges | Emit::Coverage | Emit::Json) {
        return Err(
            Failure::usage("--json applies to blocks, edges and coverage only").hint("--emit json")
        );
    }
    let unusable = |error: Error| Failure::input(error).at(path.display());
    let system = System::open(path).map_err(unusable)?;
    let buffer = system.buffer(args.arm.buffer.as_deref()).map_err(unusable)?;
    let origins = system.origins(buffer).map_err(unusable)?;
    let mut status = Status::Clean;
    system.warnings().iter().for_each(warn);
    let bytes = system.bytes(buffer).map_err(unusable)?;
    let layout = Layout::of_buffer(buffer.format, args.arm.frames.map(Mode::from));
    let layout = layout.map_err(|error| Failure::usage(error).hint("the same without --frames"))?;
    let capture = Capture::split(layout, &bytes);
    for fault in &capture.faults {
        gap(&mut status, format_args!("frame: {fault:?}"));
    }
    for origin in origins.iter().filter(|origin| !origin.is_read()) {
        // O2.
        if let Protocol::Other(kind) = origin.protocol() {
            warn(format_args!("the trace of {} is not read: {kind}", origin.name()));
        }
    }
    let log = match args.follow.events.log()? {
        Some(log) => Some(log),
        None => system.log().map_err(Failure::input)?,
    };
    let raw = layout == Layout::Raw;
    if raw && log.as_ref().is_some_and(|log| !log.traces.is_empty()) {
        warn("define_trace is ignored: without frames, sources cannot be distinguished");
    }
    let sources = bind(&capture, &origins, raw, log.as_ref(), |id, bytes| {
        let what = "which has no source at that time (define_trace)";
        gap(&mut status, format_args!("{bytes} bytes of {id:#x}, {what}"));
    })?;
    if sources.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", buffer.name))
            .at(path.display()));
    }
    let mut out = files::stdout();
    if emit == Emit::Packets {
        arm::packets(&sources, &mut out)?;
        out.flush()?;
        return Ok(status);
    }
    let mut warnings = Vec::new();
    let all = system.traced(sources, log.as_ref(), args.follow.events.holds(), &mut warnings);
    warnings.iter().for_each(warn);
    let all = all.map_err(|error| match error {
        SystemError::Files(error) => unusable(error),
        SystemError::NoContextId => Failure::usage(error)
            .hint("--context-id tid, or context_id_holds in the metadata of a package"),
        error => Failure::input(error),
    })?;
    if matches!(emit, Emit::Ranges | Emit::Elements) {
        let (ranges, threads) = (emit == Emit::Ranges, args.follow.threads());
        arm::elements(&all, ranges, threads, &mut out, |traced, gaps| {
            let what = format_args!("{}: {gaps} stretches could not be followed", traced.name);
            gap(&mut status, format_args!("{what}; --emit elements"));
        })?;
        out.flush()?;
        return Ok(status);
    }
    match print(path.display().to_string(), args, &all)? {
        Status::Clean => Ok(status),
        other => Ok(other),
    }
}

fn warn(what: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "warning: {what}");
}

fn gap(status: &mut Status, what: std::fmt::Arguments<'_>) {
    *status = Status::Gaps;
    let _ = writeln!(io::stderr(), "gap: {what}");
}

/// Prints a form that traces of every protocol have.
fn print(name: String, args: &DecodeArgs, all: &[Traced<'_>]) -> Result<Status, Failure> {
    let job = Job { name, args, all };
    let several = all.len() > 1;
    match args.emit {
        Emit::Edges => job.tables::<Edges>(),
        Emit::Coverage => job.tables::<Coverage>(),
        Emit::Pcs if several => {
            let names: Vec<&str> = all.iter().map(|traced| &traced.name[..]).collect();
            Err(Failure::usage(format_args!(
                "addresses of several sources cannot be distinguished: {}",
                names.join(", ")
            ))
            .hint("--emit blocks"))
        }
        Emit::Pcs => job.report(Pcs, false),
        Emit::Blocks => {
            let programs = Programs::new(XLEN);
            let blocks = Ordered::new(Blocks::new(&programs, XLEN, args.json));
            job.report(blocks.headings(several && !args.json), false)
        }
        _ => job.report(Ordered::new(Json::new(XLEN)), false),
    }
}

/// What to print.
struct Job<'a> {
    name: String,
    args: &'a DecodeArgs,
    all: &'a [Traced<'a>],
}

impl Job<'_> {
    /// Reports one table for each source.
    fn tables<S: Table>(self) -> Result<Status, Failure> {
        let style = Style { symbols: Symbols::default(), xlen: XLEN, json: self.args.json };
        let naming = if self.all.len() > 1 { Naming::Always } else { Naming::Never };
        // Messages about gaps name the source in any case.
        self.report(Tables::<S>::new(style).naming(naming), true)
    }

    /// Reports everything, source by source.
    fn report(self, report: impl Report, named: bool) -> Result<Status, Failure> {
        let gaps = gaps::new(self.name, false, ProgressBar::hidden()).hints(|fault| match fault {
            Fault::NoCode(_) => "a [dump] with the code at that address in the file of the core",
            _ => "--emit elements, to see what the trace contains there",
        });
        let mut printer = Printer::new(report, files::stdout(), gaps);
        arm::report(&mut printer, self.args.follow.threads(), self.all, named)?;
        printer.gaps.end(ControlFlow::Continue(()));
        Ok(Status::from(&printer.gaps))
    }
}

impl From<Frames> for Mode {
    fn from(frames: Frames) -> Self {
        match frames {
            Frames::Aligned => Self::Aligned,
            Frames::Reset => Self::AlignedReset,
            Frames::Fsync => Self::Fsync,
            Frames::Hsync => Self::FsyncHsync,
        }
    }
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        let hint = match &error {
            BindError::NoSource { known, .. } => format!("one of {}", known.join(", ")),
            _ => "etmcr=... of a PTM, trcconfigr=... of an ETMv4 or ETE".into(),
        };
        Self::input(error).hint(hint)
    }
}
