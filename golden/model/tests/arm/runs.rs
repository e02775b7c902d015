//! Programs that QEMU runs, encoded by the models and decoded again: by our decoder, and by
//! OpenCSD's `trc_pkt_lister`. Both must report every range of executed instructions, from first to
//! last.
//!
//! Ignored where QEMU or OpenCSD is missing.

mod opencsd;

use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Lost, Memory, Ptm, Range, StreamPos,
};
use hartrace_executions::qemu::{ArmCause, ArmStep, Qemu};
use hartrace_golden::arm::{Expected, Ranges, etmv4, ptm};
use hartrace_isa::arm::{Arch, Spaces};
use libtest_mimic::{Arguments, Failed, Trial};
use opencsd::Registers;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

/// Maximum number of instructions to trace, and the same for most programs when OpenCSD, which is
/// slow, lists them.
const MANY: u64 = 10_000_000;
const SOME: u64 = 1_000_000;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let has = |command: &str| {
        Command::new(command).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    let (cc, theirs) = (has("cc"), opencsd::is_there());
    let set = env::var("HARTRACE_ARM_INSTRUCTIONS").ok().and_then(|text| text.parse().ok());
    let mut trials = Vec::new();
    for (name, program, registers) in cases() {
        let binary = if name.contains("a64") { "qemu-aarch64" } else { "qemu-arm" };
        let there = cc && has(binary);
        // One of each protocol is enough.
        let listed = match name {
            "etmv4-a64-return-stack" | "ptm-mixed-return-stack" => MANY,
            _ => SOME,
        };
        for (decoder, count, there) in [("ours", MANY, there), ("opencsd", listed, there && theirs)]
        {
            let count = set.unwrap_or(count);
            let run = move || Run::new(program, &registers, count)?.check(decoder);
            let trial = Trial::test(format!("{decoder}/{name}"), run);
            trials.push(trial.with_ignored_flag(!there));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// Name, program, and trace unit.
fn cases() -> Vec<(&'static str, &'static str, Registers)> {
    let bit = |set: bool, bit: u32| u32::from(set) << bit;
    let etmv4 = |stack: bool, broadcast: bool| hartrace_etmv4::Registers {
        configr: bit(broadcast, 3) | bit(stack, 12),
        idr0: 1 << 5 | 1 << 7 | 1 << 9 | 1 << 29,
        idr1: 0x4100_f420,
        idr2: 8 << 25 | 0x0000_0488,
        idr8: 0,
        devarch: None,
    };
    let counting = hartrace_etmv4::Registers { configr: 1 << 4, ..etmv4(false, false) };
    let ete = hartrace_etmv4::Registers { devarch: Some(0x4770_5a13), ..etmv4(true, false) };
    let etmv4 = |stack: bool, broadcast: bool| Registers::Etmv4(etmv4(stack, broadcast));
    let ptm = |stack: bool, broadcast: bool| hartrace_ptm::Registers {
        cr: bit(broadcast, 8) | bit(stack, 29),
        idr: 0x411c_f312,
        ccer: 1 << 22 | 1 << 23 | 1 << 28 | 1 << 29,
    };
    let accurate = hartrace_ptm::Registers { cr: 1 << 12, ..ptm(false, false) };
    let ptm = |stack: bool, broadcast: bool| Registers::Ptm(ptm(stack, broadcast));
    vec![
        ("etmv4-a64", "long-a64", etmv4(false, false)),
        ("etmv4-a64-return-stack", "long-a64", etmv4(true, false)),
        ("etmv4-a64-broadcast", "a64/calls", etmv4(false, true)),
        ("etmv4-a64-cycles", "a64/sort", Registers::Etmv4(counting)),
        ("ete-a64-return-stack", "a64/sort", Registers::Etmv4(ete)),
        ("etmv4-flow-a64", "flow", etmv4(true, false)),
        ("etmv4-mixed-return-stack", "long-mixed", etmv4(true, false)),
        ("ptm-mixed", "long-mixed", ptm(false, false)),
        ("ptm-mixed-return-stack", "long-mixed", ptm(true, false)),
        ("ptm-a32-broadcast", "long-a32", ptm(false, true)),
        ("ptm-t32-cycles", "t32/sort", Registers::Ptm(accurate)),
        ("ptm-states-return-stack", "states", ptm(true, false)),
    ]
}

/// A program, the instructions it executed, and its trace.
struct Run {
    registers: Registers,
    memory: Vec<(u64, Vec<u8>)>,
    ranges: Vec<Expected>,
    trace: Vec<u8>,
}

enum Unit {
    Etmv4(Box<etmv4::Unit>),
    Ptm(Box<ptm::Unit>),
}

impl Unit {
    fn new(registers: &Registers) -> Self {
        let (return_depth, period) = (8, 100_000);
        match registers {
            Registers::Etmv4(registers) => {
                let options = etmv4::Options {
                    branch_broadcast: registers.configr >> 3 & 1 == 1,
                    cycles: (registers.configr >> 4 & 1 == 1).then_some(4),
                    return_depth,
                    period,
                    combine: false,
                    speculate: false,
                };
                Self::Etmv4(Box::new(etmv4::Unit::new(&registers.config(), &options, None)))
            }
            Registers::Ptm(registers) => {
                let branch_broadcast = registers.cr >> 8 & 1 == 1;
                let options = ptm::Options { branch_broadcast, return_depth, period };
                Self::Ptm(Box::new(ptm::Unit::new(&registers.config(), &options, None)))
            }
        }
    }

    fn step(&mut self, step: &ArmStep) {
        match (self, step) {
            (Self::Etmv4(unit), ArmStep::Executed { executed, .. }) => unit.executed(executed),
            (Self::Ptm(unit), ArmStep::Executed { executed, .. }) => unit.executed(executed),
            (Self::Etmv4(unit), ArmStep::Exception { cause, returns }) => {
                let number = if *cause == ArmCause::Call { 2 } else { 12 };
                unit.exception(number, *returns, None);
            }
            (Self::Ptm(unit), ArmStep::Exception { cause, .. }) => {
                unit.exception(if *cause == ArmCause::Call { 10 } else { 12 }, None);
            }
        }
    }

    fn finish(self) -> Result<Vec<u8>, Failed> {
        Ok(match self {
            Self::Etmv4(unit) => unit.finish()?,
            Self::Ptm(unit) => unit.finish()?,
        })
    }
}

impl Run {
    fn new(program: &str, registers: &Registers, limit: u64) -> Result<Self, Failed> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf/arm");
        let path = folder.join(program).with_extension("elf");
        let (mut unit, mut all) = (Unit::new(registers), Ranges::default());
        let (mut ranges, mut count) = (Vec::new(), 0);
        let exit = Qemu::new()?.silent().run_arm(&path, &[], |step| {
            unit.step(step);
            ranges.extend(match step {
                ArmStep::Executed { executed, .. } => all.executed(executed),
                ArmStep::Exception { .. } => all.exception(),
            });
            count += 1;
            if count < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let trace = unit.finish()?;
        let told: u64 = ranges.iter().map(|range| u64::from(range.2)).sum();
        if exit.code.is_some_and(|code| code != 0) || told + 1000 < exit.instructions {
            return Err(format!("{exit:?}, of which {told} are in ranges").into());
        }
        if env::var_os("HARTRACE_ARM_INSTRUCTIONS").is_some() {
            let bits = 8.0 * trace.len() as f64 / exit.instructions as f64;
            println!("{program}: {exit:?}, {} ranges, {bits:.3} bits each", ranges.len());
        }
        Ok(Self { registers: *registers, memory: memory(&path)?, ranges, trace })
    }

    fn check(&self, decoder: &str) -> Result<(), Failed> {
        let mut check = Check { expected: self.ranges.iter(), number: 0, wrong: None };
        if decoder == "ours" {
            self.ours(&mut check);
        } else {
            let errors = opencsd::decode(&self.registers, &self.memory, &self.trace, |range| {
                check.range(range);
                check.wrong.take().map_or(Ok(()), |wrong| Err(wrong.into()))
            })?;
            if !errors.is_empty() {
                return Err(format!("{errors:?}").into());
            }
        }
        match (check.wrong, check.expected.next()) {
            (Some(wrong), _) => Err(wrong.into()),
            (None, Some(missing)) => {
                Err(format!("range {}: {missing:x?} is missing", check.number).into())
            }
            (None, None) => Ok(()),
        }
    }

    fn ours(&self, check: &mut Check<'_>) {
        let mut memory = Memory::new();
        for (address, bytes) in &self.memory {
            memory.add(*address, bytes.clone(), Spaces::ALL);
        }
        let capture = Capture::split(Layout::Raw, &self.trace);
        let stream = &capture.streams[0];
        match self.registers {
            Registers::Etmv4(registers) => {
                Etmv4::new(registers.config(), Arch::V8, &memory).decode(stream, check);
            }
            Registers::Ptm(registers) => {
                Ptm::new(registers.config(), Arch::V7, &memory).decode(stream, check);
            }
        }
    }
}

fn memory(program: &Path) -> Result<Vec<(u64, Vec<u8>)>, Failed> {
    let bytes = fs::read(program)?;
    let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes)?;
    let segments = file.segments().ok_or("no segments")?.iter();
    let segments = segments.filter(|segment| segment.p_type == PT_LOAD && segment.p_filesz > 0);
    segments.map(|segment| Ok((segment.p_vaddr, file.segment_data(&segment)?.to_vec()))).collect()
}

/// Compares the ranges that a decoder reports.
struct Check<'a> {
    expected: std::slice::Iter<'a, Expected>,
    number: u64,
    wrong: Option<String>,
}

impl Check<'_> {
    fn range(&mut self, found: Expected) {
        let right = self.expected.next();
        if right != Some(&found) && self.wrong.is_none() {
            self.wrong = Some(format!("range {} is {found:x?}, not {right:x?}", self.number));
        }
        self.number += 1;
    }
}

impl ElementSink for Check<'_> {
    fn range(&mut self, _: StreamPos, range: &Range) {
        self.range((range.start, range.end, range.count, range.taken));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let bad = matches!(event, Event::Fault(_) | Event::NotAccessible { .. })
            || matches!(event, Event::NoSync(lost) if lost != Lost::Start);
        if bad && self.wrong.is_none() {
            self.wrong = Some(format!("byte {}: {event:x?}", at.byte));
        }
    }
}
