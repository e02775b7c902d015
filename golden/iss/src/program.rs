//! ELF files: the parts of a program that are loaded, and reasons why a file cannot be loaded.

use crate::config::Xlen;
use crate::memory::PAGE;
use elf::ElfBytes;
use elf::abi::{EM_RISCV, ET_DYN, PT_INTERP, PT_LOAD, PT_PHDR};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::segment::ProgramHeader;

/// Load address of a position-independent program.
pub const BIAS: u64 = 0x40_0000;

/// A file cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not an ELF file, or a broken one: rebuild it.
    #[error("not a little-endian ELF file: {0}")]
    NotElf(String),
    /// A program for another processor: build it for RISC-V.
    #[error("a program for machine {0}, not RISC-V (243); build it with a RISC-V toolchain")]
    WrongMachine(u16),
    /// The program is for the other base instruction set: set [`crate::HartConfig::xlen`].
    #[error("{}", wrong_class(*.hart))]
    WrongClass {
        /// Register width of the hart.
        hart: Xlen,
    },
    /// It needs a dynamic linker that is not there: see [`crate::Hart::set_libraries`], or link the program statically.
    #[error("dynamically linked, and there is no {0}")]
    Dynamic(String),
    /// Its dynamic linker cannot be loaded.
    #[error("its dynamic linker {name}: {error}")]
    Linker {
        /// The name of the file.
        name: String,
        /// Why.
        error: Box<LoadError>,
    },
    /// Nothing to load: an object file or a library; link it into a program.
    #[error("no loadable segment; link it into a program")]
    NoSegment,
    /// There is no memory for a segment: add it to [`crate::HartConfig::memory`].
    #[error(
        "no memory at 0x{address:08x}; give the hart memory there, or link the program elsewhere"
    )]
    OutsideMemory {
        /// An address without memory.
        address: u64,
    },
}

fn wrong_class(hart: Xlen) -> &'static str {
    match hart {
        Xlen::Rv32 => "a 64-bit program on an RV32 hart; use an RV64 hart",
        Xlen::Rv64 => "a 32-bit program on an RV64 hart; use an RV32 hart",
    }
}

/// A program that can be loaded.
pub(crate) struct Program {
    pub(crate) segments: Vec<ProgramHeader>,
    pub(crate) bias: u64,
    /// The name of its dynamic linker, if it has one.
    pub(crate) interpreter: Option<String>,
    pub(crate) entry: u64,
    /// Address of the program headers in memory, and their size and number.
    pub(crate) headers: u64,
    pub(crate) header_size: u64,
    pub(crate) header_count: u64,
}

/// A dynamic linker, and its file.
pub(crate) struct Linker {
    pub(crate) program: Program,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) type File<'a> = ElfBytes<'a, LittleEndian>;

impl Program {
    pub(crate) fn new(file: &File<'_>, bytes: &[u8], xlen: Xlen) -> Result<Self, LoadError> {
        let header = &file.ehdr;
        if header.e_machine != EM_RISCV {
            return Err(LoadError::WrongMachine(header.e_machine));
        }
        let class = if header.class == Class::ELF32 { Xlen::Rv32 } else { Xlen::Rv64 };
        if class != xlen {
            return Err(LoadError::WrongClass { hart: xlen });
        }
        let all: Vec<ProgramHeader> = file.segments().into_iter().flatten().collect();
        let interpreter = all.iter().find(|segment| segment.p_type == PT_INTERP).map(|segment| {
            let name = String::from_utf8_lossy(contents(bytes, segment));
            name.trim_end_matches('\0').to_owned()
        });
        let bias = if header.e_type == ET_DYN { BIAS } else { 0 };
        let segments: Vec<ProgramHeader> = all
            .iter()
            .filter(|segment| segment.p_type == PT_LOAD && segment.p_memsz > 0)
            .copied()
            .collect();
        let first = segments.iter().min_by_key(|segment| segment.p_vaddr);
        let first = first.ok_or(LoadError::NoSegment)?;
        let headers = match all.iter().find(|segment| segment.p_type == PT_PHDR) {
            Some(own) => own.p_vaddr,
            None => first.p_vaddr.wrapping_sub(first.p_offset).wrapping_add(header.e_phoff),
        };
        Ok(Self {
            bias,
            interpreter,
            entry: header.e_entry.wrapping_add(bias),
            headers: headers.wrapping_add(bias),
            header_size: header.e_phentsize.into(),
            header_count: header.e_phnum.into(),
            segments,
        })
    }

    /// The same program at another address, if it can be anywhere.
    pub(crate) fn moved(self, start: u64) -> Self {
        let by = start.wrapping_sub(self.extent().0 & !(PAGE - 1));
        Self {
            bias: self.bias.wrapping_add(by),
            entry: self.entry.wrapping_add(by),
            headers: self.headers.wrapping_add(by),
            ..self
        }
    }

    /// First address, and the address after the last.
    pub(crate) fn extent(&self) -> (u64, u64) {
        let start = self.segments.iter().map(|s| s.p_vaddr).min().unwrap_or(0);
        let end = self.segments.iter().map(|s| s.p_vaddr.saturating_add(s.p_memsz)).max();
        (start.saturating_add(self.bias), end.unwrap_or(0).saturating_add(self.bias))
    }
}

/// The contents of a segment in the file.
pub(crate) fn contents<'a>(bytes: &'a [u8], segment: &ProgramHeader) -> &'a [u8] {
    let start = usize::try_from(segment.p_offset).unwrap_or(usize::MAX);
    let size = usize::try_from(segment.p_filesz.min(segment.p_memsz)).unwrap_or(usize::MAX);
    let end = start.saturating_add(size).min(bytes.len());
    bytes.get(start..end).unwrap_or_default()
}

/// The value of the symbol `name`.
pub(crate) fn symbol(file: &File<'_>, name: &str) -> Option<u64> {
    let (symbols, names) = file.symbol_table().ok()??;
    let found = symbols.iter().find(|s| names.get(s.st_name as usize).is_ok_and(|n| n == name));
    found.map(|symbol| symbol.st_value)
}
