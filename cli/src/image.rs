//! Programs that the command line names.

use crate::args::{EventsArgs, FollowArgs, Placed};
use crate::described::Described;
use crate::failure::{Failure, warn};
use crate::files;
use hartrace_capture::description::At;
use hartrace_capture::params::Setup;
use hartrace_capture::programs::{Changing, Programs, Replaced, address};
use hartrace_decoder::ElfError;
use hartrace_isa::Xlen;

/// Code of the traced program.
pub(crate) struct Code {
    /// Its file, for messages.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) at: At,
    /// The only context that runs it, if not all do.
    pub(crate) context: Option<u64>,
}

impl Code {
    fn read(placed: &Placed, at: At, context: Option<u64>) -> Result<Self, Failure> {
        let (name, bytes) = (files::name(&placed.path), files::read(&placed.path)?);
        Ok(Self { name, bytes, at, context })
    }
}

/// Reads the code that the command line names: programs, then bare code, then the programs of single
/// contexts. Without any, it is that of the description.
pub(crate) fn code(args: &FollowArgs, described: &Described) -> Result<Vec<Code>, Failure> {
    let mut given = placed(&args.elf, &args.image)?;
    for (id, placed) in &args.context_elf {
        given.push(Code::read(placed, At::Bias(placed.address), Some(*id))?);
    }
    if given.is_empty() {
        return described.code();
    }
    described.compare(&given);
    Ok(given)
}

/// Reads programs, then bare code.
pub(crate) fn placed(programs: &[Placed], bare: &[Placed]) -> Result<Vec<Code>, Failure> {
    let mut given = elf(programs)?;
    for placed in bare {
        given.push(Code::read(placed, At::Address(placed.address), None)?);
    }
    Ok(given)
}

/// Reads programs.
pub(crate) fn elf(placed: &[Placed]) -> Result<Vec<Code>, Failure> {
    placed.iter().map(|placed| Code::read(placed, At::Bias(placed.address), None)).collect()
}

/// The register width of a program; 64 if it is none, which is reported when it is loaded.
pub(crate) fn xlen(elf: &[u8]) -> Xlen {
    let class = elf.strip_prefix(b"\x7fELF").and_then(|rest| rest.first());
    if class == Some(&1) { Xlen::Rv32 } else { Xlen::Rv64 }
}

/// Loads code. Later code wins where some overlaps.
pub(crate) fn load(code: Vec<Code>, xlen: Xlen) -> Result<Programs, Failure> {
    let mut programs = Programs::new(xlen);
    for Code { name, bytes, at, context } in code {
        let replaced = match (at, context) {
            (At::Bias(bias), None) => programs.add_elf(bytes, bias),
            (At::Bias(bias), Some(id)) => programs.add_context_elf(id, bytes, bias),
            (At::Address(address), _) => Ok(programs.add_code(address, &bytes)),
        };
        loaded(&name, xlen, replaced)?;
    }
    Ok(programs)
}

/// Warns if code replaces other code.
fn loaded(name: &str, xlen: Xlen, replaced: Result<Replaced, ElfError>) -> Result<(), Failure> {
    for range in replaced.map_err(|error| unloadable(error).at(name))? {
        let [start, end] = [range.start, range.end].map(|pc| address(pc, xlen));
        warn(format_args!(
            "{name}: replaces other code from {start} to {end}; try another address or bias"
        ));
    }
    Ok(())
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
    let Some(holds) = args.holds() else {
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

fn unloadable(error: ElfError) -> Failure {
    match &error {
        ElfError::Xlen { found, expected } => Failure::usage(format_args!(
            "this is an RV{} program, but the trace is of RV{}",
            found.bits(),
            expected.bits()
        ))
        .hint(format_args!("--xlen {}", found.bits())),
        ElfError::NotElf(_) => {
            Failure::input(error).hint("--image FILE@ADDR, if this is bare code")
        }
        ElfError::NoSegments => Failure::input(error).hint("the program after linking"),
        _ => Failure::input(error),
    }
}

#[cfg(test)]
#[path = "../tests/unit/image.rs"]
mod tests;
