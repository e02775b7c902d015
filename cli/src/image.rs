//! Programs that the command line names.

use crate::args::FollowArgs;
use crate::described;
use crate::failure::{Failure, warn};
use crate::files;
use hartrace_capture::described::Described;
use hartrace_capture::description::{At, Description, Traced};
use hartrace_capture::programs::{Code, Overlap, Placed, Programs, Unloadable};
use hartrace_decoder::ElfError;
use hartrace_isa::Xlen;
use std::path::Path;

/// Reads the code that the command line names: programs, then bare code, then the programs of single
/// contexts. Without any, it is that of the description.
pub(crate) fn code(args: &FollowArgs, described: &Described) -> Result<Vec<Code>, Failure> {
    let mut warnings = Vec::new();
    let code = args.options().code(described, &mut warnings);
    warnings.iter().for_each(warn);
    Ok(code?)
}

/// Reads programs, then bare code.
pub(crate) fn placed(programs: &[Placed], bare: &[Placed]) -> Result<Vec<Code>, Failure> {
    let programs = programs.iter().map(|placed| read(placed, At::Bias(placed.address)));
    let bare = bare.iter().map(|placed| read(placed, At::Address(placed.address)));
    programs.chain(bare).collect()
}

/// The description of a capture of programs and bare code as the command line names them.
pub(crate) fn describe(
    capture: &Path,
    description: Description,
    programs: &[Placed],
    bare: &[Placed],
) -> Result<Description, Failure> {
    let code = placed(programs, bare)?;
    let paths = programs.iter().chain(bare).map(|placed| &placed.path);
    let traced = paths
        .zip(&code)
        .map(|(path, code)| Traced { at: code.at, ..Traced::new(path, &code.bytes) });
    described::describe(capture, description, &traced.collect::<Vec<_>>())
}

fn read(placed: &Placed, at: At) -> Result<Code, Failure> {
    let (name, bytes) = (files::name(&placed.path), files::read(&placed.path)?);
    Ok(Code { name, bytes, at, context: None })
}

/// Loads code. Warns where some overlaps: later code wins.
pub(crate) fn load(code: Vec<Code>, xlen: Xlen) -> Result<Programs, Failure> {
    let (programs, overlaps) = Programs::load(code, xlen)?;
    warn_of(overlaps);
    Ok(programs)
}

/// Warns of code that replaces other code.
pub(crate) fn warn_of(overlaps: Vec<Overlap>) {
    for overlap in overlaps {
        warn(format_args!("{overlap}; try another address or bias"));
    }
}

impl From<Unloadable> for Failure {
    fn from(Unloadable { name, error }: Unloadable) -> Self {
        let failure = match &error {
            ElfError::Xlen { found, expected } => Self::usage(format_args!(
                "this is an RV{} program, but the trace is of RV{}",
                found.bits(),
                expected.bits()
            ))
            .hint(format_args!("--xlen {}", found.bits())),
            ElfError::NotElf(_) => {
                Self::input(error).hint("--image FILE@ADDR, if this is bare code")
            }
            ElfError::NoSegments => Self::input(error).hint("the program after linking"),
            _ => Self::input(error),
        };
        failure.at(name)
    }
}

#[cfg(test)]
#[path = "../tests/unit/image.rs"]
mod tests;
