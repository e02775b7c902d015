//! `hartrace decode --snapshot`.

mod bound;
mod side;
mod sinks;
mod system;

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::files;
use bound::{Portion, Portions, bind};
use hartrace_arm_decoder::{
    Capture, Etmv4, Event, Layout, Lost, Memory, Ptm, Range, Shown, Sink, list_etmv4, list_ptm,
};
use hartrace_capture::snapshot::{Core, Error, Protocol};
use hartrace_capture::spaces::Timeline;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use system::{System, Timelines, layout};

/// Runs the command.
pub(super) fn run(path: &Path, args: &DecodeArgs) -> Result<Status, Failure> {
    let emit = args.emit;
    if emit == Emit::Listing {
        return Err(Failure::usage("there is no listing of a snapshot")
            .hint("--emit blocks, pcs, edges, coverage, json, packets, ranges or elements"));
    }
    if args.json && !matches!(emit, Emit::Blocks | Emit::Edges | Emit::Coverage | Emit::Json) {
        return Err(Failure::usage("--json has a form for blocks, edges and coverage only")
            .hint("--emit json"));
    }
    let unusable = |error: Error| Failure::input(error).at(path.display());
    let system = System::open(path).map_err(unusable)?;
    let buffer = system.buffer(args.arm.buffer.as_deref()).map_err(unusable)?;
    let origins = system.origins(buffer).map_err(unusable)?;
    let mut job = Job { status: Status::Clean };
    system.warnings().iter().for_each(|warning| job.warn(warning));
    let bytes = system.bytes(buffer).map_err(unusable)?;
    let layout = layout(buffer.format, args.arm.frames)?;
    let capture = Capture::split(layout, &bytes);
    for fault in &capture.faults {
        job.gap(&format!("frame: {fault:?}"));
    }
    for origin in origins.iter().filter(|origin| !origin.is_read()) {
        // O2.
        if let Protocol::Other(kind) = origin.protocol() {
            job.warn(&format!("trace of {} is not read: {kind}", origin.name()));
        }
    }
    let log = system.log(args)?;
    let raw = layout == Layout::Raw;
    if raw && log.as_ref().is_some_and(|log| !log.traces.is_empty()) {
        job.warn("define_trace needs frames, which tell sources apart; it is ignored");
    }
    let sources = bind(&capture, &origins, raw, log.as_ref(), |id, bytes| {
        job.gap(&format!("{bytes} bytes of {id:#x}, which is nobody's then: define_trace"));
    })?;
    if sources.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", buffer.name))
            .at(path.display()));
    }
    let mut out = files::stdout();
    if emit == Emit::Packets {
        packets(&sources, &mut out)?;
        out.flush()?;
        return Ok(job.status);
    }
    let (mut all, mut known): (Vec<Traced<'_>>, _) = (Vec::new(), Timelines::new());
    for (origin, portions) in sources {
        let mut warnings = Vec::new();
        let traced = Traced {
            name: origin.name(),
            id: origin.id(),
            portions,
            core: origin.core().map_err(unusable)?,
            memory: match all.first().filter(|_| system.has_one_memory()) {
                Some(first) => first.memory.clone(),
                None => system.memory(origin, &mut warnings).map_err(unusable)?.into(),
            },
            timeline: system.timeline(origin, log.as_ref(), args, &mut known, &mut warnings)?,
        };
        warnings.iter().for_each(|warning| job.warn(warning));
        all.push(traced);
    }
    if matches!(emit, Emit::Ranges | Emit::Elements) {
        job.elements(&all, args, &mut out)?;
        out.flush()?;
        return Ok(job.status);
    }
    match sinks::print(path.display().to_string(), args, &all)? {
        Status::Clean => Ok(job.status),
        other => Ok(other),
    }
}

/// What it takes to follow the trace of a source.
struct Traced<'c> {
    name: String,
    /// Its number in the metadata.
    id: u8,
    portions: Vec<Portion<'c>>,
    core: Core,
    memory: Arc<Memory>,
    timeline: Option<Arc<Timeline>>,
}

impl Traced<'_> {
    /// Decodes all of it.
    fn decode(&self, sink: &mut impl Sink) {
        self.portions.iter().for_each(|portion| self.portion(portion, sink));
    }

    fn portion(&self, portion: &Portion<'_>, sink: &mut impl Sink) {
        let stream = &portion.stream;
        match &portion.protocol {
            Protocol::Etmv4(config) => {
                let mut decoder = Etmv4::new(*config, self.core.arch, &self.memory);
                if let Some(timeline) = &self.timeline {
                    decoder = decoder.with_timeline(timeline);
                }
                decoder.decode(stream, sink);
            }
            Protocol::Ptm(config) => {
                let mut decoder = Ptm::new(*config, self.core.arch, &self.memory);
                if let Some(timeline) = &self.timeline {
                    decoder = decoder.with_timeline(timeline);
                }
                decoder.decode(stream, sink);
            }
            Protocol::Other(_) => {}
        }
    }
}

/// How it went so far.
struct Job {
    status: Status,
}

impl Job {
    fn warn(&self, what: &str) {
        let _ = writeln!(io::stderr(), "warning: {what}");
    }

    fn gap(&mut self, what: &str) {
        self.status = Status::Gaps;
        let _ = writeln!(io::stderr(), "gap: {what}");
    }

    fn elements(
        &mut self,
        all: &[Traced<'_>],
        args: &DecodeArgs,
        out: &mut BufWriter<io::Stdout>,
    ) -> Result<(), Failure> {
        let ranges = args.emit == Emit::Ranges;
        let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Printed)| {
            let mut printer = Printer { id: traced.id, ranges, printed: Printed::default(), pass };
            for portion in &traced.portions {
                printer.id = portion.id;
                traced.portion(portion, &mut printer);
            }
            printer.printed.last = true;
            (printer.pass)(printer.printed);
        };
        let mut gaps = 0;
        let threads = args.follow.threads();
        let take = |traced: &Traced<'_>, printed: Printed| {
            out.write_all(&printed.text)?;
            gaps += printed.gaps;
            if printed.last && gaps > 0 {
                let name = &traced.name;
                let what = format!("{name}: {gaps} stretches could not be followed");
                self.gap(&format!("{what}; --emit elements"));
                gaps = 0;
            }
            Ok(())
        };
        side::each(all, threads, work, take)
    }
}

/// Packets of all sources in the order in which they are complete.
fn packets(sources: &[Portions<'_, '_>], out: &mut BufWriter<io::Stdout>) -> Result<(), Failure> {
    let mut records = Vec::new();
    for Portion { stream, protocol, .. } in sources.iter().flat_map(|(_, portions)| portions) {
        let list = match protocol {
            Protocol::Etmv4(config) => list_etmv4(stream, config),
            Protocol::Ptm(config) => list_ptm(stream, config),
            Protocol::Other(_) => continue,
        };
        records.extend(list.into_iter().map(|record| (record, stream)));
    }
    records.sort_by_key(|(record, _)| record.order);
    for (record, stream) in records {
        write!(out, "{}\t{:02x}\t", record.index, stream.id)?;
        for byte in stream.bytes.get(record.bytes.clone()).unwrap_or_default() {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out, "\t{}", record.name)?;
    }
    Ok(())
}

/// Bytes of text that are passed on at once.
const CHUNK: usize = 1 << 16;

/// Some of what is printed of one source.
#[derive(Default)]
struct Printed {
    text: Vec<u8>,
    /// What could not be followed.
    gaps: u64,
    /// Nothing comes behind it.
    last: bool,
}

/// Prints what is decoded of one source.
struct Printer<'a> {
    id: u8,
    /// Ranges only.
    ranges: bool,
    printed: Printed,
    pass: &'a mut dyn FnMut(Printed),
}

impl Printer<'_> {
    /// Passes on what has been printed, if it is much.
    fn check(&mut self) {
        if self.printed.text.len() >= CHUNK {
            (self.pass)(std::mem::take(&mut self.printed));
        }
    }
}

// Writing to memory does not fail.
impl Sink for Printer<'_> {
    fn range(&mut self, at: u64, range: &Range) {
        let (id, out) = (self.id, &mut self.printed.text);
        let _ = match self.ranges {
            true => {
                let Range { start, end, count, .. } = range;
                writeln!(out, "{id:02x}\t{start:x}\t{end:x}\t{count}")
            }
            false => writeln!(out, "{at}\t{id:02x}\t{}", Shown::Range(range)),
        };
        self.check();
    }

    fn event(&mut self, at: u64, event: Event) {
        let gap = match event {
            Event::NoSync(lost) => lost != Lost::Start,
            Event::NotAccessible { .. } | Event::Fault(_) => true,
            _ => false,
        };
        self.printed.gaps += u64::from(gap);
        if !self.ranges {
            let (id, shown) = (self.id, Shown::Event(&event));
            let _ = writeln!(self.printed.text, "{at}\t{id:02x}\t{shown}");
            self.check();
        }
    }
}
