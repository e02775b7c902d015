//! Records, one after the other.

use super::Error;
use super::fields::Fields;
use std::ops::Range;

/// The record is followed by trace bytes.
const AUXTRACE: u32 = 71;

/// A record as it is in the file.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    /// Its position.
    pub(super) at: u64,
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) body: Fields<'a>,
    /// For an AUXTRACE record, the trace bytes after it.
    pub(super) trace: Range<usize>,
}

/// Reads records from a part of a file.
#[derive(Debug)]
pub(super) struct Records<'a> {
    file: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Records<'a> {
    pub(super) const fn new(file: &'a [u8], part: Range<usize>) -> Self {
        Self { file, at: part.start, end: part.end }
    }

    /// The next record.
    pub(super) fn next(&mut self) -> Result<Option<Record<'a>>, Error> {
        if self.at >= self.end {
            return Ok(None);
        }
        let start = self.at;
        let at = start as u64;
        let all = self.file.get(start..self.end).unwrap_or_default();
        let mut header = Fields::new(all, at, "a record");
        let kind = header.u32()?;
        let (misc, size) = (header.u16()?, header.u16()?);
        let Some(length) = usize::from(size).checked_sub(8) else {
            let (byte, what) = (at.saturating_add(6), "the size of a record");
            return Err(Error::Value { byte, what, value: size.into() });
        };
        let Ok(body) = header.take(length) else {
            return Err(self.short(at, "a record", at.saturating_add(size.into())));
        };
        let body = Fields::new(body, at.saturating_add(8), "a record");
        self.at = start.saturating_add(usize::from(size));
        let mut trace = self.at..self.at;
        if kind == AUXTRACE {
            // Sizes of records have 16 bits, so that trace bytes are not part of the record.
            let mut first = body;
            let size = first.u64()?;
            let end = usize::try_from(size).ok().and_then(|size| trace.start.checked_add(size));
            let Some(end) = end.filter(|end| *end <= self.end) else {
                let from = trace.start as u64;
                let what = "the trace after an AUXTRACE record";
                return Err(self.short(from, what, from.saturating_add(size)));
            };
            trace.end = end;
            self.at = end;
        }
        Ok(Some(Record { at, kind, misc, body, trace }))
    }

    fn short(&self, byte: u64, what: &'static str, end: u64) -> Error {
        Error::Short { byte, what, end, size: self.end as u64 }
    }
}
