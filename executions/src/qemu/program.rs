//! Facts about a program that are known before it runs.

use crate::qemu::{Mode, QemuError};
use elf::ElfStream;
use elf::abi::{EM_AARCH64, EM_ARM, EM_RISCV, PT_INTERP};
use elf::endian::AnyEndian;
use elf::file::Class;
use hartrace_isa::Xlen;
use std::env;
use std::path::Path;

/// The machine that a program is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    RiscV(Xlen),
    AArch64,
    AArch32,
}

/// The register width of a RISC-V program, if QEMU can run it in this mode.
pub(crate) fn riscv(program: &Path, mode: Mode, has_libraries: bool) -> Result<Xlen, QemuError> {
    match check(program, mode, has_libraries)? {
        (Some(Machine::RiscV(xlen)), _) => Ok(xlen),
        (_, machine) => Err(wrong(program, machine, "RISC-V (243, little-endian)")),
    }
}

/// Whether an Arm program is a 64-bit one, if QEMU can run it in user mode.
pub(crate) fn arm(program: &Path) -> Result<bool, QemuError> {
    match check(program, Mode::User, false)? {
        (Some(Machine::AArch64), _) => Ok(true),
        (Some(Machine::AArch32), _) => Ok(false),
        (_, machine) => Err(wrong(program, machine, "AArch64 (183) or Arm (40), little-endian")),
    }
}

fn wrong(program: &Path, machine: u16, wanted: &'static str) -> QemuError {
    QemuError::WrongArchitecture { program: program.into(), wanted, machine }
}

/// The machine that a program is for, if it is known, and its number in ELF.
fn check(
    program: &Path,
    mode: Mode,
    has_libraries: bool,
) -> Result<(Option<Machine>, u16), QemuError> {
    let path = program.to_path_buf();
    let file = hartrace_capture::input::open(program)
        .map_err(|error| QemuError::Unreadable { program: path.clone(), error })?;
    let elf = ElfStream::<AnyEndian, _>::open_stream(file)
        .map_err(|error| QemuError::NotElf { program: path.clone(), why: error.to_string() })?;
    let header = &elf.ehdr;
    let machine = match (header.e_machine, header.class) {
        _ if header.endianness != AnyEndian::Little => None,
        (EM_RISCV, Class::ELF32) => Some(Machine::RiscV(Xlen::Rv32)),
        (EM_RISCV, Class::ELF64) => Some(Machine::RiscV(Xlen::Rv64)),
        (EM_AARCH64, Class::ELF64) => Some(Machine::AArch64),
        (EM_ARM, Class::ELF32) => Some(Machine::AArch32),
        _ => None,
    };
    let interpreter = elf.segments().iter().any(|segment| segment.p_type == PT_INTERP);
    if machine.is_some()
        && interpreter
        && mode == Mode::User
        && !has_libraries
        && env::var_os("QEMU_LD_PREFIX").is_none()
    {
        return Err(QemuError::Dynamic { program: path });
    }
    Ok((machine, header.e_machine))
}
