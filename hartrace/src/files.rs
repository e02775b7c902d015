//! How files are read.

use hartrace_capture::described::is_compressed;
use hartrace_capture::limits;
use hartrace_capture::text::shown;
use std::io::{self, Read};
use std::path::Path;

/// Reads files: programs, parameters, logs and captures.
pub trait Files: Send + Sync {
    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte more than the limit tells that there are more.
        let limit = limits::STREAM_BYTES;
        let input = self.open(path)?;
        if !is_compressed(path) {
            return limits::read_file(path);
        }
        input.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            let what = format!("more than {} MiB when decompressed", limit >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        Ok(bytes)
    }

    /// Reads a whole text, of so many bytes at most.
    fn read_text(&self, path: &Path, limit: u64) -> io::Result<String> {
        let bytes = limits::read_up_to(limits::open(path)?, limit)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Opens a capture, decompressed.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let file = limits::open(path)?;
        Ok(match is_compressed(path) {
            true => Box::new(zstd::Decoder::new(file)?),
            false => Box::new(file),
        })
    }

    /// The name of a file in messages.
    fn name(&self, path: &Path) -> String {
        shown(path)
    }
}

/// Files as they are.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Disk;

impl Files for Disk {}
