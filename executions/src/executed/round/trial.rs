//! A program in several modes at once.

use super::{Figures, RESYNC, Round, RoundError};
use crate::executed::{Program, ProgramError, complaint, modes};
use hartrace_capture::contents::Contents;
use hartrace_capture::description::{Description, Traced};
use hartrace_capture::framing::Kind;
use hartrace_capture::output::{CaptureOutput, FileError};
use hartrace_capture::params::{Draft, Resync};
use hartrace_etrace::ingress::{Privilege, Retired};
use hartrace_etrace::{Ioptions, Unit};
use hartrace_iss::Exit;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A program, and the modes to trace it in.
#[derive(Copy, Clone, Debug)]
pub struct Trial<'p> {
    /// The program.
    pub program: &'p Program,
    /// The modes to trace it in.
    pub modes: &'p [Ioptions],
    /// The largest number of steps to execute.
    pub limit: u64,
}

/// The result of a program in one mode.
#[derive(Debug)]
pub struct Line {
    /// The name of the program.
    pub program: String,
    /// The codes of its modes.
    pub mode: String,
    /// Its modes.
    pub options: Ioptions,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Time spent executing, for all modes of the program together.
    pub execution: Duration,
    /// The figures of the round trip.
    pub figures: Figures,
    /// How the program ended.
    pub exit: Exit,
    /// Contents of the trap vector registers by privilege, if the mode requires them.
    pub tvec: Vec<(u8, u64)>,
    /// The trace, if one is wanted, until [`Line::save`].
    pub capture: Option<CaptureOutput>,
}

impl Trial<'_> {
    /// Executes the program and makes the round trip in all modes at once. `output` opens the file for the
    /// trace of a mode, if one is wanted; `progress` receives what was executed.
    ///
    /// # Errors
    ///
    /// If the program cannot be executed or encoded, and those of `output` and `progress`. A difference
    /// between what was executed and what was decoded is not an error: the lines report it.
    pub fn run<E: From<RoundError> + From<ProgramError>>(
        &self,
        output: impl Fn(&str) -> Result<Option<CaptureOutput>, E>,
        mut progress: impl FnMut(&[Retired]) -> Result<(), E>,
    ) -> Result<Vec<Line>, E> {
        let Self { program, modes, limit } = *self;
        // Implicit exceptions require the trap vectors in advance.
        let implicit = modes.iter().any(|options| options.implicit_exception);
        let tvec = if implicit { program.trap_vectors(limit)? } else { Vec::new() };
        let mut rounds = Vec::new();
        for options in modes {
            let params = modes::params_for(program.xlen(), options);
            rounds.push(Round::new(params, *options, program.image(), tvec.clone(), None)?);
        }
        // Files are not opened before the program runs, so that those of a program that cannot are left alone.
        let open = |rounds: &mut [Round<'_>]| {
            let mut rounds = rounds.iter_mut().zip(modes);
            rounds.try_for_each(|(round, options)| {
                round.output = output(&options.to_string())?;
                Ok::<(), E>(())
            })
        };
        let mut running = false;
        let (start, mut elsewhere) = (Instant::now(), Duration::ZERO);
        let ending = program.execute(limit, |rows| -> Result<(), E> {
            let start = Instant::now();
            if !std::mem::replace(&mut running, true) {
                open(&mut rounds)?;
            }
            progress(rows)?;
            advance(&mut rounds, rows)?;
            elsewhere += start.elapsed();
            Ok(())
        })?;
        let execution = start.elapsed().saturating_sub(elsewhere);
        if !running {
            open(&mut rounds)?;
        }
        let mut lines = Vec::new();
        for (round, options) in rounds.into_iter().zip(modes) {
            let (figures, capture) = round.finish()?;
            lines.push(Line {
                program: program.name().into(),
                mode: options.to_string(),
                options: *options,
                instructions: ending.instructions,
                execution,
                figures,
                exit: ending.exit,
                tvec: if options.implicit_exception { tvec.clone() } else { Vec::new() },
                capture,
            });
        }
        Ok(lines)
    }
}

/// Encodes, decodes and compares in all modes, on all cores.
fn advance(rounds: &mut [Round<'_>], rows: &[Retired]) -> Result<(), RoundError> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = rounds.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = |rounds: &mut [Round<'_>]| -> Result<(), RoundError> {
            rounds.iter_mut().try_for_each(|round| round.retire(rows))
        };
        let start = |some| thread::Builder::new().spawn_scoped(scope, move || work(some));
        let handles: Vec<_> = rounds.chunks_mut(share).map(start).collect();
        handles.into_iter().try_for_each(|handle| {
            let handle = handle.map_err(|_| RoundError::Thread)?;
            handle.join().unwrap_or(Err(RoundError::Thread))
        })
    })
}

impl Line {
    /// Whether the execution was cut by the limit.
    pub fn is_cut(&self) -> bool {
        self.exit == Exit::Limit
    }

    /// Whether the program ended with an error.
    pub fn has_failed(&self) -> bool {
        complaint(self.exit).is_some()
    }

    /// Describes the trace of `program` in this mode.
    pub fn description(&self, program: &Program) -> Description {
        let params = modes::params_for(program.xlen(), &self.options);
        let draft = Draft::new(&params, Unit::Hartrace, &self.options);
        let draft = draft.resync(Resync::Packets(RESYNC));
        let framing = Some(Kind::Reference);
        let vectors = self.tvec.iter().map(|(level, base)| (Privilege(*level), *base));
        Description {
            draft: Draft { xlen: Some(program.xlen()), framing, ..draft },
            trap_vectors: vectors.collect(),
            capture: Contents { instructions: Some(self.figures.decoded), ..Contents::default() },
            ..Description::default()
        }
    }

    /// Puts the trace in its place, with its description; `command`, its words, has made it of the program at `path`.
    ///
    /// # Errors
    ///
    /// If either cannot be written. Both are then as they were before.
    pub fn save(
        &mut self,
        program: &Program,
        path: &Path,
        command: impl IntoIterator<Item = String>,
    ) -> Result<(), FileError> {
        let Some(capture) = self.capture.take() else { return Ok(()) };
        let traced = [Traced::new(path, program.elf())];
        let description = self.description(program).made_by(capture.path(), command, &traced)?;
        capture.finish(description)
    }

    /// Returns whether every instruction was recovered that a trace can contain.
    pub fn is_verified(&self) -> bool {
        let Figures { decoded, idle, difference, .. } = &self.figures;
        difference.is_none() && decoded.saturating_add(*idle) == self.instructions
    }

    /// Returns the payload bits per instruction.
    pub fn bits_per_instruction(&self) -> f64 {
        8.0 * self.figures.bytes as f64 / (self.instructions.max(1)) as f64
    }

    /// Returns the share that packets save compared with the instructions they represent, at four bytes each,
    /// as the specification defines it.
    pub fn compression(&self) -> f64 {
        1.0 - self.bits_per_instruction() / 32.0
    }

    /// Returns the instructions per second of a stage that took this long.
    pub fn rate(&self, time: Duration) -> f64 {
        self.instructions as f64 / time.as_secs_f64().max(1e-9)
    }
}
