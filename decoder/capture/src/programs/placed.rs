//! Code with the place where it is loaded.

use super::{Programs, Replaced, address};
use crate::description::At;
use hartrace_decoder::ElfError;
use hartrace_isa::Xlen;
use std::fmt;
use std::num::ParseIntError;
use std::ops::Range;
use std::path::PathBuf;
use thiserror::Error;

/// A file and the address, or the offset, that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The file.
    pub path: PathBuf,
    /// Of bare code, its address; of a program, what is added to its addresses.
    pub address: u64,
}

/// Why a text does not name a file with its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlacedError {
    /// Bare code without an address.
    #[error("write FILE@ADDR, for example rom@0x1000")]
    NoAddress,
    /// A program without a context.
    #[error("write ID=PROG, for example 7=app.elf")]
    NoContext,
    /// Not an address.
    #[error("`{0}` is not an address such as 0x80000000: {1}")]
    Address(String, ParseIntError),
    /// Not a context.
    #[error("`{0}` is not a context: {1}")]
    Context(String, ParseIntError),
}

impl Placed {
    /// Reads `PROG[@BIAS]`, a program.
    ///
    /// # Errors
    ///
    /// If the bias is not a number. A file name may contain an `@` itself: only what starts with `0x` after
    /// the last one is a bias.
    pub fn program(text: &str) -> Result<Self, PlacedError> {
        let split = text.rsplit_once('@').filter(|(_, bias)| bias.starts_with("0x"));
        let (path, address) = match split {
            Some((path, bias)) => (path, parse_address(bias)?),
            None => (text, 0),
        };
        Ok(Self { path: path.into(), address })
    }

    /// Reads `ID=PROG[@BIAS]`, a program of one context.
    ///
    /// # Errors
    ///
    /// If there is no context, or one of the numbers is none.
    pub fn of_context(text: &str) -> Result<(u64, Self), PlacedError> {
        let (id, program) = text.split_once('=').ok_or(PlacedError::NoContext)?;
        let id = parse_number(id).map_err(|error| PlacedError::Context(id.into(), error))?;
        Ok((id, Self::program(program)?))
    }

    /// Reads `FILE@ADDR`, bare code.
    ///
    /// # Errors
    ///
    /// If there is no address.
    pub fn bare(text: &str) -> Result<Self, PlacedError> {
        let (path, address) = text.rsplit_once('@').ok_or(PlacedError::NoAddress)?;
        Ok(Self { path: path.into(), address: parse_address(address)? })
    }
}

/// Reads an address: hexadecimal with `0x`, else decimal; underscores are ignored.
///
/// # Errors
///
/// If it is not a number.
pub fn parse_address(text: &str) -> Result<u64, PlacedError> {
    parse_number(text).map_err(|error| PlacedError::Address(text.into(), error))
}

fn parse_number(text: &str) -> Result<u64, ParseIntError> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    }
}

/// Code of the traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its file, for messages.
    pub name: String,
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// Where it is loaded.
    pub at: At,
    /// The only context that runs it, if not all do.
    pub context: Option<u64>,
}

impl Code {
    /// Returns whether this is an ELF file.
    pub fn is_elf(&self) -> bool {
        self.bytes.starts_with(b"\x7fELF")
    }

    /// Returns the register width of a program; 64 if it is none, which loading it reports.
    pub fn xlen(&self) -> Xlen {
        elf_xlen(&self.bytes)
    }
}

/// Returns the register width of an ELF file; 64 if it is none.
pub fn elf_xlen(elf: &[u8]) -> Xlen {
    let class = elf.strip_prefix(b"\x7fELF").and_then(|rest| rest.first());
    if class == Some(&1) { Xlen::Rv32 } else { Xlen::Rv64 }
}

/// Code that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}: {error}")]
pub struct Unloadable {
    /// Its file.
    pub name: String,
    /// Why.
    pub error: ElfError,
}

/// Code that replaces other code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The file that it is from.
    pub name: String,
    /// The addresses.
    pub range: Range<u64>,
    xlen: Xlen,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [start, end] = [self.range.start, self.range.end].map(|pc| address(pc, self.xlen));
        write!(f, "{}: replaces other code from {start} to {end}", self.name)
    }
}

impl Programs {
    /// Loads code. Later code wins where some overlaps; that is returned too.
    ///
    /// # Errors
    ///
    /// If some of it cannot be loaded.
    pub fn load(code: Vec<Code>, xlen: Xlen) -> Result<(Self, Vec<Overlap>), Unloadable> {
        let (mut programs, mut overlaps) = (Self::new(xlen), Vec::new());
        for Code { name, bytes, at, context } in code {
            let replaced: Result<Replaced, ElfError> = match (at, context) {
                (At::Bias(bias), None) => programs.common.add_elf(&name, bytes, bias),
                (At::Bias(bias), Some(id)) => programs.add_context(&name, id, bytes, bias),
                (At::Address(address), _) => Ok(programs.add_code(address, &bytes)),
            };
            match replaced {
                Ok(ranges) => overlaps.extend(ranges.into_iter().map(|range| Overlap {
                    name: name.clone(),
                    range,
                    xlen,
                })),
                Err(error) => return Err(Unloadable { name, error }),
            }
        }
        Ok((programs, overlaps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(path: &str, address: u64) -> Placed {
        Placed { path: path.into(), address }
    }

    #[test]
    fn addresses() {
        assert_eq!(parse_address("0x1000"), Ok(0x1000));
        assert_eq!(parse_address("0xffff_ffbf_8000_0000"), Ok(0xffff_ffbf_8000_0000));
        assert_eq!(parse_address("4096"), Ok(4096));
        for bad in ["", "0x", "1000h", "0x1ffffffffffffffff", "-1"] {
            assert!(parse_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn programs_and_images() {
        let [program, bare] = [Placed::program, Placed::bare];
        assert_eq!(program("a.elf"), Ok(placed("a.elf", 0)));
        assert_eq!(program("pk@0xffffffbf80000000"), Ok(placed("pk", 0xffff_ffbf_8000_0000)));
        assert_eq!(program("me@home/a.elf"), Ok(placed("me@home/a.elf", 0)));
        assert_eq!(bare("me@home/rom@0x1000"), Ok(placed("me@home/rom", 0x1000)));
        assert!(bare("rom").is_err());
        assert!(program("a@0xg").is_err());
        assert_eq!(Placed::of_context("0x1f=a=b@0x10"), Ok((31, placed("a=b", 0x10))));
        assert!(Placed::of_context("a.elf").is_err() && Placed::of_context("a=b").is_err());
    }

    #[test]
    fn later_code_wins_and_says_so() {
        let code = |name: &str, address| Code {
            name: name.into(),
            bytes: vec![name.as_bytes()[0]; 4],
            at: At::Address(address),
            context: None,
        };
        let all = vec![code("a", 0x1000), code("b", 0x1002), code("c", 0x2000)];
        let (_, overlaps) = Programs::load(all, Xlen::Rv32).unwrap();
        let overlaps: Vec<String> = overlaps.iter().map(Overlap::to_string).collect();
        assert_eq!(overlaps, ["b: replaces other code from 0x00001002 to 0x00001004"]);
        let elf = Code { at: At::Bias(0), ..code("d", 0) };
        let error = Programs::load(vec![elf], Xlen::Rv64).unwrap_err();
        assert!(error.to_string().starts_with("d: "), "{error}");
    }
}
