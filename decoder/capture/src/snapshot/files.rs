//! Files of a snapshot.

use crate::input;
use crate::limits::{TEXT_BYTES, read_up_to};
use crate::snapshot::{Dump, Error, Segment, ini::Ini};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zip::ZipArchive;

/// Access to the files of a snapshot.
pub trait Files: Debug + Send + Sync {
    /// Reads a file from an offset on, up to a length. Names are relative, and do not point outside.
    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>>;

    /// Opens a file, to read it bit by bit. Where that is not possible, all of it is read at once.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.read(name, 0, None)?)))
    }

    /// Whether there is such a file. It may not be readable.
    fn has(&self, name: &str) -> bool {
        let read = self.read(name, 0, Some(0));
        read.map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
    }
}

/// The files of a folder or of an archive.
pub fn open_files(path: &Path) -> Result<Box<dyn Files>, Error> {
    if path.is_dir() {
        return Ok(Box::new(path.to_owned()));
    }
    let failed = |error| Error::Read { path: path.to_owned(), error };
    Ok(Box::new(Archive::open(path).map_err(failed)?))
}

/// Opens a file of a folder.
fn regular(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    // A pipe would never end, and could not be read again.
    if !fs::metadata(&path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    input::open(&path)
}

/// Files in a folder.
impl Files for PathBuf {
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(regular(self, name)?))
    }

    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>> {
        let mut file = regular(self, name)?;
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
pub struct Archive<R = File>(Mutex<Opened<R>>);

struct Opened<R> {
    zip: ZipArchive<R>,
    /// Number of bytes that may still be unpacked.
    left: u64,
}

/// Maximum number of bytes that are unpacked for each byte of an archive. It allows unpacking everything
/// several times, since an offset can only be reached by unpacking all bytes before it. It is limited
/// because a few bytes can name the same file many times.
const UNPACKED: u64 = 1 << 12;

/// This many bytes may be unpacked from any archive.
const UNPACKED_ANYWAY: u64 = 1 << 26;

impl Archive {
    /// Reads the directory of an archive.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(input::open(path)?)
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the directory of an archive.
    pub fn new(mut archive: R) -> io::Result<Self> {
        let size = archive.seek(SeekFrom::End(0))?;
        let left = size.saturating_mul(UNPACKED).max(UNPACKED_ANYWAY);
        Ok(Self(Mutex::new(Opened { zip: ZipArchive::new(archive)?, left })))
    }
}

impl<R> Debug for Archive<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").finish_non_exhaustive()
    }
}

/// Maximum size of a file in an archive, and of all memory of a core or a package: a few compressed bytes
/// can stand for any amount.
const LONGEST: u64 = 1 << 32;

impl<R: Read + Seek + Send> Files for Archive<R> {
    fn read(&self, name: &str, offset: u64, length: Option<u64>) -> io::Result<Vec<u8>> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Opened { zip, left } = &mut *opened;
        let mut file = zip.by_name(name)?;
        let skipped = io::copy(&mut file.by_ref().take(offset.min(*left)), &mut io::sink())?;
        *left = left.saturating_sub(skipped);
        let mut bytes = Vec::new();
        let most = LONGEST.min(*left);
        file.take(length.unwrap_or(u64::MAX).min(most.saturating_add(1)))
            .read_to_end(&mut bytes)?;
        *left = left.saturating_sub(bytes.len() as u64);
        if bytes.len() as u64 > most {
            return Err(io::Error::other("too much to unpack; unpack the archive first"));
        }
        Ok(bytes)
    }
}

/// Checks that a file name in `named_in` does not point outside the folder.
fn within(named_in: &str, name: &str) -> Result<String, Error> {
    // Snapshots may come from other operating systems.
    let name = name.replace('\\', "/");
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    match !name.is_empty() && Path::new(&name).components().all(inside) {
        true => Ok(name),
        false => Err(Error::Outside { file: named_in.to_owned(), name }),
    }
}

/// Reads a whole file that `named_in` names. Names that point outside are refused.
pub fn file(files: &dyn Files, named_in: &str, name: &str) -> Result<Vec<u8>, Error> {
    read(files, named_in, name, 0, None)
}

/// Reads a whole text that `named_in` names, of at most `limit` bytes.
pub fn text(files: &dyn Files, named_in: &str, name: &str, limit: u64) -> Result<Vec<u8>, Error> {
    let bytes = read(files, named_in, name, 0, Some(limit.saturating_add(1)))?;
    read_up_to(&bytes[..], limit).map_err(|error| Error::Read { path: name.into(), error })
}

/// Opens a file that `named_in` names, to read it bit by bit.
pub(crate) fn open(
    files: &dyn Files,
    named_in: &str,
    name: &str,
) -> Result<Box<dyn Read + Send>, Error> {
    let name = within(named_in, name)?;
    let failed = |error| Error::Read { path: name.clone().into(), error };
    files.open(&name).map_err(failed)
}

/// Reads a part of a file that `named_in` names.
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

/// Maximum number of bytes of files that are listed more than once: a few lines can stand for any amount of memory.
const REPEATED: u64 = 1 << 26;

/// How much of each file is in memory.
#[derive(Default)]
struct Repeated {
    /// The bytes that were read of each file, and the end of what was read.
    files: BTreeMap<PathBuf, (u64, u64)>,
    /// How many bytes more of all files were read than they are long.
    total: u64,
}

impl Repeated {
    /// Adds a part of a file. Returns how many bytes more of all files were read than they are long.
    fn add(&mut self, dump: &Dump, length: u64) -> u64 {
        // Another spelling is the same file.
        let name = dump.file.replace('\\', "/");
        let parts = Path::new(&name).components().filter(|part| *part != Component::CurDir);
        let (bytes, end) = self.files.entry(parts.collect()).or_default();
        let before = bytes.saturating_sub(*end);
        *bytes = bytes.saturating_add(length);
        if length > 0 {
            *end = dump.offset.saturating_add(length).max(*end);
        }
        let after = bytes.saturating_sub(*end);
        self.total = self.total.saturating_add(after).saturating_sub(before);
        self.total
    }
}

/// Reads memory from files. A file that cannot be read is left out, with a warning.
pub(crate) fn segments(
    files: &dyn Files,
    of: &str,
    dumps: &[Dump],
    warnings: &mut Vec<String>,
) -> Result<Vec<Segment>, Error> {
    segments_up_to(LONGEST, files, of, dumps, warnings)
}

/// The same, with a maximum number of bytes.
fn segments_up_to(
    mut left: u64,
    files: &dyn Files,
    of: &str,
    dumps: &[Dump],
    warnings: &mut Vec<String>,
) -> Result<Vec<Segment>, Error> {
    let mut segments = Vec::new();
    let mut repeated = Repeated::default();
    for dump in dumps {
        let most = left.saturating_add(1);
        let length = dump.length.unwrap_or(u64::MAX).min(most);
        match read(files, of, &dump.file, dump.offset, Some(length)) {
            Err(error @ Error::Outside { .. }) => return Err(error),
            Ok(bytes) if bytes.len() as u64 > left => {
                let (file, name) = (of.to_owned(), dump.file.clone());
                return Err(Error::Memory { file, name });
            }
            Ok(bytes) => {
                left = left.saturating_sub(bytes.len() as u64);
                if repeated.add(dump, bytes.len() as u64) > REPEATED {
                    let (file, name) = (of.to_owned(), dump.file.clone());
                    return Err(Error::Repeated { file, name });
                }
                segments.push(Segment { address: dump.address, bytes, spaces: dump.spaces });
            }
            Err(error) => warnings.push(format!("memory of {of}: {error}")),
        }
    }
    Ok(segments)
}

pub(crate) fn ini(files: &dyn Files, named_in: &str, name: &str) -> Result<Ini, Error> {
    let bytes = text(files, named_in, name, TEXT_BYTES)?;
    Ini::parse(name, &String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Package;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    /// An archive of a package whose memory is a megabyte that is named many times, from an offset on.
    fn archive(times: usize, offset: u64) -> Archive<Cursor<Vec<u8>>> {
        let mut contents = "[trace]\nmetadata=trace.ini\nbuffer0=zeros\n".to_owned();
        for dump in 0..times {
            contents += &format!("[dump{dump}]\nfile=zeros\naddress={dump}\noffset={offset}\n");
        }
        let zeros = vec![0; 1 << 20];
        let files = [
            ("contents.ini", contents.as_bytes()),
            ("trace.ini", b"[buffer]\nformat: coresight\n"),
            ("zeros", &zeros),
        ];
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        let bytes = zip.finish().unwrap().into_inner();
        assert!(bytes.len() < 1 << 14, "{}", bytes.len());
        Archive::new(Cursor::new(bytes)).unwrap()
    }

    #[test]
    fn little_of_a_small_archive_is_unpacked() {
        // Less than the limit, then more: there is a warning for each file that is left out.
        for (times, offset, there) in [(60, 0, 60), (200, 0, 63), (60, 1 << 30, 60), (200, 9, 63)] {
            let package = Package::read(Box::new(archive(times, offset))).unwrap();
            let mut warnings = Vec::new();
            let segments = package.segments(&mut warnings).unwrap();
            assert_eq!(
                (segments.len(), warnings.len()),
                (there, times - there),
                "{times} {offset}"
            );
            assert!(warnings.iter().all(|warning| warning.contains("unpack the archive")));
        }
    }

    #[test]
    fn memory_is_bounded() {
        let files = BTreeMap::from([("a".to_owned(), vec![0; 50])]);
        let file = "a".to_owned();
        let spaces = hartrace_isa::arm::Spaces::ALL;
        let dump = Dump { file, address: 0, length: Some(40), offset: 0, spaces };
        let mut warnings = Vec::new();
        let three = vec![dump; 3];
        let mut read = |dumps| segments_up_to(100, &files, "core", dumps, &mut warnings);
        assert_eq!(read(&three[..2]).unwrap().len(), 2);
        let error = read(&three).unwrap_err();
        assert!(error.to_string().contains("more than 4 GiB"), "{error}");
    }

    /// The same megabyte again and again, however it is named; but each of many parts once.
    #[test]
    fn the_same_bytes_are_not_read_often() {
        let files = ["a", "./a", "b"].map(|name| (name.to_owned(), vec![0; 1 << 20]));
        let files = BTreeMap::from(files);
        let read = |times: u64, part: &dyn Fn(u64) -> (&'static str, u64, u64)| {
            let dumps = (0..times).map(|number| {
                let ((file, offset, length), spaces) =
                    (part(number), hartrace_isa::arm::Spaces::ALL);
                Dump { file: file.into(), address: number, length: Some(length), offset, spaces }
            });
            let dumps = dumps.collect::<Vec<_>>();
            segments(&files, "core", &dumps, &mut Vec::new()).map(|segments| segments.len())
        };
        assert_eq!(read(65, &|_| ("a", 0, 1 << 20)).unwrap(), 65);
        assert_eq!(read(1 << 10, &|number| ("a", number << 10, 1 << 10)).unwrap(), 1 << 10);
        for part in [
            &(|_| ("a", 0u64, 1u64 << 20)) as &dyn Fn(u64) -> (&'static str, u64, u64),
            &|number| (["a", "./a"][number as usize % 2], number, 1 << 20),
            &|number| if number == 0 { ("b", 1 << 50, 1) } else { ("b", 0, 1 << 20) },
        ] {
            let error = read(70, part).unwrap_err();
            assert!(error.to_string().contains("listed already"), "{error}");
        }
    }
}
