//! Files of a snapshot.

use crate::{Dump, Error, Segment, ini::Ini};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zip::ZipArchive;

/// Where the files of a snapshot are.
pub trait Files: Debug {
    /// A file from an offset on, up to a length. Names are relative, and do not lead outside.
    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>>;
}

/// Files in a folder.
impl Files for PathBuf {
    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>> {
        let path = self.join(name);
        // A pipe would never end.
        if !fs::metadata(&path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(length.unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Files in memory.
impl Files for BTreeMap<String, Vec<u8>> {
    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>> {
        let bytes = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let rest = bytes.get(start..).unwrap_or_default();
        let len = usize::try_from(length.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        Ok(rest.get(..len).unwrap_or(rest).to_vec())
    }
}

/// Files in a ZIP archive.
pub struct Archive(Mutex<ZipArchive<File>>);

impl Archive {
    /// Reads the directory of an archive.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Mutex::new(ZipArchive::new(File::open(path)?)?)))
    }
}

impl Debug for Archive {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").finish_non_exhaustive()
    }
}

/// The most that is read of a file in an archive: a small archive can hold a file of any size.
const LONGEST: u64 = 1 << 32;

impl Files for Archive {
    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>> {
        let mut archive = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = archive.by_name(name)?;
        // There is no way to an offset but through all that is before it.
        let skipped = io::copy(&mut file.by_ref().take(offset), &mut io::sink())?;
        let mut bytes = Vec::new();
        let most = LONGEST.saturating_sub(skipped);
        file.take(length.unwrap_or(most.saturating_add(1)).min(most.saturating_add(1)))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::other("longer than 4 GiB; unpack the archive"));
        }
        Ok(bytes)
    }
}

/// The most that is read of an ini file: real ones have some ten thousand bytes.
const LONGEST_INI: u64 = 1 << 24;

/// The name of a file that `named_in` names, if it does not lead out of the folder.
fn within(named_in: &str, name: &str) -> Result<String, Error> {
    // Snapshots come from other systems, too.
    let name = name.replace('\\', "/");
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    match !name.is_empty() && Path::new(&name).components().all(inside) {
        true => Ok(name),
        false => Err(Error::Outside { file: named_in.to_owned(), name }),
    }
}

/// All of a file that `named_in` names. Names that lead out of where files are, are refused.
pub fn file(files: &dyn Files, named_in: &str, name: &str) -> Result<Vec<u8>, Error> {
    read(files, named_in, name, 0, None)
}

/// A part of a file that `named_in` names.
pub(crate) fn read(
    files: &dyn Files,
    named_in: &str,
    name: &str,
    offset: u64,
    length: Option<u64>,
) -> Result<Vec<u8>, Error> {
    let name = within(named_in, name)?;
    let failed = |error| Error::Read { path: name.clone().into(), error };
    files.read(&name, offset, length).map_err(failed)
}

/// Memory in files. One that cannot be read is left out, with a warning.
pub(crate) fn segments(
    files: &dyn Files,
    of: &str,
    dumps: &[Dump],
    warnings: &mut Vec<String>,
) -> Result<Vec<Segment>, Error> {
    let mut segments = Vec::new();
    for dump in dumps {
        match read(files, of, &dump.file, dump.offset, dump.length) {
            Err(error @ Error::Outside { .. }) => return Err(error),
            Ok(bytes) => {
                segments.push(Segment { address: dump.address, bytes, spaces: dump.spaces })
            }
            Err(error) => warnings.push(format!("memory of {of}: {error}")),
        }
    }
    Ok(segments)
}

pub(crate) fn ini(files: &dyn Files, named_in: &str, name: &str) -> Result<Ini, Error> {
    let bytes = read(files, named_in, name, 0, Some(LONGEST_INI))?;
    Ini::parse(name, &String::from_utf8_lossy(&bytes))
}
