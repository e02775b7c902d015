//! What goes through the encoder.

use crate::args::{SimArgs, With};
use crate::demo;
use crate::exec::program::Program;
use crate::failure::Failure;
use crate::{files, input};
use hartrace_decoder::Image;
use hartrace_encoder_hdl::Config;
use hartrace_ingress::{CType, ITypeWidth, Retired, Trigger};
use hartrace_isa::Xlen;
use hartrace_lockstep::executed::{Instructions, Port};
use hartrace_sources::{Input, Source};
use std::path::Path;

/// Rows of a log that are passed on at a time.
const CHUNK: usize = 1 << 14;

/// A program to execute, or a log of what was executed.
pub(crate) enum Work {
    Program(Box<Program>),
    Log { name: String, rows: Box<Source<Input>>, program: Option<Box<Program>>, clean: Clean },
}

/// How a run ended.
pub(crate) struct Ending {
    /// Instructions, or rows of a log without its program.
    pub(crate) instructions: u64,
}

/// What of a log the encoder cannot be told, and does not trace.
#[derive(Copy, Clone)]
pub(crate) struct Clean {
    context: bool,
    time: bool,
    triggers: bool,
}

impl Clean {
    fn apply(self, row: &Retired) -> Retired {
        let mut row = *row;
        if !self.context {
            (row.context, row.ctype) = (0, CType::Unreported);
        }
        if !self.time {
            row.time = 0;
        }
        if !self.triggers {
            row.trigger = Trigger::default();
        }
        row
    }
}

/// The bundled programs whose addresses fit.
pub(crate) fn bundled(config: &Config) -> Result<Vec<Work>, Failure> {
    let mut works = Vec::new();
    for (name, elf) in demo::PROGRAMS {
        let program = Program::new(name.into(), elf.to_vec())?;
        if program.xlen == xlen(config) {
            works.push(Work::Program(Box::new(program)));
        }
    }
    Ok(works)
}

/// The harts that an encoder is for.
fn xlen(config: &Config) -> Xlen {
    if config.etrace.iaddress_width_p > 32 { Xlen::Rv64 } else { Xlen::Rv32 }
}

impl Work {
    /// Opens an ELF file, or anything that is a log.
    pub(crate) fn open(path: &Path, args: &SimArgs, config: &Config) -> Result<Self, Failure> {
        if !files::is_standard(path) && is_elf(path)? {
            let program = program(path, config)?;
            if args.elf.is_some() {
                return Err(Failure::usage("--elf is for logs").at(files::name(path)));
            }
            return Ok(Self::Program(Box::new(program)));
        }
        let program = args.elf.as_deref().map(|elf| program(elf, config)).transpose()?;
        let options = input::options(&args.format, Some(xlen(config)), ITypeWidth::Four);
        // The bar is that of the simulation.
        let (rows, _) = input::open(path, &options)?;
        let clean = Clean {
            context: !config.etrace.nocontext_p,
            time: !config.etrace.notime_p,
            triggers: config.triggers,
        };
        let program = program.map(Box::new);
        Ok(Self::Log { name: files::name(path), rows: Box::new(rows), program, clean })
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Program(program) => &program.name,
            Self::Log { name, .. } => name,
        }
    }

    /// The code, if it is known.
    pub(crate) fn image(&self) -> Option<Image> {
        match self {
            Self::Program(program) => Some(program.image.clone()),
            Self::Log { program, .. } => program.as_ref().map(|program| program.image.clone()),
        }
    }

    /// The trap vectors, which only a program that is executed can tell.
    pub(crate) fn trap_vectors(&self, limit: u64) -> Result<Vec<(u8, u64)>, Failure> {
        match self {
            Self::Program(program) if program.has_vectors() => {
                Ok(program.execute(limit, |_| Ok(()))?.tvec)
            }
            Self::Log { program: None, .. } => Ok(Vec::new()),
            _ => Err(Failure::usage(
                "implicit exceptions need the trap vectors, which are not known here",
            )
            .hint("modes without `ie`, or a bare-metal program")),
        }
    }

    /// Passes on cycles of the port until `take` says no.
    pub(crate) fn execute(
        &mut self,
        port: Port,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<bool, Failure>,
    ) -> Result<Ending, Failure> {
        match self {
            Self::Program(program) => {
                let mut wanted = true;
                let ending = program.execute_on(port, limit, |rows| {
                    if wanted {
                        wanted = take(rows)?;
                    }
                    Ok(())
                })?;
                match program.failure(ending.exit) {
                    Some(failure) => Err(failure),
                    None => Ok(Ending { instructions: ending.instructions }),
                }
            }
            Self::Log { rows, program, clean, .. } => {
                let known = program.as_ref().map(|program| Instructions::of(&program.image));
                let mut cycles = port.cycles();
                let (mut count, mut instructions) = (0, 0);
                while count < limit
                    && let Some(row) = rows.next_row()?
                {
                    let row = clean.apply(&row.retired);
                    let mut push = |row: &Retired| {
                        count += 1;
                        instructions += u64::from(row.iretire > 0);
                        cycles.push(row);
                    };
                    match &known {
                        Some(known) => known.split(&row, push),
                        None => push(&row),
                    }
                    if cycles.rows.len() >= CHUNK {
                        let wanted = take(&cycles.rows)?;
                        cycles.rows.clear();
                        if !wanted {
                            return Ok(Ending { instructions });
                        }
                    }
                }
                cycles.close();
                take(&cycles.rows)?;
                Ok(Ending { instructions })
            }
        }
    }
}

fn is_elf(path: &Path) -> Result<bool, Failure> {
    use std::io::Read;
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| files::unreadable(path, &error))?;
    let read = file.take(4).read_to_end(&mut start);
    read.map_err(|error| files::unreadable(path, &error))?;
    Ok(start == b"\x7fELF")
}

fn program(path: &Path, config: &Config) -> Result<Program, Failure> {
    let program = Program::open(path, &[], With::Iss)?;
    let (bits, width) = (program.xlen.bits(), config.etrace.iaddress_width_p);
    if program.xlen != xlen(config) {
        return Err(Failure::usage(format_args!(
            "a program for RV{bits}, but the encoder has iaddress_width_p = {width}"
        ))
        .at(files::name(path))
        .hint("--config micro for RV32, small, full or cva6 for RV64, or a file"));
    }
    Ok(program)
}
