//! Logs of executions.

use crate::args::InputArgs;
use crate::failure::{Failure, warn};
use crate::files;
use hartrace_etrace::ingress::{Flavour, ITypeWidth};
use hartrace_executions::{Format, Guesses, Hint, Input, Options, Source, SourceError};
use hartrace_isa::Xlen;
use indicatif::ProgressBar;
use std::path::Path;

/// Returns the options for reading a log.
pub(crate) fn options(args: &InputArgs, xlen: Option<Xlen>, itype_width: ITypeWidth) -> Options {
    Options {
        format: args.input_format,
        xlen,
        hart: args.hart.unwrap_or(0),
        flavour: args.retirement.unwrap_or(Flavour::Single),
        itype_width,
    }
}

/// Refuses options that mean nothing for a log of this format; `None` is a list of addresses.
pub(crate) fn check(args: &InputArgs, format: Option<Format>) -> Result<(), Failure> {
    let spike = (args.hart.is_some(), "--hart", "logs of Spike", Format::Spike);
    let with = "encoder input of the reference flow";
    let reference = (args.retirement.is_some(), "--retirement", with, Format::Reference);
    for (is_given, option, logs, only) in [spike, reference] {
        if is_given && format != Some(only) {
            let other = format.map_or("list of addresses".into(), |format| format.to_string());
            let what = format!("{option} is for {logs}, but this is a {other}");
            return Err(Failure::usage(what).hint(format_args!("the same without {option}")));
        }
    }
    Ok(())
}

/// Warns of what a log does not contain, and was guessed.
pub(crate) fn warn_of(guesses: Guesses, name: &str) {
    if let Some(what) = guesses.traps_in_words() {
        warn(format_args!("{name}: {what}"));
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
