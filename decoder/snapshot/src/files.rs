//! Files of a snapshot.

use crate::{Error, ini::Ini};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// The most that is read of an ini file: real ones have some ten thousand bytes.
const LONGEST_INI: u64 = 1 << 24;

/// The path of a file that `named_in` names. It must not lead out of the folder.
pub(crate) fn within(folder: &Path, named_in: &str, name: &str) -> Result<PathBuf, Error> {
    // Snapshots come from other systems, too.
    let name = name.replace('\\', "/");
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !Path::new(&name).components().all(inside) {
        return Err(Error::Outside { file: named_in.to_owned(), name });
    }
    Ok(folder.join(name))
}

pub(crate) fn ini(folder: &Path, named_in: &str, name: &str) -> Result<Ini, Error> {
    let path = within(folder, named_in, name)?;
    let bytes = read(&path, 0, Some(LONGEST_INI))?;
    Ini::parse(name, &String::from_utf8_lossy(&bytes))
}

/// A regular file from an offset on, up to a length.
pub(crate) fn read(path: &Path, offset: u64, length: Option<u64>) -> Result<Vec<u8>, Error> {
    let read = || {
        // A pipe would never end.
        if !fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(length.unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| Error::Read { path: path.to_owned(), error })
}
