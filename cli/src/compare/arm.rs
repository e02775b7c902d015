//! ETMv4 and PTM beside E-Trace: the same C sources on three instruction sets, or any Arm programs.

mod run;

use super::figures::{self, per_instruction};
use super::workload::Workload;
use crate::args::SchemesArgs;
use crate::exec::program::Program;
use crate::failure::Failure;
use crate::files;
use hartrace_sources::qemu::{Qemu, QemuError};
use run::Bundle;
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A program in a scheme.
#[derive(Clone, Debug, Serialize)]
pub(super) struct IsaFigures {
    pub(super) program: String,
    pub(super) isa: &'static str,
    pub(super) scheme: String,
    pub(super) instructions: u64,
    /// Payload, without anything around it.
    pub(super) bits: u64,
    pub(super) bits_per_instruction: f64,
    framed_bits: u64,
    pub(super) verified: bool,
    /// The first range that did not come back.
    difference: Option<String>,
}

impl IsaFigures {
    pub(super) fn framed(&self) -> f64 {
        per_instruction(self.framed_bits, self.instructions)
    }
}

/// All of them, and why there are not more.
pub(super) struct Isas {
    pub(super) rows: Vec<IsaFigures>,
    missing: Option<String>,
}

macro_rules! elf {
    ($name:expr) => {
        include_bytes!(concat!("../../../tests/programs/elf/", $name, ".elf"))
    };
}

/// An entry of [`SOURCES`].
macro_rules! source {
    ($name:literal) => {
        Source {
            name: $name,
            rv64: elf!(concat!("cva6/", $name)),
            arm: [elf!(concat!("arm/a64/", $name)), elf!(concat!("arm/t32/", $name))],
        }
    };
}

/// C sources without anything of one architecture, compiled for three.
struct Source {
    name: &'static str,
    rv64: &'static [u8],
    /// A64 and T32.
    arm: [&'static [u8]; 2],
}

const SOURCES: [Source; 5] =
    [source!("branchy"), source!("crypto"), source!("interp"), source!("sort"), source!("strings")];

/// What they are compared with.
const ETRACE: [&str; 3] = ["E-Trace", "E-Trace+ir", "E-Trace+ir+bp+jtc"];

/// Whether a file is a program for Arm.
pub(super) fn is_program(path: &Path) -> Result<bool, Failure> {
    if files::is_standard(path) {
        return Ok(false);
    }
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| files::unreadable(path, &error))?;
    file.take(20).read_to_end(&mut head).map_err(|error| files::unreadable(path, &error))?;
    let machine = head.get(18..20).map(|bytes| u16::from(bytes[0]) | u16::from(bytes[1]) << 8);
    let arm = [elf::abi::EM_AARCH64, elf::abi::EM_ARM];
    Ok(head.starts_with(b"\x7fELF") && machine.is_some_and(|machine| arm.contains(&machine)))
}

/// The given programs, and the bundled ones if asked for.
pub(super) fn measure(args: &SchemesArgs, programs: &[&PathBuf]) -> Result<Isas, Failure> {
    let mut isas = Isas { rows: Vec::new(), missing: None };
    let sources = if args.arm { SOURCES.as_slice() } else { &[] };
    for source in sources {
        isas.rows.extend(etrace(source, args)?);
    }
    let qemu = Qemu::new().map(Qemu::silent);
    let qemu = match qemu {
        Err(error @ QemuError::NoCompiler) => {
            isas.missing = Some(error.to_string());
            return Ok(isas);
        }
        other => other.map_err(Failure::input)?,
    };
    let bundle = Bundle::new().map_err(Failure::input)?;
    let mut all = Vec::new();
    for source in sources {
        for (number, elf) in source.arm.iter().enumerate() {
            let name = format!("{}-{number}", source.name);
            all.push((source.name.to_owned(), bundle.write(&name, elf).map_err(Failure::input)?));
        }
    }
    for path in programs {
        let name =
            path.file_stem().map_or_else(|| files::name(path), |s| s.to_string_lossy().into());
        all.push((name, (*path).clone()));
    }
    for (name, path) in all {
        match run::run(&qemu, &name, &path, args) {
            Ok(rows) => isas.rows.extend(rows),
            Err(run::Cannot::Qemu(error @ QemuError::NotInstalled { .. })) => {
                isas.missing = Some(error.to_string());
            }
            Err(run::Cannot::Qemu(error)) => return Err(Failure::input(error).at(name)),
            Err(run::Cannot::Other(failure)) => return Err(failure),
        }
    }
    Ok(isas)
}

/// E-Trace on the same source.
fn etrace(source: &Source, args: &SchemesArgs) -> Result<Vec<IsaFigures>, Failure> {
    let program = Program::new(source.name.into(), source.rv64.to_vec())?;
    let workload = Workload::execute(&program, args.limit)?;
    let mut rows = Vec::new();
    for name in ETRACE {
        let scheme = name.parse().map_err(Failure::usage)?;
        let figures = figures::measure(&workload, &scheme, args.sync_every)?;
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
        }));
    }
    Ok(rows)
}

/// All programs of an instruction set in a scheme together.
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
                sum.difference = sum.difference.take().or(row.difference.clone());
                sum.bits_per_instruction = per_instruction(sum.bits, sum.instructions);
            }
        }
    }
    means
}

/// What has to be known to compare them.
const NOTES: [&str; 4] = [
    "The instruction sets differ: the same C source has other instructions on each, and another number of them, so \
     that bits compare better than bits/insn.",
    "ETMv4, PTM: without time, cycles and context; +rs: with a return stack of 16 entries; executed by QEMU.",
    "in frames: of CoreSight, or of the standard encapsulation for E-Trace.",
    "Instructions behind the last branch of a run that is cut are not in a trace of ETMv4 or PTM.",
];

impl Isas {
    /// What has to be known to compare the rows, and why there are not more.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let missing = self.missing.as_ref();
        let missing = missing.map(|why| format!("ETMv4, PTM: some rows are missing: {why}."));
        NOTES.map(str::to_owned).into_iter().chain(missing)
    }

    /// All programs of each instruction set in each scheme together.
    pub(super) fn means(&self) -> Vec<IsaFigures> {
        means(&self.rows)
    }
}

pub(super) fn print(out: &mut impl Write, isas: &Isas, brief: bool) -> Result<(), Failure> {
    writeln!(
        out,
        "\n{:15} {:7} {:17} {:>12} {:>12} {:>9} {:>9}  verified",
        "program", "ISA", "scheme", "instructions", "bits", "bits/insn", "in frames"
    )?;
    let each = isas.rows.iter().filter(|_| !brief).cloned();
    for row in each.chain(isas.means()) {
        let verdict =
            row.difference.as_ref().map_or("yes".into(), |difference| format!("NO: {difference}"));
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

/// Whether everything came back.
pub(super) fn verified(isas: &Isas) -> bool {
    isas.rows.iter().all(|row| row.verified)
}
