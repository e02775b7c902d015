use crate::many::Tables;
use crate::parse::ZEROS;
use crate::{Config, Kind, Packet, ParseError};

/// An item that a [`Reader`] finds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// A packet of this kind; [`Packet::parse`] reads it. A caller that only counts or lists packets, or
    /// handles the most frequent ones itself, is faster without parsing.
    Packet(Kind),
    /// Bytes before the first alignment synchronisation.
    Unsynchronised,
    /// Bytes that are not a packet. The reader continues after them. If the caller does not trust the
    /// bytes that follow, it calls [`Reader::resynchronise`].
    Bad(ParseError),
}

/// Finds packets in a stream that may start anywhere.
///
/// It keeps no bytes: call [`Reader::next`] with the bytes that are not used yet, and again with more
/// if they do not suffice.
#[derive(Clone, Debug)]
pub struct Reader {
    config: Config,
    tables: Tables,
    synchronised: bool,
}

impl Reader {
    /// Starts at the beginning of a stream.
    pub fn new(config: Config) -> Self {
        Self { config, tables: Tables::new(&config), synchronised: false }
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    #[inline]
    pub(crate) const fn tables(&self) -> &Tables {
        &self.tables
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
        match Packet::find(&self.config, bytes) {
            Ok((kind, len)) => Some((Found::Packet(kind), len.into())),
            Err(ParseError::Incomplete { .. }) => None,
            Err(error) => Some((Found::Bad(error), error.len())),
        }
    }

    /// Skips to zeros that are, or may become, a synchronisation. The result fits in a register, so that
    /// it does not force the result of [`Reader::next`] into memory.
    #[cold]
    #[inline(never)]
    fn search(&mut self, bytes: &[u8]) -> Option<(Found, u32)> {
        let mut start = 0;
        loop {
            let rest = bytes.get(start..)?;
            let Some(first) = rest.iter().position(|byte| *byte == 0) else {
                start = bytes.len();
                break;
            };
            start = start.wrapping_add(first);
            let zeros = bytes.iter().skip(start).take_while(|byte| **byte == 0).count();
            let behind = bytes.get(start.wrapping_add(zeros));
            let too_many = zeros.saturating_sub(*ZEROS.end());
            match behind {
                Some(0x80) if zeros >= *ZEROS.start() => {
                    start = start.wrapping_add(too_many);
                    if start == 0 {
                        self.synchronised = true;
                        return Some((Found::Packet(Kind::Async), zeros.wrapping_add(1) as u32));
                    }
                    break;
                }
                Some(_) => start = start.wrapping_add(zeros).wrapping_add(1),
                None => {
                    start = start.wrapping_add(too_many);
                    break;
                }
            }
        }
        let len = u32::try_from(start).unwrap_or(u32::MAX);
        (start > 0).then_some((Found::Unsynchronised, len))
    }
}
