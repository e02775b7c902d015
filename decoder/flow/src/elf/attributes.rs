//! The extensions that a program was built for.

use elf::ElfBytes;
use elf::abi::EM_RISCV;
use elf::endian::LittleEndian;

/// The type of the section with the attributes of RISC-V.
const SHT_RISCV_ATTRIBUTES: u32 = 0x7000_0003;

/// Its version.
const VERSION: u8 = b'A';

/// Attributes that apply to the whole file.
const TAG_FILE: u64 = 1;

/// The list of extensions.
const TAG_ARCH: u64 = 5;

/// Flags of the calling convention: floating-point registers hold arguments of single or of double
/// precision.
const FLOAT_SINGLE: u32 = 0x2;
const FLOAT_DOUBLE: u32 = 0x4;

/// The extensions that an ELF file for RISC-V was built for, as its toolchain lists them, for example
/// `rv64i2p1_m2p0_c2p0`; `None` if it does not. [`hartrace_isa::Arch`] reads such a list.
pub fn elf_arch(bytes: &[u8]) -> Option<&str> {
    let file = riscv(bytes)?;
    let mut sections = file.section_headers()?.iter();
    let section = sections.find(|section| section.sh_type == SHT_RISCV_ATTRIBUTES)?;
    let (data, _) = file.section_data(&section).ok()?;
    let mut rest = Fields(data.strip_prefix(&[VERSION])?);
    loop {
        let mut vendor = rest.part(0)?;
        if vendor.text()? != "riscv" {
            continue;
        }
        while let Some(tag) = vendor.peek() {
            let mut attributes = vendor.part(1)?;
            attributes.number()?;
            attributes.part_header()?;
            while tag == TAG_FILE
                && let Some(tag) = attributes.number()
            {
                match tag {
                    TAG_ARCH => return attributes.text(),
                    // Odd tags have text, even ones a number.
                    _ if tag & 1 == 1 => drop(attributes.text()?),
                    _ => drop(attributes.number()?),
                }
            }
        }
    }
}

/// The extension for floating-point numbers that the calling convention of an ELF file for RISC-V requires.
pub fn elf_float(bytes: &[u8]) -> Option<&'static str> {
    match riscv(bytes)?.ehdr.e_flags & (FLOAT_SINGLE | FLOAT_DOUBLE) {
        0 => None,
        FLOAT_SINGLE => Some("f"),
        _ => Some("d"),
    }
}

fn riscv(bytes: &[u8]) -> Option<ElfBytes<'_, LittleEndian>> {
    let file = ElfBytes::minimal_parse(bytes).ok()?;
    (file.ehdr.e_machine == EM_RISCV).then_some(file)
}

/// Bytes that have not been read.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Cuts off a part, whose length is in the four bytes after `before` others, all of which count.
    fn part(&mut self, before: usize) -> Option<Self> {
        let length = self.0.get(before..)?.first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let header = before.saturating_add(4);
        let (part, rest) = self.0.split_at_checked(length.max(header))?;
        self.0 = rest;
        Some(Self(if before == 0 { part.get(header..)? } else { part }))
    }

    /// Skips the length of a part.
    fn part_header(&mut self) -> Option<()> {
        self.0 = self.0.get(4..)?;
        Some(())
    }

    /// The next number, in one byte.
    fn peek(&self) -> Option<u64> {
        self.0.first().map(|byte| u64::from(*byte))
    }

    /// The next number, seven bits per byte.
    fn number(&mut self) -> Option<u64> {
        let length = self.0.iter().position(|byte| byte & 0x80 == 0)?.checked_add(1)?;
        let (number, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        number
            .iter()
            .rev()
            .try_fold(0u64, |sum, byte| Some(sum.checked_mul(128)? | u64::from(byte & 0x7f)))
    }

    /// The next text, which ends with a null byte.
    fn text(&mut self) -> Option<&'a str> {
        let length = self.0.iter().position(|byte| *byte == 0)?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest.get(1..)?;
        str::from_utf8(text).ok()
    }
}
