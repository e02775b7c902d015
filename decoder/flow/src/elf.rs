//! Adds ELF files to images.

mod attributes;

pub use attributes::{elf_arch, elf_float};

use crate::image::Image;
use elf::ElfBytes;
use elf::abi::{EM_RISCV, PT_LOAD};
use elf::endian::LittleEndian;
use elf::file::Class;
use hartrace_isa::{Arch, Isa, Xlen};
use std::sync::Arc;
use thiserror::Error;

/// Why a file cannot be added to an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ElfError {
    /// Not an ELF file, or a truncated one. For bare code, use [`Image::add`].
    #[error("not an ELF file: {0}")]
    NotElf(String),
    /// The program is for another machine, with this `e_machine`.
    #[error("ELF file for machine {0}, not RISC-V")]
    Machine(u16),
    /// The register widths of the program and the image differ: create the image with that of the
    /// program.
    #[error("this is an RV{} program, the image is of RV{}", .found.bits(), .expected.bits())]
    Xlen {
        /// The register width of the program.
        found: Xlen,
        /// The register width of the image.
        expected: Xlen,
    },
    /// There is nothing to load: an object file has to be linked first.
    #[error("ELF file without segments to load")]
    NoSegments,
    /// More segments than any program has.
    #[error("{0} segments to load, more than {MAX_SEGMENTS}")]
    TooManySegments(usize),
    /// The segments contain much more than the file: they have the same bytes many times, as no linker
    /// writes it.
    #[error(
        "the segments to load have {segments} bytes, more than {SHARE} times those of the file, {file}"
    )]
    TooLarge {
        /// The sum of the segments' bytes.
        segments: u64,
        /// The bytes of the file.
        file: u64,
    },
}

/// Maximum number of segments to load.
const MAX_SEGMENTS: usize = 1 << 12;

/// How many times larger than the file its segments may be together. Segments may share a page, but not a
/// whole file: a few bytes could then fill all memory.
const SHARE: u64 = 2;

impl From<elf::ParseError> for ElfError {
    fn from(error: elf::ParseError) -> Self {
        Self::NotElf(error.to_string())
    }
}

impl Image {
    /// Adds the bytes of every loadable segment, as [`Image::add`] does, at its address plus `bias`;
    /// addresses wrap. For a position-independent program, `bias` is its load address. If the file lists
    /// Zcmp or Zcmt among its extensions, the image has them from then on: see [`Image::set_isa`]. On error,
    /// nothing is added.
    pub fn add_elf(&mut self, bytes: &[u8], bias: u64) -> Result<(), ElfError> {
        let file = ElfBytes::<LittleEndian>::minimal_parse(bytes)?;
        if file.ehdr.e_machine != EM_RISCV {
            return Err(ElfError::Machine(file.ehdr.e_machine));
        }
        let found = match file.ehdr.class {
            Class::ELF32 => Xlen::Rv32,
            Class::ELF64 => Xlen::Rv64,
        };
        let expected = self.isa().xlen;
        if found != expected {
            return Err(ElfError::Xlen { found, expected });
        }
        let all = file.segments().into_iter().flat_map(|table| table.iter());
        let all: Vec<_> = all.filter(|segment| segment.p_type == PT_LOAD).collect();
        if all.is_empty() {
            return Err(ElfError::NoSegments);
        }
        if all.len() > MAX_SEGMENTS {
            return Err(ElfError::TooManySegments(all.len()));
        }
        let segments = all.iter().fold(0u64, |sum, segment| sum.saturating_add(segment.p_filesz));
        if segments > (bytes.len() as u64).saturating_mul(SHARE) {
            return Err(ElfError::TooLarge { segments, file: bytes.len() as u64 });
        }
        for segment in &all {
            file.segment_data(segment)?;
        }
        // One copy of everything that is loaded, without the debug information around it. All segments
        // are within the file.
        let parts = all.iter().map(|segment| {
            let start = segment.p_offset as usize;
            start..start.saturating_add(segment.p_filesz as usize)
        });
        let start = parts.clone().map(|part| part.start).min().unwrap_or(0);
        let end = parts.clone().map(|part| part.end).max().unwrap_or(0);
        let code: Arc<[u8]> = bytes.get(start..end).unwrap_or_default().into();
        for (segment, part) in all.iter().zip(parts) {
            let address = expected.wrap(segment.p_vaddr.wrapping_add(bias));
            let part = part.start.saturating_sub(start)..part.end.saturating_sub(start);
            self.add_shared(address, &code, part);
        }
        if let Some(arch) = elf_arch(bytes).and_then(Arch::new) {
            let (old, new) = (self.isa(), Isa::from(arch));
            self.set_isa(old.with_zcmp(old.zcmp || new.zcmp).with_zcmt(old.zcmt || new.zcmt));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one segment of this type: `c.j .` at 0x80000000.
    fn elf64(machine: u8, kind: u64) -> Vec<u8> {
        let mut file = vec![0; 64 + 56 + 2];
        file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
        let mut put = |at: usize, value: u64, len: usize| {
            file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        };
        put(16, 3, 2); // e_type: position-independent
        put(18, machine.into(), 2);
        put(20, 1, 4); // e_version
        put(32, 64, 8); // e_phoff
        put(52, 64, 2); // e_ehsize
        put(54, 56, 2); // e_phentsize
        put(56, 1, 2); // e_phnum
        put(58, 64, 2); // e_shentsize
        put(64, kind, 4);
        put(68, 5, 4);
        put(72, 64 + 56, 8); // p_offset
        put(80, 0x8000_0000, 8); // p_vaddr
        put(96, 2, 8); // p_filesz
        put(104, 4096, 8); // p_memsz
        put(120, 0xa001, 2);
        file
    }

    fn image(bytes: &[u8], bias: u64, xlen: Xlen) -> Result<Image, ElfError> {
        let mut image = Image::new(Isa::new(xlen));
        image.add_elf(bytes, bias).map(|()| image)
    }

    #[test]
    fn segments_land_at_address_plus_bias() {
        let plain = image(&elf64(243, 1), 0, Xlen::Rv64).unwrap();
        assert!(plain.insn(0x8000_0000).is_some());
        assert!(plain.insn(0x8000_0002).is_none());
        // Biases wrap.
        let biased = image(&elf64(243, 1), 0xffff_ffbf_8000_0000, Xlen::Rv64).unwrap();
        assert!(biased.insn(0xffff_ffc0_0000_0000).is_some());
        let low = image(&elf64(243, 1), 0xffff_ffff_8000_0000, Xlen::Rv64).unwrap();
        assert!(low.insn(0).is_some());
    }

    #[test]
    fn what_is_not_the_program_is_refused() {
        let error = |bytes: &[u8], xlen| image(bytes, 0, xlen).unwrap_err();
        let width = ElfError::Xlen { found: Xlen::Rv64, expected: Xlen::Rv32 };
        assert_eq!(error(&elf64(243, 1), Xlen::Rv32), width);
        assert_eq!(width.to_string(), "this is an RV64 program, the image is of RV32");
        assert_eq!(error(&elf64(62, 1), Xlen::Rv64), ElfError::Machine(62));
        assert_eq!(error(&elf64(243, 4), Xlen::Rv64), ElfError::NoSegments);
        let mut many = elf64(243, 1);
        many[56..58].copy_from_slice(&5000u16.to_le_bytes());
        many.splice(64..120, elf64(243, 1)[64..120].repeat(5000));
        assert_eq!(error(&many, Xlen::Rv64), ElfError::TooManySegments(5000));
        for cut in [0, 3, 10, 63, 100, 120] {
            let error = error(&elf64(243, 1)[..cut], Xlen::Rv64);
            assert!(matches!(error, ElfError::NotElf(_)), "{cut}: {error}");
        }
    }

    /// The extensions that the toolchain lists decide the meaning of encodings.
    #[test]
    fn extensions_come_from_the_attributes() {
        let general = include_bytes!("../../../tests/programs/elf/calls.elf");
        let arch = elf_arch(general).and_then(Arch::new).unwrap();
        assert!(arch.has("d") && arch.has("zicsr") && !arch.has("zcmp"));
        assert_eq!(elf_float(general), Some("d"));
        assert_eq!(image(general, 0, Xlen::Rv64).unwrap().isa(), Isa::new(Xlen::Rv64));
        // The same, built for Zcmp.
        let (old, new) = (b"zicsr2p0", b"_zcmp1p0");
        let mut other = general.to_vec();
        for at in 0..other.len() - old.len() {
            if other[at..].starts_with(old) {
                other[at..at + new.len()].copy_from_slice(new);
            }
        }
        let isa = Isa::new(Xlen::Rv64).with_zcmp(true);
        let mut both = image(&other, 0, Xlen::Rv64).unwrap();
        assert_eq!(both.isa(), isa);
        // Another file does not take it away; the caller may.
        both.add_elf(general, 0x1000_0000).unwrap();
        assert_eq!(both.isa(), isa);
        both.set_isa(Isa::new(Xlen::Rv64));
        assert_eq!(both.isa(), Isa::new(Xlen::Rv64));
        // Damaged attributes are none.
        for at in 0..other.len() {
            if other[at..].starts_with(b"riscv\0") {
                other[at] = b'x';
            }
        }
        assert_eq!(elf_arch(&other), None);
    }
}
