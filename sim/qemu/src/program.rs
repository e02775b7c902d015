//! What can be said about a program before it runs.

use crate::{Mode, QemuError};
use elf::ElfStream;
use elf::abi::{EM_RISCV, PT_INTERP};
use elf::endian::AnyEndian;
use elf::file::Class;
use hartrace_isa::Xlen;
use std::env;
use std::fs::File;
use std::path::Path;

/// The base instruction set of an ELF file, if QEMU can run it in this mode.
pub(crate) fn check(program: &Path, mode: Mode) -> Result<Xlen, QemuError> {
    let path = program.to_path_buf();
    let file = File::open(program)
        .map_err(|error| QemuError::Unreadable { program: path.clone(), error })?;
    let elf = ElfStream::<AnyEndian, _>::open_stream(file)
        .map_err(|error| QemuError::NotElf { program: path.clone(), why: error.to_string() })?;
    let header = &elf.ehdr;
    if header.e_machine != EM_RISCV || header.endianness != AnyEndian::Little {
        return Err(QemuError::WrongArchitecture { program: path, machine: header.e_machine });
    }
    let interpreter = elf.segments().iter().any(|segment| segment.p_type == PT_INTERP);
    if interpreter && mode == Mode::User && env::var_os("QEMU_LD_PREFIX").is_none() {
        return Err(QemuError::Dynamic { program: path });
    }
    Ok(match header.class {
        Class::ELF32 => Xlen::Rv32,
        Class::ELF64 => Xlen::Rv64,
    })
}
