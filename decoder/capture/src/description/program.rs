//! The programs of a capture.

use super::{KEYS, quoted};
use crate::limits::CODE_PER_BYTE;
use crate::params::document::Entry;
use crate::params::{DocumentError, Problem, unknown};
use elf::ElfBytes;
use elf::abi::{PF_X, PT_LOAD, SHT_NOTE};
use elf::endian::LittleEndian;
use elf::note::Note;
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;
use twox_hash::xxhash3_128::Hasher;

/// What identifies a program.
const CODE: &str = "XXH3 of code";
const BUILD_ID: &str = "build ID";
const SHA256: &str = "SHA-256";

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
    /// The XXH3, with 128 bits, of what it executes.
    pub code: Option<[u8; 16]>,
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
        let sha256 = Some(Sha256::digest(bytes).into());
        let (build_id, code) = (build_id(bytes), code(bytes));
        Self { file: file.into(), at, context: None, sha256, build_id, code, instead_of: None }
    }

    /// Checks that these are the contents of the program: it executes the same code, wherever debug information and
    /// symbols are. If that is not known, it has the same build ID, or else the file has the same hash.
    ///
    /// # Errors
    ///
    /// If it does not. A program that is described by none of these is always accepted.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Different> {
        if let (Some(expected), Some(found)) = (&self.code, code(bytes)) {
            let (found, expected) = (hex(&found), hex(expected));
            return match found == expected {
                true => Ok(()),
                false => Err(Different { what: CODE, found, expected }),
            };
        }
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
                if found == *expected { Ok(()) } else { different(SHA256, &found, expected) }
            }
            (None, Some(id)) => different(BUILD_ID, &other.unwrap_or_default(), id),
            (None, None) => match &self.code {
                // It is no program at all.
                Some(code) => different(CODE, &[], code),
                None => Ok(()),
            },
        }
    }

    /// Whether anything says which program it is.
    pub(crate) fn is_identified(&self) -> bool {
        self.sha256.is_some() || self.build_id.is_some() || self.code.is_some()
    }

    /// Whether these are the contents of the program that was traced, while this is another one.
    pub(crate) fn is_instead_of(&self, bytes: &[u8]) -> bool {
        let Self { sha256, build_id, code, .. } = Self::new("", self.at, bytes);
        let names = [
            code.map(|code| (CODE, hex(&code))),
            build_id.map(|id| (BUILD_ID, hex(&id))),
            sha256.map(|hash| (SHA256, hex(&hash))),
        ];
        let mut names = names.into_iter().flatten();
        self.instead_of
            .as_ref()
            .is_some_and(|traced| names.any(|(what, value)| *traced == format!("{what} {value}")))
    }

    /// Reads one table of `list`.
    pub(super) fn read(list: &Entry, table: &[Entry]) -> Result<Self, DocumentError> {
        let mut program = Self {
            file: String::new(),
            at: At::Bias(0),
            context: None,
            sha256: None,
            build_id: None,
            code: None,
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
                "code" => {
                    let digits = || entry.expected("32 hexadecimal digits");
                    let bytes = bytes(entry.text()?).ok_or_else(digits)?;
                    program.code = Some(bytes.try_into().map_err(|_| digits())?);
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
        if let Some(code) = &self.code {
            writeln!(f, "code = \"{}\"", hex(code))?;
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

/// The hash of what an ELF file executes: its executable segments with their addresses, without the header of the file,
/// which says where symbols are.
fn code(bytes: &[u8]) -> Option<[u8; 16]> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).ok()?;
    let header = u64::from(file.ehdr.e_ehsize);
    let mut hasher = Hasher::default();
    // Segments may overlap, but are not much longer together than the file.
    let mut left = bytes.len().saturating_mul(CODE_PER_BYTE);
    let mut found = false;
    for segment in file.segments()? {
        if segment.p_type != PT_LOAD || segment.p_flags & PF_X == 0 || segment.p_filesz == 0 {
            continue;
        }
        let start = usize::try_from(segment.p_offset.max(header)).ok()?;
        let end = usize::try_from(segment.p_offset.checked_add(segment.p_filesz)?).ok()?;
        let content = bytes.get(start..end.max(start))?;
        left = left.checked_sub(content.len())?;
        hasher.write(&segment.p_vaddr.to_le_bytes());
        hasher.write(&segment.p_filesz.to_le_bytes());
        hasher.write(content);
        found = true;
    }
    found.then(|| hasher.finish_128().to_be_bytes())
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

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
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

    /// Code counts, and nothing else: not symbols, not a build ID that has stayed.
    #[test]
    fn code_is_recognised() {
        let whole = include_bytes!("../../../../tests/programs/elf/calls.elf").to_vec();
        let program =
            ProgramFile { build_id: Some(vec![1]), ..ProgramFile::new("a", At::Bias(0), &whole) };
        // Without the table of sections, and with something at the end.
        let mut stripped = whole.clone();
        stripped[0x28..0x30].fill(0);
        stripped[0x3c..0x40].fill(0);
        stripped.push(0);
        assert_eq!(program.check(&stripped), Ok(()));
        let file = ElfBytes::<LittleEndian>::minimal_parse(&whole).unwrap();
        let loaded = |segment: &elf::segment::ProgramHeader| {
            segment.p_type == PT_LOAD && segment.p_flags & PF_X != 0
        };
        let segment = file.segments().unwrap().iter().find(loaded).unwrap();
        let last = (segment.p_offset + segment.p_filesz) as usize - 1;
        let mut patched = whole.clone();
        patched[last] ^= 1;
        assert_eq!(program.check(&patched).unwrap_err().what, CODE);
        let traced = format!("{CODE} {}", hex(&program.code.unwrap()));
        let other = ProgramFile {
            instead_of: Some(traced),
            ..ProgramFile::new("b", At::Bias(0), &patched)
        };
        assert!(other.is_instead_of(&whole) && other.is_instead_of(&stripped));
        // What has no code is not the program.
        let only_code = ProgramFile { sha256: None, build_id: None, ..other.clone() };
        assert_eq!(only_code.check(b"text").unwrap_err().what, CODE);
        assert!(!other.is_instead_of(&patched) && !program.is_instead_of(&whole));
    }
}
