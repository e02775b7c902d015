//! Programs that the command line names.

use crate::args::{EventsArgs, FollowArgs};
use crate::described;
use crate::failure::{Failure, warn};
use crate::files;
use hartrace_capture::described::Described;
use hartrace_capture::description::{At, Description, Traced};
use hartrace_capture::params::Setup;
use hartrace_capture::programs::{Changing, Code, Overlap, Placed, Programs, Unloadable};
use hartrace_decoder::ElfError;
use hartrace_isa::Xlen;
use std::path::Path;

/// Reads the code that the command line names: programs, then bare code, then the programs of single
/// contexts. Without any, it is that of the description.
pub(crate) fn code(args: &FollowArgs, described: &Described) -> Result<Vec<Code>, Failure> {
    let mut given = placed(&args.elf, &args.image)?;
    for (id, placed) in &args.context_elf {
        given.push(Code { context: Some(*id), ..read(placed, At::Bias(placed.address))? });
    }
    if given.is_empty() {
        given = described::code(described)?;
    }
    for code in &given {
        match (described.difference(code), described.instead_of(code)) {
            (Some(error), _) => warn(format_args!("{}: {error}", code.name)),
            (None, Some(traced)) => {
                let what = "this is not the program that was traced, which is";
                warn(format_args!("{}: {what} {traced}", code.name));
            }
            (None, None) => {}
        }
    }
    Ok(given)
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
    let traced =
        paths.zip(&code).map(|(path, code)| Traced { path, bytes: &code.bytes, at: code.at });
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

/// Reads the log of changes to the code, if there is one.
pub(crate) fn changing(args: &EventsArgs, setup: &Setup) -> Result<Option<Changing>, Failure> {
    let (Some(log), Some(path)) = (args.log()?, &args.events) else {
        return match args.context_id {
            Some(_) => Err(Failure::usage("--context-id applies only to processes of a log")
                .hint("--events LOG, or the same without it")),
            None => Ok(None),
        };
    };
    let Some(holds) = args.context_id else {
        return Err(Failure::usage("it is not known what the context of the hart holds")
            .hint("--context-id tid, if it holds a thread or process"));
    };
    let changing = Changing::new(path, &log, holds, &setup.params);
    let (changing, warnings) = changing.map_err(|error| {
        Failure::usage(error)
            .at(path.display())
            .hint("a log with @POSITION, or notime_p = 0 and time_width_p among the parameters")
    })?;
    warnings.iter().for_each(warn);
    Ok(Some(changing))
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
