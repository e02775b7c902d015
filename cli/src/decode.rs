//! `hartrace decode`.

use crate::args::{DecodeArgs, Emit};
use crate::capture::frame_hint;
use crate::failure::{Failure, Status};
use crate::files;
use crate::follow::{self, Follow, fault_hint};
use crate::listing::address;
use hartrace_decoder::{Event, Fault, Run, Sink, StreamPos};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    let follow = Follow::open(&args.follow, [])?;
    let mut tracer = follow.tracer()?;
    let bar = files::progress(follow.bytes.len() as u64);
    let mut printer = Printer {
        out: files::stdout(),
        emit: args.emit,
        xlen: follow.setup.xlen,
        file: files::name(&args.follow.capture),
        gaps: 0,
        failed: Ok(()),
    };
    for packet in follow.packets() {
        bar.set_position(packet.frame);
        if let Err(error) = &packet.body {
            printer.gap(packet.pos(), error, frame_hint(error));
        }
        follow::feed(&mut tracer, &packet, &mut printer);
        printer.check()?;
    }
    tracer.finish(&mut printer);
    bar.finish_and_clear();
    printer.check()?;
    printer.out.flush()?;
    Ok(follow::status(printer.gaps))
}

struct Printer<W> {
    out: W,
    emit: Emit,
    xlen: Xlen,
    file: String,
    gaps: u64,
    /// The decoder cannot be stopped from within, so an output error waits here.
    failed: io::Result<()>,
}

impl<W: Write> Sink for Printer<W> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        match self.emit {
            Emit::Pcs => {
                let mut lines = Vec::with_capacity(17 * run.insns() as usize);
                run.addresses(|pc| lines.extend_from_slice(&line(pc)));
                let written = self.out.write_all(&lines);
                self.keep(written);
            }
            Emit::Events => {
                let xlen = self.xlen;
                run.addresses(|pc| self.json(at, Detail::Retired { iaddr: address(pc, xlen) }));
            }
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        match (event, self.emit) {
            // The damaged frame has been reported with its own cause.
            (Event::Gap(Fault::Frame(_)), _) => {}
            (Event::Gap(fault), _) => self.gap(at, &fault, fault_hint(&fault)),
            (_, Emit::Pcs) => {}
            (event, Emit::Events) => self.json(at, Detail::of(&event, self.xlen)),
        }
    }
}

/// An address as 16 hexadecimal digits and a line feed.
fn line(pc: u64) -> [u8; 17] {
    let mut line = [b'\n'; 17];
    for (digit, byte) in line.iter_mut().take(16).enumerate() {
        let nibble = (pc >> (60 - 4 * digit)) as u8 & 15;
        *byte = nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    }
    line
}

impl<W: Write> Printer<W> {
    fn check(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))
    }

    /// Reports a gap: one line on standard error, and in the list of events.
    fn gap(&mut self, at: StreamPos, cause: &dyn Display, hint: &str) {
        self.gaps += 1;
        follow::report_gap(&self.file, at, cause, hint);
        if self.emit == Emit::Events {
            self.json(at, Detail::Gap { cause: cause.to_string() });
        }
    }

    fn keep(&mut self, written: io::Result<()>) {
        if self.failed.is_ok() {
            self.failed = written;
        }
    }

    fn json(&mut self, at: StreamPos, detail: Detail) {
        let StreamPos { packet, byte } = at;
        let written = serde_json::to_writer(&mut self.out, &Line { packet, byte, detail })
            .map_err(io::Error::from)
            .and_then(|()| writeln!(self.out));
        self.keep(written);
    }
}

/// An event as JSON; keys are stable.
#[derive(Serialize)]
struct Line {
    packet: u64,
    byte: u64,
    #[serde(flatten)]
    detail: Detail,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Detail {
    Retired { iaddr: String },
    Trap { ecause: u64, interrupt: bool, tval: Option<String>, epc: Option<String> },
    Context { privilege: u8, context: u64, time: u64 },
    On,
    Off { qual_status: &'static str },
    Gap { cause: String },
}

impl Detail {
    fn of(event: &Event, xlen: Xlen) -> Self {
        let hex = |value| address(value, xlen);
        match *event {
            Event::Trap { cause, interrupt, tval, epc } => {
                Self::Trap { ecause: cause, interrupt, tval: tval.map(hex), epc: epc.map(hex) }
            }
            Event::Context { privilege, context, time } => {
                Self::Context { privilege, context, time }
            }
            Event::On => Self::On,
            Event::Off(status) => Self::Off { qual_status: status.name() },
            Event::Gap(fault) => Self::Gap { cause: fault.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::{Config, Tracer};
    use hartrace_etrace::{ParseError, Payload, QualStatus};

    /// One instruction, at 0x80000000.
    fn retire<W: Write>(printer: &mut Printer<W>, at: StreamPos) {
        let mut image = hartrace_decoder::Image::new(hartrace_isa::Isa::new(Xlen::Rv32));
        image.add(0x8000_0000, &[0x13, 0, 0, 0]);
        let mut tracer = Tracer::new(Config::default(), &image).unwrap();
        let start = hartrace_etrace::Start { address: 0x4000_0000, ..Default::default() };
        struct Runs<'a, W>(&'a mut Printer<W>);
        impl<W: Write> Sink for Runs<'_, W> {
            fn run(&mut self, at: StreamPos, run: Run<'_>) {
                self.0.run(at, run);
            }
        }
        tracer.feed(at, &Payload::Start(start), &mut Runs(printer));
        tracer.finish(&mut Runs(printer));
    }

    fn printed(emit: Emit, xlen: Xlen, events: &[Event]) -> (String, u64) {
        let mut printer =
            Printer { out: Vec::new(), emit, xlen, file: "t".into(), gaps: 0, failed: Ok(()) };
        let at = StreamPos { packet: 2, byte: 9 };
        for (index, event) in events.iter().enumerate() {
            printer.event(at, *event);
            if index == 0 {
                retire(&mut printer, at);
            }
        }
        (String::from_utf8(printer.out).unwrap(), printer.gaps)
    }

    const EVENTS: &[Event] = &[
        Event::Context { privilege: 3, context: 5, time: 0 },
        Event::Trap { cause: 2, interrupt: false, tval: Some(1), epc: None },
        Event::Off(QualStatus::EndedRep),
        Event::Gap(Fault::Malformed(ParseError::BranchFmt(1))),
    ];

    #[test]
    fn addresses_only() {
        assert_eq!(printed(Emit::Pcs, Xlen::Rv32, EVENTS), ("0000000080000000\n".into(), 1));
    }

    #[test]
    fn every_event() {
        let (text, gaps) = printed(Emit::Events, Xlen::Rv32, EVENTS);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [
                r#"{"packet":2,"byte":9,"event":"context","privilege":3,"context":5,"time":0}"#,
                r#"{"packet":2,"byte":9,"event":"retired","iaddr":"0x80000000"}"#,
                r#"{"packet":2,"byte":9,"event":"trap","ecause":2,"interrupt":false,"tval":"0x00000001","epc":null}"#,
                r#"{"packet":2,"byte":9,"event":"off","qual_status":"ended_rep"}"#,
            ]
        );
        assert!(lines[4].starts_with(r#"{"packet":2,"byte":9,"event":"gap","cause":"#));
        assert_eq!(lines.len(), 5);
        assert_eq!(gaps, 1);
    }
}
