//! Finds the lengths of packets without reading their fields.

use crate::{Config, Kind, Packet, ParseError};
use hartrace_bits::septet_bytes;

/// Enough for a branch without cycles: five bytes of address, two of an exception.
const WINDOW: usize = 8;

/// The most bytes of an address.
const ADDRESS: u8 = 5;

impl Packet {
    /// Returns the kind and length of the packet at the start of `bytes`. The result is the same as that
    /// of [`Packet::parse`], but most packets need not be read.
    // Inlined, as are all callers: the next packet starts where this one ends, and a length that passes
    // through memory arrives late.
    #[inline(always)]
    pub fn find(config: &Config, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        let Some(window) = bytes.first_chunk::<WINDOW>().filter(|_| !config.cycle_accurate) else {
            return read_length(config, bytes);
        };
        let [header, ..] = *window;
        let branch = header & 1 == 1;
        let word = u64::from_le_bytes(*window);
        if !branch && header & 0x80 == 0 {
            return match other_length(config, header, word) {
                Some(found) => Ok(found),
                None => read_length(config, bytes),
            };
        }
        // Atoms or a branch: both lengths are computed without a jump, which could not be predicted.
        let len = if branch { branch_length(word) } else { 1 };
        Ok((if branch { Kind::Branch } else { Kind::Atom }, len as u8))
    }
}

#[inline(always)]
fn branch_length(word: u64) -> u32 {
    let address = u32::from(septet_bytes(word).min(ADDRESS));
    let behind = word.wrapping_shr(address.wrapping_mul(8));
    let last = word.wrapping_shr(address.wrapping_mul(8).wrapping_sub(8));
    // A single byte has no room for the mark.
    let marked = u32::from(address > 1) & (last >> 6) as u32 & 1;
    let exception = ((behind >> 7) as u32 & 1).wrapping_add(1);
    address.wrapping_add(marked.wrapping_mul(exception))
}

/// Frequent packets other than atoms and branches, unless they continue after the window.
#[inline]
fn other_length(config: &Config, header: u8, word: u64) -> Option<(Kind, u8)> {
    Some(match header {
        0x76 => (Kind::ExceptionReturn, 1),
        0x0c => (Kind::Trigger, 1),
        0x66 => (Kind::Ignore, 1),
        0x42 | 0x46 => {
            let bytes = septet_bytes(word >> 8);
            match (config.timestamp_64, bytes) {
                (_, ..=7) => (Kind::Timestamp, bytes.wrapping_add(1)),
                (false, _) => (Kind::Timestamp, 8),
                (true, _) => return None,
            }
        }
        _ => return None,
    })
}

#[cold]
#[inline(never)]
fn read_length(config: &Config, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
    let (packet, len) = Packet::parse(config, bytes)?;
    Ok((packet.kind(), len as u8))
}
