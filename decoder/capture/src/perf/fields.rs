//! Little-endian fields, with their positions in the file.

use super::Error;
use crate::text::printable_bytes;

/// The fields of a record or section that are left to read.
#[derive(Copy, Clone, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// The position of `rest` in the file.
    at: u64,
    /// What is read, for errors.
    what: &'static str,
}

impl<'a> Fields<'a> {
    pub(super) const fn new(rest: &'a [u8], at: u64, what: &'static str) -> Self {
        Self { rest, at, what }
    }

    /// The position of the next field.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            let byte = self.at.saturating_add(self.rest.len() as u64);
            return Err(Error::Fields { byte, what: self.what });
        };
        self.rest = rest;
        self.at = self.at.saturating_add(count as u64);
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    /// Text up to the first zero, or up to the end, fit to be printed.
    pub(super) fn text(&self) -> String {
        let end = self.rest.iter().position(|byte| *byte == 0).unwrap_or(self.rest.len());
        printable_bytes(self.rest.get(..end).unwrap_or_default()).into_owned()
    }

    /// Text with its length before it, padded with zeros.
    pub(super) fn string(&mut self) -> Result<String, Error> {
        let length = self.u32()?;
        let (at, what) = (self.at, self.what);
        let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(Fields::new(bytes, at, what).text())
    }

    /// The last fields, which every record has.
    pub(super) fn split_end(self, count: usize) -> (Self, Self) {
        let split = self.rest.len().saturating_sub(count);
        let (rest, end) = self.rest.split_at_checked(split).unwrap_or((self.rest, &[]));
        let at = self.at.saturating_add(split as u64);
        (Self { rest, ..self }, Self { rest: end, at, what: self.what })
    }
}
