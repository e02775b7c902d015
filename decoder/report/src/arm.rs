//! Reports of Arm traces: ETMv4, ETE and PTM.
//!
//! [`report`] writes the reports that exist for any trace. [`packets`] and [`elements`] write what only Arm
//! traces have, one line each, as OpenCSD does.

mod side;

use crate::noted::Noted;
use crate::printer::{Error, Printer};
use crate::report::Report;
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_arm_decoder::system::{Portion, Portions, Traced};
use hartrace_arm_decoder::{self as arm, Lost, Range, Shown, list_etmv4, list_ptm};
use hartrace_capture::snapshot::Protocol;
use hartrace_decoder::{Event, Run, Sink, StreamPos};
use std::io::{self, Write};
use std::num::NonZeroUsize;

/// Bytes of text that are passed on at once.
const CHUNK: usize = 1 << 16;

/// Decodes sources, each on one of several threads, and reports them one after the other. Finishes the
/// report, but does not end its gaps. A single source is named only if `named`.
pub fn report<R: Report, W: Write>(
    printer: &mut Printer<R, W>,
    threads: NonZeroUsize,
    all: &[Traced<'_>],
    named: bool,
) -> Result<(), Error> {
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Option<Noted<R::Part>>)| {
        let passing = Passing { part: Noted::default(), pass };
        let profile = if traced.core.m_profile { Profile::M } else { Profile::A };
        let mut runs = Runs::new(passing, profile);
        traced.decode(&mut runs);
        runs.sink.pass_on();
        (runs.sink.pass)(None);
    };
    let take = |traced: &Traced<'_>, part: Option<Noted<R::Part>>| {
        let source = (named || all.len() > 1).then_some(u16::from(traced.id));
        match part {
            Some(part) => printer.join(vec![(source, part)]),
            // The end of this source.
            None => Ok(printer.finish()?),
        }
    };
    side::each(all, threads, work, take)
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

/// Writes the packets of all sources in the order in which they are complete: position, source, bytes and
/// name.
pub fn packets(sources: &[Portions<'_, '_>], out: &mut dyn Write) -> io::Result<()> {
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

/// Decodes sources, each on one of several threads, and writes all elements, or only runs of instructions
/// if `ranges`, source by source. Calls `lost` with the number of stretches of a source that could not be
/// followed, if there are any.
pub fn elements(
    all: &[Traced<'_>],
    ranges: bool,
    threads: NonZeroUsize,
    out: &mut dyn Write,
    mut lost: impl FnMut(&Traced<'_>, u64),
) -> io::Result<()> {
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Written)| {
        let mut elements = Elements { id: traced.id, ranges, written: Written::default(), pass };
        for portion in &traced.portions {
            elements.id = portion.id;
            traced.decode_portion(portion, &mut elements);
        }
        elements.written.last = true;
        (elements.pass)(elements.written);
    };
    let mut gaps: u64 = 0;
    let take = |traced: &Traced<'_>, written: Written| {
        out.write_all(&written.text)?;
        gaps = gaps.saturating_add(written.gaps);
        if written.last && gaps > 0 {
            lost(traced, gaps);
            gaps = 0;
        }
        Ok(())
    };
    side::each(all, threads, work, take)
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
    written: Written,
    pass: &'a mut dyn FnMut(Written),
}

impl Elements<'_> {
    /// Passes on the text if there is enough of it.
    fn check(&mut self) {
        if self.written.text.len() >= CHUNK {
            (self.pass)(std::mem::take(&mut self.written));
        }
    }
}

// Writing to memory does not fail.
impl arm::ElementSink for Elements<'_> {
    fn range(&mut self, at: u64, range: &Range) {
        let (id, out) = (self.id, &mut self.written.text);
        let _ = match self.ranges {
            true => {
                let Range { start, end, count, .. } = range;
                writeln!(out, "{id:02x}\t{start:x}\t{end:x}\t{count}")
            }
            false => writeln!(out, "{at}\t{id:02x}\t{}", Shown::Range(range)),
        };
        self.check();
    }

    fn event(&mut self, at: u64, event: arm::Event) {
        let gap = match event {
            arm::Event::NoSync(lost) => lost != Lost::Start,
            arm::Event::NotAccessible { .. } | arm::Event::Fault(_) => true,
            _ => false,
        };
        self.written.gaps = self.written.gaps.saturating_add(gap.into());
        if !self.ranges {
            let (id, shown) = (self.id, Shown::Event(&event));
            let _ = writeln!(self.written.text, "{at}\t{id:02x}\t{shown}");
            self.check();
        }
    }
}
