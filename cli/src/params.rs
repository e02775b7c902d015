//! Streams, as the command line and a parameter file describe them.

use crate::args::StreamArgs;
use crate::failure::Failure;
use crate::files;
use hartrace_capture::described::Described;
use hartrace_capture::framing::{self, Kind};
use hartrace_capture::params::{DocumentError, Draft, Setup, SetupError};
use hartrace_etrace::{Compat, Unit};
use std::path::Path;

/// Reads the parameter file, if any, and completes it from the command line. Without a file, parameters are
/// those of the description.
pub(crate) fn setup(args: &StreamArgs, described: Option<&Described>) -> Result<Setup, Failure> {
    let options = args.options();
    let draft = options.read_draft()?;
    let place = args.params.as_deref().or_else(|| described?.file());
    let setup = match described {
        Some(described) => described.setup(draft, &options.given()),
        None => Setup::new(draft, &options.given()),
    };
    setup.map_err(|error| match place {
        Some(place) => Failure::from(error).at(files::name(place)),
        None => error.into(),
    })
}

pub(crate) fn draft(path: &Path) -> Result<Draft, Failure> {
    let args = StreamArgs { params: Some(path.to_owned()), ..StreamArgs::default() };
    Ok(args.options().read_draft()?.unwrap_or_default())
}

/// Only payloads of rv_tracer can be read from its records, whose rest is zeros: others end where their last bit repeats.
pub(crate) fn check_framing(setup: &Setup) -> Result<(), Failure> {
    if setup.transport.kind() == Kind::RvTracer && setup.unit != Unit::RvTracer {
        return Err(Failure::usage(
            "framing rv-tracer holds payloads of the unit `rv-tracer` only, and the parameters have another unit",
        )
        .hint("unit = \"rv-tracer\" among the [options], or another --framing"));
    }
    Ok(())
}

/// Only streams of the reference models have their quirks.
pub(crate) fn check_compat(setup: &Setup) -> Result<(), Failure> {
    if setup.compat != Compat::None && setup.unit != Unit::Reference {
        return Err(Failure::usage(
            "--compat reproduces a reference model, but the unit is not `reference`",
        )
        .hint("unit = \"reference\", or no --compat"));
    }
    Ok(())
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        let DocumentError { place, problem } = error;
        let failure =
            if problem.is_unreadable() { Self::input(&problem) } else { Self::usage(&problem) };
        failure.at(place).hint_if(problem.hint())
    }
}

/// Messages name options of the command line.
impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::NoParameters => Self::usage(error)
                .hint(
                "`hartrace probe CAPTURE --elf PROG`, which identifies an unknown capture and, with --write, writes its \
                 description; or --params FILE.toml",
            ),
            SetupError::NoWidth => Self::usage(error).hint("--xlen 32 or --xlen 64"),
            SetupError::Width { xlen, width } => Self::usage(format_args!(
                "--xlen {} contradicts iaddress_width_p = {width}",
                xlen.bits()
            ))
            .hint(format_args!("--xlen {}", if width > 32 { 64 } else { 32 })),
            SetupError::NoPeriod => Self::usage(error).hint("resync-max = 10"),
            SetupError::Framing(error) => error.into(),
            _ => Self::usage(error),
        }
    }
}

impl From<framing::Error> for Failure {
    fn from(error: framing::Error) -> Self {
        match error {
            framing::Error::NoField { field, kind } => {
                let kinds = field.kinds().iter().map(|kind| format!("--framing {kind}"));
                Self::usage(format_args!("--{field} means nothing with framing {kind}"))
                    .hint(kinds.collect::<Vec<_>>().join(" or "))
            }
            framing::Error::NoSource(_) => Self::usage(error)
                .hint("--src-bits N with encap, --hart-bits N with smi, or no --source"),
            _ => Self::usage(error),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/params.rs"]
mod tests;
