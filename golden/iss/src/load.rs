//! Loading ELF files.

use crate::config::{BootRom, Environment, Range, Xlen};
use crate::hart::Hart;
use elf::ElfBytes;
use elf::abi::{EM_RISCV, ET_DYN, PT_INTERP, PT_LOAD, PT_PHDR};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::segment::ProgramHeader;

/// Where a position-independent program goes.
const BIAS: u64 = 0x40_0000;
/// The reset code.
const ROM: u64 = 0x1000;

/// What [`Hart::load_elf`] found.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The program's entry.
    pub pc: u64,
    /// Address of the symbol `tohost`.
    pub tohost: Option<u64>,
}

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
    /// The other base instruction set: set [`crate::HartConfig::xlen`].
    #[error("{}", wrong_class(*.hart))]
    WrongClass {
        /// What the hart is.
        hart: Xlen,
    },
    /// It needs shared libraries: link it statically.
    #[error("dynamically linked, needs {0}; link it with -static")]
    Dynamic(String),
    /// Nothing to load: an object file or a library; link it to a program.
    #[error("no loadable segment; link it to a program")]
    NoSegment,
    /// A segment has no memory: add it to [`crate::HartConfig::memory`].
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
    segments: Vec<ProgramHeader>,
    bias: u64,
    pub(crate) entry: u64,
    /// Address of the program headers in memory, and their shape.
    pub(crate) headers: u64,
    pub(crate) header_size: u64,
    pub(crate) header_count: u64,
}

type File<'a> = ElfBytes<'a, LittleEndian>;

impl Program {
    fn new(file: &File<'_>, bytes: &[u8], xlen: Xlen) -> Result<Self, LoadError> {
        let header = &file.ehdr;
        if header.e_machine != EM_RISCV {
            return Err(LoadError::WrongMachine(header.e_machine));
        }
        let class = if header.class == Class::ELF32 { Xlen::Rv32 } else { Xlen::Rv64 };
        if class != xlen {
            return Err(LoadError::WrongClass { hart: xlen });
        }
        let all: Vec<ProgramHeader> = file.segments().into_iter().flatten().collect();
        if let Some(interpreter) = all.iter().find(|segment| segment.p_type == PT_INTERP) {
            let name = contents(bytes, interpreter);
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            return Err(LoadError::Dynamic(name));
        }
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
            entry: header.e_entry.wrapping_add(bias),
            headers: headers.wrapping_add(bias),
            header_size: header.e_phentsize.into(),
            header_count: header.e_phnum.into(),
            segments,
        })
    }

    /// First address and the one after the last.
    pub(crate) fn extent(&self) -> (u64, u64) {
        let start = self.segments.iter().map(|s| s.p_vaddr).min().unwrap_or(0);
        let end = self.segments.iter().map(|s| s.p_vaddr.saturating_add(s.p_memsz)).max();
        (start.saturating_add(self.bias), end.unwrap_or(0).saturating_add(self.bias))
    }
}

/// What the file holds for a segment.
fn contents<'a>(bytes: &'a [u8], segment: &ProgramHeader) -> &'a [u8] {
    let start = usize::try_from(segment.p_offset).unwrap_or(usize::MAX);
    let size = usize::try_from(segment.p_filesz.min(segment.p_memsz)).unwrap_or(usize::MAX);
    let end = start.saturating_add(size).min(bytes.len());
    bytes.get(start..end).unwrap_or_default()
}

/// The value of the symbol `name`.
fn symbol(file: &File<'_>, name: &str) -> Option<u64> {
    let (symbols, names) = file.symbol_table().ok()??;
    let found = symbols.iter().find(|s| names.get(s.st_name as usize).is_ok_and(|n| n == name));
    found.map(|symbol| symbol.st_value)
}

impl Hart {
    /// Loads a program and makes the hart ready to run it.
    ///
    /// Segments go to their physical addresses; those of a Linux process to their virtual ones.
    pub fn load_elf(&mut self, bytes: &[u8]) -> Result<Entry, LoadError> {
        let file =
            File::minimal_parse(bytes).map_err(|error| LoadError::NotElf(error.to_string()))?;
        let program = Program::new(&file, bytes, self.xlen)?;
        let environment = self.config.environment.clone();
        let user = matches!(environment, Environment::Linux { .. });
        if let Environment::Linux { arguments, variables } = &environment {
            self.start_process(&program, arguments, variables)?;
        }
        for segment in &program.segments {
            let address = if user { segment.p_vaddr } else { segment.p_paddr };
            let address = address.wrapping_add(program.bias);
            let data = contents(bytes, segment);
            let loaded = self.memory.read(address, segment.p_memsz).is_some()
                && self.memory.write(address, data);
            if !loaded {
                return Err(LoadError::OutsideMemory { address });
            }
        }
        let tohost = symbol(&file, "tohost");
        let fromhost = symbol(&file, "fromhost");
        if matches!(environment, Environment::Htif | Environment::ProxyKernel { .. })
            && let Some(tohost) = tohost
        {
            self.memory.watch(tohost);
            self.host.mailboxes = Some((tohost, fromhost.unwrap_or(tohost)));
        }
        self.set_pc(program.entry);
        // A process does not start at reset.
        if let Some(rom) = self.config.boot_rom.clone().filter(|_| !user) {
            self.add_boot_rom(&rom, program.entry);
        }
        Ok(Entry { pc: program.entry, tohost })
    }

    fn add_boot_rom(&mut self, rom: &BootRom, entry: u64) {
        // auipc t0,0 / addi a1,t0,32 / csrr a0,mhartid / ld or lw t0,24(t0) / jr t0
        let load = if self.xlen == Xlen::Rv32 { 0x0182_a283 } else { 0x0182_b283 };
        let code: [u32; 6] = [0x0000_0297, 0x0202_8593, 0xf140_2573, load, 0x0002_8067, 0];
        let mut bytes: Vec<u8> = code.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend(entry.to_le_bytes());
        bytes.extend(&rom.device_tree);
        self.memory.add(Range { base: ROM, size: bytes.len() as u64 });
        self.memory.write(ROM, &bytes);
        self.set_pc(ROM);
    }
}
