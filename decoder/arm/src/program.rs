//! Arm programs in ELF files.

use elf::ElfBytes;
use elf::abi::{EM_AARCH64, EM_ARM, PT_LOAD};
use elf::endian::AnyEndian;
use thiserror::Error;

/// Why a program cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Not an ELF file, or a truncated one.
    #[error("not an ELF file: {0}")]
    NotElf(String),
    /// The program is for another machine, with this `e_machine`.
    #[error("ELF file for machine {0}, not Arm")]
    Machine(u16),
    /// There is nothing to load: an object file has to be linked first.
    #[error("ELF file without segments to load")]
    NoSegments,
    /// Segments share most of their bytes, which no linker does: a small file could fill all memory.
    #[error("ELF file whose segments have {segments} bytes, more than twice those of the file")]
    TooLarge {
        /// Bytes of all segments.
        segments: u64,
    },
}

impl From<elf::ParseError> for ProgramError {
    fn from(error: elf::ParseError) -> Self {
        Self::NotElf(error.to_string())
    }
}

/// The segments of an Arm program, each with its address.
pub fn segments(bytes: &[u8]) -> Result<Vec<(u64, &[u8])>, ProgramError> {
    let file = ElfBytes::<AnyEndian>::minimal_parse(bytes)?;
    if !matches!(file.ehdr.e_machine, EM_AARCH64 | EM_ARM) {
        return Err(ProgramError::Machine(file.ehdr.e_machine));
    }
    let mut all = Vec::new();
    let table = file.segments();
    for segment in table.iter().flat_map(|table| table.iter()) {
        if segment.p_type == PT_LOAD && segment.p_filesz > 0 {
            all.push((segment.p_vaddr, file.segment_data(&segment)?));
        }
    }
    let loaded = all.iter().fold(0u64, |sum, (_, code)| sum.saturating_add(code.len() as u64));
    match all.is_empty() {
        true => Err(ProgramError::NoSegments),
        false if loaded > (bytes.len() as u64).saturating_mul(2) => {
            Err(ProgramError::TooLarge { segments: loaded })
        }
        false => Ok(all),
    }
}
