//! Everything as JSON, one object per line; keys are stable.

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
}

impl Json {
    /// With addresses of this width.
    pub fn new(xlen: Xlen) -> Self {
        Self { xlen, source: None }
    }

    fn write(&self, out: &mut Vec<u8>, at: StreamPos, detail: Detail) {
        let StreamPos { packet, byte } = at;
        line(out, &Line { packet, byte, source: self.source, detail });
    }
}

impl InOrder for Json {
    fn retired(&mut self, out: &mut Vec<u8>, at: StreamPos, run: Retired<'_>) {
        for pc in run.addresses {
            self.write(out, at, Detail::Retired { iaddr: address(*pc, self.xlen) });
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
    Retired { iaddr: String },
    Trap { ecause: u64, interrupt: bool, tval: Option<String>, epc: Option<String> },
    Context { privilege: u8, context: u64, time: u64 },
    Time(Time),
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
            Event::Time(time) => Self::Time(match time {
                decoder::Time::Stamp { value, bits } => Time::Stamp { timestamp: value, bits },
                decoder::Time::Cycles(cycles) => Time::Cycles { cycles },
            }),
            Event::On => Self::On,
            Event::Off(status) => Self::Off { qual_status: status.name() },
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
            r#""event":"gap","cause":"no code at 0x0000000000000010""#,
        ]
        .map(|rest| format!("{{\"packet\":2,\"byte\":9,{rest}}}\n"));
        assert_eq!(String::from_utf8(out).unwrap(), expected.concat());
    }
}
