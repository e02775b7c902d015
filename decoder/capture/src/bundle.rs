//! Bundles: a capture with its description and its programs in one archive.
//!
//! A bundle is a [trace package](crate::snapshot::Package) whose metadata is a [`Description`]:
//! `contents.ini` names it and the capture. Like every package, it may also be a folder.

use crate::contents::{Contents, Meter};
use crate::description::{Description, ProgramFile};
use crate::limits::{DOCUMENT_BYTES, TEXT_BYTES};
use crate::params::DocumentError;
use crate::snapshot::{self, Archive, Files, ini::Ini};
use crate::text::is_hidden;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;
use thiserror::Error;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The file that lists the contents of a package.
const CONTENTS: &str = "contents.ini";

/// What the first bytes of an archive are.
const MAGIC: [u8; 4] = *b"PK\x03\x04";

/// A capture with its description and its programs.
#[derive(Debug)]
pub struct Bundle {
    files: Box<dyn Files>,
    /// The name of the capture in it.
    pub capture: String,
    /// The name of the description in it.
    pub name: String,
    /// The description.
    pub description: Description,
}

/// What a path leads to.
#[derive(Debug)]
pub enum Found {
    /// A bundle.
    Bundle(Box<Bundle>),
    /// A package of CoreSight trace.
    Package,
    /// Something else, such as a capture.
    Other,
}

/// Why a bundle cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The archive has a start, but no directory, which is at its end.
    #[error("the archive is cut off or damaged")]
    Damaged,
    /// A file in it cannot be read.
    #[error(transparent)]
    Files(#[from] snapshot::Error),
    /// Its description is wrong.
    #[error(transparent)]
    Description(#[from] DocumentError),
}

/// Looks for a bundle in a folder or an archive.
///
/// # Errors
///
/// If there is one, but it cannot be read.
pub fn find(path: &Path) -> Result<Found, BundleError> {
    let files: Box<dyn Files> = if path.is_dir() {
        Box::new(path.to_owned())
    } else {
        match archive(path)? {
            Some(archive) => Box::new(archive),
            None => return Ok(Found::Other),
        }
    };
    read(files)
}

/// Opens an archive. A capture may start with any bytes: what does not start as an archive is no error.
fn archive(path: &Path) -> Result<Option<Archive>, BundleError> {
    let mut start = Vec::new();
    // A pipe can be read only once.
    if let Ok(file) = crate::input::open(path)
        && file.metadata().is_ok_and(|about| about.is_file())
        && file.take(HEADER + LONGEST_NAME).read_to_end(&mut start).is_ok()
        && start.starts_with(&MAGIC)
    {
        return match Archive::open(path) {
            Ok(archive) => Ok(Some(archive)),
            Err(_) if is_header(&start) => Err(BundleError::Damaged),
            Err(_) => Ok(None),
        };
    }
    Ok(None)
}

/// Length of what is before the name of the first file.
const HEADER: u64 = 30;

/// The longest name of a first file to look at.
const LONGEST_NAME: u64 = 64;

/// Whether bytes that start with [`MAGIC`] go on as an archive does, and not as a capture might: with a version and a
/// method that exist, and a readable name.
fn is_header(start: &[u8]) -> bool {
    let short = |at: usize| {
        start
            .get(at..at.saturating_add(2))
            .map_or(0, |bytes| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    };
    let header = HEADER as usize;
    let name = start.get(header..).unwrap_or_default();
    let name = name.get(..short(26) as usize).unwrap_or(name);
    let is_named = start.len() < header || short(26) > 0;
    short(4) & 0xff <= 63
        && short(8) <= 99
        && is_named
        && name.iter().all(|byte| !byte.is_ascii_control())
}

/// Looks for a bundle among files.
///
/// # Errors
///
/// If there is one, but it cannot be read.
pub fn read(files: Box<dyn Files>) -> Result<Found, BundleError> {
    if !files.has(CONTENTS) {
        return Ok(Found::Other);
    }
    let contents = snapshot::text(&*files, "", CONTENTS, TEXT_BYTES)?;
    let contents = Ini::parse(CONTENTS, &String::from_utf8_lossy(&contents))?;
    let name = contents.need("trace", "metadata")?;
    if !name.ends_with(".toml") {
        return Ok(Found::Package);
    }
    check(&contents)?;
    let capture = contents.need("trace", "buffer0")?.to_owned();
    let text = snapshot::text(&*files, CONTENTS, name, DOCUMENT_BYTES)?;
    let description = Description::parse(&String::from_utf8_lossy(&text), name)?;
    let name = name.to_owned();
    Ok(Found::Bundle(Box::new(Bundle { files, capture, name, description })))
}

/// Refuses what a bundle does not have, such as a second capture, and what it has twice.
fn check(contents: &Ini) -> Result<(), snapshot::Error> {
    let mut left = vec!["metadata", "buffer0"];
    for section in &contents.sections {
        for (key, _) in &section.entries {
            let known = left.iter().position(|known| section.name == "trace" && known == key);
            let Some(known) = known else {
                let what = format!("{key} in [{}]", section.name);
                return Err(snapshot::Error::NotInBundle { file: contents.name.clone(), what });
            };
            left.remove(known);
        }
    }
    Ok(())
}

impl Bundle {
    /// Reads the capture.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn bytes(&self) -> Result<Vec<u8>, snapshot::Error> {
        snapshot::file(&*self.files, CONTENTS, &self.capture)
    }

    /// Reads a program.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn program(&self, program: &ProgramFile) -> Result<Vec<u8>, snapshot::Error> {
        snapshot::file(&*self.files, &self.name, &program.file)
    }
}

/// Names of the files in a bundle.
#[derive(Clone, Debug)]
pub struct Names(BTreeSet<String>);

/// Only the list of contents.
impl Default for Names {
    fn default() -> Self {
        Self([CONTENTS.to_owned()].into())
    }
}

impl Names {
    /// Returns the file name of a capture, and reserves that of its description.
    pub fn capture(&mut self, path: &Path) -> String {
        loop {
            let name = self.unused(path);
            if self.0.insert(format!("{name}.toml")) {
                return name;
            }
        }
    }

    /// Returns the file name of a path, with a number in front if another file has the same name, and without what
    /// archives and lists have a meaning for.
    pub fn unused(&mut self, path: &Path) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace(|c| is_hidden(c) || "\\/:;#=[]\"\u{fffd}".contains(c), "_");
        let name = match name.trim() {
            "" => "capture",
            name => name,
        };
        let numbered = (2..).map(|number: u32| format!("{number}-{name}"));
        let mut candidates = std::iter::once(name.to_string()).chain(numbered);
        candidates.find(|name| self.0.insert(name.clone())).unwrap_or_default()
    }
}

/// Writes a bundle. The programs of the description are replaced by `programs`: each with its contents,
/// and with a file name within the bundle. What the capture contains is as it was read.
///
/// # Errors
///
/// If it cannot be written, or the capture cannot be read.
pub fn write(
    out: impl Write,
    name: &str,
    mut capture: impl Read,
    description: &Description,
    programs: &[(ProgramFile, Vec<u8>)],
) -> io::Result<()> {
    let named = programs.iter().map(|(program, _)| program.clone()).collect();
    let metadata = format!("{name}.toml");
    let contents = format!("[trace]\nmetadata={metadata}\nbuffer0={name}\n");
    let mut zip = ZipWriter::new_stream(out);
    let usual = SimpleFileOptions::default();
    zip.start_file(CONTENTS, usual)?;
    zip.write_all(contents.as_bytes())?;
    // Its length is not known, and may exceed 4 GiB.
    zip.start_file(name, usual.large_file(true))?;
    let mut meter = Meter::default();
    io::copy(&mut capture, &mut Metered(&mut zip, &mut meter))?;
    let Contents { bytes, xxh3, .. } = meter.contents();
    let capture = Contents { bytes, xxh3, ..description.capture.clone() };
    let description = Description { programs: named, capture, ..description.clone() };
    zip.start_file(&*metadata, usual)?;
    zip.write_all(description.to_string().as_bytes())?;
    for (program, bytes) in programs {
        zip.start_file(&*program.file, usual)?;
        zip.write_all(bytes)?;
    }
    zip.finish()?.into_inner().flush()
}

/// Passes bytes on, and describes them.
struct Metered<'a, W>(&'a mut W, &'a mut Meter);

impl<W: Write> Write for Metered<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.0.write(bytes)?;
        self.1.add(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The same in memory.
///
/// # Errors
///
/// As [`write`](fn@write).
pub fn to_bytes(
    name: &str,
    capture: &[u8],
    description: &Description,
    programs: &[(ProgramFile, Vec<u8>)],
) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    write(&mut out, name, capture, description, programs)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::At;
    use std::collections::BTreeMap;
    use std::io::Cursor;

    fn bundle() -> Vec<u8> {
        let description =
            Description::parse("version = 1\n[framing]\nkind = \"smi\"", "d").unwrap();
        let program = ProgramFile::new("a.elf", At::Bias(16), b"program");
        let programs = [(program, b"program".to_vec())];
        to_bytes("c.te", b"capture", &description, &programs).unwrap()
    }

    #[test]
    fn written_and_read() {
        let archive = Archive::new(Cursor::new(bundle())).unwrap();
        let Found::Bundle(bundle) = read(Box::new(archive)).unwrap() else { panic!("no bundle") };
        assert_eq!(bundle.bytes().unwrap(), b"capture");
        let [program] = &bundle.description.programs[..] else { panic!("no program") };
        assert_eq!(program.at, At::Bias(16));
        assert_eq!(program.check(&bundle.program(program).unwrap()), Ok(()));
    }

    #[test]
    fn what_is_no_bundle() {
        let files = |list: &[(&str, &str)]| -> Box<dyn Files> {
            let own = list.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()));
            Box::new(own.collect::<BTreeMap<_, _>>())
        };
        assert!(matches!(read(files(&[])), Ok(Found::Other)));
        let coresight = files(&[(CONTENTS, "[trace]\nmetadata=trace.ini\n")]);
        assert!(matches!(read(coresight), Ok(Found::Package)));
        let text = "[trace]\nmetadata=c.toml\nbuffer0=c\n";
        let missing = read(files(&[(CONTENTS, text)])).unwrap_err().to_string();
        assert!(missing.starts_with("c.toml"), "{missing}");
        let outside = "[trace]\nmetadata=../c.toml\nbuffer0=c\n";
        assert!(matches!(
            read(files(&[(CONTENTS, outside)])),
            Err(BundleError::Files(snapshot::Error::Outside { .. }))
        ));
        for (more, what) in [
            ("buffer1=d\n", "buffer1 in [trace]"),
            ("buffer0=d\n", "buffer0 in [trace]"),
            ("metadata=c.toml\n", "metadata in [trace]"),
            ("[extra]\nkey=1\n", "key in [extra]"),
        ] {
            let text = format!("{text}{more}");
            let error = read(files(&[(CONTENTS, &text), ("c.toml", ""), ("c", ""), ("d", "")]));
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{CONTENTS}: {what}: ")), "{error}");
        }
        let wrong = read(files(&[(CONTENTS, text), ("c.toml", "version = 9")])).unwrap_err();
        assert_eq!(wrong.to_string(), "c.toml:1:1: version 9 is not known here, only 1 and 2");
    }
}
