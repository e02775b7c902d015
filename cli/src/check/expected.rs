//! What must have retired, as a stream.

use crate::failure::Failure;
use crate::files::{self, Input};
use crate::input::{Meaning, Rows};
use crate::params::Setup;
use hartrace_ingress::Flavour;
use hartrace_isa::Xlen;
use indicatif::ProgressBar;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// No line of addresses is longer, and no header row.
const LINE_BYTES: u64 = 1 << 12;

const HINT: &str =
    "one hexadecimal address per line, or a CSV that `encode --retirement single` takes";

/// An instruction that retired.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) address: u64,
    /// Line of the file, from 1.
    pub(super) line: u64,
}

/// The instructions of a file, one at a time.
pub(super) enum Expected {
    Addresses(Addresses),
    Rows(Box<Rows<Input>>),
}

impl Expected {
    /// Opens a file of either form.
    pub(super) fn open(path: &Path, setup: &Setup) -> Result<(Self, ProgressBar), Failure> {
        let (reader, bar) = files::open(path)?;
        let flavour = Flavour::Single;
        let meaning = Meaning { flavour, itype_width: setup.itype_width, xlen: setup.xlen };
        Ok((Self::new(reader, files::name(path), meaning)?, bar))
    }

    /// Only a header row has commas.
    fn new(reader: Input, file: String, meaning: Meaning) -> Result<Self, Failure> {
        let mut reader = BufReader::with_capacity(1 << 16, reader);
        let mut first = Vec::new();
        let read = (&mut reader).take(LINE_BYTES).read_until(b'\n', &mut first);
        read.map_err(|error| unreadable(&file, &error))?;
        let is_csv = first.contains(&b',');
        let whole = Cursor::new(first).chain(reader);
        Ok(if is_csv {
            let rows = Rows::new(Box::new(whole) as Input, file, meaning);
            Self::Rows(Box::new(rows.map_err(|failure| failure.hint(HINT))?))
        } else {
            let reader = Box::new(whole);
            Self::Addresses(Addresses { reader, file, xlen: meaning.xlen, line: 0, text: vec![] })
        })
    }

    /// The next instruction; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, Failure> {
        match self {
            Self::Addresses(addresses) => addresses.next(),
            Self::Rows(rows) => loop {
                match rows.next().map_err(|failure| failure.hint(HINT))? {
                    // A trap, before which nothing retired.
                    Some(row) if row.retired.iretire == 0 => {}
                    row => {
                        break Ok(
                            row.map(|row| Entry { address: row.retired.iaddr, line: row.line })
                        );
                    }
                }
            },
        }
    }
}

/// One address per line; empty lines do not count.
pub(super) struct Addresses {
    reader: Box<dyn BufRead + Send>,
    file: String,
    xlen: Xlen,
    line: u64,
    text: Vec<u8>,
}

impl Addresses {
    fn next(&mut self) -> Result<Option<Entry>, Failure> {
        if let Some(address) = self.plain() {
            self.line += 1;
            return Ok(Some(Entry { address, line: self.line }));
        }
        loop {
            self.text.clear();
            let mut line = (&mut self.reader).take(LINE_BYTES);
            let read = line.read_until(b'\n', &mut self.text);
            if read.map_err(|error| unreadable(&self.file, &error))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = self.text.trim_ascii();
            if !text.is_empty() {
                let address = parse(text, self.xlen).ok_or_else(|| {
                    let shown = String::from_utf8_lossy(&text[..text.len().min(32)]);
                    let bits = self.xlen.bits();
                    Failure::input(format_args!(
                        "`{}` is not an address of {bits} bits",
                        shown.escape_debug()
                    ))
                    .at(format_args!("{}:{}", self.file, self.line))
                    .hint(HINT)
                })?;
                return Ok(Some(Entry { address, line: self.line }));
            }
        }
    }
}

impl Addresses {
    /// The next line, if it is as `decode` prints them: most are, and need not be copied.
    fn plain(&mut self) -> Option<u64> {
        let line: &[u8; 17] = self.reader.fill_buf().ok()?.first_chunk()?;
        let (end, digits) = line.split_last()?;
        let mut value = 0;
        for digit in digits {
            value = value << 4 | u64::from((*digit as char).to_digit(16)?);
        }
        let address = fit(value, self.xlen).filter(|_| *end == b'\n')?;
        self.reader.consume(17);
        Some(address)
    }
}

/// A hexadecimal address.
fn parse(text: &[u8], xlen: Xlen) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    fit(u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, xlen)
}

/// For RV32 an address may be sign-extended to 64 bits.
fn fit(value: u64, xlen: Xlen) -> Option<u64> {
    let low = u64::from(value as u32);
    match xlen {
        Xlen::Rv32 => (value == low || value == value as i32 as u64).then_some(low),
        Xlen::Rv64 => Some(value),
    }
}

fn unreadable(file: &str, error: &io::Error) -> Failure {
    Failure::input(format_args!("cannot read: {error}")).at(file)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hartrace_ingress::ITypeWidth;

    /// The trace in `reader`, called `t`.
    pub(in super::super) fn of(
        reader: impl Read + Send + 'static,
        xlen: Xlen,
    ) -> Result<Expected, Failure> {
        let itype_width = ITypeWidth::Four;
        let meaning = Meaning { flavour: Flavour::Single, itype_width, xlen };
        Expected::new(Box::new(reader), "t".into(), meaning)
    }

    fn all(text: &'static str, xlen: Xlen) -> Result<Vec<(u64, u64)>, String> {
        let list = || {
            let mut expected = of(text.as_bytes(), xlen)?;
            let mut list = Vec::new();
            while let Some(entry) = expected.next()? {
                list.push((entry.address, entry.line));
            }
            Ok(list)
        };
        list().map_err(|failure: Failure| failure.to_string())
    }

    #[test]
    fn addresses_in_any_dress() {
        let text = "0000000080000000\n0x80000004\r\n\n  80000006\n0XFFFFFFC000000000";
        let list =
            [(0x8000_0000, 1), (0x8000_0004, 2), (0x8000_0006, 4), (0xffff_ffc0_0000_0000, 5)];
        assert_eq!(all(text, Xlen::Rv64), Ok(list.into()));
        assert_eq!(all("ffffffff80000000\n", Xlen::Rv32), Ok(vec![(0x8000_0000, 1)]));
        assert_eq!(all("", Xlen::Rv64), Ok(vec![]));
    }

    #[test]
    fn rows_that_retired() {
        let text = "cause,itype_0,tval,priv,iaddr_0,iretire_0,ilastsize_0\n\
                    0,0,0,3,1000,1,1\n2,1,0,3,1004,0,1\n0,0,0,3,2000,1,0\n";
        assert_eq!(all(text, Xlen::Rv64), Ok(vec![(0x1000, 2), (0x2000, 4)]));
    }

    #[test]
    fn errors_say_where() {
        for (text, xlen, message) in [
            ("10\n1g\n", Xlen::Rv64, "error: t:2: `1g` is not an address of 64 bits\n  try: one"),
            ("100000000\n", Xlen::Rv32, "t:1: `100000000` is not an address of 32 bits"),
            ("0x\n", Xlen::Rv64, "t:1: `0x` is not"),
            ("+10\n", Xlen::Rv64, "t:1: `+10` is not"),
            ("11112222333344445\n", Xlen::Rv64, "t:1: "),
            ("a,b\n1,2\n", Xlen::Rv64, "t:1: no column itype_0\n  try: one hexadecimal"),
        ] {
            let error = all(text, xlen).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
