//! `hartrace stats`: what a capture consists of, and what an instruction costs.
//!
//! JSON keys are stable: `capture_bytes`, `overhead_bytes` (of the capture, all that is no payload),
//! `formats` (by code: `name`, `packets`, `bytes` of payload), `malformed` and `other` (trace of
//! another kind) and `total` (`packets`, `bytes`), `sync_share` (bytes of 3.0 and 3.1 among those of
//! all formats), `lengths` (packets by bytes of payload), `program` (null, or `instructions`, `gaps`,
//! `bits_per_instruction`, `compression`). What would be divided by 0 is null.

use crate::args::StatsArgs;
use crate::capture::{Packets, Reader, Unread};
use crate::failure::{Failure, Status};
use crate::files;
use crate::follow::{self, Follow};
use crate::framing::Transport;
use crate::gaps::Gaps;
use crate::params::Setup;
use hartrace_decoder::{Count, Event, Fault, Path, Run, Sink, StreamPos};
use hartrace_etrace::Format;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &StatsArgs) -> Result<Status, Failure> {
    let given = &args.follow;
    let without = given.elf.is_empty() && given.image.is_empty() && given.context_elf.is_empty();
    let gaps = || Gaps::new(files::name(&given.capture), given.strict);
    let strict = given.strict.then(gaps);
    let stats = if without {
        let params = given.stream.params.as_deref();
        files::one_standard(params.into_iter().chain([given.capture.as_path()]))?;
        let setup = Setup::new(&given.stream)?;
        Stats::of(&files::read(&given.capture)?, &setup, strict)?
    } else {
        let follow = Follow::open(given, [])?;
        let mut stats = Stats::of(&follow.bytes, &follow.setup, strict)?;
        let count = decode(&follow, gaps())?;
        stats.program = Some(Program::new(count, stats.bits));
        stats
    };
    let mut out = files::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &stats).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        stats.print(&mut out)?;
    }
    out.flush()?;
    let gaps = stats.program.as_ref().map_or(0, |program| program.gaps);
    let clean = gaps + stats.malformed.packets == 0;
    Ok(if clean { Status::Clean } else { Status::Gaps })
}

/// Counts what the capture decodes to.
fn decode(follow: &Follow, gaps: Gaps) -> Result<Count, Failure> {
    let mut tracer = follow.tracer()?;
    let mut counter = Counter { count: Count::default(), gaps };
    let bar = files::progress(follow.bytes.len() as u64);
    for packet in follow.packets() {
        bar.set_position(packet.frame);
        follow::feed(&mut tracer, &packet, &mut counter);
        counter.gaps.check()?;
    }
    tracer.finish(&mut counter);
    bar.finish_and_clear();
    counter.gaps.check()?;
    counter.gaps.finish();
    Ok(counter.count)
}

/// Counts, and reports gaps.
struct Counter {
    count: Count,
    gaps: Gaps,
}

impl Sink for Counter {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.count.run(at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.count.path(at, path);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.count.event(at, event);
        self.gaps.event(at, &event);
    }
}

/// Packets and the bytes of their payloads.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Sum {
    packets: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

#[derive(Debug, Default, Serialize)]
struct Stats {
    capture_bytes: u64,
    overhead_bytes: u64,
    formats: Formats,
    malformed: Sum,
    other: Sum,
    total: Sum,
    sync_share: Option<f64>,
    lengths: BTreeMap<u64, u64>,
    program: Option<Program>,
    /// Bits of all payloads that could be read.
    #[serde(skip)]
    bits: u64,
}

impl Stats {
    /// Counts packets; with `strict` there must be none that is malformed.
    fn of(bytes: &[u8], setup: &Setup, mut strict: Option<Gaps>) -> Result<Self, Failure> {
        let mut stats = Self { capture_bytes: bytes.len() as u64, ..Self::default() };
        let mut reader = Reader::new(setup.layout, setup.options);
        let bar = files::progress(bytes.len() as u64);
        for packet in Packets::new(bytes, setup.transport) {
            bar.set_position(packet.frame);
            let bits = packet.body.map_or(0, |frame| frame.payload().remaining());
            let sum = Sum { packets: 1, bytes: bits.div_ceil(8) };
            stats.total.add(sum);
            match reader.read(&packet) {
                Ok(payload) => {
                    stats.formats.of(payload.format()).add(sum);
                    *stats.lengths.entry(sum.bytes).or_default() += 1;
                    stats.bits += bits;
                }
                Err(Unread::Kind(_)) => stats.other.add(sum),
                Err(Unread::Frame(error)) => {
                    stats.malformed.add(sum);
                    if let Some(gaps) = &mut strict {
                        gaps.event(packet.pos(), &Event::Gap(error.into()));
                    }
                }
                Err(Unread::Payload(error)) => {
                    stats.malformed.add(sum);
                    if let Some(gaps) = &mut strict {
                        gaps.event(packet.pos(), &Event::Gap(Fault::Malformed(error)));
                    }
                }
            }
            if let Some(gaps) = &mut strict {
                gaps.check()?;
            }
        }
        bar.finish_and_clear();
        let payloads = match setup.transport.source {
            None => stats.total.bytes,
            // The payloads of the other sources are no overhead.
            Some(_) => {
                let mut all = setup.transport;
                all.source = None;
                payload_bytes(bytes, all)
            }
        };
        stats.overhead_bytes = stats.capture_bytes.saturating_sub(payloads);
        stats.sync_share = stats.formats.sync_share();
        Ok(stats)
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
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
        for (format, sum) in Format::ALL.into_iter().zip(self.formats.0) {
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
        writeln!(out, "\npayload bytes      packets")?;
        for (length, packets) in &self.lengths {
            writeln!(out, "{length:>13} {packets:>12}")?;
        }
        Ok(())
    }
}

/// Payloads of all sources.
fn payload_bytes(bytes: &[u8], transport: Transport) -> u64 {
    Packets::new(bytes, transport)
        .filter_map(|packet| packet.body.ok())
        .map(|frame| frame.payload().remaining().div_ceil(8))
        .sum()
}

/// In the order of `Format::ALL`.
#[derive(Debug, Default)]
struct Formats([Sum; Format::ALL.len()]);

impl Formats {
    fn of(&mut self, format: Format) -> &mut Sum {
        &mut self.0[Format::ALL.iter().position(|f| *f == format).unwrap_or(0)]
    }

    fn sync_share(&self) -> Option<f64> {
        let sync = |format| matches!(format, Format::Start | Format::Trap);
        let pairs = || Format::ALL.into_iter().zip(self.0);
        let part = pairs().filter(|(format, _)| sync(*format)).map(|(_, sum)| sum.bytes).sum();
        share(part, pairs().map(|(_, sum)| sum.bytes).sum())
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
        serializer.collect_map(Format::ALL.into_iter().zip(self.0).map(named))
    }
}

/// What the capture says about the program.
#[derive(Debug, Serialize)]
struct Program {
    instructions: u64,
    gaps: u64,
    bits_per_instruction: Option<f64>,
    /// Against 32 bits per instruction.
    compression: Option<f64>,
}

impl Program {
    fn new(count: Count, bits: u64) -> Self {
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
    use crate::params::tests::{PEER, setup};

    fn stats(line: &str, bytes: &[u8]) -> Stats {
        Stats::of(bytes, &setup(Some(PEER), line).unwrap(), None).unwrap()
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
        assert_eq!(packets, [(0, 0), (0, 0), (1, 3), (1, 2), (1, 6), (0, 0), (0, 0), (1, 2)]);
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
        let line = "--framing encap --src-bits 8 --timestamp-bytes 1 --type-bits 1";
        let both = stats(line, &bytes);
        assert_eq!((both.other.packets, both.malformed.packets), (1, 0));
        let one = stats(&format!("{line} --source 5"), &bytes);
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
