//! `hartrace decode`.

use crate::args::{CompatArg, DecodeArgs, Emit};
use crate::capture::{self, Packets, frame_hint};
use crate::failure::{Failure, Status};
use crate::files;
use crate::image;
use crate::listing::address;
use crate::params::Setup;
use hartrace_encap::Kind;
use hartrace_golden::Malformed;
use hartrace_golden::decoder::{Event, Fault, Position};
use hartrace_golden::isa::Xlen;
use hartrace_golden::{Decoder, DecoderConfig};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    let programs = args.elf.iter().chain(&args.image).map(|placed| placed.path.as_path());
    let params = args.stream.params.as_deref();
    files::one_standard(programs.chain(params).chain([args.capture.as_path()]))?;
    let setup = Setup::new(&args.stream)?;
    let compat = CompatArg::of(args.compat);
    setup.check_compat(compat)?;
    let image = image::load(&args.elf, &args.image, setup.xlen)?;
    let bytes = files::read(&args.capture)?;
    capture::one_source(&bytes, setup.transport)
        .map_err(|failure| failure.at(files::name(&args.capture)))?;
    let config = DecoderConfig {
        params: setup.params,
        unit: setup.unit,
        tvec: args.tvec.clone(),
        compat,
        ..DecoderConfig::default()
    };
    let mut decoder = Decoder::new(config, &image).map_err(Failure::usage)?;

    let bar = files::progress(bytes.len() as u64);
    let mut printer = Printer {
        out: files::stdout(),
        emit: args.emit,
        xlen: setup.xlen,
        file: files::name(&args.capture),
        gaps: 0,
        failed: Ok(()),
    };
    for packet in Packets::new(&bytes, setup.transport) {
        bar.set_position(packet.frame);
        let at = Position { packet: packet.number, byte: packet.frame };
        match &packet.body {
            Ok(frame) if frame.header.kind != Kind::Instruction => {}
            Ok(_) => decoder.feed(at, &packet.bits(), &mut |at, event| printer.event(at, event)),
            Err(error) => {
                printer.gap(at, error, frame_hint(error));
                // What was lost is unknown. A payload of no bits tells the decoder so.
                decoder.feed(at, &[], &mut |at, event| match event {
                    Event::Gap(Fault::Malformed(Malformed::Empty)) => {}
                    event => printer.event(at, event),
                });
            }
        }
        printer.check()?;
    }
    decoder.finish(&mut |at, event| printer.event(at, event));
    bar.finish_and_clear();
    printer.check()?;
    printer.out.flush()?;
    Ok(if printer.gaps > 0 { Status::Gaps } else { Status::Clean })
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

impl<W: Write> Printer<W> {
    fn check(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))
    }

    fn event(&mut self, at: Position, event: Event) {
        match (event, self.emit) {
            (Event::Gap(fault), _) => self.gap(at, &fault, fault_hint(&fault)),
            (Event::Retired(pc), Emit::Pcs) => {
                let written = writeln!(self.out, "{pc:016x}");
                self.keep(written);
            }
            (_, Emit::Pcs) => {}
            (event, Emit::Events) => self.json(at, Detail::of(&event, self.xlen)),
        }
    }

    /// Reports a gap: one line on standard error, and in the list of events.
    fn gap(&mut self, at: Position, cause: &dyn Display, hint: &str) {
        self.gaps += 1;
        let Position { packet, byte } = at;
        // Nobody may be reading.
        let _ = writeln!(
            io::stderr(),
            "{}: byte {byte}, packet {packet}: gap: {cause}; try {hint}",
            self.file
        );
        if self.emit == Emit::Events {
            self.json(at, Detail::Gap { cause: cause.to_string() });
        }
    }

    fn keep(&mut self, written: io::Result<()>) {
        if self.failed.is_ok() {
            self.failed = written;
        }
    }

    fn json(&mut self, at: Position, detail: Detail) {
        let Position { packet, byte } = at;
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
    Off { qual_status: &'static str },
    Gap { cause: String },
}

impl Detail {
    fn of(event: &Event, xlen: Xlen) -> Self {
        let hex = |value| address(value, xlen);
        match *event {
            Event::Retired(pc) => Self::Retired { iaddr: hex(pc) },
            Event::Trap { cause, interrupt, tval, epc } => {
                Self::Trap { ecause: cause, interrupt, tval: tval.map(hex), epc: epc.map(hex) }
            }
            Event::Context { privilege, context, time } => {
                Self::Context { privilege: privilege.0, context, time }
            }
            Event::Off(status) => Self::Off { qual_status: status.name() },
            Event::Gap(fault) => Self::Gap { cause: fault.to_string() },
        }
    }
}

/// What to try.
fn fault_hint(fault: &Fault) -> &'static str {
    match fault {
        Fault::Malformed(Malformed::Extension | Malformed::Subformat(_)) => {
            "another f0s_width_p, or a capture from its start"
        }
        Fault::Malformed(_) => "other --params, another unit or --framing",
        Fault::NotSynchronised => "a capture from its start; the rest is decoded from here on",
        Fault::NoCode(_) => "--elf PROG or --image FILE@ADDR with the code at that address",
        Fault::EmptyCacheEntry(_) => "another cache_size_p, or a capture from its start",
        Fault::NoVector(_) => "--tvec PRIV=ADDR",
        Fault::TooLong(_) => "the program that was traced, or other --params",
        _ => "the program that was traced, other --params, or --compat",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_etrace::QualStatus;
    use hartrace_ingress::Privilege;

    fn printed(emit: Emit, xlen: Xlen, events: &[Event]) -> (String, u64) {
        let mut printer =
            Printer { out: Vec::new(), emit, xlen, file: "t".into(), gaps: 0, failed: Ok(()) };
        for event in events {
            printer.event(Position { packet: 2, byte: 9 }, *event);
        }
        (String::from_utf8(printer.out).unwrap(), printer.gaps)
    }

    const EVENTS: &[Event] = &[
        Event::Context { privilege: Privilege::M, context: 5, time: 0 },
        Event::Retired(0x8000_0000),
        Event::Trap { cause: 2, interrupt: false, tval: Some(1), epc: None },
        Event::Off(QualStatus::EndedRep),
        Event::Gap(Fault::Malformed(Malformed::BranchFmt)),
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
