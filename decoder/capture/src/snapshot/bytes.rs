//! The bytes of a trace buffer.

use crate::snapshot::files::{self, Files};
use crate::snapshot::{Error, Format};
use hartrace_arm_decoder::BufferSource;
use hartrace_encap::coresight::oldest_first;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

/// The bytes of a trace buffer, which can be read as often as needed. They are not held in memory, except
/// those of an archive, and of a buffer whose oldest byte is not its first.
#[derive(Clone, Debug)]
pub struct BufferBytes {
    files: Arc<dyn Files>,
    /// The file that names the others.
    named_in: String,
    names: Vec<String>,
    written: Option<Written>,
}

/// The write pointer of a buffer, and whether it has wrapped.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Written {
    pub(crate) pointer: usize,
    pub(crate) wrapped: bool,
    /// Whether the buffer has frames.
    pub(crate) frames: bool,
}

impl Written {
    pub(crate) fn new((pointer, wrapped): (usize, bool), format: Format) -> Self {
        Self { pointer, wrapped, frames: format == Format::Coresight }
    }
}

impl BufferBytes {
    pub(crate) fn new(
        files: &Arc<dyn Files>,
        named_in: &str,
        names: &[String],
        written: Option<Written>,
    ) -> Self {
        let (files, named_in, names) = (files.clone(), named_in.to_owned(), names.to_vec());
        Self { files, named_in, names, written }
    }

    /// Reads them from the oldest on.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, Error> {
        let mut all = Concatenated { of: self.clone(), next: 0, current: Box::new(io::empty()) };
        // It is an error now, not later, if the first file cannot be read.
        all.advance()?;
        let Some(Written { pointer, wrapped, frames }) = self.written else {
            return Ok(Box::new(all));
        };
        let mut bytes = Vec::new();
        all.read_to_end(&mut bytes).map_err(Error::of_read)?;
        let len = oldest_first(&mut bytes, pointer, wrapped, frames).len();
        bytes.truncate(len);
        Ok(Box::new(Cursor::new(bytes)))
    }

    /// Reads all of them.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(Error::of_read)?;
        Ok(bytes)
    }
}

impl BufferSource for BufferBytes {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Self::open(self).map_err(io::Error::other)
    }
}

/// Reads files one after the other. There may be more than can be open at a time.
struct Concatenated {
    of: BufferBytes,
    /// Index of the file after the current one.
    next: usize,
    current: Box<dyn Read + Send>,
}

impl Concatenated {
    /// Goes on to the next file; `false` if there is none.
    fn advance(&mut self) -> Result<bool, Error> {
        let Some(name) = self.of.names.get(self.next) else { return Ok(false) };
        self.current = files::open(&*self.of.files, &self.of.named_in, name)?;
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    /// An error with the name of the file.
    fn named(&self, error: io::Error) -> io::Error {
        let current = self.next.checked_sub(1).and_then(|current| self.of.names.get(current));
        let path = current.cloned().unwrap_or_default().into();
        io::Error::new(error.kind(), Error::Read { path, error })
    }
}

impl Read for Concatenated {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.current.read(room).map_err(|error| self.named(error))?;
            if count > 0 || room.is_empty() || !self.advance().map_err(io::Error::other)? {
                return Ok(count);
            }
        }
    }
}
