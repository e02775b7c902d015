use crate::many::Tables;
use crate::parse::ZEROS;
use crate::{Config, Kind, Packet, ParseError};

/// What a [`Reader`] finds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// A packet of this kind; [`Packet::parse`] reads it. Who only counts or lists packets, or knows what
    /// to do with the most frequent ones, is faster without.
    Packet(Kind),
    /// Bytes before the first alignment synchronisation.
    Unsynchronised,
    /// Bytes that are no packet. The reader goes on behind them: whether what follows can be trusted
    /// is for the caller to say, with [`Reader::resynchronise`].
    Bad(ParseError),
}

/// Finds packets in a stream that may start anywhere.
///
/// It keeps no bytes: [`Reader::next`] is called with those that are not used yet, and again with
/// more where they do not suffice.
#[derive(Clone, Debug)]
pub struct Reader {
    config: Config,
    tables: Tables,
    synchronised: bool,
}

impl Reader {
    /// At the start of a stream.
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

    /// What is at the start of `bytes`, with its length, which is never 0; `None` if that takes more
    /// bytes.
    #[inline(always)]
    pub fn next(&mut self, bytes: &[u8]) -> Option<(Found, usize)> {
        if !self.synchronised {
            return self.search(bytes).map(|(found, len)| (found, len as usize));
        }
        match Packet::find(&self.config, bytes) {
            Ok((kind, len)) => Some((Found::Packet(kind), len.into())),
            Err(ParseError::Incomplete) => None,
            Err(error) => Some((Found::Bad(error), error.len())),
        }
    }

    /// Up to zeros that are, or may become, a synchronisation. What it returns fits a register, so that it
    /// does not force what [`Reader::next`] returns into memory.
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
