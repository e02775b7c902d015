//! A source of any format.

use crate::cva6::Cva6;
use crate::file::Rows;
use crate::fit::misfit;
use crate::format::{Peeked, untouched};
use crate::packed::{Input, decompress};
use crate::reference::{Meaning, Reference};
use crate::spike::Spike;
use crate::{Format, Guesses, Hint, Place, Row, SourceError};
use hartrace_capture::limits;
use hartrace_decoder::Image;
use hartrace_etrace::ingress::{Flavour, ITypeWidth};
use hartrace_isa::Xlen;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// How to interpret a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The format; detected from the start of the file if not given.
    pub format: Option<Format>,
    /// Register width, which determines the meaning of instructions and of sign-extended addresses.
    /// If not given, RV32 for logs of Spike with addresses of 8 digits, otherwise RV64.
    pub xlen: Option<Xlen>,
    /// For logs of Spike: the hart to read; others are skipped.
    pub hart: u32,
    /// For encoder input: the unit of `iretire`. Rows always count half-words.
    pub flavour: Flavour,
    /// The width of itype codes; 4-bit codes are narrowed if it is 3.
    pub itype_width: ITypeWidth,
}

impl Default for Options {
    /// Everything detected; hart 0, single retirement, 4-bit codes.
    fn default() -> Self {
        Self {
            format: None,
            xlen: None,
            hart: 0,
            flavour: Flavour::Single,
            itype_width: ITypeWidth::Four,
        }
    }
}

/// The rows of a file of any format, one at a time.
///
/// It never holds more than a line or a chunk of the file, whatever its contents.
#[derive(Debug)]
pub struct Source<R> {
    kind: Kind<Peeked<R>>,
    itype_width: ITypeWidth,
    /// The program that was executed, with the name of the log for errors.
    program: Option<(Box<Image>, String)>,
    /// Rows so far, since those of trace files have no other place.
    count: u64,
}

#[derive(Debug)]
enum Kind<R> {
    Spike(Box<Spike<R>>),
    Cva6(Box<Cva6<R>>),
    Reference(Box<Reference<R>>),
    TraceFile(Box<Rows<R>>),
}

/// Opens a file, which may be compressed with gzip or zstd.
pub fn open(path: &Path, options: &Options) -> Result<Source<Input>, SourceError> {
    let name = path.display().to_string();
    let input = limits::open(path)
        .and_then(|file| decompress(Box::new(BufReader::with_capacity(1 << 16, file))))
        .map_err(|error| {
            SourceError::new(&name, Place::File, format!("cannot open: {error}"), "another path")
        })?;
    Source::new(input, &name, options)
}

impl<R: BufRead> Source<R> {
    /// Detects the format, if it is not given, and reads the header, if there is one. Messages name
    /// the input `file`.
    pub fn new(input: R, file: &str, options: &Options) -> Result<Self, SourceError> {
        let (format, input) = match options.format {
            Some(format) => (format, untouched(input)),
            None => {
                let failed = |error: io::Error| {
                    let what = format!("cannot read: {error}");
                    SourceError::new(file, Place::File, what, "a complete file")
                };
                let (format, input) = Format::detect(input).map_err(failed)?;
                let unknown = || {
                    let what = "neither an execution log nor a trace file";
                    SourceError::new(file, Place::File, what, Hint::Format)
                };
                (format.ok_or_else(unknown)?, input)
            }
        };
        let xlen = options.xlen.unwrap_or(Xlen::Rv64);
        let kind = match format {
            Format::Spike => {
                Kind::Spike(Box::new(Spike::new(input, file, options.xlen, options.hart)))
            }
            Format::Cva6 => Kind::Cva6(Box::new(Cva6::new(input, file, xlen)?)),
            Format::Reference => {
                let meaning = Meaning { flavour: options.flavour, xlen };
                Kind::Reference(Box::new(Reference::new(input, file, meaning)?))
            }
            Format::TraceFile => Kind::TraceFile(Box::new(Rows::new(input, file)?)),
        };
        Ok(Self { kind, itype_width: options.itype_width, program: None, count: 0 })
    }

    /// The same rows, which must be of this program: each instruction has to be at its address there. Errors name the
    /// input `file`.
    #[must_use]
    pub fn of(self, program: Image, file: &str) -> Self {
        Self { program: Some((Box::new(program), file.into())), ..self }
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        match &self.kind {
            Kind::Spike(_) => Format::Spike,
            Kind::Cva6(_) => Format::Cva6,
            Kind::Reference(_) => Format::Reference,
            Kind::TraceFile(_) => Format::TraceFile,
        }
    }

    /// Returns the next row, or `None` after the last. Results after an error have no meaning.
    pub fn next_row(&mut self) -> Result<Option<Row>, SourceError> {
        let mut row = match &mut self.kind {
            Kind::Spike(spike) => spike.next()?,
            Kind::Cva6(cva6) => cva6.next()?,
            Kind::Reference(reference) => reference.next()?,
            Kind::TraceFile(rows) => {
                rows.next_row()?.map(|retired| Row { line: None, word: None, retired })
            }
        };
        if let (ITypeWidth::Three, Some(row)) = (self.itype_width, &mut row) {
            row.retired.itype = row.retired.itype.narrow();
        }
        if let (Some((program, file)), Some(row)) = (&self.program, &row)
            && let Some(what) = misfit(program, row)
        {
            let place = row.line.map_or(Place::Row(self.count), Place::Line);
            let hint = "the program that was executed, or none if its code changed";
            return Err(SourceError::new(file, place, what, hint));
        }
        self.count += 1;
        Ok(row)
    }

    /// Returns what had to be guessed so far.
    pub fn guesses(&self) -> Guesses {
        match &self.kind {
            Kind::Spike(spike) => spike.guesses(),
            Kind::Cva6(cva6) => cva6.guesses(),
            Kind::Reference(_) | Kind::TraceFile(_) => Guesses::default(),
        }
    }
}
