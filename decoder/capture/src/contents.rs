//! How to recognise the bytes of a capture.
//!
//! A description has the length of its capture and a hash, so that the two are not mistaken for each other: a capture
//! that was cut, or that another one has replaced, is an error and not a shorter trace.

use crate::output::{Action, FileError};
use crate::params::document::Entry;
use crate::params::{DocumentError, unknown};
use crate::text::printable;
use std::fmt;
use std::io::{self, Read};
use thiserror::Error;
use twox_hash::xxhash3_128::Hasher;

const KEYS: [&str; 4] = ["bytes", "xxh3", "instructions", "ended-early"];

/// What is known of the bytes of a capture, before any compression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Their number.
    pub bytes: Option<u64>,
    /// Their XXH3, with 128 bits: against accidents, not against forgery.
    pub xxh3: Option<u128>,
    /// The number of instructions that they decode to.
    pub instructions: Option<u64>,
    /// What ended the run before the program did, if anything: a signal, a fault or an error.
    pub ended_early: Option<String>,
}

/// A capture is not the one that is described.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the description {description} is of another capture: {difference}")]
pub struct OtherCapture {
    /// The description.
    pub description: String,
    /// In what they differ.
    pub difference: Difference,
}

/// In what a capture differs from the one that is described.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Difference {
    /// In its length.
    #[error("that has {expected} bytes, this one {found}")]
    Bytes {
        /// Its length.
        found: u64,
        /// What it should be.
        expected: u64,
    },
    /// In its length, when no more of it has been read.
    #[error("that has {0} bytes, this one more")]
    Longer(u64),
    /// In its bytes.
    #[error("its XXH3 is {expected}, that of this one {found}")]
    Hash {
        /// The hash.
        found: String,
        /// What it should be.
        expected: String,
    },
}

impl Contents {
    /// Reads a table of a description.
    pub(crate) fn read(table: &[Entry]) -> Result<Self, DocumentError> {
        let mut contents = Self::default();
        for entry in table {
            match entry.key.as_str() {
                "bytes" => contents.bytes = Some(entry.number(u64::MAX)?),
                "instructions" => contents.instructions = Some(entry.number(u64::MAX)?),
                "ended-early" => contents.ended_early = Some(printable(entry.text()?).into()),
                "xxh3" => {
                    let text = entry.text()?;
                    let hash = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
                    contents.xxh3 =
                        Some(hash.ok_or_else(|| entry.expected("32 hexadecimal digits"))?);
                }
                _ => return Err(unknown(entry, KEYS.into_iter())),
            }
        }
        Ok(contents)
    }

    /// The name of these bytes among files.
    pub(crate) fn digits(&self) -> Option<String> {
        Some(format!("{:032x}", self.xxh3?))
    }

    /// Checks the length of a capture.
    pub(crate) fn check_length(&self, found: u64) -> Result<(), Difference> {
        match self.bytes {
            Some(expected) if expected != found => Err(Difference::Bytes { found, expected }),
            _ => Ok(()),
        }
    }
}

/// The entries of a table of TOML.
impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bytes) = self.bytes {
            writeln!(f, "bytes = {bytes}")?;
        }
        if let Some(digits) = self.digits() {
            writeln!(f, "xxh3 = \"{digits}\"")?;
        }
        if let Some(count) = self.instructions {
            writeln!(f, "instructions = {count}")?;
        }
        let ended = self.ended_early.as_ref().map(|what| toml::Value::String(what.clone()));
        ended.map_or(Ok(()), |what| writeln!(f, "ended-early = {what}"))
    }
}

/// Describes bytes as they come.
#[derive(Clone, Default)]
pub struct Meter {
    hasher: Hasher,
    bytes: u64,
}

impl Meter {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
    }

    /// What the bytes so far are.
    pub fn contents(&self) -> Contents {
        let xxh3 = Some(self.hasher.finish_128());
        Contents { bytes: Some(self.bytes), xxh3, ..Contents::default() }
    }
}

impl io::Write for Meter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// A capture that is read. Errors have its name, and its end is an error if it is not the capture that is described.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: R,
    name: String,
    check: Option<Check>,
}

#[derive(Debug)]
struct Check {
    meter: Meter,
    expected: Contents,
    description: String,
}

impl<R: Read> CaptureReader<R> {
    /// Reads the capture of this name.
    pub fn new(input: R, name: String) -> Self {
        Self { input, name, check: None }
    }

    /// The same, and checks that it is the one that a description, of this name, is of.
    #[must_use]
    pub fn checked(self, expected: Contents, description: String) -> Self {
        let meter = Meter::default();
        Self { check: Some(Check { meter, expected, description }), ..self }
    }
}

impl<R: Read> Read for CaptureReader<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let outcome = self.input.read(room).and_then(|count| {
            if let Some(check) = self.check.as_mut().filter(|_| !room.is_empty()) {
                check.take(room.get(..count).unwrap_or_default())?;
            }
            Ok(count)
        });
        outcome.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => FileError { name: self.name.clone(), action: Action::Read, error }.into(),
        })
    }
}

impl Check {
    /// Takes the next bytes; none at the end.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.meter.add(bytes);
        let expected = &self.expected;
        let difference = match expected.bytes {
            Some(len) if self.meter.bytes > len => Some(Difference::Longer(len)),
            _ if !bytes.is_empty() => None,
            _ => {
                let found = self.meter.contents();
                expected.check_length(self.meter.bytes).err().or_else(|| {
                    expected.xxh3.filter(|hash| Some(*hash) != found.xxh3).map(|_| {
                        Difference::Hash {
                            found: found.digits().unwrap_or_default(),
                            expected: expected.digits().unwrap_or_default(),
                        }
                    })
                })
            }
        };
        match difference {
            None => Ok(()),
            Some(difference) => {
                let description = self.description.clone();
                let other = OtherCapture { description, difference };
                Err(io::Error::new(io::ErrorKind::InvalidData, other))
            }
        }
    }
}
