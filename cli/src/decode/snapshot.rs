//! `hartrace decode --snapshot`.

mod sinks;
mod system;

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_arm_decoder::{
    Capture, Etmv4, Event, Layout, Lost, Memory, Ptm, Range, Shown, Sink, Stream, list_etmv4,
    list_ptm,
};
use hartrace_snapshot::{Core, Error, Protocol};
use hartrace_spaces::Timeline;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use system::{Origin, System, layout};

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
    let streams = job.streams(&capture, &origins, layout == Layout::Raw);
    if streams.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", buffer.name))
            .at(path.display()));
    }
    let mut out = files::stdout();
    if emit == Emit::Packets {
        packets(&streams, &mut out)?;
        out.flush()?;
        return Ok(job.status);
    }
    let mut all = Vec::new();
    for (stream, origin) in streams {
        let mut warnings = Vec::new();
        let traced = Traced {
            name: origin.name(),
            id: origin.id(),
            protocol: origin.protocol().clone(),
            core: origin.core().map_err(unusable)?,
            memory: system.memory(origin, &mut warnings).map_err(unusable)?,
            timeline: system.timeline(origin, args, &mut warnings)?,
        };
        warnings.iter().for_each(|warning| job.warn(warning));
        all.push((stream, traced));
    }
    if matches!(emit, Emit::Ranges | Emit::Elements) {
        for (stream, traced) in &all {
            job.elements(stream, traced, emit, &mut out)?;
        }
        out.flush()?;
        return Ok(job.status);
    }
    match sinks::print(path.display().to_string(), emit, args.json, &all)? {
        Status::Clean => Ok(job.status),
        other => Ok(other),
    }
}

/// What it takes to follow the trace of a source.
struct Traced {
    name: String,
    id: u8,
    protocol: Protocol,
    core: Core,
    memory: Memory,
    timeline: Option<Timeline>,
}

impl Traced {
    fn decode(&self, stream: &Stream, sink: &mut impl Sink) {
        match &self.protocol {
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

    /// Streams that can be read, with their sources.
    fn streams<'c, 's>(
        &self,
        capture: &'c Capture,
        origins: &'c [Origin<'s>],
        raw: bool,
    ) -> Vec<(&'c Stream, &'c Origin<'s>)> {
        for origin in origins {
            // O2.
            if let Protocol::Other(kind) = origin.protocol() {
                self.warn(&format!("trace of {} is not read: {kind}", origin.name()));
            }
        }
        let readable = |origin: &&Origin<'_>| !matches!(origin.protocol(), Protocol::Other(_));
        let find = |stream: &'c Stream| {
            let origin = origins.iter().filter(readable).find(|o| raw || o.id() == stream.id)?;
            Some((stream, origin))
        };
        capture.streams.iter().filter_map(find).collect()
    }

    fn elements(
        &mut self,
        stream: &Stream,
        traced: &Traced,
        emit: Emit,
        out: &mut BufWriter<io::Stdout>,
    ) -> io::Result<()> {
        let mut printer =
            Printer { out, id: traced.id, ranges: emit == Emit::Ranges, gaps: 0, result: Ok(()) };
        traced.decode(stream, &mut printer);
        let (gaps, result) = (printer.gaps, printer.result);
        if gaps > 0 {
            let name = &traced.name;
            self.gap(&format!("{name}: {gaps} stretches could not be followed; --emit elements"));
        }
        result
    }
}

/// Packets of all sources in the order in which they are complete.
fn packets(
    streams: &[(&Stream, &Origin<'_>)],
    out: &mut BufWriter<io::Stdout>,
) -> Result<(), Failure> {
    let mut records = Vec::new();
    for (stream, origin) in streams {
        let list = match origin.protocol() {
            Protocol::Etmv4(config) => list_etmv4(stream, config),
            Protocol::Ptm(config) => list_ptm(stream, config),
            Protocol::Other(_) => continue,
        };
        records.extend(list.into_iter().map(|record| (record, *stream)));
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

/// Prints what is decoded of one source.
struct Printer<'a> {
    out: &'a mut BufWriter<io::Stdout>,
    id: u8,
    /// Ranges only.
    ranges: bool,
    gaps: u64,
    result: io::Result<()>,
}

impl Sink for Printer<'_> {
    fn range(&mut self, at: u64, range: &Range) {
        if self.result.is_err() {
            return;
        }
        let id = self.id;
        self.result = match self.ranges {
            true => {
                let Range { start, end, count, .. } = range;
                writeln!(self.out, "{id:02x}\t{start:x}\t{end:x}\t{count}")
            }
            false => writeln!(self.out, "{at}\t{id:02x}\t{}", Shown::Range(range)),
        };
    }

    fn event(&mut self, at: u64, event: Event) {
        let gap = match event {
            Event::NoSync(lost) => lost != Lost::Start,
            Event::NotAccessible { .. } | Event::Fault(_) => true,
            _ => false,
        };
        self.gaps += u64::from(gap);
        if self.result.is_ok() && !self.ranges {
            let shown = Shown::Event(&event);
            self.result = writeln!(self.out, "{at}\t{:02x}\t{shown}", self.id);
        }
    }
}
