use crate::table::Section;
use crate::{Headers, Kind, ParseError};

/// What a [`Reader`] finds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// A packet of this kind; [`Packet::parse`](crate::Packet::parse) reads it. Who only counts or
    /// lists packets, or knows what to do with the most frequent ones, is faster without.
    Packet(Kind),
    /// Bytes before the first alignment synchronisation, in pieces as OpenCSD has them.
    Unsynchronised,
    /// Bytes that are no packet. The reader goes on after them: whether what follows can be trusted
    /// is for the caller to say, with [`Reader::resynchronise`].
    Bad(ParseError),
}

/// Finds packets in a stream that may start anywhere.
///
/// It keeps no bytes: [`Reader::next`] is called with those that are not used yet, and again with
/// more where they do not suffice. So the caller decides where bytes are held, and a slice of all of
/// them is not copied.
#[derive(Clone, Debug)]
pub struct Reader {
    headers: Headers,
    synchronised: bool,
}

/// Zeros in an alignment synchronisation: the header, the byte after it, and all but the last of the rest.
const ZEROS: usize = 1 + Section::Zeros.longest().most as usize;

/// Bytes that are reported at once before the first synchronisation.
const PIECE: usize = 8;

impl Reader {
    /// At the start of a stream.
    pub const fn new(headers: Headers) -> Self {
        Self { headers, synchronised: false }
    }

    /// What header bytes stand for.
    pub const fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Whether an alignment synchronisation was found.
    #[inline]
    pub(crate) const fn is_synchronised(&self) -> bool {
        self.synchronised
    }

    /// Drops everything up to the next alignment synchronisation.
    pub fn resynchronise(&mut self) {
        self.synchronised = false;
    }

    /// What is at the start of `bytes`, with its length, which is never 0; `None` if that takes more
    /// bytes.
    #[inline(always)]
    pub fn next(&mut self, bytes: &[u8]) -> Option<(Found, usize)> {
        if !self.synchronised {
            return self.search(bytes).map(|(found, len)| (found, len as usize));
        }
        match self.headers.find(bytes) {
            Ok((kind, len)) => Some((Found::Packet(kind), len.into())),
            Err(ParseError::Incomplete) => None,
            Err(error) => Some((Found::Bad(error), error.len())),
        }
    }

    /// Up to the next zero, which may be the start of a synchronisation. What it returns fits a register, so
    /// that it does not force what [`Reader::next`] returns into memory.
    #[cold]
    #[inline(never)]
    fn search(&mut self, bytes: &[u8]) -> Option<(Found, u32)> {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        // O5.
        if zeros > ZEROS {
            return Some((
                Found::Unsynchronised,
                u32::try_from(zeros.wrapping_sub(ZEROS)).unwrap_or(u32::MAX),
            ));
        }
        let behind = *bytes.get(zeros)?;
        if zeros == ZEROS {
            let len = ZEROS.wrapping_add(1) as u8;
            if behind == 0x80 {
                self.synchronised = true;
                return Some((Found::Packet(Kind::Async), len.into()));
            }
            let error = ParseError::BadSequence { kind: Kind::Async, len };
            return Some((Found::Bad(error), len.into()));
        }
        // The byte that ends zeros is not looked at again.
        let checked = if zeros > 0 { zeros.wrapping_add(1) } else { 0 };
        let mut len = checked;
        for byte in bytes.get(checked..)? {
            if *byte == 0 {
                return Some((Found::Unsynchronised, len as u32));
            }
            len = len.wrapping_add(1);
            if len >= PIECE {
                return Some((Found::Unsynchronised, len as u32));
            }
        }
        None
    }
}
