//! Everything as JSON, one object per line; keys are stable.

use crate::hex;
use crate::ordered::InOrder;
use crate::part::Retired;
use hartrace_capture::programs::address;
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_decoder::{self as decoder, Event, StreamPos};
use hartrace_isa::Xlen;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Display;

/// Writes every instruction and every event.
#[derive(Debug)]
pub struct Json {
    xlen: Xlen,
    source: Option<u16>,
    /// The line of the last instruction. That of the next differs only in the digits of the address, unless it is
    /// from another packet.
    line: Vec<u8>,
    /// Where that packet is, and its source.
    of: Option<(StreamPos, Option<u16>)>,
}

/// What follows the address in the line of an instruction.
const END: usize = "\"}\n".len();

impl Json {
    /// With addresses of this width.
    pub fn new(xlen: Xlen) -> Self {
        Self { xlen, source: None, line: Vec::new(), of: None }
    }

    /// Writes the address into the line of the last instruction. `None` if that line cannot be used.
    fn readdress(&mut self, at: StreamPos, pc: u64) -> Option<()> {
        if self.of != Some((at, self.source)) {
            return None;
        }
        let digits = hex::digits(pc);
        let digits = match self.xlen {
            Xlen::Rv64 => digits.as_flattened(),
            // One that does not fit has more digits.
            Xlen::Rv32 if pc >> 32 == 0 => digits.as_flattened().split_at(8).1,
            Xlen::Rv32 => return None,
        };
        let end = self.line.len().checked_sub(END)?;
        let start = end.checked_sub(digits.len())?;
        self.line.get_mut(start..end)?.copy_from_slice(digits);
        Some(())
    }

    fn write(&self, out: &mut Vec<u8>, at: StreamPos, detail: Detail) {
        let StreamPos { packet, byte } = at;
        line(out, &Line { packet, byte, source: self.source, detail });
    }
}

impl InOrder for Json {
    /// The source.
    type State = Option<u16>;

    fn maker<'m>(&self) -> Box<dyn Fn() -> Self + Send + Sync + 'm> {
        let xlen = self.xlen;
        Box::new(move || Self::new(xlen))
    }

    fn forget(&mut self) {
        // No line depends on another.
    }

    fn state(&self) -> Option<Option<u16>> {
        Some(self.source)
    }

    fn resume(&mut self, source: Option<u16>) {
        self.source = source;
    }

    fn retired(&mut self, out: &mut Vec<u8>, at: StreamPos, run: Retired<'_>) {
        for pc in run.addresses.iter().copied() {
            if self.readdress(at, pc).is_none() {
                let mut line = std::mem::take(&mut self.line);
                line.clear();
                self.write(&mut line, at, Detail::Retired { iaddr: address(pc, self.xlen) });
                let fits = self.xlen == Xlen::Rv64 || pc >> 32 == 0;
                (self.line, self.of) = (line, fits.then_some((at, self.source)));
            }
            out.extend_from_slice(&self.line);
        }
    }

    fn event(&mut self, out: &mut Vec<u8>, at: StreamPos, event: &Event) {
        self.write(out, at, Detail::of(event, self.xlen));
    }

    fn gap(&mut self, out: &mut Vec<u8>, at: StreamPos, cause: &dyn Display) {
        self.write(out, at, Detail::Gap { cause: cause.to_string() });
    }

    fn turn(&mut self, _: &mut Vec<u8>, source: Option<u16>) {
        self.source = source;
    }
}

/// Appends an object and a line feed.
pub(crate) fn line(out: &mut Vec<u8>, value: &impl Serialize) {
    // Writing to memory does not fail, nor do these types.
    let _ = serde_json::to_writer(&mut *out, value);
    out.push(b'\n');
}

#[derive(Serialize)]
struct Line {
    packet: u64,
    byte: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<u16>,
    #[serde(flatten)]
    detail: Detail,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Time {
    Stamp { timestamp: u64, bits: u8 },
    Cycles { cycles: Option<u64> },
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Detail {
    Retired {
        iaddr: String,
    },
    Trap {
        ecause: u64,
        interrupt: bool,
        tval: Option<String>,
        epc: Option<String>,
    },
    Context {
        privilege: u8,
        context: u64,
        time: u64,
    },
    Time(Time),
    On,
    Off {
        qual_status: &'static str,
    },
    Restart,
    Trigger,
    #[serde(rename = "left_out")]
    LeftOut {
        instructions: u64,
    },
    Gap {
        cause: String,
    },
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
            Event::Time(time) => Self::Time(match time {
                decoder::Time::Stamp { value, bits } => Time::Stamp { timestamp: value, bits },
                decoder::Time::Cycles(cycles) => Time::Cycles { cycles },
            }),
            Event::On => Self::On,
            Event::Off(status) => Self::Off { qual_status: status.name() },
            Event::Restart => Self::Restart,
            Event::Trigger => Self::Trigger,
            Event::LeftOut { insns, .. } => Self::LeftOut { instructions: insns },
            Event::Gap(fault) => Self::Gap { cause: fault.to_string() },
        }
    }
}

/// Describes a table of blocks in a memory with words of this layout.
pub fn block_table_json(table: &BlockTable, layout: &WordLayout) -> Value {
    let summary = table.summary(layout);
    json!({
        "entries": summary.entries, "holes": summary.holes, "depth": summary.depth, "base": table.base(),
        "width": summary.width, "block_rams": summary.block_rams, "start_bits": layout.start_bits,
        "span_bits": layout.span_bits, "index_bits": layout.index_bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::{Fault, Leaves};
    use hartrace_etrace::QualStatus;

    #[test]
    fn every_event() {
        let at = StreamPos { packet: 2, byte: 9 };
        let (mut events, mut out) = (Json::new(Xlen::Rv32), Vec::new());
        let run = Retired { addresses: &[0x8000_0000], end: 0x8000_0004, leaves: Leaves::No };
        events.retired(&mut out, at, run);
        for event in [
            Event::On,
            Event::Context { privilege: 3, context: 5, time: 0 },
            Event::Time(decoder::Time::Stamp { value: 0xff, bits: 8 }),
            Event::Time(decoder::Time::Cycles(Some(9))),
            Event::Trap { cause: 2, interrupt: false, tval: Some(1), epc: None },
            Event::Off(QualStatus::EndedRep),
            Event::Restart,
        ] {
            events.event(&mut out, at, &event);
        }
        events.gap(&mut out, at, &Fault::NoCode(0x10));
        let expected = [
            r#""event":"retired","iaddr":"0x80000000""#,
            r#""event":"on""#,
            r#""event":"context","privilege":3,"context":5,"time":0"#,
            r#""event":"time","timestamp":255,"bits":8"#,
            r#""event":"time","cycles":9"#,
            r#""event":"trap","ecause":2,"interrupt":false,"tval":"0x00000001","epc":null"#,
            r#""event":"off","qual_status":"ended_rep""#,
            r#""event":"restart""#,
            r#""event":"gap","cause":"no code at 0x0000000000000010""#,
        ]
        .map(|rest| format!("{{\"packet\":2,\"byte\":9,{rest}}}\n"));
        assert_eq!(String::from_utf8(out).unwrap(), expected.concat());
    }

    #[test]
    fn the_line_of_an_instruction_does_not_depend_on_those_before() {
        fn run(addresses: &[u64]) -> Retired<'_> {
            Retired { addresses, end: 0, leaves: Leaves::No }
        }
        let places = [(2, 9), (2, 9), (3, 11), (10_000, 70_000)];
        let addresses = [0x8000_0000, 0x8000_0004, 0, u64::MAX, 0xffff_fffe, 0x1_0000_0000, 8];
        for xlen in [Xlen::Rv32, Xlen::Rv64] {
            let (mut all, mut out) = (Json::new(xlen), Vec::new());
            let mut expected = Vec::new();
            for source in [None, Some(0), Some(7)] {
                all.turn(&mut out, source);
                for (packet, byte) in places {
                    let at = StreamPos { packet, byte };
                    all.retired(&mut out, at, run(&addresses));
                    for pc in addresses {
                        let mut one = Json { source, ..Json::new(xlen) };
                        one.retired(&mut expected, at, run(&[pc]));
                    }
                }
            }
            assert_eq!(String::from_utf8(out).unwrap(), String::from_utf8(expected).unwrap());
        }
    }
}
