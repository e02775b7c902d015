//! The bytes of a trace buffer.

use crate::snapshot::files::{self, Files};
use crate::snapshot::{Error, Format};
use hartrace_encap::coresight::oldest_first;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

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
        let failed = |error| Error::Read { path: self.names.join(", ").into(), error };
        all.read_to_end(&mut bytes).map_err(failed)?;
        let len = oldest_first(&mut bytes, pointer, wrapped, frames).len();
        bytes.truncate(len);
        Ok(Box::new(Cursor::new(bytes)))
    }

    /// Passes them on in pieces.
    pub fn each(&self, mut take: impl FnMut(&[u8])) -> Result<(), Error> {
        self.each_until(|piece| {
            take(piece);
            ControlFlow::Continue(())
        })
        .map(|_| ())
    }

    /// Passes them on in pieces, until `take` returns a break.
    pub fn each_until(
        &self,
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let (mut input, mut room) = (self.open()?, vec![0; PIECE]);
        loop {
            match input.read(&mut room) {
                Ok(0) => return Ok(ControlFlow::Continue(())),
                Ok(count) => {
                    let done = take(room.get(..count).unwrap_or_default());
                    if done.is_break() {
                        return Ok(done);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::Read { path: self.names.join(", ").into(), error });
                }
            }
        }
    }

    /// Reads all of them.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let failed = |error| Error::Read { path: self.names.join(", ").into(), error };
        self.open()?.read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
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
}

impl Read for Concatenated {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.current.read(room)?;
            if count > 0 || room.is_empty() || !self.advance().map_err(io::Error::other)? {
                return Ok(count);
            }
        }
    }
}
