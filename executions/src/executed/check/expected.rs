//! A stream of the instructions that must have retired.

use super::hexadecimal;
use crate::{Format, Guesses, Input, Options, Peeked, Place, Source, SourceError};
use hartrace_decoder::Image;
use hartrace_isa::Xlen;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The longest accepted line with an address.
const LINE_BYTES: u64 = 1 << 12;

/// An instruction that retired.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its address.
    pub address: u64,
    /// Line of the file, counted from 1; trace files have none.
    pub line: Option<u64>,
}

/// Returns the program of a context, which is needed to split blocks of several instructions.
pub type Code<'p> = Box<dyn Fn(u64) -> &'p Image + Send + 'p>;

/// The instructions of a file, one at a time. The file is a log of any format, or has one hexadecimal
/// address per line.
#[derive(Debug)]
pub struct Expected<'p>(Kind<'p>);

#[derive(Debug)]
enum Kind<'p> {
    Addresses(Addresses),
    Log(Box<Log<'p>>),
}

impl<'p> Expected<'p> {
    /// Opens a file of either form. Errors name it `file`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or if a log has no valid header.
    pub fn new(
        input: Input,
        file: String,
        options: &Options,
        code: Option<Code<'p>>,
    ) -> Result<Self, SourceError> {
        let xlen = options.xlen.unwrap_or(Xlen::Rv64);
        let (detected, input) = Format::detect(input).map_err(|error| unreadable(&file, &error))?;
        let Some(format) = options.format.or(detected) else {
            let addresses = Addresses { input: Box::new(input), file, xlen, line: 0, text: vec![] };
            return Ok(Self(Kind::Addresses(addresses)));
        };
        let options = Options { format: Some(format), ..*options };
        let source = Source::new(input, &file, &options)?;
        Ok(Self(Kind::Log(Box::new(Log { source, file, xlen, code, block: None }))))
    }

    /// Returns the format; `None` if there is one address per line.
    pub fn format(&self) -> Option<Format> {
        match &self.0 {
            Kind::Addresses(_) => None,
            Kind::Log(log) => Some(log.source.format()),
        }
    }

    /// Returns what had to be guessed so far.
    pub fn guesses(&self) -> Guesses {
        match &self.0 {
            Kind::Addresses(_) => Guesses::default(),
            Kind::Log(log) => log.source.guesses(),
        }
    }

    /// Returns the next instruction, or `None` after the last.
    ///
    /// # Errors
    ///
    /// If the file cannot be read further, or if a block contains instructions that are not in the
    /// program.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, SourceError> {
        match &mut self.0 {
            Kind::Addresses(addresses) => addresses.next(),
            Kind::Log(log) => log.next(),
        }
    }
}

/// The instructions of a log.
struct Log<'p> {
    source: Source<Peeked<Input>>,
    file: String,
    xlen: Xlen,
    code: Option<Code<'p>>,
    block: Option<Block>,
}

impl fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("block", &self.block).finish_non_exhaustive()
    }
}

/// The rest of a block.
#[derive(Copy, Clone, Debug)]
struct Block {
    line: Option<u64>,
    context: u64,
    at: u64,
    bytes: u64,
}

impl Log<'_> {
    fn next(&mut self) -> Result<Option<Entry>, SourceError> {
        loop {
            if let Some(block) = self.block {
                return self.split(block).map(Some);
            }
            let Some(row) = self.source.next_row()? else {
                return Ok(None);
            };
            let (line, retired) = (row.line, row.retired);
            let bytes = 2 * u64::from(retired.iretire);
            if bytes > retired.last_bytes() {
                self.block =
                    Some(Block { line, context: retired.context, at: retired.iaddr, bytes });
            } else if bytes > 0 {
                return Ok(Some(Entry { address: retired.iaddr, line }));
            }
            // Otherwise it is a trap before which nothing retired.
        }
    }

    /// Splits off the first instruction of a block.
    fn split(&mut self, block: Block) -> Result<Entry, SourceError> {
        let Block { line, context, at, bytes } = block;
        let code = self.code.as_ref().and_then(|code| code(context).encoding(at));
        let size = code.map(|code| if code & 3 == 3 { 4 } else { 2 });
        let Some(left) = size.and_then(|size| bytes.checked_sub(size)) else {
            let what = match size {
                None => "no code at",
                Some(_) => "the block ends within the instruction at",
            };
            return Err(SourceError {
                file: self.file.clone(),
                place: Place::File,
                what: format!("{what} {}", hexadecimal(at, self.xlen)),
                hint: "the program that was executed, or a log with an instruction per row".into(),
            });
        };
        let next = self.xlen.wrap(at.wrapping_add(bytes - left));
        self.block = (left > 0).then_some(Block { at: next, bytes: left, ..block });
        Ok(Entry { address: at, line })
    }
}

/// One address per line; empty lines are skipped.
struct Addresses {
    input: Input,
    file: String,
    xlen: Xlen,
    line: u64,
    text: Vec<u8>,
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addresses").field("line", &self.line).finish_non_exhaustive()
    }
}

impl Addresses {
    fn next(&mut self) -> Result<Option<Entry>, SourceError> {
        if let Some(address) = self.plain() {
            self.line += 1;
            return Ok(Some(Entry { address, line: Some(self.line) }));
        }
        loop {
            self.text.clear();
            let mut line = (&mut self.input).take(LINE_BYTES);
            let read = line.read_until(b'\n', &mut self.text);
            if read.map_err(|error| unreadable(&self.file, &error))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = self.text.trim_ascii();
            if !text.is_empty() {
                let address = parse(text, self.xlen).ok_or_else(|| {
                    let shown = String::from_utf8_lossy(text.get(..32).unwrap_or(text));
                    let (shown, bits) = (shown.escape_debug(), self.xlen.bits());
                    SourceError {
                        file: self.file.clone(),
                        place: Place::Line(self.line),
                        what: format!("`{shown}` is not an address of {bits} bits"),
                        hint: "one hexadecimal address per line, or a log that `encode` takes"
                            .into(),
                    }
                })?;
                return Ok(Some(Entry { address, line: Some(self.line) }));
            }
        }
    }
}

impl Addresses {
    /// The next line, if it has the form that `decode` prints: most lines do, and need not be copied.
    fn plain(&mut self) -> Option<u64> {
        let line: &[u8; 17] = self.input.fill_buf().ok()?.first_chunk()?;
        let (end, digits) = line.split_last()?;
        let mut value = 0;
        for digit in digits {
            value = value << 4 | u64::from((*digit as char).to_digit(16)?);
        }
        let address = fit(value, self.xlen).filter(|_| *end == b'\n')?;
        self.input.consume(17);
        Some(address)
    }
}

/// Parses a hexadecimal address.
fn parse(text: &[u8], xlen: Xlen) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    fit(u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, xlen)
}

/// An RV32 address may be sign-extended to 64 bits.
fn fit(value: u64, xlen: Xlen) -> Option<u64> {
    let low = u64::from(value as u32);
    match xlen {
        Xlen::Rv32 => (value == low || value == value as i32 as u64).then_some(low),
        Xlen::Rv64 => Some(value),
    }
}

fn unreadable(file: &str, error: &io::Error) -> SourceError {
    let what = format!("cannot read: {error}");
    SourceError { file: file.into(), place: Place::File, what, hint: "a complete file".into() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The trace in `input`, named `t`.
    pub(in super::super) fn of(
        input: impl BufRead + Send + 'static,
        xlen: Xlen,
    ) -> Result<Expected<'static>, SourceError> {
        let options = Options { xlen: Some(xlen), ..Options::default() };
        Expected::new(Box::new(input), "t".into(), &options, None)
    }

    fn all(text: &'static str, xlen: Xlen) -> Result<Vec<(u64, u64)>, String> {
        let list = || {
            let mut expected = of(text.as_bytes(), xlen)?;
            let mut list = Vec::new();
            while let Some(entry) = expected.next_entry()? {
                list.push((entry.address, entry.line.unwrap()));
            }
            Ok(list)
        };
        list().map_err(|error: SourceError| error.to_string())
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
            ("10\n1g\n", Xlen::Rv64, "t:2: `1g` is not an address of 64 bits; try: one"),
            ("100000000\n", Xlen::Rv32, "t:1: `100000000` is not an address of 32 bits"),
            ("0x\n", Xlen::Rv64, "t:1: `0x` is not"),
            ("+10\n", Xlen::Rv64, "t:1: `+10` is not"),
            ("11112222333344445\n", Xlen::Rv64, "t:1: "),
            ("a,b\n1,2\n", Xlen::Rv64, "t:1: no column itype_0; try: a header row such as"),
        ] {
            let error = all(text, xlen).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
