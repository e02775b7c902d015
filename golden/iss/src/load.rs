//! Loading ELF files into a hart.

use crate::config::{BootRom, Environment, Range, Xlen};
use crate::hart::Hart;
use crate::mappings::{ARENA, Mapping, Mappings};
use crate::memory::PAGE;
use crate::program::{File, Linker, LoadError, Program, contents, symbol};
use elf::abi::PF_X;

/// Address of the reset code.
const ROM: u64 = 0x1000;

/// Result of [`Hart::load_elf`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The program's entry.
    pub pc: u64,
    /// Address of the symbol `tohost`.
    pub tohost: Option<u64>,
}

impl Hart {
    /// Loads a program and makes the hart ready to run it.
    ///
    /// Segments are loaded at their physical addresses; those of a Linux process at their
    /// virtual addresses.
    pub fn load_elf(&mut self, bytes: &[u8]) -> Result<Entry, LoadError> {
        let file =
            File::minimal_parse(bytes).map_err(|error| LoadError::NotElf(error.to_string()))?;
        let program = Program::new(&file, bytes, self.xlen)?;
        let environment = self.config.environment.clone();
        let linker = match &program.interpreter {
            Some(name) => Some(self.linker(name)?),
            None => None,
        };
        let user = matches!(environment, Environment::Linux { .. });
        if let Environment::Linux { arguments, variables, .. } = &environment {
            let mut mappings = Mappings::new();
            let linker = linker.as_ref().map(|linker| linker.place(&mut mappings)).transpose()?;
            self.start_process(&program, linker, mappings, arguments, variables)?;
        }
        self.load_segments(&program, bytes, user)?;
        if let Some(linker) = &linker {
            self.load_segments(&linker.program, &linker.bytes, true)?;
        }
        let tohost = symbol(&file, "tohost");
        let fromhost = symbol(&file, "fromhost");
        if matches!(environment, Environment::Htif | Environment::ProxyKernel { .. })
            && let Some(tohost) = tohost
        {
            self.memory.watch(tohost);
            self.host.mailboxes = Some((tohost, fromhost.unwrap_or(tohost)));
        }
        self.set_pc(linker.as_ref().map_or(program.entry, |linker| linker.program.entry));
        // A process does not start at reset.
        if let Some(rom) = self.config.boot_rom.clone().filter(|_| !user) {
            self.add_boot_rom(&rom, program.entry);
        }
        Ok(Entry { pc: program.entry, tohost })
    }

    fn load_segments(
        &mut self,
        program: &Program,
        bytes: &[u8],
        user: bool,
    ) -> Result<(), LoadError> {
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
        Ok(())
    }

    /// The dynamic linker of a program, at the first address for mappings.
    fn linker(&mut self, name: &str) -> Result<Linker, LoadError> {
        let wrong = |error| LoadError::Linker { name: name.to_owned(), error: Box::new(error) };
        let bytes = self.host.contents_of(name.as_bytes());
        let bytes = bytes.ok_or_else(|| LoadError::Dynamic(name.to_owned()))?.to_vec();
        let file = File::minimal_parse(&bytes);
        let file = file.map_err(|error| wrong(LoadError::NotElf(error.to_string())))?;
        let program = Program::new(&file, &bytes, self.xlen).map_err(wrong)?.moved(ARENA.base);
        Ok(Linker { program, name: name.to_owned(), bytes })
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

impl Linker {
    /// Takes the addresses of the dynamic linker, and returns the first of them.
    fn place(&self, mappings: &mut Mappings) -> Result<u64, LoadError> {
        let (start, end) = self.program.extent();
        let size = end.saturating_sub(ARENA.base).checked_next_multiple_of(PAGE);
        let place = size.and_then(|size| mappings.take(size));
        place.ok_or(LoadError::OutsideMemory { address: end })?;
        for segment in self.program.segments.iter().filter(|segment| segment.p_flags & PF_X != 0) {
            let offset = segment.p_offset & !(PAGE - 1);
            let before = segment.p_offset - offset;
            mappings.code.push(Mapping {
                file: self.name.clone(),
                address: segment.p_vaddr.wrapping_add(self.program.bias).wrapping_sub(before),
                size: segment.p_filesz.saturating_add(before),
                offset,
            });
        }
        Ok(start & !(PAGE - 1))
    }
}
