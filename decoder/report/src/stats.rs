//! Statistics: what a capture consists of, and what an instruction costs.
//!
//! JSON keys are stable: `capture_bytes`, `overhead_bytes` (bytes of the capture that are not payload),
//! `formats` (by code: `name`, `packets`, `bytes` of payload), `malformed` and `other` (trace of
//! another kind) and `total` (`packets`, `bytes`), `sync_share` (bytes of 3.0 and 3.1 among those of
//! all formats), `lengths` (packets by bytes of payload), `ended` (false if tracing was on at the last packet), `program` (null, or `instructions`, `gaps`,
//! `bits_per_instruction`, `compression`). Quotients with divisor 0 are null.

mod tally;

pub use tally::Tally;

use crate::no_sync::NoSync;
use hartrace_decoder::Count;
use hartrace_etrace::Format;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Packets and the bytes of their payloads.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// Packets.
    pub packets: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
}

/// The counts of a capture.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Bytes of the capture.
    pub capture_bytes: u64,
    /// Bytes of the capture that are not payload.
    pub overhead_bytes: u64,
    /// Packets by format.
    pub formats: Formats,
    /// Packets that cannot be read, and damaged places.
    pub malformed: Sum,
    /// Packets of other kinds of trace.
    pub other: Sum,
    /// All packets.
    pub total: Sum,
    /// Share of synchronisations (3.0 and 3.1) in the payload bytes of all formats.
    pub sync_share: Option<f64>,
    /// Number of readable packets by bytes of payload.
    pub lengths: BTreeMap<u64, u64>,
    /// Tracing was off at the last packet, or packets do not tell.
    pub ended: bool,
    /// What ended the run before the program did, if the description says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    /// Figures that require the program.
    pub program: Option<Program>,
    /// Bits of all payloads that could be read.
    #[serde(skip)]
    pub bits: u64,
    /// The sets of modes that support packets report.
    #[serde(skip)]
    pub modes: BTreeSet<String>,
}

impl Stats {
    /// How much was read of a capture without any synchronisation; `None` if there is one.
    pub fn silent(&self) -> Option<NoSync> {
        let silent = NoSync { bytes: self.capture_bytes, packets: self.total.packets };
        (self.formats.synchronisations() == 0).then_some(silent)
    }

    /// The modes in words, if a support packet reports them.
    pub(crate) fn modes(&self) -> Option<String> {
        let sets: Vec<&str> = self.modes.iter().map(String::as_str).collect();
        (!sets.is_empty()).then(|| sets.join(", "))
    }

    /// Writes one JSON object; the documentation of the module lists its keys.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes tables as text.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{:<14} {:>12} {:>9} {:>14} {:>9}",
            "format", "packets", "share", "payload bytes", "share"
        )?;
        let mut row = |name: &str, sum: Sum| {
            let of = |part, whole| percent(share(part, whole));
            let Sum { packets, bytes } = sum;
            writeln!(
                out,
                "{name:<14} {packets:>12} {:>9} {bytes:>14} {:>9}",
                of(packets, self.total.packets),
                of(bytes, self.total.bytes)
            )
        };
        for (format, sum) in self.formats.shown() {
            row(&format!("{:<3} {}", format.code(), format.name()), sum)?;
        }
        row("malformed", self.malformed)?;
        row("other trace", self.other)?;
        row("total", self.total)?;
        writeln!(out, "\nsync packets (3.0, 3.1)  {:>14} of bytes", percent(self.sync_share))?;
        writeln!(out, "capture                  {:>14} bytes", self.capture_bytes)?;
        let overhead = percent(share(self.overhead_bytes, self.capture_bytes));
        writeln!(out, "framing overhead         {:>14} bytes, {overhead}", self.overhead_bytes)?;
        if let Some(program) = &self.program {
            let number = |n: Option<f64>| n.map_or("-".into(), |n| format!("{n:.4}"));
            writeln!(out, "instructions             {:>14}", program.instructions)?;
            writeln!(out, "gaps                     {:>14}", program.gaps)?;
            writeln!(out, "bits per instruction     {:>14}", number(program.bits_per_instruction))?;
            writeln!(out, "compression              {:>14}", percent(program.compression))?;
        }
        if let Some(what) = &self.ended_early {
            writeln!(out, "ended early              {what}")?;
        }
        writeln!(out, "\npayload bytes      packets")?;
        for (length, packets) in &self.lengths {
            writeln!(out, "{length:>13} {packets:>12}")?;
        }
        Ok(())
    }
}

/// Packets by format, in the order of [`Format::ALL`].
#[derive(Clone, Debug, Default)]
pub struct Formats(pub [Sum; Format::ALL.len()]);

impl Formats {
    /// All formats of the specification, and the extension if there is such a packet.
    fn shown(&self) -> impl Iterator<Item = (Format, Sum)> + use<> {
        let pairs = Format::ALL.into_iter().zip(self.0);
        pairs.filter(|(format, sum)| sum.packets > 0 || Format::STANDARD.contains(format))
    }

    fn sync_share(&self) -> Option<f64> {
        let part = self.syncs().map(|sum| sum.bytes).sum();
        share(part, self.0.iter().map(|sum| sum.bytes).sum())
    }

    /// Packets from which decoding can start.
    fn synchronisations(&self) -> u64 {
        self.syncs().map(|sum| sum.packets).sum()
    }

    fn syncs(&self) -> impl Iterator<Item = Sum> {
        let pairs = Format::ALL.into_iter().zip(self.0);
        let sync = |format| matches!(format, Format::Start | Format::Trap);
        pairs.filter(move |(format, _)| sync(*format)).map(|(_, sum)| sum)
    }
}

impl Serialize for Formats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Named {
            name: &'static str,
            #[serde(flatten)]
            sum: Sum,
        }
        let named =
            |(format, sum): (Format, Sum)| (format.code(), Named { name: format.name(), sum });
        serializer.collect_map(self.shown().map(named))
    }
}

/// Figures of a capture that require the program.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// Instructions that retired.
    pub instructions: u64,
    /// Stretches that could not be followed.
    pub gaps: u64,
    /// Bits of payload per instruction.
    pub bits_per_instruction: Option<f64>,
    /// Share that is saved compared with 32 bits per instruction.
    pub compression: Option<f64>,
}

impl Program {
    /// The figures for what was decoded from `bits` bits of payload.
    pub fn new(count: Count, bits: u64) -> Self {
        let bits_per_instruction = share(bits, count.instructions);
        Self {
            instructions: count.instructions,
            gaps: count.gaps,
            bits_per_instruction,
            compression: bits_per_instruction.map(|bits| 1.0 - bits / 32.0),
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.2} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;
    use std::convert::Infallible;
    use std::io::Read;

    /// Delivers a few bytes at a time.
    struct Pipe<'a>(&'a [u8]);

    impl Read for Pipe<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let few = room.len().min(3);
            self.0.read(&mut room[..few])
        }
    }

    fn stats(framing: &str, bytes: &[u8]) -> Stats {
        let mut tally = Tally::new(&setup(framing));
        tally.read(Pipe(bytes), |_| Ok::<_, Infallible>(())).unwrap();
        tally.stats()
    }

    /// Support, start, a branch map, an address, then a broken frame and an unknown payload.
    const CAPTURE: &[u8] = &[
        0x42, 0x1f, 0x04, 0x46, 0x73, 0x00, 0x00, 0x00, 0x00, 0x40, 0x43, 0x0d, 0xca, 0x00, 0x42,
        0x32, 0x04, 0x80, 0x41, 0x00,
    ];

    #[test]
    fn every_byte_is_counted_once() {
        let stats = stats("", CAPTURE);
        let packets = stats.formats.0.map(|sum| (sum.packets, sum.bytes));
        let standard = [(0, 0), (0, 0), (1, 3), (1, 2), (1, 6), (0, 0), (0, 0), (1, 2)];
        assert_eq!((&packets[..8], packets[8]), (&standard[..], (0, 0)));
        assert_eq!(stats.malformed, Sum { packets: 2, bytes: 1 });
        assert_eq!(stats.total, Sum { packets: 6, bytes: 14 });
        assert_eq!((stats.capture_bytes, stats.overhead_bytes), (20, 6));
        assert_eq!(stats.sync_share, Some(6.0 / 13.0));
        assert_eq!(stats.bits, 8 * 13);
        assert_eq!(stats.lengths, BTreeMap::from([(2, 2), (3, 1), (6, 1)]));
    }

    #[test]
    fn other_sources_and_kinds() {
        let bytes = [0x82, 5, 0x2a, 0x3e, 0x08, 0x01, 6, 0x01];
        let line = "kind = \"encap\"\nsrc-bits = 8\ntimestamp-bytes = 1\ntype-bits = 1";
        let both = stats(line, &bytes);
        assert_eq!((both.other.packets, both.malformed.packets), (1, 0));
        let one = stats(&format!("{line}\nsource = 5"), &bytes);
        assert_eq!((one.total.packets, one.other.packets), (1, 0));
        assert_eq!(one.overhead_bytes, both.overhead_bytes);
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let mut stats = stats("", &[]);
        stats.program = Some(Program::new(Count::default(), 0));
        let mut out = Vec::new();
        stats.print(&mut out).unwrap();
        assert!(!String::from_utf8(out).unwrap().contains("NaN"));
        let json = serde_json::to_value(&stats).unwrap();
        assert!(json["sync_share"].is_null() && json["program"]["compression"].is_null());
    }

    #[test]
    fn costs() {
        let program = Program::new(Count { instructions: 100, gaps: 1 }, 80);
        assert_eq!((program.bits_per_instruction, program.compression), (Some(0.8), Some(0.975)));
    }
}
