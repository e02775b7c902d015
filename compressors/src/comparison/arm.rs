//! ETMv4 and PTM next to E-Trace: the same C sources on three instruction sets, or any Arm programs.

mod run;

use super::figures::{self, per_instruction, verdict};
use super::{ComparisonError, Options, Workload};
use hartrace_executions::executed::Program;
use hartrace_executions::qemu::{Qemu, QemuError};
use run::Bundle;
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// Figures of a program for one instruction set in one scheme.
#[derive(Clone, Debug, Serialize)]
pub struct IsaFigures {
    /// The name of the program.
    pub program: String,
    /// The name of the instruction set.
    pub isa: &'static str,
    /// The name of the scheme.
    pub scheme: String,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Payload bits, without framing.
    pub bits: u64,
    /// Payload bits per instruction.
    pub bits_per_instruction: f64,
    /// Payload bits in frames.
    pub framed_bits: u64,
    /// Whether every instruction was recovered.
    pub verified: bool,
    /// The first range that was not recovered.
    pub difference: Option<String>,
    /// Whether the execution was cut by the limit: the figures are of its start.
    pub cut: bool,
}

impl IsaFigures {
    /// Returns the framed bits per instruction.
    pub fn framed(&self) -> f64 {
        per_instruction(self.framed_bits, self.instructions)
    }
}

/// Figures of programs for several instruction sets.
#[derive(Clone, Debug)]
pub struct Isas {
    /// Every program in every scheme.
    pub rows: Vec<IsaFigures>,
    /// Why some rows are missing.
    missing: Option<String>,
}

/// A source that does not depend on an architecture, compiled for three.
#[derive(Copy, Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// The ELF file for RV64, to be executed by the hart.
    pub rv64: &'static [u8],
    /// The ELF files for A64 and T32, to be executed by QEMU.
    pub arm: [&'static [u8]; 2],
}

/// The schemes that Arm trace is compared with.
const ETRACE: [&str; 3] = ["E-Trace", "E-Trace+ir", "E-Trace+ir+bp+jtc"];

/// Returns whether this is the start of an ELF file for Arm; 20 bytes are enough to decide.
pub fn is_arm_program(start: &[u8]) -> bool {
    let machine = start.get(18..20).map(|bytes| u16::from(bytes[0]) | u16::from(bytes[1]) << 8);
    let arm = [elf::abi::EM_AARCH64, elf::abi::EM_ARM];
    start.starts_with(b"\x7fELF") && machine.is_some_and(|machine| arm.contains(&machine))
}

/// Measures sources in all schemes, and Arm programs in the Arm schemes.
pub(super) fn measure(
    sources: &[Source],
    programs: &[PathBuf],
    options: &Options,
) -> Result<Isas, ComparisonError> {
    let mut isas = Isas { rows: Vec::new(), missing: None };
    for source in sources {
        isas.rows.extend(etrace(source, options)?);
    }
    let qemu = Qemu::new().map(Qemu::silent);
    let qemu = match qemu {
        Err(error @ QemuError::NoCompiler) => {
            isas.missing = Some(error.to_string());
            return Ok(isas);
        }
        other => other.map_err(ComparisonError::Qemu)?,
    };
    let bundle = Bundle::new().map_err(ComparisonError::Bundle)?;
    let mut all = Vec::new();
    for source in sources {
        for (number, elf) in source.arm.iter().enumerate() {
            let name = format!("{}-{number}", source.name);
            let path = bundle.write(&name, elf).map_err(ComparisonError::Bundle)?;
            all.push((source.name.to_owned(), path));
        }
    }
    for path in programs {
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        all.push((name.into(), path.clone()));
    }
    for (name, path) in all {
        match run::run(&qemu, &name, &path, options) {
            Ok(rows) => isas.rows.extend(rows),
            Err(ComparisonError::Run { error: error @ QemuError::NotInstalled { .. }, .. }) => {
                isas.missing = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(isas)
}

/// E-Trace on the same source.
fn etrace(source: &Source, options: &Options) -> Result<Vec<IsaFigures>, ComparisonError> {
    let program = Program::new(source.name, source.rv64.to_vec())?;
    let workload = Workload::execute(&program, options.limit)?;
    let mut rows = Vec::new();
    for name in ETRACE {
        let scheme = name.parse()?;
        let figures = figures::measure(&workload, &scheme, options.sync_every)?;
        rows.extend(figures.map(|one| IsaFigures {
            program: one.program,
            isa: "RV64",
            scheme: one.scheme,
            instructions: one.instructions,
            bits: one.bits,
            bits_per_instruction: one.bits_per_instruction,
            framed_bits: one.framed_bits,
            verified: one.verified,
            difference: one.difference,
            cut: one.cut,
        }));
    }
    Ok(rows)
}

/// The sum of all programs, per instruction set and scheme.
fn means(rows: &[IsaFigures]) -> Vec<IsaFigures> {
    let mut means: Vec<IsaFigures> = Vec::new();
    for row in rows {
        match means.iter_mut().find(|sum| (sum.isa, &sum.scheme) == (row.isa, &row.scheme)) {
            None => means.push(IsaFigures { program: "mean".into(), ..row.clone() }),
            Some(sum) => {
                sum.instructions += row.instructions;
                sum.bits += row.bits;
                sum.framed_bits += row.framed_bits;
                sum.verified &= row.verified;
                sum.cut |= row.cut;
                sum.difference = sum.difference.take().or(row.difference.clone());
                sum.bits_per_instruction = per_instruction(sum.bits, sum.instructions);
            }
        }
    }
    means
}

/// Notes that a reader needs to compare the rows.
const NOTES: [&str; 4] = [
    "The instruction sets differ: the same C source has other instructions on each, and another number of them, so \
     that bits compare better than bits/insn.",
    "ETMv4, PTM: without time, cycles and context; +rs: with a return stack of 16 entries; executed by QEMU.",
    "in frames: of CoreSight, or of the standard encapsulation for E-Trace.",
    "Traces of ETMv4 and PTM do not contain the instructions after the last branch of a run that was cut.",
];

impl Isas {
    /// Returns the notes that a reader needs to compare the rows, and why some rows are missing.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let missing = self.missing.as_ref();
        let missing = missing.map(|why| format!("ETMv4, PTM: some rows are missing: {why}."));
        NOTES.map(str::to_owned).into_iter().chain(missing)
    }

    /// Returns the sum of all programs, per instruction set and scheme.
    pub fn means(&self) -> Vec<IsaFigures> {
        means(&self.rows)
    }
}

pub(super) fn print(out: &mut impl Write, isas: &Isas, brief: bool) -> io::Result<()> {
    writeln!(
        out,
        "\n{:15} {:7} {:17} {:>12} {:>12} {:>9} {:>9}  verified",
        "program", "ISA", "scheme", "instructions", "bits", "bits/insn", "in frames"
    )?;
    let each = isas.rows.iter().filter(|_| !brief).cloned();
    for row in each.chain(isas.means()) {
        let verdict = verdict(row.difference.as_deref(), row.cut);
        writeln!(
            out,
            "{:15} {:7} {:17} {:>12} {:>12} {:>9.4} {:>9.4}  {verdict}",
            row.program,
            row.isa,
            row.scheme,
            row.instructions,
            row.bits,
            row.bits_per_instruction,
            row.framed(),
        )?;
    }
    writeln!(out)?;
    for note in isas.notes() {
        writeln!(out, "{note}")?;
    }
    Ok(())
}
