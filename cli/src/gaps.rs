//! Gaps: what could not be followed, and where decoding went on.

use crate::failure::{Failure, Status};
use crate::follow::fault_hint;
use hartrace_decoder::{Event, StreamPos};
use std::fmt::Display;
use std::io::{self, Write};

/// Reports gaps of one capture: one line on standard error for each stretch that is missing.
pub(crate) struct Gaps {
    file: String,
    /// Standard error.
    out: Box<dyn Write>,
    strict: bool,
    count: u64,
    open: Option<Open>,
    /// The decoder cannot be stopped from within, so the end waits here.
    failed: Option<Failure>,
}

/// A stretch that cannot be followed and has not ended yet.
#[derive(Debug)]
struct Open {
    at: StreamPos,
    cause: String,
    hint: &'static str,
    /// Gaps in it after the first.
    more: u64,
}

impl Open {
    fn line(&self, file: &str, end: &str) -> String {
        let Self { at, cause, hint, more } = self;
        let more = if *more > 0 { format!(" ({more} more)") } else { String::new() };
        format!("{file}: gap at {}: {cause}{more}{end}; try {hint}", place(*at))
    }
}

fn place(at: StreamPos) -> String {
    format!("byte {}, packet {}", at.byte, at.packet)
}

impl Gaps {
    /// No gap so far; `strict` if the first is one too many.
    pub(crate) fn new(file: String, strict: bool) -> Self {
        let out = Box::new(io::stderr());
        Self { file, out, strict, count: 0, open: None, failed: None }
    }

    /// Takes note of gaps and of where decoding goes on.
    pub(crate) fn event(&mut self, at: StreamPos, event: &Event) {
        match event {
            Event::Gap(fault) => self.gap(at, fault, fault_hint(fault)),
            Event::On => self.close(&format!("; resumed at {}", place(at))),
            _ => {}
        }
    }

    fn gap(&mut self, at: StreamPos, cause: &dyn Display, hint: &'static str) {
        self.count += 1;
        if let Some(open) = &mut self.open {
            open.more += 1;
            return;
        }
        let open = Open { at, cause: cause.to_string(), hint, more: 0 };
        if self.strict {
            self.failed.get_or_insert_with(|| Failure::gap(open.line(&self.file, "")));
        } else {
            self.open = Some(open);
        }
    }

    fn close(&mut self, end: &str) {
        if let Some(open) = self.open.take() {
            // Nobody may be reading.
            let _ = writeln!(self.out, "{}", open.line(&self.file, end));
        }
    }

    /// The first gap, if there must be none.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The end of the capture.
    pub(crate) fn finish(&mut self) {
        self.close("; never resumed");
    }

    /// The end of what is of interest; the capture may go on.
    pub(crate) fn stop(&mut self) {
        self.close("");
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
    use hartrace_decoder::Fault;
    use hartrace_encap::FrameError;

    /// Gaps that nobody is told of.
    pub(crate) fn silent(strict: bool) -> Gaps {
        Gaps { out: Box::new(io::sink()), ..Gaps::new("t".into(), strict) }
    }

    fn at(packet: u64) -> StreamPos {
        StreamPos { packet, byte: 10 * packet }
    }

    #[test]
    fn one_region_is_one_line() {
        let mut gaps = silent(false);
        let damage = Event::Gap(Fault::Frame(FrameError::Header(0xff)));
        gaps.event(at(1), &damage);
        gaps.event(at(2), &damage);
        let open = gaps.open.as_ref().unwrap();
        assert_eq!(
            open.line("t", "; never resumed"),
            "t: gap at byte 10, packet 1: no frame starts with header 0xff (1 more); never \
             resumed; try another --framing, or a capture without damage"
        );
        gaps.event(at(3), &Event::On);
        assert!(gaps.open.is_none());
        gaps.event(at(4), &damage);
        assert_eq!((gaps.count(), gaps.status()), (3, Status::Gaps));
        assert_eq!(gaps.check(), Ok(()));
    }

    #[test]
    fn strict() {
        let mut gaps = silent(true);
        assert_eq!(gaps.check(), Ok(()));
        gaps.event(at(2), &Event::Gap(Fault::NoCode(4)));
        gaps.event(at(3), &Event::Gap(Fault::NoCode(8)));
        let failure = gaps.check().unwrap_err();
        assert_eq!(
            failure.to_string(),
            "error: t: gap at byte 20, packet 2: no code at 0x0000000000000004; try --elf PROG or \
             --image FILE@ADDR with the code at that address"
        );
        assert_eq!(failure.status(), 1);
    }
}
