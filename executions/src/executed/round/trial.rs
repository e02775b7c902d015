//! A program in several modes at once.

use super::kept::Kept;
use super::{Figures, RESYNC, Round, RoundError};
use crate::executed::{Instructions, Loaded, Program, ProgramError, Progress};
use hartrace_capture::contents::Contents;
use hartrace_capture::description::{At, Description, Traced};
use hartrace_capture::framing::Kind;
use hartrace_capture::output::{CaptureOutput, FileError};
use hartrace_capture::params::{Draft, Resync};
use hartrace_decoder::Image;
use hartrace_etrace::ingress::{Privilege, Retired};
use hartrace_etrace::{Ioptions, Unit};
use hartrace_iss::Exit;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
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
    /// How the program ended; as if cut by the limit, if an error ended the run.
    pub exit: Exit,
    /// The exit status that a shell would have of the program.
    pub status: u8,
    /// How the program or the run ended, if not in success or at the limit.
    pub ended: Option<String>,
    /// Whether what was traced is not all that the program would have done, and it did not end itself.
    pub early: bool,
    /// System calls that our hart does not have, each with how often the program made it.
    pub unknown_calls: Vec<(u64, u64)>,
    /// The code that was executed.
    pub loaded: Loaded,
    /// Contents of the trap vector registers by privilege, if the mode requires them.
    pub tvec: Vec<(u8, u64)>,
    /// The trace, if one is wanted, until [`Line::save`].
    pub capture: Option<CaptureOutput>,
    /// How many instructions are in a trace that could not be written to its end.
    pub kept: Option<u64>,
    /// Where the trace is, once it is in its place.
    pub trace: Option<PathBuf>,
}

/// What a trial has found.
#[derive(Debug)]
pub struct Ran<E> {
    /// The results, by mode.
    pub lines: Vec<Line>,
    /// The error that ended the run, if one did. The results are those of what was executed before.
    pub stopped: Option<E>,
}

impl Trial<'_> {
    /// Executes the program and makes the round trip in all modes at once. `output` opens the file for the
    /// trace of a mode, if one is wanted; `progress` receives what was executed.
    ///
    /// # Errors
    ///
    /// If the program cannot be executed or encoded, and those of `output` and `progress`, before anything was executed;
    /// later, they end the run. A difference between what was executed and what was decoded is not an error: the lines
    /// report it.
    pub fn run<E: From<RoundError> + From<ProgramError>>(
        &self,
        output: impl Fn(&str) -> Result<Option<CaptureOutput>, E>,
        mut progress: impl FnMut(&[Retired]) -> Result<(), E>,
    ) -> Result<Ran<E>, E> {
        let Self { program, modes, limit } = *self;
        // Implicit exceptions require the trap vectors in advance.
        let implicit = modes.iter().any(|options| options.implicit_exception);
        let tvec = if implicit { program.trap_vectors(limit)? } else { Vec::new() };
        let code = program.loaded();
        let mut loaded = code.clone();
        let mut rounds = Vec::new();
        for options in modes {
            let params = program.params(options);
            rounds.push(Round::new(params, *options, &code.image, tvec.clone(), None)?);
        }
        // Files are not opened before the program runs, so that those of a program that cannot are left alone.
        let open = |rounds: &mut [Round<'_>]| {
            let mut rounds = rounds.iter_mut().zip(modes);
            rounds.try_for_each(|(round, options)| {
                round.output = output(&options.to_string())?;
                Ok::<(), E>(())
            })
        };
        let (mut running, mut opened) = (false, false);
        let (start, mut elsewhere) = (Instant::now(), Duration::ZERO);
        let mut executed = Executed::default();
        let ending = program.follow(limit, |happened| -> Result<(), E> {
            let start = Instant::now();
            let rows = match happened {
                Progress::Rows(rows) => rows,
                Progress::Loaded(code) => {
                    rounds.iter_mut().for_each(|round| round.extend(&code.image));
                    loaded = code.clone();
                    return Ok(());
                }
            };
            if !std::mem::replace(&mut running, true) {
                open(&mut rounds)?;
                opened = true;
            }
            executed.add(rows);
            // First the trace, so that it has all that was executed, whatever else fails.
            let advanced = advance(&mut rounds, rows);
            progress(rows)?;
            advanced?;
            elsewhere += start.elapsed();
            Ok(())
        });
        let execution = start.elapsed().saturating_sub(elsewhere);
        if !running {
            open(&mut rounds)?;
        }
        let (ending, stopped) = match ending {
            Ok(ending) => (Some(ending), None),
            Err(error) if opened => (None, Some(error)),
            Err(error) => return Err(error),
        };
        let exit = ending.as_ref().map_or(Exit::Limit, |ending| ending.exit);
        let ended = program.complaint_in(exit, &loaded);
        let early = stopped.is_some() || program.is_early(exit);
        let (instructions, unknown_calls) = match ending {
            Some(ending) => (ending.instructions, ending.unknown_calls),
            None => (executed.instructions(&loaded.image), Vec::new()),
        };
        let mut lines = Vec::new();
        for (round, options) in rounds.into_iter().zip(modes) {
            let (figures, capture) = round.finish()?;
            lines.push(Line {
                program: program.name().into(),
                mode: options.to_string(),
                options: *options,
                instructions,
                execution,
                figures,
                exit,
                status: program.status(exit),
                ended: ended.clone(),
                early,
                unknown_calls: unknown_calls.clone(),
                loaded: loaded.clone(),
                tvec: if options.implicit_exception { tvec.clone() } else { Vec::new() },
                capture,
                kept: None,
                trace: None,
            });
        }
        Ok(Ran { lines, stopped })
    }
}

/// Counts the instructions in rows, for runs that do not say it in the end.
#[derive(Default)]
struct Executed {
    /// How often each block was executed: a program has few, and executes them often.
    times: HashMap<(u64, u32), u64>,
}

impl Executed {
    fn add(&mut self, rows: &[Retired]) {
        for row in rows.iter().filter(|row| row.iretire > 0) {
            *self.times.entry((row.iaddr, row.iretire)).or_default() += 1;
        }
    }

    fn instructions(&self, image: &Image) -> u64 {
        let instructions = Instructions::of(image);
        let count = |(&(start, half_words), times): (&(u64, u32), &u64)| {
            let end = start.wrapping_add(2 * u64::from(half_words));
            instructions.between(start, end) * times
        };
        self.times.iter().map(count).sum()
    }
}

/// Encodes, decodes and compares in all modes, on all cores.
fn advance(rounds: &mut [Round<'_>], rows: &[Retired]) -> Result<(), RoundError> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = rounds.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = |rounds: &mut [Round<'_>]| -> Result<(), RoundError> {
            // All of them, even if one cannot write any more.
            rounds.iter_mut().map(|round| round.retire(rows)).fold(Ok(()), Result::and)
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
        self.exit == Exit::Limit && !self.early
    }

    /// Whether the program ended with an error.
    pub fn has_failed(&self) -> bool {
        self.ended.is_some() && !self.is_stuck()
    }

    /// Whether it waits or jumps to itself for ever.
    pub fn is_stuck(&self) -> bool {
        matches!(self.exit, Exit::Stuck { .. })
    }

    /// Describes the trace of `program` in this mode.
    pub fn description(&self, program: &Program) -> Description {
        let params = program.params(&self.options);
        let draft = Draft::new(&params, Unit::Hartrace, &self.options);
        let draft = draft.resync(Resync::Packets(RESYNC));
        let framing = Some(Kind::Reference);
        let vectors = self.tvec.iter().map(|(level, base)| (Privilege(*level), *base));
        Description {
            draft: Draft { xlen: Some(program.xlen()), framing, ..draft },
            trap_vectors: vectors.collect(),
            capture: Contents {
                instructions: Some(self.figures.decoded),
                ended_early: self.ended.clone().filter(|_| self.early),
                ..Contents::default()
            },
            ..Description::default()
        }
    }

    /// Puts the trace in its place, with its description; `command`, its words, has made it of the program at `path`.
    ///
    /// # Errors
    ///
    /// If either cannot be written. Then the trace is cut to what is written of it, if that can be decoded: see
    /// [`Line::kept`]. Otherwise both files are as they were before.
    pub fn save(
        &mut self,
        program: &Program,
        path: &Path,
        command: impl IntoIterator<Item = String>,
    ) -> Result<(), FileError> {
        let Some(mut capture) = self.capture.take() else { return Ok(()) };
        let own = Traced { at: At::Bias(self.loaded.bias), ..Traced::new(path, program.elf()) };
        let libraries = self.loaded.libraries.iter();
        let libraries =
            libraries.map(|library| Traced::installed(&library.path, &library.bytes, library.bias));
        let traced: Vec<_> = std::iter::once(own).chain(libraries).collect();
        let description = self.description(program).made_by(capture.path(), command, &traced)?;
        let kernel_code = self.loaded.kernel_code.clone();
        let description = Description { kernel_code, ..description };
        let place = capture.path().to_owned();
        let Err(error) = capture.try_finish(&description) else {
            self.trace = Some(place);
            return Ok(());
        };
        let params = program.params(&self.options);
        let mut kept = Kept::default();
        let end = |written: &mut dyn Read| {
            let read = Kept::read(written, params, self.tvec.clone(), &self.loaded.image);
            kept = read.map_err(io::Error::other)?;
            Ok(kept.bytes)
        };
        let ended_early = Some(format!("an error: cannot write: {}", error.error));
        if let Ok(capture) = capture.cut(end)
            && kept.instructions > 0
        {
            let contents = Contents {
                instructions: Some(kept.instructions),
                ended_early,
                ..Contents::default()
            };
            let description = Description { capture: contents, ..description };
            if capture.finish(description).is_ok() {
                (self.kept, self.trace) = (Some(kept.instructions), Some(place));
            }
        }
        Err(error)
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
