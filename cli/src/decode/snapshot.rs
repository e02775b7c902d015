//! `hartrace decode --snapshot`.

mod sinks;

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_arm_decoder::{
    Capture, Etmv4, Event, Layout, Lost, Memory, Ptm, Range, Shown, Sink, Stream, list_etmv4,
    list_ptm,
};
use hartrace_coresight::Mode;
use hartrace_snapshot::{Buffer, Core, Error, Format, Protocol, Snapshot, Source};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Runs the command.
pub(super) fn run(folder: &Path, args: &DecodeArgs) -> Result<Status, Failure> {
    let emit = args.emit;
    if emit == Emit::Listing {
        return Err(Failure::usage("there is no listing of a snapshot")
            .hint("--emit blocks, pcs, edges, coverage, json, packets, ranges or elements"));
    }
    if args.json && !matches!(emit, Emit::Blocks | Emit::Edges | Emit::Coverage | Emit::Json) {
        return Err(Failure::usage("--json has a form for blocks, edges and coverage only")
            .hint("--emit json"));
    }
    let unusable = |error: Error| Failure::input(error).at(folder.display());
    let snapshot = Snapshot::open(folder).map_err(unusable)?;
    let buffer = snapshot.buffer(args.buffer.as_deref()).map_err(unusable)?;
    let sources = snapshot.sources(&buffer.name).map_err(unusable)?;
    let mut job = Job { status: Status::Clean };
    for warning in &snapshot.warnings {
        job.warn(warning);
    }
    let bytes = snapshot.bytes(buffer).map_err(unusable)?;
    let layout = layout(buffer);
    let capture = Capture::split(layout, &bytes);
    for fault in &capture.faults {
        job.gap(&format!("frame: {fault:?}"));
    }
    let streams = job.streams(&capture, &sources, layout == Layout::Raw);
    if streams.is_empty() {
        return Err(Failure::input(format_args!("no ETMv4, ETE or PTM trace in {}", buffer.name))
            .at(folder.display()));
    }
    let mut out = files::stdout();
    if emit == Emit::Packets {
        packets(&streams, &mut out)?;
        out.flush()?;
        return Ok(job.status);
    }
    let mut all = Vec::new();
    for (stream, source) in streams {
        all.push((stream, job.traced(&snapshot, source).map_err(unusable)?));
    }
    if matches!(emit, Emit::Ranges | Emit::Elements) {
        for (stream, traced) in &all {
            job.elements(stream, traced, emit, &mut out)?;
        }
        out.flush()?;
        return Ok(job.status);
    }
    match sinks::print(folder.display().to_string(), emit, args.json, &all)? {
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
}

impl Traced {
    fn decode(&self, stream: &Stream, sink: &mut impl Sink) {
        match &self.protocol {
            Protocol::Etmv4(config) => {
                Etmv4::new(*config, self.core.arch, &self.memory).decode(stream, sink);
            }
            Protocol::Ptm(config) => {
                Ptm::new(*config, self.core.arch, &self.memory).decode(stream, sink);
            }
            Protocol::Other(_) => {}
        }
    }
}

fn layout(buffer: &Buffer) -> Layout {
    match buffer.format {
        Format::Coresight => Layout::Frames(Mode::Aligned),
        Format::Dstream => Layout::Dstream(Mode::Fsync),
        Format::SourceData => Layout::Raw,
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
        sources: &'c [Source<'s>],
        raw: bool,
    ) -> Vec<(&'c Stream, &'c Source<'s>)> {
        for source in sources {
            // O2.
            if let Protocol::Other(kind) = &source.protocol {
                self.warn(&format!("trace of {} is not read: {kind}", source.device.name));
            }
        }
        let readable = |source: &&Source<'_>| !matches!(source.protocol, Protocol::Other(_));
        let find = |stream: &'c Stream| {
            let source = sources.iter().filter(readable).find(|s| raw || s.id == stream.id)?;
            Some((stream, source))
        };
        capture.streams.iter().filter_map(find).collect()
    }

    fn traced(&self, snapshot: &Snapshot, source: &Source<'_>) -> Result<Traced, Error> {
        let mut memory = Memory::new();
        if let Some(core) = source.core {
            let mut warnings = Vec::new();
            for segment in snapshot.segments(core, &mut warnings)? {
                memory.add(segment.address, segment.bytes, segment.spaces);
            }
            warnings.iter().for_each(|warning| self.warn(warning));
        }
        Ok(Traced {
            name: source.device.name.clone(),
            id: source.id,
            protocol: source.protocol.clone(),
            core: source.core_kind()?,
            memory,
        })
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
    streams: &[(&Stream, &Source<'_>)],
    out: &mut BufWriter<io::Stdout>,
) -> Result<(), Failure> {
    let mut records = Vec::new();
    for (stream, source) in streams {
        let list = match &source.protocol {
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
