//! Logs of executions.

use crate::args::InputArgs;
use crate::failure::Failure;
use crate::files;
use hartrace_etrace::ingress::{Flavour, ITypeWidth};
use hartrace_executions::{Hint, Input, Options, Source, SourceError};
use hartrace_isa::Xlen;
use indicatif::ProgressBar;
use std::path::Path;

/// Returns the options for reading a log.
pub(crate) fn options(args: &InputArgs, xlen: Option<Xlen>, itype_width: ITypeWidth) -> Options {
    Options {
        format: args.input_format,
        xlen,
        hart: args.hart,
        flavour: args.retirement,
        itype_width,
    }
}

/// Opens a log. The bar counts bytes of the file itself.
pub(crate) fn open(
    path: &Path,
    options: &Options,
) -> Result<(Source<Input>, ProgressBar), Failure> {
    let (input, bar) = files::open(path)?;
    Ok((Source::new(input, &files::name(path), options)?, bar))
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let SourceError { file, place, what, hint } = error;
        let failure = Self::input(what).at(format_args!("{file}{place}"));
        match hint {
            Hint::Format => {
                failure.hint("another file, or --input-format spike, cva6, reference or htr")
            }
            Hint::Flavour(Flavour::Block) => {
                failure.hint("--retirement block, if iretire counts half-words")
            }
            Hint::Flavour(Flavour::Single) => {
                failure.hint("--retirement single, if iretire is 0 or 1")
            }
            Hint::Xlen(xlen) => {
                failure.hint(format_args!("--xlen {0}, if this is an RV{0} run", xlen.bits()))
            }
            other => failure.hint(other),
        }
    }
}
