//! Limits on what is read, in one place. A file may be small and stand for much: these bound what is made of it.
//! `docs/design/limits.md` has them all, with what happens beyond them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a description, of parameters and of a suite, which become trees in memory. Real ones have some thousand.
pub const DOCUMENT_BYTES: u64 = 1 << 20;

/// Bytes of a list of contents and of a report of a tool, which are read whole. Real ones have some thousand.
pub const TEXT_BYTES: u64 = 16 << 20;

/// Bytes of what grows with a trace and is read whole: a log of events, a plan, what is decompressed into memory, and what
/// comes from anything but a regular file, such as a pipe.
pub const STREAM_BYTES: u64 = 256 << 20;

/// Bytes of a device, such as `/dev/zero`, in whatever way it is read: most have no end.
pub const DEVICE_BYTES: u64 = 64 << 20;

/// Bytes of a regular file that is read whole.
pub const FILE_BYTES: u64 = 4 << 30;

/// Bytes of code in a description.
pub const KERNEL_CODE: usize = 1 << 16;

/// Programs that a description may name.
pub const PROGRAMS: usize = 4096;

/// Bytes of the name of a symbol, a function or a source file; longer ones are cut.
pub const NAME_BYTES: usize = 4096;

/// What may be made of debug information for each byte of its file, and of that of any file: bytes in memory, and steps
/// of work. Files of compilers need a tenth of it.
pub const DEBUG_PER_BYTE: usize = 64;
/// See [`DEBUG_PER_BYTE`].
pub const DEBUG_ANYWAY: usize = 1 << 20;

/// Inlined functions within each other. What is deeper belongs to the last of them.
pub const INLINED_DEPTH: usize = 256;

/// How many times larger than the file its sections of code may be together; what is more is left out.
pub const CODE_PER_BYTE: usize = 2;

/// Reads a description, parameters or a suite.
///
/// # Errors
///
/// If it cannot be read, or is longer than [`DOCUMENT_BYTES`].
pub fn read_document(path: &Path) -> io::Result<Vec<u8>> {
    read_up_to(open(path)?, DOCUMENT_BYTES)
}

/// Reads a text that grows with a trace.
///
/// # Errors
///
/// If it cannot be read, or is longer than [`STREAM_BYTES`].
pub fn read_text(path: &Path) -> io::Result<Vec<u8>> {
    read_up_to(open(path)?, STREAM_BYTES)
}

/// Reads a whole file, or what comes out of a pipe.
///
/// # Errors
///
/// If it cannot be read, or is longer than the limit for its kind.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let known = file.metadata()?;
    if !known.is_file() {
        return read_up_to(file, STREAM_BYTES);
    }
    // Before any of it is in memory.
    if known.len() > FILE_BYTES {
        return Err(too_long(FILE_BYTES));
    }
    read_up_to(file, FILE_BYTES)
}

/// Opens a file, a pipe or a device. What is read from a device ends in an error after [`DEVICE_BYTES`].
///
/// # Errors
///
/// If it cannot be opened, or is a folder.
pub fn open(path: &Path) -> io::Result<Opened> {
    let file = crate::input::open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let left = if is_device(kind) { DEVICE_BYTES } else { u64::MAX };
    Ok(Opened { file, left })
}

#[cfg(unix)]
fn is_device(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device()
}

#[cfg(not(unix))]
fn is_device(_: std::fs::FileType) -> bool {
    false
}

/// Reads everything, at most `limit` bytes.
///
/// # Errors
///
/// If it cannot be read, or is longer.
pub fn read_up_to(input: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_long(limit));
    }
    Ok(bytes)
}

fn too_long(limit: u64) -> io::Error {
    io::Error::other(format!("more than {} MiB", limit >> 20))
}

/// An input that was opened, with an end.
#[derive(Debug)]
pub struct Opened {
    file: File,
    /// Bytes that may still be read.
    left: u64,
}

impl Opened {
    /// What is known of the file.
    ///
    /// # Errors
    ///
    /// If it is not there any more.
    pub fn metadata(&self) -> io::Result<std::fs::Metadata> {
        self.file.metadata()
    }
}

impl Read for Opened {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(room)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(format!("a device, with more than {} MiB", DEVICE_BYTES >> 20))
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_more_is_too_much() {
        assert_eq!(read_up_to(&[0; 64][..], 64).unwrap().len(), 64);
        assert!(read_up_to(&[0; 65][..], 64).is_err());
        assert_eq!(
            read_document(Path::new("/dev/zero")).unwrap_err().to_string(),
            "more than 1 MiB"
        );
    }

    /// None of it is read: it would not fit in memory.
    #[test]
    fn long_files() {
        let folder = crate::output::Scratch::new().unwrap();
        let path = folder.join("sparse");
        File::create(&path).unwrap().set_len(FILE_BYTES + 1).unwrap();
        assert_eq!(read_file(&path).unwrap_err().to_string(), "more than 4096 MiB");
    }

    #[test]
    fn folders_are_named_as_such() {
        let error = read_file(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    /// What is read bit by bit has an end too.
    #[test]
    fn devices_end() {
        let mut endless = open(Path::new("/dev/zero")).unwrap();
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err();
        assert_eq!(error.to_string(), "a device, with more than 64 MiB");
        let mut empty = open(Path::new("/dev/null")).unwrap();
        assert_eq!(io::copy(&mut empty, &mut io::sink()).unwrap(), 0);
    }
}
