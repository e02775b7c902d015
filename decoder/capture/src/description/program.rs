//! The programs of a capture.

use super::{KEYS, quoted};
use crate::params::document::Entry;
use crate::params::{DocumentError, Problem, unknown};
use elf::ElfBytes;
use elf::abi::SHT_NOTE;
use elf::endian::LittleEndian;
use elf::note::Note;
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;

/// A program that was traced, and how to recognise it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its file, relative to the description.
    pub file: String,
    /// What kind of file it is, and where its code is.
    pub at: At,
    /// The only context that runs it, if not all do.
    pub context: Option<u64>,
    /// The SHA-256 of the file.
    pub sha256: Option<[u8; 32]>,
    /// The build ID of the program.
    pub build_id: Option<Vec<u8>>,
    /// What identifies the program that was traced, if this is another one.
    pub instead_of: Option<String>,
}

/// Where code is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// In an ELF file, at its addresses plus this bias.
    Bias(u64),
    /// In a file of bare code, which starts at this address.
    Address(u64),
}

/// A file is not the program that was traced.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("this is not the program that was traced: its {what} is {found}, not {expected}")]
pub struct Different {
    /// What was compared.
    pub what: &'static str,
    /// What it is.
    pub found: String,
    /// What it should be.
    pub expected: String,
}

impl ProgramFile {
    /// Describes a file with these contents.
    pub fn new(file: impl Into<String>, at: At, bytes: &[u8]) -> Self {
        let (sha256, build_id) = (Some(Sha256::digest(bytes).into()), build_id(bytes));
        Self { file: file.into(), at, context: None, sha256, build_id, instead_of: None }
    }

    /// Checks that these are the contents of the program: it has the same build ID, or else the file has
    /// the same hash.
    ///
    /// # Errors
    ///
    /// If it does not. A program that is described by neither is always accepted.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Different> {
        let other = build_id(bytes);
        if self.build_id.is_some() && self.build_id == other {
            return Ok(());
        }
        let different = |what, found: &[u8], expected: &[u8]| {
            Err(Different { what, found: hex(found), expected: hex(expected) })
        };
        match (&self.sha256, &self.build_id) {
            (Some(expected), _) => {
                let found: [u8; 32] = Sha256::digest(bytes).into();
                if found == *expected { Ok(()) } else { different("SHA-256", &found, expected) }
            }
            (None, Some(id)) => different("build ID", &other.unwrap_or_default(), id),
            (None, None) => Ok(()),
        }
    }

    /// Reads one table of `list`.
    pub(super) fn read(list: &Entry, table: &[Entry]) -> Result<Self, DocumentError> {
        let mut program = Self {
            file: String::new(),
            at: At::Bias(0),
            context: None,
            sha256: None,
            build_id: None,
            instead_of: None,
        };
        let has = |key: &str| table.iter().any(|entry| entry.key == key);
        for entry in table {
            match entry.key.as_str() {
                "file" => program.file = entry.text()?.into(),
                "bias" => program.at = At::Bias(entry.address()?),
                "address" if has("bias") => return Err(entry.expected("absent beside a bias")),
                "address" => program.at = At::Address(entry.address()?),
                "context" => program.context = Some(entry.address()?),
                "sha256" => {
                    let digits = || entry.expected("64 hexadecimal digits");
                    let bytes = bytes(entry.text()?).ok_or_else(digits)?;
                    program.sha256 = Some(bytes.try_into().map_err(|_| digits())?);
                }
                "build-id" => {
                    let digits = || entry.expected("hexadecimal digits");
                    program.build_id = Some(bytes(entry.text()?).ok_or_else(digits)?);
                }
                "instead-of" => program.instead_of = Some(entry.text()?.into()),
                _ => return Err(unknown(entry, KEYS.into_iter())),
            }
        }
        if !has("file") {
            return Err(list.wrong(Problem::NoFile));
        }
        Ok(program)
    }
}

/// The entries of a table of TOML.
impl fmt::Display for ProgramFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "file = {}", quoted(&self.file))?;
        if let Some(hash) = &self.sha256 {
            writeln!(f, "sha256 = \"{}\"", hex(hash))?;
        }
        if let Some(id) = &self.build_id {
            writeln!(f, "build-id = \"{}\"", hex(id))?;
        }
        if let Some(traced) = &self.instead_of {
            writeln!(f, "instead-of = {}", quoted(traced))?;
        }
        match self.at {
            At::Bias(bias) => writeln!(f, "bias = \"{bias:#x}\"")?,
            At::Address(address) => writeln!(f, "address = \"{address:#x}\"")?,
        }
        self.context.map_or(Ok(()), |context| writeln!(f, "context = {context}"))
    }
}

/// The build ID in an ELF file.
fn build_id(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).ok()?;
    let sections = file.section_headers()?;
    // Sections may overlap, but together they are no longer than the file.
    let mut left = bytes.len() as u64;
    let notes =
        sections.iter().filter(|section| section.sh_type == SHT_NOTE).take_while(|section| {
            let rest = left.checked_sub(section.sh_size);
            left = rest.unwrap_or_default();
            rest.is_some()
        });
    notes.filter_map(|section| file.section_data_as_notes(&section).ok()).flatten().find_map(
        |note| match note {
            Note::GnuBuildId(id) => Some(id.0.to_vec()),
            _ => None,
        },
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [_, _] => u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok(),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_recognised() {
        let program = ProgramFile::new("a", At::Address(0), b"abc");
        // FIPS 180-2, B.1.
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(program.to_string().contains(hash));
        assert_eq!(program.check(b"abc"), Ok(()));
        let error = program.check(b"abd").unwrap_err();
        assert_eq!((error.what, &*error.expected), ("SHA-256", hash));
        let unknown = ProgramFile { sha256: None, ..program.clone() };
        assert_eq!(unknown.check(b"abd"), Ok(()));
        let other = ProgramFile { build_id: Some(vec![1, 2]), ..unknown };
        assert_eq!(other.check(b"abd").unwrap_err().what, "build ID");
    }
}
