//! What only Arm traces have: packets, elements and ranges, as OpenCSD lists them.

use super::{How, side};
use crate::limits::Limits;
use hartrace_arm_decoder::{self as arm, Lost, Mark, MarkKind, Range, Shown, list_etmv4, list_ptm};
use hartrace_capture::snapshot::Protocol;
use hartrace_capture::system::{Portion, Traced};
use hartrace_decoder::StreamPos;
use std::io::{self, Write};

/// Bytes of text that are passed on at once.
const CHUNK: usize = 1 << 16;

/// Writes the triggers and flushes of a capture: position, source and name, or JSON objects.
pub fn marks(marks: &[Mark], json: bool, out: &mut dyn Write) -> io::Result<()> {
    for mark in marks {
        let index = mark.index;
        match (json, mark.kind) {
            (false, _) => writeln!(out, "{index}\t{:02x}\t{}", mark.id(), Shown::Mark(mark))?,
            (true, MarkKind::Trigger(number)) => {
                writeln!(out, r#"{{"byte":{index},"event":"trigger","number":{number}}}"#)?;
            }
            (true, MarkKind::Flush) => writeln!(out, r#"{{"byte":{index},"event":"flush"}}"#)?,
        }
    }
    Ok(())
}

/// Writes the packets of all sources, and triggers and flushes, in the order in which they are complete:
/// position, source, bytes and name. `limits` count the packets of each source. Returns whether there are any.
pub fn packets<'p, 'c: 'p>(
    sources: impl IntoIterator<Item = &'p [Portion<'c>]>,
    marks: &[Mark],
    limits: Option<Limits>,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let admitted = |limits: &mut Option<Limits>, packet: u64, byte: u64| match limits {
        Some(limits) => limits.admits(StreamPos { packet, byte }, None),
        None => true,
    };
    let mut marked = limits.clone();
    let marks = marks.iter().filter(|mark| admitted(&mut marked, 0, mark.index));
    let mut marks = marks.collect::<Vec<_>>().into_iter().peekable();
    let (mut records, mut streams) = (Vec::new(), Vec::new());
    for portions in sources {
        let (mut limits, mut packet) = (limits.clone(), 0u64);
        for Portion { stream, protocol, .. } in portions {
            let held = stream.held().map_err(io::Error::other)?;
            let list = match protocol {
                Protocol::Etmv4(config) => list_etmv4(&held, config),
                Protocol::Ptm(config) => list_ptm(&held, config),
                Protocol::Other(_) => continue,
            };
            let stream = streams.len();
            streams.push(held);
            for record in list {
                let number = packet;
                packet = packet.wrapping_add(record.is_packet().into());
                if admitted(&mut limits, number, record.index) {
                    records.push((record, stream));
                }
            }
        }
    }
    records.sort_by_key(|(record, _)| record.order);
    let any = !records.is_empty();
    for (record, stream) in records {
        let Some(stream) = streams.get(stream) else { continue };
        while let Some(mark) = marks.next_if(|mark| mark.order <= record.order) {
            packet_of_mark(mark, out)?;
        }
        write!(out, "{}\t{:02x}\t", record.index, stream.id)?;
        for byte in stream.bytes.get(record.bytes.clone()).unwrap_or_default() {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out, "\t{}", record.name)?;
    }
    marks.try_for_each(|mark| packet_of_mark(mark, out))?;
    Ok(any)
}

fn packet_of_mark(mark: &Mark, out: &mut dyn Write) -> io::Result<()> {
    let (index, id) = (mark.index, mark.id());
    match mark.kind {
        MarkKind::Trigger(byte) => writeln!(out, "{index}\t{id:02x}\t{byte:02x}\tFRAME_TRIGGER"),
        MarkKind::Flush => writeln!(out, "{index}\t{id:02x}\t\tFRAME_FLUSH"),
    }
}

/// Decodes sources, each on one of several threads, and writes all elements, or only runs of instructions
/// if `ranges`, source by source. If `strict`, the first stretch that could not be followed ends a source.
/// Calls `lost` with the number of such stretches of a source, if there are any; that it fails ends everything.
/// Returns whether anything was written.
pub fn elements<E: From<io::Error>>(
    all: &[Traced<'_>],
    ranges: bool,
    strict: bool,
    how: How,
    out: &mut dyn Write,
    mut lost: impl FnMut(&Traced<'_>, u64) -> Result<(), E>,
) -> Result<bool, E> {
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Written) -> bool| {
        written(traced, ranges, strict, how.limits.clone(), pass);
    };
    let (mut gaps, mut any) = (0u64, false);
    let take = |traced: &Traced<'_>, written: Written| {
        any |= !written.text.is_empty();
        out.write_all(&written.text)?;
        gaps = gaps.saturating_add(written.gaps);
        match written.last && gaps > 0 {
            true => lost(traced, std::mem::take(&mut gaps)),
            false => Ok(()),
        }
    };
    side::each(all, how.threads, work, take)?;
    Ok(any)
}

/// Passes on the elements of a source. It is compiled once, here, whatever happens to them.
fn written(
    traced: &Traced<'_>,
    ranges: bool,
    strict: bool,
    limits: Option<Limits>,
    pass: &mut dyn FnMut(Written) -> bool,
) {
    let (written, started, done) = (Written::default(), false, false);
    let mut elements = Elements { id: 0, ranges, strict, limits, written, pass, started, done };
    let mut packets = 0;
    for portion in &traced.portions {
        elements.id = portion.id;
        packets = traced.decode_portion(portion, packets, &mut elements);
    }
    // Nothing but bytes without a synchronisation is a gap too.
    let silent = u64::from(!elements.started);
    elements.written.gaps = elements.written.gaps.saturating_add(silent);
    elements.written.last = true;
    (elements.pass)(elements.written);
}

/// Some of the elements of one source.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    /// Number of stretches that could not be followed.
    gaps: u64,
    /// Nothing follows it.
    last: bool,
}

/// Writes the elements of one source.
struct Elements<'a> {
    id: u8,
    /// Ranges only.
    ranges: bool,
    /// The first gap ends it.
    strict: bool,
    limits: Option<Limits>,
    written: Written,
    pass: &'a mut dyn FnMut(Written) -> bool,
    /// Something was decoded.
    started: bool,
    done: bool,
}

impl Elements<'_> {
    /// Passes on the text if there is enough of it.
    fn check(&mut self) {
        self.done |= self.limits.as_ref().is_some_and(Limits::is_done);
        if self.written.text.len() >= CHUNK {
            self.done |= !(self.pass)(std::mem::take(&mut self.written));
        }
    }
}

// Writing to memory does not fail.
impl arm::ElementSink for Elements<'_> {
    const GOES_ON: bool = true;

    fn range(&mut self, at: StreamPos, range: &Range) {
        self.started = true;
        // A range is written if any of its instructions is within the limits.
        let admitted = match &mut self.limits {
            Some(limits) => {
                let mut any = false;
                limits.take(at, range.count as usize, &mut |_, _| any = true);
                any
            }
            None => true,
        };
        if !admitted || self.done {
            return self.check();
        }
        let (id, out) = (self.id, &mut self.written.text);
        let _ = match self.ranges {
            true => {
                let Range { start, end, count, .. } = range;
                writeln!(out, "{id:02x}\t{start:x}\t{end:x}\t{count}")
            }
            false => writeln!(out, "{}\t{id:02x}\t{}", at.byte, Shown::Range(range)),
        };
        self.check();
    }

    fn event(&mut self, at: StreamPos, event: arm::Event) {
        if self.done || self.limits.as_ref().is_some_and(Limits::is_done) {
            return;
        }
        let gap = match event {
            arm::Event::NoSync(lost) => lost != Lost::Start,
            arm::Event::NotAccessible { .. } | arm::Event::Fault(_) => true,
            _ => false,
        };
        self.started |= gap || !matches!(event, arm::Event::NoSync(_) | arm::Event::End(_));
        self.written.gaps = self.written.gaps.saturating_add(gap.into());
        let admitted = self.limits.as_mut().is_none_or(|limits| limits.admits(at, None));
        if !self.ranges && admitted {
            let (id, shown) = (self.id, Shown::Event(&event));
            let _ = writeln!(self.written.text, "{}\t{id:02x}\t{shown}", at.byte);
        }
        self.done |= self.strict && gap;
        self.check();
    }

    fn is_done(&self) -> bool {
        self.done
    }
}
