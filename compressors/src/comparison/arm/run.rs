//! An Arm program in QEMU, traced by all trace units at once.

use super::IsaFigures;
use crate::comparison::figures::per_instruction;
use crate::comparison::{ComparisonError, Options};
use crate::{ArmCompressor, ArmScheme, Compressed};
use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use hartrace_arm_decoder::Memory;
use hartrace_capture::limits;
use hartrace_capture::output::Scratch;
use hartrace_executions::qemu::{ArmCause, ArmStep, Qemu};
use hartrace_golden::arm::{Expected, Ranges};
use hartrace_isa::arm::{Isa, Spaces};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A folder for bundled programs, which QEMU needs as files; removed when dropped.
pub(super) struct Bundle(Scratch);

impl Bundle {
    /// Creates a folder that nobody else may enter, because its contents are executed.
    pub(super) fn new() -> io::Result<Self> {
        Scratch::new().map(Self)
    }

    pub(super) fn write(&self, name: &str, elf: &[u8]) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path)?;
        file.write_all(elf)?;
        Ok(path)
    }
}

/// What was executed.
#[derive(Default)]
struct Executed {
    ranges: Vec<Expected>,
    open: Ranges,
    /// Number of A64, A32 and T32 instructions.
    counts: [u64; 3],
}

impl Executed {
    fn step(&mut self, step: &ArmStep) {
        self.ranges.extend(match step {
            ArmStep::Executed { executed, .. } => {
                self.counts[executed.isa as usize] += 1;
                self.open.executed(executed)
            }
            ArmStep::Exception { .. } => self.open.exception(),
        });
    }

    /// The instruction set of most instructions: the start-up code may use another.
    fn isa(&self) -> (Isa, &'static str) {
        let [a64, a32, t32] = self.counts;
        match (a64, a32.min(t32) * 20 > a32 + t32) {
            (1.., _) => (Isa::A64, "A64"),
            (_, true) => (Isa::T32, "A32/T32"),
            _ if t32 > a32 => (Isa::T32, "T32"),
            _ => (Isa::A32, "A32"),
        }
    }
}

/// Runs a program, compresses, decompresses and compares.
pub(super) fn run(
    qemu: &Qemu,
    name: &str,
    path: &Path,
    options: &Options,
) -> Result<Vec<IsaFigures>, ComparisonError> {
    let memory = memory(name, path)?;
    let mut units: Vec<(ArmScheme, ArmCompressor)> =
        ArmScheme::ALL.map(|scheme| (scheme, scheme.compressor(options.sync_every))).into();
    let (mut executed, mut left) = (Executed::default(), options.limit);
    let mut compress = |step: &ArmStep| {
        executed.step(step);
        for (_, unit) in &mut units {
            match step {
                ArmStep::Executed { executed, .. } => unit.retire(executed),
                ArmStep::Exception { cause, returns } => {
                    unit.exception(*cause == ArmCause::Call, *returns);
                }
            }
        }
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let program = || name.to_owned();
    qemu.run_arm(path, &[], &mut compress)
        .map_err(|error| ComparisonError::Run { program: program(), error })?;
    let (isa, label) = executed.isa();
    let mut rows = Vec::new();
    for (scheme, unit) in units {
        if !scheme.traces(isa) {
            continue;
        }
        let failed = |error| ComparisonError::Compress {
            program: program(),
            scheme: scheme.to_string(),
            error,
        };
        let compressed = unit.finish().map_err(failed)?;
        let difference = difference(scheme, &memory, &compressed, &executed.ranges);
        let Compressed { payload_bits: bits, framed_bits, instructions, .. } = compressed;
        rows.push(IsaFigures {
            program: program(),
            isa: label,
            scheme: scheme.to_string(),
            instructions,
            bits,
            bits_per_instruction: per_instruction(bits, instructions),
            framed_bits,
            verified: difference.is_none(),
            difference,
            cut: left == 0,
        });
    }
    Ok(rows)
}

/// Finds the first range of instructions that is not recovered.
fn difference(
    scheme: ArmScheme,
    memory: &Memory,
    compressed: &Compressed,
    ranges: &[Expected],
) -> Option<String> {
    let (mut expected, mut wrong, mut number) = (ranges.iter(), None, 0_u64);
    let result =
        scheme.decompress(memory, &compressed.bits, compressed.instructions, &mut |range| {
            let right = expected.next();
            if right != Some(&range) && wrong.is_none() {
                wrong = Some(format!("range {number}: {range:x?} instead of {right:x?}"));
            }
            number += 1;
        });
    wrong
        .or(result.err().map(|error| error.to_string()))
        .or_else(|| expected.next().map(|next| format!("range {number}: {next:x?} is missing")))
}

/// The memory that the decoder knows: the file, not what was executed.
fn memory(name: &str, path: &Path) -> Result<Memory, ComparisonError> {
    let bytes = limits::read_file(path)
        .map_err(|error| ComparisonError::Read { path: path.into(), error })?;
    let wrong = |error| ComparisonError::Elf { program: name.into(), error };
    let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes).map_err(wrong)?;
    let mut memory = Memory::new();
    let segments = file.segments().into_iter().flatten();
    for segment in segments.filter(|s| s.p_type == PT_LOAD && s.p_filesz > 0) {
        let data = file.segment_data(&segment).map_err(wrong)?;
        memory.add(segment.p_vaddr, data.to_vec(), Spaces::ALL);
    }
    Ok(memory)
}
