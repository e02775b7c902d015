use crate::table::Section;
use crate::{Headers, Kind, Packet, ParseError};

/// An item that a [`Reader`] finds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// A packet of this kind; [`Packet::parse`](crate::Packet::parse) reads it. A caller that only
    /// counts or lists packets, or handles the most frequent ones itself, is faster without parsing.
    Packet(Kind),
    /// Bytes before the first alignment synchronisation, in the same pieces as in OpenCSD.
    Unsynchronised,
    /// Bytes that are not a packet. The reader continues after them. If the caller does not trust
    /// the bytes that follow, it calls [`Reader::resynchronise`].
    Bad(ParseError),
}

/// The same, with the packet itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Parsed {
    /// A packet.
    Packet(Packet),
    /// See [`Found::Unsynchronised`].
    Unsynchronised,
    /// See [`Found::Bad`].
    Bad(ParseError),
}

/// Finds packets in a stream that may start anywhere.
///
/// It keeps no bytes: call [`Reader::next`] with the bytes that are not used yet, and again with more
/// if they do not suffice. The caller decides where bytes are held, and a slice of the whole stream
/// is not copied.
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
    /// Starts at the beginning of a stream.
    pub const fn new(headers: Headers) -> Self {
        Self { headers, synchronised: false }
    }

    /// The meaning of header bytes.
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

    /// Returns the item at the start of `bytes` with its length, which is never 0; `None` if more bytes
    /// are needed.
    #[inline(always)]
    pub fn next(&mut self, bytes: &[u8]) -> Option<(Found, usize)> {
        if !self.synchronised {
            return self.search(bytes).map(|(found, len)| (found, len as usize));
        }
        match self.headers.find(bytes) {
            Ok((kind, len)) => Some((Found::Packet(kind), len.into())),
            Err(ParseError::Incomplete { .. }) => None,
            Err(error) => Some((Found::Bad(error), error.len())),
        }
    }

    /// The same as [`Reader::next`], for callers that need the packet: they read it only once.
    #[inline]
    pub fn parse(&mut self, bytes: &[u8]) -> Option<(Parsed, usize)> {
        if !self.synchronised {
            let (found, len) = self.search(bytes)?;
            let parsed = match found {
                // Nothing else ends the search.
                Found::Packet(_) => Parsed::Packet(Packet::Async),
                Found::Unsynchronised => Parsed::Unsynchronised,
                Found::Bad(error) => Parsed::Bad(error),
            };
            return Some((parsed, len as usize));
        }
        match Packet::parse(&self.headers, bytes) {
            Ok((packet, len)) => Some((Parsed::Packet(packet), len)),
            Err(ParseError::Incomplete { .. }) => None,
            Err(error) => Some((Parsed::Bad(error), error.len())),
        }
    }

    /// Skips to the next zero, which may be the start of a synchronisation. The result fits in a register,
    /// so that it does not force the result of [`Reader::next`] into memory.
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
        // The byte after the zeros has already been checked.
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
