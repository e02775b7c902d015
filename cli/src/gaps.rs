//! Gaps: what could not be followed, and where decoding went on.

use crate::failure::{Failure, Status};
use crate::follow::fault_hint;
use hartrace_decoder::{Event, Fault, StreamPos};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Reports gaps of one capture: one line on standard error for each stretch that is missing.
pub(crate) struct Gaps {
    file: String,
    /// Standard error, and what else is there.
    out: Box<dyn Write + Send>,
    bar: ProgressBar,
    strict: bool,
    /// What to try about a fault.
    hint: fn(&Fault) -> &'static str,
    count: u64,
    /// By source.
    open: BTreeMap<Option<u16>, Open>,
    /// The decoder cannot be stopped from within, so the end waits here.
    failed: Option<Failure>,
}

/// A stretch that cannot be followed and has not ended yet.
#[derive(Debug)]
struct Open {
    at: StreamPos,
    source: Option<u16>,
    cause: String,
    hint: &'static str,
    /// Gaps in it after the first.
    more: u64,
}

impl Open {
    fn line(&self, file: &str, end: &str) -> String {
        let Self { at, source, cause, hint, more } = self;
        let source = source.map_or(String::new(), |id| format!(", source {id}"));
        let more = if *more > 0 { format!(" ({more} more)") } else { String::new() };
        format!("{file}: gap at {}{source}: {cause}{more}{end}; try {hint}", place(*at))
    }
}

fn place(at: StreamPos) -> String {
    format!("byte {}, packet {}", at.byte, at.packet)
}

impl Gaps {
    /// No gap so far; `strict` if the first is one too many. Lines are kept apart from the bar.
    pub(crate) fn new(file: String, strict: bool, bar: ProgressBar) -> Self {
        let out = Box::new(io::stderr());
        let hint = fault_hint;
        Self { file, out, bar, strict, hint, count: 0, open: BTreeMap::new(), failed: None }
    }

    /// With other advice.
    pub(crate) fn hints(self, hint: fn(&Fault) -> &'static str) -> Self {
        Self { hint, ..self }
    }

    /// Takes note of gaps and of where decoding goes on.
    pub(crate) fn event(&mut self, source: Option<u16>, at: StreamPos, event: &Event) {
        match event {
            Event::Gap(fault) => self.gap(source, at, fault, (self.hint)(fault)),
            Event::On => {
                if let Some(open) = self.open.remove(&source) {
                    self.print(&open, &format!("; resumed at {}", place(at)));
                }
            }
            _ => {}
        }
    }

    fn gap(&mut self, source: Option<u16>, at: StreamPos, cause: &dyn Display, hint: &'static str) {
        self.count += 1;
        if let Some(open) = self.open.get_mut(&source) {
            open.more += 1;
            return;
        }
        let open = Open { at, source, cause: cause.to_string(), hint, more: 0 };
        if self.strict {
            self.failed.get_or_insert_with(|| Failure::gap(open.line(&self.file, "")));
        } else {
            self.open.insert(source, open);
        }
    }

    fn print(&mut self, open: &Open, end: &str) {
        let line = open.line(&self.file, end);
        let out = &mut self.out;
        self.bar.suspend(|| {
            // Nobody may be reading.
            let _ = writeln!(out, "{line}");
        });
    }

    fn close(&mut self, end: &str) {
        for open in std::mem::take(&mut self.open).into_values() {
            self.print(&open, end);
        }
    }

    /// The first gap, if there must be none.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The end of the capture, or of what is of interest in it.
    pub(crate) fn end(&mut self, flow: ControlFlow<()>) {
        // Nobody knows what follows if nobody looked.
        self.close(if flow.is_continue() { "; never resumed" } else { "" });
    }

    /// Gaps so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The status of a command that met these gaps.
    pub(crate) fn status(&self) -> Status {
        if self.count > 0 { Status::Gaps } else { Status::Clean }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hartrace_encap::FrameError;

    /// Gaps that nobody is told of.
    pub(crate) fn silent(strict: bool) -> Gaps {
        Gaps { out: Box::new(io::sink()), ..Gaps::new("t".into(), strict, ProgressBar::hidden()) }
    }

    fn at(packet: u64) -> StreamPos {
        StreamPos { packet, byte: 10 * packet }
    }

    #[test]
    fn one_region_is_one_line() {
        let mut gaps = silent(false);
        let damage = Event::Gap(Fault::Frame(FrameError::Header(0xff)));
        gaps.event(None, at(1), &damage);
        gaps.event(None, at(2), &damage);
        let open = gaps.open.get(&None).unwrap();
        assert_eq!(
            open.line("t", "; never resumed"),
            "t: gap at byte 10, packet 1: no frame starts with header 0xff (1 more); never \
             resumed; try another --framing, or a capture without damage"
        );
        gaps.event(None, at(3), &Event::On);
        assert!(gaps.open.is_empty());
        gaps.event(None, at(4), &damage);
        assert_eq!((gaps.count(), gaps.status()), (3, Status::Gaps));
        assert_eq!(gaps.check(), Ok(()));
    }

    #[test]
    fn strict() {
        let mut gaps = silent(true);
        assert_eq!(gaps.check(), Ok(()));
        gaps.event(None, at(2), &Event::Gap(Fault::NoCode(4)));
        gaps.event(None, at(3), &Event::Gap(Fault::NoCode(8)));
        let failure = gaps.check().unwrap_err();
        assert_eq!(
            failure.to_string(),
            "error: t: gap at byte 20, packet 2: no code at 0x0000000000000004; try --elf PROG or \
             --image FILE@ADDR with the code at that address"
        );
        assert_eq!(failure.status(), 1);
    }
}
