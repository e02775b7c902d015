//! The code of a scenario as an ELF file.

use super::Code;
use elf::abi::{
    EF_RISCV_RVC, EI_NIDENT, ELFCLASS32, ELFCLASS64, ELFDATA2LSB, ELFMAGIC, EM_RISCV, ET_EXEC,
    EV_CURRENT, PF_R, PF_X, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHT_NULL, SHT_PROGBITS, SHT_STRTAB,
};
use hartrace_etrace::ingress::Xlen;

/// Names of sections: none, that of code, and that of names.
const NAMES: &[u8] = b"\0.text\0.shstrtab\0";
const TEXT: u32 = 1;
const SHSTRTAB: u32 = 7;

/// Alignment of code: that of a compressed instruction.
const ALIGN: u64 = 2;

impl Code {
    /// Returns the code as an executable: a segment and a section `.text` for every piece, and nothing else.
    pub fn elf(&self) -> Vec<u8> {
        let segments = self.segments();
        let compressed = self.words().any(|word| word.size() == 2);
        let mut out = Writer { bytes: Vec::new(), wide: self.xlen() == Xlen::Rv64 };
        let (header, program, section) =
            if out.wide { (64u16, 56u16, 64u16) } else { (52, 32, 40) };
        let (parts, sections) = (segments.len() as u16, segments.len() as u16 + 2);
        let code_at = u64::from(header) + u64::from(program) * u64::from(parts);
        let code_size: u64 = segments.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let names_at = code_at + code_size;
        let sections_at = (names_at + NAMES.len() as u64).next_multiple_of(8);

        out.bytes.extend(ELFMAGIC);
        out.bytes.extend([if out.wide { ELFCLASS64 } else { ELFCLASS32 }, ELFDATA2LSB, EV_CURRENT]);
        out.bytes.resize(EI_NIDENT, 0);
        out.half(ET_EXEC);
        out.half(EM_RISCV);
        out.word(EV_CURRENT.into());
        out.address(segments.first().map_or(0, |(start, _)| *start));
        out.address(header.into());
        out.address(sections_at);
        out.word(if compressed { EF_RISCV_RVC } else { 0 });
        for field in [header, program, parts, section, sections, sections - 1] {
            out.half(field);
        }

        let mut offset = code_at;
        for (start, bytes) in &segments {
            out.segment(offset, *start, bytes.len() as u64);
            offset += bytes.len() as u64;
        }
        for (_, bytes) in &segments {
            out.bytes.extend(bytes);
        }
        out.bytes.extend(NAMES);
        out.bytes.resize(sections_at as usize, 0);

        out.section([0, SHT_NULL], 0, [0, 0, 0], 0);
        let mut offset = code_at;
        for (start, bytes) in &segments {
            let flags = SHF_ALLOC | SHF_EXECINSTR;
            let size = bytes.len() as u64;
            out.section([TEXT, SHT_PROGBITS], flags.into(), [*start, offset, size], ALIGN);
            offset += size;
        }
        out.section([SHSTRTAB, SHT_STRTAB], 0, [0, names_at, NAMES.len() as u64], 1);
        out.bytes
    }
}

/// Writes little-endian fields.
struct Writer {
    bytes: Vec<u8>,
    wide: bool,
}

impl Writer {
    fn half(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// A field that is as wide as an address.
    fn address(&mut self, value: u64) {
        let len = if self.wide { 8 } else { 4 };
        self.bytes.extend(value.to_le_bytes().into_iter().take(len));
    }

    fn segment(&mut self, offset: u64, start: u64, size: u64) {
        self.word(PT_LOAD);
        if self.wide {
            self.word(PF_R | PF_X);
        }
        for field in [offset, start, start, size, size] {
            self.address(field);
        }
        if !self.wide {
            self.word(PF_R | PF_X);
        }
        self.address(ALIGN);
    }

    /// Name and type; flags; address, offset and size; alignment.
    fn section(&mut self, head: [u32; 2], flags: u64, place: [u64; 3], align: u64) {
        head.into_iter().for_each(|field| self.word(field));
        self.address(flags);
        place.into_iter().for_each(|field| self.address(field));
        self.word(0);
        self.word(0);
        self.address(align);
        self.address(0);
    }
}
