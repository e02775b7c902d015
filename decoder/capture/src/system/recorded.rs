//! Recordings of Linux perf: a source for each CPU.

use super::bound::Portion;
use super::traced::Traced;
use crate::perf::{Coresight, EtmRegisters, HwId, Piece, Recording, Trace, Unit};
use crate::snapshot::{Core, Protocol};
use hartrace_arm_decoder::{Capture, FileRanges, Layout, Mark, Memory, RecordedAt};
use hartrace_decoder::RecordingLoss;
use hartrace_encap::coresight::Mode;
use hartrace_isa::arm::Arch;
use hartrace_spaces::{Holds, Image, Timeline};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Formats of AUX records.
const FRAMES: u8 = 0;
const RAW: u8 = 1;

/// ETMIDR[11:8] of a PTM.
const PFTV1: u32 = 3;
/// TRCCONFIGR: context identifiers, virtual ones, and that these are CONTEXTIDR_EL2.
const CID: u32 = 1 << 6;
const VMID: u32 = 1 << 7;
const VMIDOPT: u32 = 1 << 15;

/// What it takes to decode a recording.
#[derive(Debug)]
pub struct Recorded<'c> {
    /// The sources, by CPU.
    pub sources: Vec<Traced<'c>>,
    /// Triggers and flushes.
    pub marks: Vec<Mark>,
    /// Stretches of trace that cannot be decoded, with the reason.
    pub gaps: Vec<String>,
    /// What can be done without.
    pub warnings: Vec<String>,
}

/// Finds the source of all trace in a recording. `load` returns the code of a mapped file; `holds` says what
/// context identifiers are, if not what Linux usually writes.
///
/// `None` if the recording has no CoreSight trace.
pub fn recorded(
    recording: &Recording,
    holds: Option<Holds>,
    load: impl FnMut(&Image) -> Option<Vec<(u64, Vec<u8>)>>,
) -> Option<Recorded<'static>> {
    let Trace::Coresight(coresight) = &recording.trace else { return None };
    let (mut gaps, mut warnings) = (Vec::new(), Vec::new());
    gaps.extend(recording.missing.iter().map(ToString::to_string));
    let mut sources = Sources::new(coresight, &recording.hw_ids, &mut warnings);
    for piece in &recording.pieces {
        sources.take(recording, piece, &mut gaps);
    }
    // All units of a machine write the same identifiers: those of a 32-bit kernel have an ASID below.
    let narrow = recording.arch.as_deref().is_some_and(|arch| arch.starts_with("armv"));
    let usual = if narrow { Holds::AsidTid } else { Holds::Tid };
    let timeline = Timeline::new(&recording.log, holds.unwrap_or(usual), load);
    // A file may be mapped many times.
    let told: BTreeSet<&String> = timeline.missing.iter().chain(&timeline.wrong).collect();
    warnings.extend(told.into_iter().cloned());
    let (timeline, memory) = (Arc::new(timeline), Arc::new(Memory::new()));
    let traced = |(cpu, Source { unit, portions }): (u32, Source)| Traced {
        name: format!("CPU {cpu}"),
        id: u16::try_from(cpu).unwrap_or(u16::MAX),
        portions,
        core: Core { arch: arch(&unit.registers), m_profile: false },
        memory: memory.clone(),
        timeline: Some(timeline.clone()),
    };
    let Sources { all, mut marks, .. } = sources;
    marks.sort_by_key(|mark| mark.order);
    let sources = all.into_iter().filter(|(_, source)| !source.portions.is_empty());
    Some(Recorded { sources: sources.map(traced).collect(), marks, gaps, warnings })
}

/// What the core of a unit can execute: a recording does not say, so that it is everything that the protocol
/// has been used for.
const fn arch(registers: &EtmRegisters) -> Arch {
    match registers {
        EtmRegisters::Etmv3 { .. } => Arch::V7,
        EtmRegisters::Etmv4 { .. } => Arch::Later,
    }
}

/// The trace of a CPU.
struct Source {
    unit: Unit,
    portions: Vec<Portion<'static>>,
}

/// A number on the trace bus.
struct Number {
    id: u8,
    cpu: u32,
    /// The sink where the number is valid; everywhere if it is not known.
    sink: Option<u32>,
}

struct Sources {
    all: BTreeMap<u32, Source>,
    numbers: Vec<Number>,
    marks: Vec<Mark>,
}

impl Sources {
    fn new(coresight: &Coresight, hw_ids: &[HwId], warnings: &mut Vec<String>) -> Self {
        let units = coresight.units.iter();
        let all = units.map(|unit| (unit.cpu, Source { unit: *unit, portions: Vec::new() }));
        let mut numbers = Vec::new();
        for hw_id in hw_ids {
            let Some((id, sink)) = hw_id.coresight() else {
                let (at, value) = (hw_id.at, hw_id.value);
                warnings.push(format!("byte {at}: {value:#x} is a trace ID of unknown version"));
                continue;
            };
            numbers.push(Number { id, cpu: hw_id.cpu, sink });
        }
        if numbers.is_empty() {
            // Registers count only without such records: then bit 31 is no part of the number.
            let number = |unit: &Unit| {
                let id = unit.trace_id as u8 & 0x7f;
                Number { id, cpu: unit.cpu, sink: None }
            };
            numbers.extend(coresight.units.iter().map(number));
        }
        Self { all: all.collect(), numbers, marks: Vec::new() }
    }

    /// The CPU of a number in the buffer of a CPU.
    fn cpu(&self, id: u8, buffer: Option<u32>) -> Option<u32> {
        let own = self.numbers.iter().find(|number| Some(number.cpu) == buffer);
        let sink = own.and_then(|number| number.sink);
        let same = |number: &&Number| match (number.sink, sink) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let mut found = self.numbers.iter().filter(|number| number.id == id).filter(same);
        let cpu = found.next()?.cpu;
        // The same number of two sinks, and nothing says which of them it is: nothing is guessed.
        found.all(|other| other.cpu == cpu).then_some(cpu)
    }

    fn take(&mut self, recording: &Recording, piece: &Piece, gaps: &mut Vec<String>) {
        let at = piece.at;
        let lost = match (piece.truncated, piece.partial) {
            (true, _) => Some(RecordingLoss::Truncated),
            (_, true) => Some(RecordingLoss::Partial),
            _ => None,
        };
        if piece.is_empty() {
            if lost.is_some() {
                gaps.push(format!("byte {at}: trace was lost before this AUX record"));
            }
            return;
        }
        let bytes = recording.bytes(piece);
        let layout = match piece.format {
            FRAMES => Layout::Frames(Mode::AlignedReset),
            RAW => Layout::Raw,
            other => {
                let count = bytes.len();
                gaps.push(format!("byte {at}: {count} bytes of unknown format {other}"));
                return;
            }
        };
        let capture = Capture::split(layout, &bytes);
        for fault in &capture.faults {
            gaps.push(format!("byte {at}: frames of this AUX record: {fault:?}"));
        }
        let parts = FileRanges::new(&piece.bytes);
        self.marks.extend(capture.marks.iter().map(|mark| mark.placed_in(&parts)));
        for stream in capture.streams {
            let (id, count) = (stream.id, stream.bytes.len());
            let cpu = if layout == Layout::Raw { piece.cpu } else { self.cpu(id, piece.cpu) };
            let number = self.numbers.iter().find(|number| Some(number.cpu) == cpu);
            let number = number.map_or(0, |number| number.id);
            let Some(source) = cpu.and_then(|cpu| self.all.get_mut(&cpu)) else {
                gaps.push(match layout {
                    Layout::Raw => format!("byte {at}: {count} bytes of an unknown CPU"),
                    _ => format!("byte {at}: {count} bytes of trace ID {id:#x}, which no CPU has"),
                });
                continue;
            };
            let (protocol, vmid) = match protocol(&source.unit.registers) {
                Ok(found) => found,
                Err(why) => {
                    let cpu = source.unit.cpu;
                    gaps.push(format!("byte {at}: {count} bytes of CPU {cpu}: {why}"));
                    continue;
                }
            };
            // Without frames nothing in the trace has a number.
            let id = if layout == Layout::Raw { number } else { id };
            let time = piece.time.unwrap_or(u64::MAX);
            let recorded = RecordedAt { time, context: piece.tid, vmid, lost };
            let mut stream = stream.placed_in(&parts);
            stream.id = id;
            let stream = Cow::Owned(stream);
            source.portions.push(Portion { id, stream, protocol, recorded: Some(recorded) });
        }
    }
}

/// The protocol of a unit, and whether processes are told by virtual context identifiers.
fn protocol(registers: &EtmRegisters) -> Result<(Protocol, bool), &'static str> {
    match *registers {
        EtmRegisters::Etmv3 { cr, ccer, idr } => {
            if (idr >> 8) & 0xf != PFTV1 {
                return Err("ETMv3 is not supported");
            }
            Ok((Protocol::Ptm(hartrace_ptm::Registers { cr, idr, ccer }.config()), false))
        }
        EtmRegisters::Etmv4 { configr, idr: [idr0, idr1, idr2, idr8], devarch } => {
            // O11: what the kernel could not read is 0.
            let version = devarch.unwrap_or(idr1);
            if idr0 == 0 || idr2 == 0 || version == 0 {
                return Err("the recording lacks registers of its trace unit");
            }
            let config = hartrace_etmv4::Registers { configr, idr0, idr1, idr2, idr8, devarch };
            let vmid = configr & CID == 0 && configr & (VMID | VMIDOPT) == VMID | VMIDOPT;
            Ok((Protocol::Etmv4(config.config()), vmid))
        }
    }
}
