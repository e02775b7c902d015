//! Code that is in no file: an operating system puts it into a program.

use super::program::{bytes, hex};
use crate::limits::KERNEL_CODE;
use crate::params::document::Entry;
use crate::params::{DocumentError, unknown};
use std::fmt;

/// Code that the operating system has put at an address: where handlers of signals return to, for instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCode {
    /// Its first address.
    pub address: u64,
    /// The code.
    pub bytes: Vec<u8>,
}

impl KernelCode {
    /// Reads one table of a list.
    pub(super) fn read(table: &[Entry]) -> Result<Self, DocumentError> {
        let mut code = Self { address: 0, bytes: Vec::new() };
        for entry in table {
            match entry.key.as_str() {
                "address" => code.address = entry.address()?,
                "bytes" => {
                    let digits = || entry.expected("hexadecimal digits, of at most 64 KiB");
                    let found = bytes(entry.text()?).filter(|found| found.len() <= KERNEL_CODE);
                    code.bytes = found.ok_or_else(digits)?;
                }
                _ => return Err(unknown(entry, ["address", "bytes"].into_iter())),
            }
        }
        Ok(code)
    }
}

/// The entries of a table of TOML.
impl fmt::Display for KernelCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "address = \"{:#x}\"\nbytes = \"{}\"", self.address, hex(&self.bytes))
    }
}
