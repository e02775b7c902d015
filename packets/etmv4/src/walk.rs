//! Walks through the sections of a packet.

use crate::layout::Course;
use crate::table::{End, Section, Shape, ones};
use crate::{Class, Kind, Layout, ParseError};
use hartrace_bits::{low_bytes, septet_bytes, septets};

/// Walks through the packet at the start of `bytes`; returns its kind and its length in bytes. Each
/// section is passed on with its number and its length in bytes.
#[inline]
pub(crate) fn walk(
    layout: &Layout,
    bytes: &[u8],
    mut see: impl FnMut(Section, u64, u8),
) -> Result<(Kind, usize), ParseError> {
    let header = *bytes.first().ok_or(ParseError::Incomplete { missing: 1 })?;
    let kind = match layout.class(header) {
        Class::Packet(kind) => kind,
        Class::Reserved => return Err(ParseError::Reserved(header)),
        Class::NotConfigured(_) => return Err(ParseError::NotConfigured(header)),
    };
    let mut course = Course { kind, pending: layout.sections(header) };
    let mut used = 1usize;
    while let Some(section) = course.pending.next() {
        let shape = layout.shape(section);
        let rest = bytes.get(used..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let run = septet_bytes(word);
        let count = if shape.end == End::Fixed { shape.most } else { run.min(shape.most) };
        let end = used.saturating_add(count.into());
        let rules = layout.rules(section);
        if !rules.is_empty()
            && let Some(index) = course.note_all(rules, rest.get(..count.into()).unwrap_or(rest))
        {
            return Err(course.malformed(used.saturating_add(1).saturating_add(index)));
        }
        if end > bytes.len() {
            let missing = end.saturating_sub(bytes.len());
            return Err(ParseError::Incomplete { missing: missing.try_into().unwrap_or(u8::MAX) });
        }
        if shape.end == End::Unbounded && run > count {
            return Err(course.malformed(end));
        }
        see(section, shape.number(word, count, rest), count);
        used = end;
    }
    match course.end() {
        Some(kind) => Ok((kind, used)),
        None => Err(course.malformed(used)),
    }
}

impl Course {
    /// The error for a packet that is malformed in the last of this many bytes.
    #[cold]
    fn malformed(&self, len: usize) -> ParseError {
        ParseError::BadSequence { kind: self.kind, len: u8::try_from(len).unwrap_or(u8::MAX) }
    }
}

impl Shape {
    /// The number in the first `count` of these bytes. `word` holds the first eight of them.
    #[inline]
    fn number(&self, word: u64, count: u8, bytes: &[u8]) -> u64 {
        let number = self.squeeze(low_bytes(word, count));
        // The longest timestamp is one byte longer than a word.
        match bytes.get(8) {
            Some(ninth) if count > 8 => {
                number | u64::from(*ninth).checked_shl(self.bits(8).into()).unwrap_or(0)
            }
            _ => number,
        }
    }

    /// The significant bits of each byte, side by side.
    #[inline]
    fn squeeze(&self, word: u64) -> u64 {
        let all = 1u16.wrapping_shl(self.most.min(8).into()).wrapping_sub(1);
        match self.septets {
            0 => word,
            // Forms of addresses, which are frequent.
            0b01 => word & 0x7f | word >> 8 << 7,
            0b11 => word & 0x7f | (word >> 8 & 0x7f) << 7 | word >> 16 << 14,
            narrow if narrow & all == all => septets(word),
            _ => word.to_le_bytes().into_iter().zip(0..8).fold(0, |number, (byte, index)| {
                let data = u64::from(byte) & ones(self.width(index));
                number | data.wrapping_shl(self.bits(index).into())
            }),
        }
    }
}
