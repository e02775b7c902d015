//! The input of the encoders.

use super::TrialError;
use hartrace_decoder::Image;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::{CType, Retired, Trigger};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::{Instructions, Port, Program};
use hartrace_executions::{Input, Source};
use hartrace_isa::Xlen;
use std::fmt;

/// Number of rows of a log that are passed on at a time.
const CHUNK: usize = 1 << 14;

/// A program to execute, or a log of what was executed.
pub struct Work(Kind);

enum Kind {
    Program(Box<Program>),
    Log { name: String, rows: Box<Source<Input>>, program: Option<Box<Program>>, clean: Clean },
}

/// What a log contains but the encoder cannot receive, and does not trace.
#[derive(Copy, Clone, Debug)]
struct Clean {
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

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Returns the width of the harts for which an encoder is configured.
pub fn xlen(config: &Config) -> Xlen {
    if config.etrace.iaddress_width_p > 32 { Xlen::Rv64 } else { Xlen::Rv32 }
}

/// Checks that an encoder can trace a program.
fn fits(program: &Program, config: &Config) -> Result<(), TrialError> {
    let (xlen, width) = (program.xlen(), config.etrace.iaddress_width_p);
    if xlen == self::xlen(config) { Ok(()) } else { Err(TrialError::Width { xlen, width }) }
}

impl Work {
    /// Creates work from a program, which the hart executes.
    ///
    /// # Errors
    ///
    /// If the encoder is for harts of another width.
    pub fn program(program: Program, config: &Config) -> Result<Self, TrialError> {
        fits(&program, config)?;
        Ok(Self(Kind::Program(Box::new(program))))
    }

    /// Creates work from the bundled programs whose addresses fit.
    ///
    /// # Errors
    ///
    /// If one cannot be executed.
    pub fn bundled(config: &Config) -> Result<Vec<Self>, TrialError> {
        let mut works = Vec::new();
        for (name, elf) in PROGRAMS {
            match Self::program(Program::new(name, elf.to_vec())?, config) {
                Err(TrialError::Width { .. }) => {}
                work => works.push(work?),
            }
        }
        Ok(works)
    }

    /// Creates work from a log. With its program, blocks are split and the output is decoded.
    ///
    /// # Errors
    ///
    /// If the encoder is for harts of another width than the program.
    pub fn log(
        name: impl Into<String>,
        rows: Source<Input>,
        program: Option<Program>,
        config: &Config,
    ) -> Result<Self, TrialError> {
        program.iter().try_for_each(|program| fits(program, config))?;
        let clean = Clean {
            context: !config.etrace.nocontext_p,
            time: !config.etrace.notime_p,
            triggers: config.triggers,
        };
        let (name, rows, program) = (name.into(), Box::new(rows), program.map(Box::new));
        Ok(Self(Kind::Log { name, rows, program, clean }))
    }

    /// Returns the name of the program, or of the log.
    pub fn name(&self) -> &str {
        match &self.0 {
            Kind::Program(program) => program.name(),
            Kind::Log { name, .. } => name,
        }
    }

    /// The code, if known.
    pub(crate) fn image(&self) -> Option<Image> {
        match &self.0 {
            Kind::Program(program) => Some(program.image().clone()),
            Kind::Log { program, .. } => program.as_ref().map(|program| program.image().clone()),
        }
    }

    /// Returns the contents of the trap vector registers by privilege, if a mode requires them. The program
    /// is executed to find them.
    ///
    /// # Errors
    ///
    /// If they are required but not available.
    pub fn trap_vectors(
        &self,
        options: &Ioptions,
        limit: u64,
    ) -> Result<Vec<(u8, u64)>, TrialError> {
        match &self.0 {
            _ if !options.implicit_exception => Ok(Vec::new()),
            Kind::Program(program) if program.knows_trap_vectors() => {
                Ok(program.trap_vectors(limit)?)
            }
            // Nothing is decoded.
            Kind::Log { program: None, .. } => Ok(Vec::new()),
            _ => Err(TrialError::TrapVectors),
        }
    }

    /// Passes on cycles of the port until `take` returns `false`, and returns the number of instructions.
    pub(crate) fn execute(
        &mut self,
        port: Port,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<bool, TrialError>,
    ) -> Result<u64, TrialError> {
        match &mut self.0 {
            Kind::Program(program) => {
                let mut wanted = true;
                let ending = program.execute_on(port, limit, |rows| -> Result<(), TrialError> {
                    if wanted {
                        wanted = take(rows)?;
                    }
                    Ok(())
                })?;
                program.check(ending.exit)?;
                Ok(ending.instructions)
            }
            Kind::Log { rows, program, clean, .. } => {
                let known = program.as_ref().map(|program| Instructions::of(program.image()));
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
                            return Ok(instructions);
                        }
                    }
                }
                cycles.close();
                take(&cycles.rows)?;
                Ok(instructions)
            }
        }
    }
}
